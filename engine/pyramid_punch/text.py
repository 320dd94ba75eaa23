"""Pyramid Punch's notation: actions, dice, position strings, and the drawing for a terminal."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.errors import PositionError
from engine.positions import check_ranks_out, read_seat, read_turn, split_fields
from engine.pyramid_punch.rules import (
    ARRANGE,
    ARRANGED,
    CAP,
    CHANCE,
    FIGHT,
    FIGHTERS,
    FIGHTS,
    MAX_PLAYERS,
    MOVE,
    NORMAL,
    OVER,
    PLACE,
    PYRAMIDS,
    ROLL,
    ROTATIONS,
    TERMINAL,
    begin_turn,
    note_neighbours,
    on_table,
    pack_tile,
    side_towards,
    stands,
    strike_out_fights,
)
from engine.words import counted

if TYPE_CHECKING:
    from engine.state import KernelGame, KernelState

LETTERS = "LMSO"
SIDE_LETTERS = "NESW"
SEATS = range(MAX_PLAYERS)
PLACES_AT = [f"{anchor}{side}" for anchor in SEATS for side in SIDE_LETTERS]
ACTIONS = (
    *("L" + "".join(others) for others in itertools.permutations("MSO")),
    *(f"{own}x{enemy}{fighter}" for enemy in SEATS for own in LETTERS for fighter in LETTERS),
    *(f"{tile}r{turns}" for tile in SEATS for turns in (1, 2, 3)),
    *(f"{tile}>{at}" for tile in SEATS for at in PLACES_AT if at[0] != str(tile)),
    *(f"{tile}@*" for tile in SEATS),
    *(f"{tile}@{at}/{turns}" for tile in SEATS for at in PLACES_AT if at[0] != str(tile) for turns in range(4)),
)
OUTCOMES = tuple(f"{own}-{enemy}" for own in range(1, 7) for enemy in range(1, 7))

PHASE_LETTERS = {ARRANGE: "a", PLACE: "p", FIGHT: "f", ROLL: "f", MOVE: "m", OVER: "-"}
INTEGER = "0|-?[1-9][0-9]*"
TILE = re.compile(rf"(?P<spaces>[{LETTERS}.]{{4}})@(?:-|(?P<x>{INTEGER}),(?P<y>{INTEGER}))")
PHASE = re.compile(r"[apm-]|f(?::(?P<fought>[0-9][LMSO](?:,[0-9][LMSO])*))?(?:!(?P<fight>[LMSO]x[0-9][LMSO]))?")
MOST_DIGITS = 18  # so that differences of coordinates fit the record


def fighters_on(tile: int) -> list[int | None]:
    """Return the fighters on a tile's four spaces, clockwise from top-left; None where a space is empty."""
    return [
        next((fighter for fighter in range(FIGHTERS) if tile >> 4 * space + fighter & 1), None) for space in range(4)
    ]


def tile_letters(tile: int) -> str:
    """Return the four spaces of a tile as letters, `.` where the fighter is gone."""
    return "".join("." if fighter is None else LETTERS[fighter] for fighter in fighters_on(tile))


# Writing positions


def write_position(game: KernelGame, state: np.record) -> str:
    """Return `TILES SEAT PHASE TURN`."""
    tiles = "/".join(_tile_text(state, seat) for seat in range(state.players))
    seat = state.seat if state.phase != OVER else "-"
    return f"{tiles} {seat} {_phase_text(state)} {state.turn}"


def _tile_text(state: np.record, seat: int) -> str:
    if state.tiles[seat] == 0:
        return "?" if state.phase == ARRANGE else f"x{state.ranks[seat]}"
    if not on_table(state, seat):
        return f"{tile_letters(state.tiles[seat])}@-"
    origin = next(other for other in range(state.players) if on_table(state, other))
    x, y = state.x[seat] - state.x[origin], state.y[seat] - state.y[origin]
    return f"{tile_letters(state.tiles[seat])}@{x},{y}"


def _phase_text(state: np.record) -> str:
    text = PHASE_LETTERS[int(state.phase)]
    if text == "f":
        fought = [
            f"{enemy}{letter}"
            for enemy in range(state.players)
            for fighter, letter in enumerate(LETTERS)
            if state.fought >> 4 * enemy + fighter & 1 and stands(state, enemy, fighter)
        ]
        text += ":" + ",".join(fought) if fought else ""
        text += "!" + ACTIONS[FIGHTS + state.fight] if state.phase == ROLL else ""
    return text


# Reading positions


def read_position(game: KernelGame, state: np.record, text: str) -> None:
    """Fill a blank record from a position string; raises `PositionError` with the field and why."""
    tiles, seat, phase, turn = split_fields(text, "TILES SEAT PHASE TURN")
    game.rules.set_up(state, game.players, game.params)
    match = PHASE.fullmatch(phase)
    if match is None:
        raise PositionError(
            "PHASE", f"'{phase}' is not a, p, m, - or f with the enemies fought and the fight to be rolled"
        )
    _read_turn(state, turn, phase)
    _read_tiles(state, tiles.split("/"), phase)
    _read_seat(state, seat, phase)
    if phase[0] == "f":
        _read_fights(state, match["fought"], match["fight"])


def _read_turn(state: np.record, text: str, phase: str) -> None:
    state.turn = read_turn(text, state.max_turns, "turns")
    if phase in "ap" and text != "0":
        raise PositionError("TURN", f"{text} must be 0 before all tiles are placed")


def _read_tiles(state: np.record, tiles: Sequence[str], phase: str) -> None:
    if len(tiles) != state.players:
        raise PositionError("TILES", f"has {len(tiles)} tiles for {state.players} players")
    out = []
    for seat, text in enumerate(tiles):
        if text == "?" and phase == "a":
            continue
        if re.fullmatch("x[0-9]", text) and phase not in "ap":
            state.ranks[seat] = int(text[1])
            out.append(int(text[1]))
        else:
            _read_tile(state, seat, text, phase)
    check_ranks_out("TILES", out, state.players)
    state.seats_in = state.players - len(out)
    _check_table(state)
    for seat in range(state.players):
        note_neighbours(state, seat)
    if not out and not _hangs_together(state):
        raise PositionError("TILES", "tiles lie apart, which they cannot while nobody is out")


def _read_tile(state: np.record, seat: int, text: str, phase: str) -> None:
    match = TILE.fullmatch(text)
    if match is None:
        raise PositionError("TILES", f"'{text}' is not a tile of phase {phase[0]}, such as LMSO@- or L.SO@1,-2")
    standing = match["spaces"].replace(".", "")
    tile = pack_tile([LETTERS.index(letter) if letter != "." else None for letter in match["spaces"]])
    if len(set(standing)) != len(standing) or tile & PYRAMIDS == 0:
        raise PositionError("TILES", f"'{text}' is not a tile with different fighters, a pyramid among them")
    state.tiles[seat] = tile
    placed = match["x"] is not None
    if not placed and (phase not in "ap" or tile not in ARRANGED):
        raise PositionError(
            "TILES", f"'{text}' cannot be unplaced: the phase must be a or p, the fighters all there, L first"
        )
    if placed and phase == "a":
        raise PositionError("TILES", f"'{text}' is placed before all are arranged")
    if placed:
        state.x[seat], state.y[seat] = (_coordinate(match[axis]) for axis in "xy")
        state.table |= 1 << seat


def _coordinate(text: str) -> int:
    if len(text.lstrip("-")) > MOST_DIGITS:
        raise PositionError("TILES", f"{text[:30]} is too far; coordinates have at most {MOST_DIGITS} digits here")
    return int(text)


def _check_table(state: np.record) -> None:
    places = [(int(state.x[seat]), int(state.y[seat])) for seat in range(state.players) if on_table(state, seat)]
    if places and places[0] != (0, 0):
        raise PositionError(
            "TILES", f"the lowest-numbered tile on the board is not at 0,0 but at {places[0][0]},{places[0][1]}"
        )
    if len(set(places)) != len(places):
        raise PositionError("TILES", "two tiles lie on one place")


def _hangs_together(state: np.record) -> bool:
    table = int(state.table)
    reached, grown = table & -table, 0
    while reached != grown:
        grown = reached
        for seat in range(state.players):
            if grown >> seat & 1:
                reached |= int(state.beside[seat])
    return reached == table


def _read_seat(state: np.record, text: str, phase: str) -> None:
    if (text == "-") != (phase == "-"):
        raise PositionError("SEAT", f"'{text}' with PHASE '{phase}': both are - when the match is over, neither before")
    if phase == "-":
        _read_end(state)
        return
    state.seat = read_seat(text, state.players)
    if phase in "ap":
        _read_opening_seat(state, phase)
        return
    if state.seats_in == 1:
        raise PositionError("SEAT", "must be - when one seat is left")
    if state.turn == state.max_turns:
        raise PositionError("SEAT", "must be -: TURN has reached the cap")
    if not on_table(state, state.seat):
        raise PositionError("SEAT", f"{text} is out")
    if state.seats_in == state.players and state.seat != state.turn % state.players:
        raise PositionError("SEAT", f"{text} is not TURN modulo players, {state.turn % state.players}")
    state.phase = MOVE


def _read_end(state: np.record) -> None:
    if state.seats_in > 1 and state.turn < state.max_turns:
        raise PositionError(
            "TURN", f"{state.turn} is below the cap, {state.max_turns}, but the match is over with several seats in"
        )
    state.phase = OVER
    state.ended = NORMAL if state.seats_in == 1 else CAP


def _read_opening_seat(state: np.record, phase: str) -> None:
    """Read the seat before the first turn, when the seats arrange, then place, in order, one each."""
    done = [bool(state.tiles[seat] if phase == "a" else on_table(state, seat)) for seat in range(state.players)]
    if phase == "a" and done != sorted(done, reverse=True):
        raise PositionError("TILES", "the seats arrange in order, so no ? can come before an arranged tile")
    if sum(done) == state.players:
        raise PositionError("PHASE", f"{phase}, but no tile is left for it")
    if state.seat != sum(done):
        raise PositionError("SEAT", f"{state.seat} is not the number of tiles done in phase {phase}, {sum(done)}")
    state.phase = ARRANGE if phase == "a" else PLACE


def _read_fights(state: np.record, fought: str | None, fight: str | None) -> None:
    begin_turn(state, state.seat)
    enemies = fought.split(",") if fought else []
    if enemies != sorted(set(enemies), key=lambda enemy: (enemy[0], LETTERS.index(enemy[1]))):
        raise PositionError("PHASE", f"'{fought}' is not in the order of seats, then L M S O, each enemy once")
    for text in enemies:
        enemy, fighter = int(text[0]), LETTERS.index(text[1])
        if not _met(state, enemy, fighter):
            raise PositionError(
                "PHASE", f"{text} was not fought: it is gone or touches no space of seat {state.seat}'s tile"
            )
        state.fought |= 1 << 4 * enemy + fighter
    strike_out_fights(state)
    if state.num_fights == 0:
        raise PositionError("PHASE", f"f, but seat {state.seat} has nobody to fight")
    state.phase = FIGHT
    if fight is not None:
        state.fight = ACTIONS.index(fight) - FIGHTS if fight in ACTIONS else -1
        if state.fight not in state.fights[: state.num_fights]:
            raise PositionError("PHASE", f"{fight} is not a fight that seat {state.seat} can have")
        state.phase = ROLL


def _met(state: np.record, enemy: int, fighter: int) -> bool:
    """Return whether an enemy fighter stands at the mover's tile; the one it fought may be gone."""
    if enemy >= state.players or not state.beside[state.seat] >> enemy & 1 or not stands(state, enemy, fighter):
        return False
    side = side_towards(state, enemy, state.seat)
    return fighters_on(state.tiles[enemy]).index(fighter) in (side, (side + 1) % 4)


# What drawings show


class LastPly(NamedTuple):
    """The last ply in notation, the tile that it moved (or None), and the spaces (seat, space) of its fight."""

    text: str
    tile: int | None
    spaces: frozenset[tuple[int, int]]


def last_ply(state: KernelState) -> LastPly:
    """Return what happened last, for a drawing to mark; an empty text when nothing has."""
    history = state.history()
    if not history:
        return LastPly("", None, frozenset())
    record, action = state.record, history[-1]
    if record.phase == ROLL:
        return LastPly(ACTIONS[action], None, _fight_spaces(record, action))
    if record.phase not in (ARRANGE, PLACE) and action < ROTATIONS:  # a fight's number would leave a roll to be made
        fight = history[-2] if len(history) > 1 else None
        text = OUTCOMES[action] if fight is None else f"{ACTIONS[fight]} {OUTCOMES[action]}"
        return LastPly(text, None, _fight_spaces(record, fight))
    tile = None if record.phase == ARRANGE or action < FIGHTS else int(ACTIONS[action][0])
    return LastPly(ACTIONS[action], tile, frozenset())


def _fight_spaces(state: np.record, fight: int | None) -> frozenset[tuple[int, int]]:
    """Return the spaces of a fight's two sides; where one has been knocked out, the space that the other faces."""
    if fight is None or not on_table(state, state.seat):
        return frozenset()
    own, enemy, theirs = LETTERS.index(ACTIONS[fight][0]), int(ACTIONS[fight][2]), LETTERS.index(ACTIONS[fight][3])
    if not state.beside[state.seat] >> enemy & 1:
        return frozenset()
    side = int(side_towards(state, state.seat, enemy))
    mine, other = fighters_on(state.tiles[state.seat]), fighters_on(state.tiles[enemy])
    for space, facing in ((side, (side + 3) % 4), ((side + 1) % 4, (side + 2) % 4)):
        if (
            mine[space] in (own, None)
            and other[facing] in (theirs, None)
            and (mine[space], other[facing]) != (None, None)
        ):
            return frozenset({(int(state.seat), space), (enemy, facing)})
    return frozenset()


class Table(NamedTuple):
    """The table cut to what is used: columns and rows of coordinates, None for a gap, and each seat's cell."""

    columns: list[int | None]
    rows: list[int | None]
    cells: dict[int, tuple[int, int]]


def table_of(state: np.record) -> Table:
    """Return where drawings put the tiles; every gap, however wide, becomes one column or row."""
    seats = [seat for seat in range(state.players) if on_table(state, seat)]
    if not seats:
        return Table([], [], {})
    places = {seat: (int(state.x[seat] - state.x[seats[0]]), int(state.y[seat] - state.y[seats[0]])) for seat in seats}
    columns, rows = (_with_gaps({place[axis] for place in places.values()}) for axis in (0, 1))
    return Table(columns, rows, {seat: (columns.index(x), rows.index(y)) for seat, (x, y) in places.items()})


def _with_gaps(used: set[int]) -> list[int | None]:
    line: list[int | None] = []
    for value in sorted(used):
        if line and value - 1 != line[-1]:
            line.append(None)
        line.append(value)
    return line


def seat_line(state: KernelState, seat: int) -> str:
    """Return what a seat has left, in words."""
    record = state.record
    if record.tiles[seat] == 0:
        return "to be arranged" if record.phase == ARRANGE else f"out, place {record.ranks[seat] + 1}"
    standing = " ".join(letter for fighter, letter in enumerate(LETTERS) if stands(record, seat, fighter))
    return standing if on_table(record, seat) else f"{standing}, unplaced: {tile_letters(record.tiles[seat])}"


# The drawing for a terminal

TILE_WIDTH, TILE_HEIGHT, MARGIN = 8, 4, 5
SPACE_AT = ((2, 1), (6, 1), (6, 3), (2, 3))  # column and row of a tile's spaces in its frame


def draw(state: KernelState) -> str:
    """Draw the tiles where they lie, the mover and the last ply marked, and what every seat has left."""
    who, last = state.current_player(), last_ply(state)
    mover = state.rolling_seat() if who == CHANCE else who
    lines = _draw_table(state.record, mover, last)
    for seat in range(state.game.players):
        lines.append(f"{'>' if seat == mover else ' '} seat {seat}  {seat_line(state, seat)}")
    if last.text:
        lines.append(f"  last: {last.text}")
    lines += textwrap.wrap(_status(state, who), 78, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


def _draw_table(state: np.record, mover: int, last: LastPly) -> list[str]:
    table = table_of(state)
    if not table.cells:
        return []
    width, height = MARGIN + TILE_WIDTH * len(table.columns) + 1, TILE_HEIGHT * len(table.rows) + 2
    canvas = [[" "] * width for _ in range(height)]
    for number, x in enumerate(table.columns):
        _write(canvas, MARGIN + TILE_WIDTH * number + 1, 0, _label(x).center(TILE_WIDTH - 1))
    for number, y in enumerate(table.rows):
        _write(canvas, 0, TILE_HEIGHT * number + 3, _label(y).rjust(MARGIN - 1))
    for seat, (column, row) in table.cells.items():
        left, top = MARGIN + TILE_WIDTH * column, TILE_HEIGHT * row + 1
        _draw_tile(canvas, left, top, state, seat, seat == mover, last)
    return ["".join(line).rstrip() for line in canvas] + [""]


def _draw_tile(
    canvas: list[list[str]], left: int, top: int, state: np.record, seat: int, moves: bool, last: LastPly
) -> None:
    for row in range(TILE_HEIGHT + 1):
        edge = row in (0, TILE_HEIGHT)
        _write(canvas, left, top + row, "+-------+" if edge else "|       |")
    label = f"[{seat}]" if seat == last.tile else f" {seat} "
    _write(canvas, left + 2, top + 2, (">" if moves else " ") + label)
    for space, (column, row) in enumerate(SPACE_AT):
        letter = tile_letters(state.tiles[seat])[space]
        text = f"[{letter}]" if (seat, space) in last.spaces else f" {letter} "
        _write(canvas, left + column - 1, top + row, text)


def _write(canvas: list[list[str]], column: int, row: int, text: str) -> None:
    canvas[row][column : column + len(text)] = text


def _label(coordinate: int | None) -> str:
    """Return a coordinate for the margin; `..` for a gap and for what has no room."""
    text = ".." if coordinate is None else str(coordinate)
    return text if len(text) < MARGIN else ".."


def _status(state: KernelState, who: int) -> str:
    record, turns = state.record, counted(int(state.record.turn), "turn")
    if who == CHANCE:
        return f"after {turns}, dice for {ACTIONS[FIGHTS + record.fight]}"
    if who == TERMINAL:
        return f"over after {turns} ({state.ended}), places {[rank + 1 for rank in state.ranks()]}"
    return f"after {turns}, legal: {' '.join(ACTIONS[action] for action in state.legal_actions())}"
