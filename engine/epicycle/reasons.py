"""Why a part of Epicycle's drawing cannot be clicked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.epicycle.rules import SLOTS
from engine.epicycle.text import SIZES, hand_letters, pie_letters
from engine.epicycle.words import SIZE_WORDS, away
from engine.words import Names, Reason

if TYPE_CHECKING:
    from engine.state import KernelState

HAND = re.compile(rf"hand-([0-4])-([{SIZES}])")
SLOT = re.compile("slot-([0-9])")
TURN = "§2 Whose turn it is"


def reason(state: KernelState, parts: tuple[str, ...], names: Names) -> str | None:
    """Return why the last part cannot be clicked, though those before it can."""
    played = parts[0][-1] if len(parts) > 1 else ""
    if found := HAND.fullmatch(parts[-1]):
        return _of_piece(state, int(found[1]), found[2], played, names)
    if found := SLOT.fullmatch(parts[-1]):
        return _of_taking(state, int(found[1]), played) if played else _of_slot(state, int(found[1]), names)
    return None


def _of_piece(state: KernelState, owner: int, size: str, played: str, names: Names) -> str | None:
    seat = state.current_player()
    if owner >= state.game.players:
        return None
    if owner != seat:
        return Reason(f"That piece belongs to {names.who(owner)}; {names.does(seat, 'be')} to move.", TURN)
    if size not in hand_letters(int(state.record.hands), seat):
        return names.begin(f"{names.does(seat, 'hold')} no {SIZE_WORDS[size]} piece.")
    if any(parts[0] == f"hand-{seat}-{size}" for parts in (state.targets() or {}).values()):
        return f"The {SIZE_WORDS[played]} piece is chosen already: choose the piece to take."
    pips = SIZES.index(size) + 1
    gap = pie_letters(state.record).index(".")
    slots = sorted(((gap + pips) % SLOTS, (gap - pips) % SLOTS))
    return (
        f"Both pieces {away(pips)} from the gap, in slots {slots[0]} and {slots[1]}, are {SIZE_WORDS[size]} too: "
        "a piece of another size must be taken."
    )


def _of_slot(state: KernelState, slot: int, names: Names) -> str:
    """Return why a slot cannot be the first part."""
    letters, seat = pie_letters(state.record), state.current_player()
    steps = _steps(letters, slot)
    if steps == 0:
        return f"Slot {slot} is the gap: choose the piece in hand that goes there."
    if steps > len(SIZES):
        return f"Slot {slot} is {away(steps)} from the gap, and no piece has more than {len(SIZES)} pips."
    size = SIZES[steps - 1]
    word = SIZE_WORDS[size]
    only = f"Only a {word} piece takes from slot {slot}, {away(steps)} from the gap"
    if size not in hand_letters(int(state.record.hands), seat):
        return f"{only}, and {names.does(seat, 'hold')} none."
    if letters[slot] == size:
        return f"{only}, and the piece there is {word} too."
    return f"Choose a {word} piece in hand first: it takes from slot {slot}, {away(steps)} from the gap."


def _of_taking(state: KernelState, slot: int, played: str) -> str:
    """Return why nothing can be taken from a slot after this size was played."""
    letters, pips, word = pie_letters(state.record), SIZES.index(played) + 1, SIZE_WORDS[played]
    steps = _steps(letters, slot)
    if steps == 0:
        return f"Slot {slot} is the gap, into which the {word} piece goes: choose the piece to take."
    if steps != pips:
        return f"A {word} piece takes one exactly {away(pips)} from the gap; slot {slot} is {away(steps)} from it."
    return f"The piece in slot {slot} is {word} like the one played: a piece of another size must be taken."


def _steps(letters: str, slot: int) -> int:
    """Return how far a slot is from the gap, the shorter way round."""
    clockwise = (slot - letters.index(".")) % SLOTS
    return min(clockwise, SLOTS - clockwise)
