"""Midgard in sentences: what to drop or declare, what a drop has enclosed, and how a match ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.midgard.rules import CELLS, DECLARE, NEIGHBOURS, PERIMETER, TILES
from engine.midgard.text import BLIZZARD, CELL_NAMES, ICE, OUTCOMES, SEAT_NAMES, SEATS, board_letters
from engine.words import MAX_LIST_CHARS, Motion, Names, Sentence, counted, following, listed, margin, placing

if TYPE_CHECKING:
    from engine.state import KernelState

MAX_LISTED_CELLS = 4
"""Of a region; a larger one is told by its number of cells."""
ALLOWED, DROP, ENCLOSURE, ODIN = "§3 What is allowed", "§4 What a drop does", "§5 Enclosure", "§6 Odin"
THE_END, LOKI = "§7 The end", "§8 Loki"


# What to do now


def prompt(state: KernelState, names: Names, chosen: tuple[str, ...]) -> Sentence:
    """Return what may be dropped or declared, or that chance seeds blizzard."""
    record = state.record
    if state.is_chance_node():
        more = 3 * (int(record.to_pick) - 1)
        follow = f"; {more} more follow" if more else ""
        return Sentence(f"Three cells are seeded with blizzard at random{follow}.", section=LOKI)
    parts, seat = following(state.targets(), chosen)[1], state.current_player()
    what = f"drop a {SEAT_NAMES[seat]} tile on an ice cell, one with no tile beside it"
    if record.declared:
        what += ", or declare too that no ice is left: ice then counts as blizzard, and the match ends"
    elif record.odin:
        other = names.does(1 - seat, "declare")
        what += f", or declare that no ice is left: if {other} too, ice counts as blizzard and the match ends"
    return Sentence(names.ask(seat, what), parts, section=ODIN if record.odin else ALLOWED)


# What happened


def tell(before: KernelState, action: int, after: KernelState, names: Names) -> Sentence:
    """Return which cells were seeded, what was declared, or what was dropped and who got what it has enclosed."""
    if before.is_chance_node():
        seeds = OUTCOMES[action].split("+")
        return Sentence(f"Blizzard is seeded on {listed(seeds)}.", _parts(seeds), section=LOKI)
    filled = _filled(before, action, after)
    seat = before.current_player()
    if action == DECLARE:
        text = f"{names.does(seat, 'declare')} {'too' if before.record.declared else 'that no ice is left'}"
        if before.record.declared:
            text += f", which ends the match: {_shares(after, filled, names, _empty(after))}"
        text, section, cells = f"{text}{_out_of_tiles(after, names)}.", ODIN, [*filled]
    else:
        text = f"{names.does(seat, 'drop')} a {SEAT_NAMES[seat]} tile on {CELL_NAMES[action]}"
        room = MAX_LIST_CHARS - len(text) - 1
        text += f"{_enclosed(before, action, after, filled, names, room)}{_out_of_tiles(after, names)}."
        section, cells = ENCLOSURE if filled else DROP, [action, *filled]
    parts = _parts(CELL_NAMES[cell] for cell in cells)
    return Sentence(names.begin(text), parts, tuple(Motion("", part) for part in parts), section)


def _parts(cells: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"cell-{cell}" for cell in cells)


def _filled(before: KernelState, action: int, after: KernelState) -> list[int]:
    """Return the cells that have a tile now and had none, but for the drop."""
    old, new = board_letters(before.record), board_letters(after.record)
    return [cell for cell in range(CELLS) if old[cell] not in SEATS and new[cell] in SEATS and cell != action]


def _empty(after: KernelState) -> int:
    """Return how many cells have no tile."""
    return sum(letter not in SEATS for letter in board_letters(after.record))


def _shares(after: KernelState, filled: Sequence[int], names: Names, empty: int) -> str:
    """Return how many of the cells filled went to whom: `12 cells go to Blue and 9 to Orange, 5 stay empty`."""
    letters = board_letters(after.record)
    counts = [sum(letters[cell] == side for cell in filled) for side in SEATS]
    shares = [(count, seat) for seat, count in enumerate(counts) if count]
    if not shares:
        return "no cell is filled"
    words = [f"{count} to {names.who(seat)}" for count, seat in shares]
    words[0] = f"{counted(shares[0][0], 'cell')} {'goes' if shares[0][0] == 1 else 'go'} to {names.who(shares[0][1])}"
    rest = f", {empty} {'stays' if empty == 1 else 'stay'} empty" if empty else ""
    return listed(words) + rest


def _out_of_tiles(after: KernelState, names: Names) -> str:
    empty = [seat for seat in range(len(SEATS)) if not after.record.hand[seat]]
    return "".join(f"; {names.does(seat, 'have')} placed all {TILES} tiles" for seat in empty)


class Region(NamedTuple):
    """An enclosed region, with the edges that each side has around it."""

    cells: tuple[int, ...]
    edges: tuple[int, int]


def _enclosed(before: KernelState, action: int, after: KernelState, filled: list[int], names: Names, room: int) -> str:
    """Return what a drop encloses, with the edges that decided unless that takes too long; in Odin what the end fills.

    `room` is how many letters are left.
    """
    verb = "" if before.current_player() == names.you else "s"
    if before.record.odin:
        over = after.is_terminal()
        return f" and leave{verb} no ice: {_shares(after, filled, names, _empty(after))}" if over else ""
    regions = _regions(before, action)
    if not regions:
        return ""
    if len(regions) > 1 or not all(after.record.hand):
        text = f" and enclose{verb} {counted(len(regions), 'region')}"
        if all(after.record.hand):
            each = ", ".join(_outcome(region, names) for region in regions)
            if len(text + each) + 2 <= room:
                return f"{text}: {each}"
        elif len(regions) == 1:
            text += f" ({_edges(regions[0])})"
        empty = sum(len(region.cells) for region in regions) - len(filled)
        return f"{text}: {_shares(after, filled, names, empty)}"
    ((cells, edges),) = regions
    text = f" and enclose{verb} {_cells(cells)}"
    if edges[0] == edges[1]:
        return f"{text}: {counted(edges[0], 'edge')} each, so each side gets half"
    winner = 0 if edges[0] > edges[1] else 1
    go = "it goes" if len(cells) == 1 else "they go"
    return f"{text}: {counted(edges[winner], 'edge')} to {edges[1 - winner]}, so {go} to {names.who(winner)}"


def _cells(cells: Sequence[int]) -> str:
    """Return the names of a few cells, else their number."""
    return listed([CELL_NAMES[cell] for cell in cells]) if len(cells) <= MAX_LISTED_CELLS else f"{len(cells)} cells"


def _outcome(region: Region, names: Names) -> str:
    """Return who gets one of several regions: `h4 goes to you (3 edges to 0)`."""
    cells, edges = region
    if edges[0] == edges[1]:
        return f"{_cells(cells)} are shared ({_edges(region)})"
    winner = 0 if edges[0] > edges[1] else 1
    return f"{_cells(cells)} {'goes' if len(cells) == 1 else 'go'} to {names.who(winner)} ({_edges(region)})"


def _edges(region: Region) -> str:
    """Return how many edges the sides have around a region: `3 edges to 0`, `2 edges each`."""
    most, least = max(region.edges), min(region.edges)
    return f"{counted(most, 'edge')} {'each' if most == least else f'to {least}'}"


def _regions(before: KernelState, action: int) -> list[Region]:
    """Return the regions that a drop encloses: those beside it that touch no ice."""
    letters = list(board_letters(before.record))
    letters[action] = SEATS[before.current_player()]
    for near in NEIGHBOURS[action]:
        letters[near] = BLIZZARD if letters[near] == ICE else letters[near]
    regions: dict[tuple[int, ...], Region] = {}
    for near in NEIGHBOURS[action]:
        cells = [near] if letters[near] == BLIZZARD else []
        for cell in cells:  # grows while it is walked
            cells += [each for each in NEIGHBOURS[cell] if letters[each] == BLIZZARD and each not in cells]
        around = [letters[each] for cell in cells for each in NEIGHBOURS[cell]]
        if cells and ICE not in around:
            key = tuple(sorted(cells))
            regions[key] = Region(key, (around.count(SEATS[0]), around.count(SEATS[1])))
    return [regions[key] for key in sorted(regions)]


# How it ended


def verdict(state: KernelState, seat: int | None, names: Names) -> Sentence:
    """Return a seat's place, by cells and, where those are equal, by perimeter cells, and what ended the match."""
    letters, ranks = board_letters(state.record), state.ranks()
    cells = [letters.count(side) for side in SEATS]
    text = placing(ranks, seat, names)
    if cells[0] != cells[1]:
        text += margin(ranks, cells, seat, "cell")
    else:
        rims = [sum(letters[cell] == side for cell in PERIMETER) for side in SEATS]
        mine = ranks.index(0) if seat is None else seat
        text += f", {counted(cells[0], 'cell')} each, {rims[mine]} of the perimeter to {rims[1 - mine]}"
    return Sentence(f"{text}: {_why(state, names)}.", section=THE_END)


def _why(state: KernelState, names: Names) -> str:
    if state.record.odin and state.history()[-1:] == [DECLARE]:
        return "both declared that no ice was left"
    empty = [seat for seat in range(len(SEATS)) if not state.record.hand[seat]]
    return f"{names.does(empty[0], 'have')} placed all {TILES} tiles" if empty else "no ice was left"
