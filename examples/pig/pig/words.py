"""Pig in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.words import Names, Sentence, counted, following, margin, placing
from pig.rules import GOAL, ROLL

if TYPE_CHECKING:
    from engine.state import KernelState


def prompt(state: KernelState, names: Names, chosen: tuple[str, ...]) -> Sentence:
    """Return what the seat to move is asked, or who rolls."""
    if state.is_chance_node():
        return Sentence(
            names.begin(f"{names.does(state.rolling_seat(), 'roll')} the die."), section="§4 What a roll does"
        )
    pot = int(state.record.pot)
    what = f"roll again, or hold the {counted(pot, 'point')} in the pot" if pot else "roll the die"
    text, parts = names.ask(state.current_player(), what), following(state.targets(), chosen)[1]
    return Sentence(text, parts, section="§3 What is allowed")


def tell(before: KernelState, action: int, after: KernelState, names: Names) -> Sentence:
    """Return what a roll did to the pot, or what was held."""
    seat, pot = int(before.record.turn), int(before.record.pot)
    if before.is_chance_node():
        text = f"{names.does(seat, 'roll')} a {action + 1}"
        lost = f", which costs the {pot} points in the pot" if pot else ", which ends the turn"
        text += f": {after.record.pot} points are in the pot" if action else lost
        return Sentence(names.begin(f"{text}."), ("die", "pot"), section="§4 What a roll does")
    if action == ROLL:
        return Sentence(names.begin(f"{names.does(seat, 'take')} the die."), ("die",), section="§3 What is allowed")
    text = f"{names.does(seat, 'hold')} {pot} points, {after.record.points[seat]} in all."
    return Sentence(names.begin(text), ("pot",), section="§5 What holding does, and the end")


def verdict(state: KernelState, seat: int | None, names: Names) -> Sentence:
    """Return a seat's place, by points."""
    ranks, points = state.ranks(), state.record.points.tolist()
    placed = placing(ranks, seat, names) + margin(ranks, points, seat, "point")
    return Sentence(f"{placed}: {GOAL} are enough.", section="§5 What holding does, and the end")
