"""Pig's notation."""

import re

from engine.errors import PositionError
from engine.positions import split_fields
from tests.support.pig.rules import CHANCE, GOAL, TERMINAL

ACTIONS = ("hold", "roll")
OUTCOMES = tuple("123456")
PHASES = {"chooses": 0, "rolls": CHANCE, "won": TERMINAL}


def write_position(game, state):
    """Return `POINTS/POINTS POT MOVER PHASE`."""
    phase = next(word for word, seat in PHASES.items() if seat == min(int(state.seat), 0))
    return f"{state.points[0]}/{state.points[1]} {state.pot} {state.mover} {phase}"


def read_position(game, state, text):
    points, pot, mover, phase = split_fields(text, "POINTS POT MOVER PHASE")
    if not re.fullmatch("(0|[1-9][0-9]{0,5})/(0|[1-9][0-9]{0,5})", points):
        raise PositionError("POINTS", "two numbers joined by / are expected")
    if not re.fullmatch("0|[1-9][0-9]{0,5}", pot) or mover not in ("0", "1") or phase not in PHASES:
        raise PositionError("POT MOVER PHASE", "such as 7 0 chooses")
    state.points[:] = [int(each) for each in points.split("/")]
    state.pot, state.mover = int(pot), int(mover)
    state.seat = PHASES[phase] or state.mover
    over = [number >= GOAL for number in state.points]
    if over[1 - state.mover] or over[state.mover] != (phase == "won") or (phase == "won" and state.pot):
        raise PositionError("PHASE", "the match is over when the mover holds enough, and then alone")


def draw(state):
    record = state.record
    return f"points {record.points[0]} and {record.points[1]}, {record.pot} in the pot of seat {record.mover}"
