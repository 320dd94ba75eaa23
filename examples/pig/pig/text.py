"""Pig's notation: actions, faces, position strings, and the drawing for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import PositionError
from engine.positions import read_seat, split_fields
from pig.rules import CHANCE, GOAL, ROLL, TERMINAL

if TYPE_CHECKING:
    from engine.state import KernelGame, KernelState

ACTIONS = ("hold", "roll")
OUTCOMES = tuple("123456")
NUMBER = "(0|[2-9]|[1-9][0-9]{1,5})"  # no roll and no sum of rolls gives 1 point
PHASES = ("chooses", "rolls", "won")


def phase(state: np.record) -> str:
    """Return what the seat whose turn it is does."""
    return {CHANCE: "rolls", TERMINAL: "won"}.get(int(state.seat), "chooses")


def write_position(game: KernelGame, state: np.record) -> str:
    """Return `POINTS POT SEAT PHASE`."""
    return f"{state.points[0]}/{state.points[1]} {state.pot} {state.turn} {phase(state)}"


def read_position(game: KernelGame, state: np.record, text: str) -> None:
    """Fill a blank record from a position string; raises `PositionError` with the field and why."""
    points, pot, seat, doing = split_fields(text, "POINTS POT SEAT PHASE")
    if not re.fullmatch(f"{NUMBER}/{NUMBER}", points):
        raise PositionError("POINTS", f"'{points}' is not two numbers of points joined by /, none of them 1")
    if not re.fullmatch(NUMBER, pot):
        raise PositionError("POT", f"'{pot}' is not a number of points, which 1 cannot be")
    if doing not in PHASES:
        raise PositionError("PHASE", f"'{doing}' is none of {', '.join(PHASES)}")
    state.points[:] = [int(number) for number in points.split("/")]
    state.pot, state.turn = int(pot), read_seat(seat, game.players)
    state.seat = {"rolls": CHANCE, "won": TERMINAL}.get(doing, int(state.turn))
    _check_end(state, doing)


def _check_end(state: np.record, doing: str) -> None:
    mine, theirs = state.points[state.turn], state.points[1 - state.turn]
    if theirs >= GOAL:
        raise PositionError("SEAT", f"seat {1 - state.turn} has {theirs} points, so that the match ended in its turn")
    if (mine >= GOAL) != (doing == "won"):
        raise PositionError("PHASE", f"must be won when the seat whose turn it is has {GOAL} points, and only then")
    if doing == "won" and state.pot:
        raise PositionError("POT", "must be 0 after the end: what was in it is held")


def last_ply(state: KernelState) -> tuple[bool, int] | None:
    """Return (whether the last ply was a roll of the die, its number); None where no ply is known.

    Action 0 and outcome 0 look alike in a history, but only the action `roll` is followed by an outcome.
    """
    last, is_roll = None, (state.origin or "").endswith("rolls")
    for ply in state.history():
        last, is_roll = (is_roll, ply), not is_roll and ply == ROLL
    return last


def face(state: KernelState) -> str:
    """Return the face of the die when it was rolled just now, else nothing."""
    last = last_ply(state)
    return OUTCOMES[last[1]] if last and last[0] else ""


def draw(state: KernelState) -> str:
    """Draw the points of the seats, and how the turn stands."""
    seats = (
        f"{'>' if seat == state.record.turn and not state.is_terminal() else ' '} seat {seat}  {points:3d} points"
        for seat, points in enumerate(state.record.points)
    )
    return "\n".join([*seats, f"  {status(state)}"])


def status(state: KernelState, names: Sequence[str] = ("seat 0", "seat 1")) -> str:
    """Return how the match stands, in a few words."""
    record = state.record
    if state.is_terminal():
        return f"over ({state.ended}), places {[rank + 1 for rank in state.ranks()]}"
    rolled = f"rolled {face(state)}, " if face(state) else ""
    return f"{rolled}pot {record.pot}; {names[record.turn]} {phase(record)}"
