"""Why a part of Pyramid Punch's drawing cannot be clicked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from engine.pyramid_punch.rules import ARRANGE, FIGHT, MOVES, PLACE, STEPS, on_table
from engine.pyramid_punch.text import LETTERS, fighters_on
from engine.pyramid_punch.words import FIGHTER_WORDS, tile_of
from engine.words import Names, Reason, listed

if TYPE_CHECKING:
    import numpy as np

    from engine.state import KernelState

PART = re.compile(
    rf"fighter-(?P<owner>[0-4])-(?P<letter>[{LETTERS}])|tile-(?P<tile>[0-4])"
    r"|place-(?P<x>-?[0-9]{1,18}),(?P<y>-?[0-9]{1,18})|turn-[0-3]"
)
TURN, ARRANGING = "§2 Whose turn it is", "§3 Arranging"


class Part(NamedTuple):
    """A part of the drawing: a fighter, a tile, a place or a number of quarter turns."""

    kind: str
    seat: int = -1
    fighter: int = -1
    place: tuple[int, int] = (0, 0)


def reason(state: KernelState, parts: tuple[str, ...], names: Names) -> str | None:
    """Return why the last part cannot be clicked, though those before it can."""
    part, before, phase = _read(parts[-1]), parts[:-1], state.record.phase
    if part is None or part.seat >= state.game.players:
        return None
    if phase == ARRANGE:
        who = names.does(int(state.record.seat), "choose")
        text = f"{who} an arrangement now: tiles are placed when everybody has chosen."
        return Reason(names.begin(text), ARRANGING)
    if phase == PLACE:
        return _of_placing(state.record, before, part, names)
    if phase == FIGHT:
        return _of_fighting(state, before, part, names)
    return _of_moving(state, before, part, names)


def _read(text: str) -> Part | None:
    found = PART.fullmatch(text)
    if found is None:
        return None
    kind = text.partition("-")[0]
    if kind == "fighter":
        return Part(kind, int(found["owner"]), LETTERS.index(found["letter"]))
    if kind == "tile":
        return Part(kind, int(found["tile"]))
    return Part(kind, place=(int(found["x"]), int(found["y"]))) if kind == "place" else Part(kind)


# Placing


def _of_placing(record: np.record, before: tuple[str, ...], part: Part, names: Names) -> str:
    if part.kind in ("tile", "fighter") and on_table(record, part.seat):
        return names.begin(
            f"{names.whose(part.seat)} tile lies on the table already: choose one that is still to be placed."
        )
    if part.kind == "fighter" and not before:
        return f"A whole tile is placed: choose {names.whose(part.seat)} tile itself."
    if not before:
        return "Choose a tile first, then its place beside another one, then how far it is turned."
    tile = tile_of(names, before[0])
    if len(before) == 1:
        return names.begin(f"{tile} is chosen: choose its place beside another tile, then how far it is turned.")
    return names.begin(f"{tile} has its place: choose how far it is turned.")


# Fighting


def _of_fighting(state: KernelState, before: tuple[str, ...], part: Part, names: Names) -> str | None:
    record, seat = state.record, state.current_player()
    own = _fighter(names, seat, before[0][-1]) if before else ""
    if part.kind != "fighter":
        now = (
            f"choose the enemy that {own} fights"
            if own
            else f"choose one of {names.whose(seat)} fighters, then an enemy beside it"
        )
        return Reason(f"Fights come before tiles are rotated or moved: {now}.", TURN)
    letter = LETTERS[part.fighter]
    meant = _fighter(names, part.seat, letter)
    facing = _facing(record, seat)
    if part.seat == seat:
        if (f"fighter-{seat}-{letter}",) in {parts[:1] for parts in (state.targets() or {}).values()}:
            return names.begin(f"{own} is chosen already: choose the enemy that it fights.")
        if any(part.fighter == mine for mine, _, _ in facing):
            return f"Every enemy beside {meant} was fought this turn already, and each is fought once."
        return names.begin(f"{meant} stands beside no enemy.")
    if record.fought >> 4 * part.seat + part.fighter & 1:
        return names.begin(f"{meant} was fought this turn already, and each enemy is fought once.")
    meets = [LETTERS[mine] for mine, *enemy in facing if enemy == [part.seat, part.fighter]]
    if not meets:
        return names.begin(f"{meant} stands beside none of {names.whose(seat)} fighters.")
    if own:
        return names.begin(f"{meant} does not stand beside {own}: who fights must share an edge.")
    able = listed([_fighter(names, seat, mine) for mine in meets], "or")
    return f"Choose {able} first: it stands beside {meant}."


def _fighter(names: Names, seat: int, letter: str) -> str:
    return f"{names.whose(seat)} {FIGHTER_WORDS[letter]}"


def _facing(record: np.record, seat: int) -> list[tuple[int, int, int]]:
    """Return (own fighter, enemy seat, enemy fighter) for all fighters of a seat that stand beside an enemy."""
    place = int(record.x[seat]), int(record.y[seat])
    found = []
    for enemy, side in _tiles_beside(record, place):
        pairs = _across(record, seat, enemy, side) if enemy != seat else []
        found += [(mine, enemy, theirs) for mine, theirs in pairs]
    return found


def _tiles_beside(record: np.record, place: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the tiles beside a place, each with the side of the place on which it lies."""
    around = [(place[0] + x, place[1] + y) for x, y in STEPS]
    tiles = {seat: (int(record.x[seat]), int(record.y[seat])) for seat in _on_table(record)}
    return [(seat, around.index(at)) for seat, at in tiles.items() if at in around]


def _on_table(record: np.record) -> list[int]:
    return [seat for seat in range(int(record.players)) if on_table(record, seat)]


def _across(record: np.record, tile: int, other: int, side: int) -> list[tuple[int, int]]:
    """Return the pairs of fighters that face each other where the other tile lies on that side of the first one."""
    ours, theirs = fighters_on(record.tiles[tile]), fighters_on(record.tiles[other])
    spaces = (side, (side + 3) % 4), ((side + 1) % 4, (side + 2) % 4)
    pairs = [(ours[one], theirs[two]) for one, two in spaces]
    return [(one, two) for one, two in pairs if one is not None and two is not None]


# Rotating and moving


def _of_moving(state: KernelState, before: tuple[str, ...], part: Part, names: Names) -> str | None:
    record, sequences = state.record, [*(state.targets() or {}).values()]
    apart = [seat for seat in _on_table(record) if not record.beside[seat]]
    may_move = any(action >= MOVES for action in state.legal_actions())
    if part.kind == "place" and apart and not may_move:
        return f"{_lie_apart(apart, names)} and can go nowhere, so a tile must be rotated: none may be moved."
    must_move = f"{_lie_apart(apart, names)}, so {'it' if len(apart) == 1 else 'one of them'} must be moved"
    if part.kind == "turn" and apart and may_move:
        return f"{must_move}, not rotated."
    if part.kind == "tile" and not any(sequence[0] == f"tile-{part.seat}" for sequence in sequences):
        return f"{must_move}: no other tile may be." if on_table(record, part.seat) else None
    if not before:
        return _of_first(part, sequences, must_move if apart else "", names)
    if part.kind == "place":
        return _of_move(record, int(before[0][-1]), part.place, names)
    kinds = {sequence[1].partition("-")[0] for sequence in sequences if sequence[:1] == before}
    wanted = [words for kind, words in (("place", "its new place"), ("turn", "how far it is rotated")) if kind in kinds]
    return names.begin(f"{tile_of(names, before[0])} is chosen: choose {' or '.join(wanted)}.")


def _lie_apart(tiles: list[int], names: Names) -> str:
    """Return that these tiles lie apart; nothing when there are none."""
    whose = listed([f"{names.whose(tile)} tile" for tile in tiles])
    return names.begin(f"{whose} {'lies' if len(tiles) == 1 else 'lie'} apart") if tiles else ""


def _of_first(part: Part, sequences: list[tuple[str, ...]], must_move: str, names: Names) -> str:
    """Return why a fighter, a place or a number of quarter turns cannot be the first part."""
    if part.kind == "fighter":
        return "No fight is left in this turn: choose a whole tile, not a fighter."
    if part.kind == "turn":
        return "Choose a tile first, then how far it is rotated."
    x, y = part.place
    tiles = sorted({sequence[0] for sequence in sequences if sequence[1:] == (f"place-{x},{y}",)})
    if tiles:
        return f"Choose a tile first: {listed([tile_of(names, tile) for tile in tiles], 'or')} may be moved there."
    if must_move:
        return f"{must_move}, but not to that place."
    return "No tile may go there: it must meet another tile's fighters and may leave no tiles disconnected."


def _of_move(record: np.record, tile: int, place: tuple[int, int], names: Names) -> str:
    """Return why a tile that may be moved cannot go to a place."""
    lying = [seat for seat in _on_table(record) if (int(record.x[seat]), int(record.y[seat])) == place]
    if lying:
        return names.begin(f"{names.whose(lying[0])} tile lies there.")
    meant = f"{names.whose(tile)} tile"
    beside = [(other, side) for other, side in _tiles_beside(record, place) if other != tile]
    if not beside:
        return f"No tile but {meant} lies beside that place."
    if not any(_across(record, tile, other, side) for other, side in beside):
        return f"No fighter on {meant} would stand beside a fighter of another tile there."
    for other in _on_table(record):
        if record.beside[other] == 1 << tile and record.beside[tile] == 1 << other:
            return names.begin(f"{meant} may not leave {names.whose(other)} tile, which would then lie apart.")
    return names.begin(f"{meant} may not go there: tiles that are connected now would not be any more.")
