"""Why a part of Midgard's drawing cannot be clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.midgard.rules import CENTRE, NEIGHBOURS
from engine.midgard.text import BLIZZARD, CELL_NAMES, SEAT_NAMES, SEATS, board_letters
from engine.words import Names, Reason

if TYPE_CHECKING:
    from engine.state import KernelState

RULE = "tiles are dropped on ice"
CELLS, ALLOWED, DROP = "§1 What there is", "§3 What is allowed", "§4 What a drop does"
ODIN, LOKI = "§6 Odin", "§8 Loki"


def reason(state: KernelState, parts: tuple[str, ...], names: Names) -> str | None:
    """Return why the last part cannot be clicked; there is none before it."""
    name = parts[-1].removeprefix("cell-")
    if parts[-1] == "declare":
        return Reason("Only in the variant odin may a player declare that no ice is left.", ODIN)
    if name not in CELL_NAMES:
        return None
    letters, cell = board_letters(state.record), CELL_NAMES.index(name)
    if letters[cell] != BLIZZARD:
        return Reason(f"{name} holds a tile of {SEAT_NAMES[SEATS.index(letters[cell])]}: {RULE}.", ALLOWED)
    tiles = [CELL_NAMES[near] for near in NEIGHBOURS[cell] if letters[near] in SEATS]
    if tiles:
        beside = f"tiles on {', '.join(tiles[:-1])} and {tiles[-1]}" if len(tiles) > 1 else f"tile on {tiles[0]}"
        return Reason(f"{name} is blizzard, beside the {beside}: {RULE}.", DROP)
    since, section = ("the centre, blizzard", CELLS) if cell == CENTRE else ("seeded with blizzard", LOKI)
    return Reason(f"{name} is {since} from the start: {RULE}.", section)
