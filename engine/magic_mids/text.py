"""Magic Mids' notation: actions, rolls, position strings, and the drawing for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import PositionError
from engine.magic_mids import rules
from engine.positions import read_seat, read_turn, split_fields
from engine.words import counted

if TYPE_CHECKING:
    from engine.state import KernelGame, KernelState

SIZE_LETTERS = "SML"
ROW_LETTERS = "abcde"
HEADERS = "2345"
FACES = "ba2345"
SQUARE_NAMES = tuple(row + header for row in ROW_LETTERS for header in HEADERS)
ACTIONS = tuple(size + square for size in SIZE_LETTERS for square in SQUARE_NAMES)
OUTCOMES = tuple("".join(FACES[face] for face in roll) for roll in rules.ROLLS)
FREE = ".."


def board_cells(state: np.record) -> list[str]:
    """Return twenty cells, row by row: seat digit and size letter, or `..`."""
    cells = [FREE] * rules.SQUARES
    for seat, mids in enumerate(state.mids.tolist()):
        for action, name in enumerate(ACTIONS):
            if mids >> action & 1:
                cells[action % rules.SQUARES] = f"{seat}{name[0]}"
    return cells


def hand_counts(state: np.record, seat: int) -> list[int]:
    """Return how many small, medium and large mids a seat has in hand."""
    return [int(state.hands[seat]) >> rules.SQUARES * size & 15 for size in range(len(SIZE_LETTERS))]


def write_position(game: KernelGame, state: np.record) -> str:
    """Return `BOARD HANDS SEAT ROLL TURN`."""
    cells = board_cells(state)
    board = "/".join("".join(cells[start : start + rules.COLUMNS]) for start in range(0, rules.SQUARES, rules.COLUMNS))
    hands = "/".join("".join(map(str, hand_counts(state, seat))) for seat in range(game.players))
    seat = "-" if state.seat == rules.TERMINAL else state.seat
    roll = "-" if state.roll == rules.NO_ROLL else OUTCOMES[state.roll]
    return f"{board} {hands} {seat} {roll} {state.turn}"


def read_position(game: KernelGame, state: np.record, text: str) -> None:
    """Fill a blank record from a position string; raises `PositionError` with the field and why."""
    board, hands, seat, roll, turn = split_fields(text, "BOARD HANDS SEAT ROLL TURN")
    rules.set_up(state, game.players, game.params)
    _read_board(state, board)
    _read_hands(state, hands.split("/"))
    state.turn = read_turn(turn, state.max_turns, "turns")
    ending = _ending(state)
    if seat == "-":
        _read_end(state, ending, roll)
    else:
        _read_seat(state, ending, seat)
        _read_roll(state, roll)


def _read_board(state: np.record, text: str) -> None:
    row = rf"(?:[0-{state.players - 1}][{SIZE_LETTERS}]|\.\.){{{rules.COLUMNS}}}"
    if not re.fullmatch(f"{row}(?:/{row}){{{rules.ROWS - 1}}}", text):
        seats = f"0 to {state.players - 1}"
        raise PositionError(
            "BOARD", f"'{text}' is not five rows of four squares, each a seat {seats} with S, M or L, or .."
        )
    cells = re.findall("..", text.replace("/", ""))
    for square, cell in enumerate(cells):
        if cell != FREE:
            state.mids[int(cell[0])] |= 1 << ACTIONS.index(cell[1] + SQUARE_NAMES[square])


def _read_hands(state: np.record, hands: Sequence[str]) -> None:
    if len(hands) != state.players:
        raise PositionError("HANDS", f"has {len(hands)} hands for {state.players} players")
    cells = board_cells(state)
    for seat, hand in enumerate(hands):
        if not re.fullmatch("[0-9]{3}", hand):
            raise PositionError("HANDS", f"'{hand}' is not three digits, the S, M and L in hand")
        for size, in_hand, stock in zip(SIZE_LETTERS, map(int, hand), rules.STOCK[int(state.players)], strict=True):
            on_board = cells.count(f"{seat}{size}")
            if on_board + in_hand != stock:
                raise PositionError(
                    "HANDS", f"seat {seat} has {on_board} {size} on the board and {in_hand} in hand, of {stock} in play"
                )
        state.hands[seat] = rules.pack_hand(map(int, hand))


def _ending(state: np.record) -> int:
    """Return how a match with this board and turn is over, 0 when it runs; raises when somebody won out of turn."""
    mover = (int(state.turn) - 1) % int(state.players)
    for seat in range(state.players):
        if state.hands[seat] == 0 and seat != mover:
            raise PositionError("TURN", f"seat {seat} has placed all its mids, but seat {mover} took the last turn")
    if state.hands[mover] == 0:
        return rules.NORMAL
    if rules.squares_taken(state) == rules.BOARD:
        return rules.FULL_BOARD
    return rules.CAP if state.turn == state.max_turns else 0


def _read_end(state: np.record, ending: int, roll: str) -> None:
    if not ending:
        raise PositionError("SEAT", "is -, but nobody has won, squares are free and TURN is below the cap")
    if state.turn == 0:
        raise PositionError("TURN", "is 0, but the turn in which a match ends counts")
    if roll != "-":
        raise PositionError("ROLL", f"'{roll}' cannot be used, the match is over; must be -")
    rules.finish(state, ending)


def _read_seat(state: np.record, ending: int, text: str) -> None:
    seat = read_seat(text, state.players)
    if ending:
        why = {
            rules.NORMAL: "a seat has placed all its mids",
            rules.FULL_BOARD: "the board is full",
            rules.CAP: "TURN has reached the cap",
        }
        raise PositionError("SEAT", f"must be -: {why[ending]}")
    expected = state.turn % state.players
    if seat != expected:
        raise PositionError("SEAT", f"{text} is not TURN modulo players, {expected}")
    state.seat = seat


def _read_roll(state: np.record, text: str) -> None:
    if text == "-":
        return
    if text not in OUTCOMES:
        raise PositionError("ROLL", f"'{text}' is neither - nor three faces out of b, a, 2, 3, 4, 5 in that order")
    state.roll = OUTCOMES.index(text)
    if not rules.allowed(state):
        raise PositionError("ROLL", f"{text} allows seat {state.seat} no placement, so its turn would be over")


def last_placement(state: np.record) -> tuple[int, int] | None:
    """Return (seat, action) of the last placement; None when the state remembers none."""
    action = int(state.last) - 1
    if action < 0:
        return None
    return next(seat for seat in range(state.players) if state.mids[seat] >> action & 1), action


def captures(state: np.record) -> list[int]:
    """Return what the last placement captured, as the actions that had placed it."""
    return [action for action in range(len(ACTIONS)) if state.caught >> action & 1]


def draw(state: KernelState) -> str:
    """Draw the board with the last placement marked, what it captured, and every hand."""
    record = state.record
    cells = [f" {cell.replace('..', ' .')} " for cell in board_cells(record)]
    placed = last_placement(record)
    if placed:
        square = placed[1] % rules.SQUARES
        cells[square] = f"[{cells[square].strip()}]"
    lines = ["      " + "".join(f"   {header}  " for header in HEADERS).rstrip()]
    for row, letter in enumerate(ROW_LETTERS):
        lines.append(
            f"  {letter}   " + "".join(f" {cell} " for cell in cells[rules.COLUMNS * row :][: rules.COLUMNS]).rstrip()
        )
    lines.append("")
    who = state.rolling_seat()
    for seat in range(record.players):
        counts = hand_counts(record, seat)
        hand = " ".join(f"{letter * count or '-':5}" for letter, count in zip(SIZE_LETTERS, counts, strict=True))
        lines.append(f"{'>' if seat == who else ' '} seat {seat}  {hand}  {sum(counts)} in hand")
    if placed:
        taken = " ".join(ACTIONS[action] for action in captures(record))
        lines.append(f"  last: seat {placed[0]}, {ACTIONS[placed[1]]}{', captured ' + taken if taken else ''}")
    return "\n".join([*lines, _status(state)])


def _status(state: KernelState) -> str:
    turn, who = state.record.turn, state.current_player()
    if who == rules.TERMINAL:
        return f"  over after {counted(turn, 'turn')} ({state.ended}), places {[rank + 1 for rank in state.ranks()]}"
    if who == rules.CHANCE:
        return f"  after {counted(turn, 'turn')}, seat {state.rolling_seat()} rolls"
    legal = " ".join(ACTIONS[action] for action in state.legal_actions())
    text = f"after {counted(turn, 'turn')}, roll {OUTCOMES[state.record.roll]}, legal: {legal}"
    return textwrap.fill(text, 80, initial_indent="  ", subsequent_indent="    ")
