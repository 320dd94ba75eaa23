"""Epicycle's notation: actions, deals, position strings, and the drawing for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.epicycle import rules
from engine.errors import PositionError
from engine.positions import check_ranks_out, read_seat, read_turn, split_fields
from engine.words import counted

if TYPE_CHECKING:
    from engine.state import KernelGame, KernelState

SIZES = "SML"
ACTIONS = tuple(size + side for size in SIZES for side in "+-")
OUTCOMES = tuple("".join(SIZES[size] for size in arrangement) for arrangement in rules.ARRANGEMENTS)
EMPTY_PIE = "." * rules.SLOTS
HANDS = ["".join(size * (hand >> 2 * i & 3) for i, size in enumerate(SIZES)) for hand in range(64)]
"""Letters of a hand by its six bits."""


def pie_letters(state: np.record) -> str:
    """Return ten letters for slots 0 to 9, `.` for the gap; all dots before the deal."""
    if state.seat == rules.CHANCE:
        return EMPTY_PIE
    pie = int(state.pie)
    clockwise = "".join([SIZES[pie >> 2 * offset & 3] for offset in range(1, rules.SLOTS)])
    start = rules.SLOTS - int(state.gap)  # offsets run from the gap, slots from 0
    return (("." + clockwise) * 2)[start : start + rules.SLOTS]


def hand_letters(hands: int, seat: int) -> str:
    """Return the pieces that a seat holds, in the order S, M, L; none when it is out."""
    return HANDS[hands >> 6 * seat & 63]


def write_position(game: KernelGame, state: np.record) -> str:
    """Return `PIE HANDS SEAT TURN`."""
    packed = int(state.hands)
    hands = "/".join(hand_letters(packed, seat) or f"x{state.ranks[seat]}" for seat in range(game.players))
    seat = "-" if state.seat < 0 else state.seat
    return f"{pie_letters(state)} {hands} {seat} {state.turn}"


def memory(state: np.record) -> bytes:
    """Return what the position leaves out: the positions since the last elimination, in no order."""
    return np.sort(state.history[: state.seen]).tobytes()


def read_position(game: KernelGame, state: np.record, text: str) -> None:
    """Fill a blank record from a position string; raises `PositionError` with the field and why."""
    pie, hands, seat, turn = split_fields(text, "PIE HANDS SEAT TURN")
    rules.set_up(state, game.players, game.params)
    state.turn = read_turn(turn, state.max_turns, "plays")
    before_the_deal = pie == EMPTY_PIE and game.params["setup"] == "random"
    if not before_the_deal:
        _read_pie(state, pie)
    _read_hands(state, hands.split("/"))
    if before_the_deal:
        if write_position(game, game.new_initial_state().record) != text:
            raise PositionError("PIE", "is empty, which it is only before the deal, with full hands, SEAT - and TURN 0")
        state.seat = rules.CHANCE
        return
    _count_pieces(state)
    state.seen = 0
    _read_seat(state, seat)
    if state.turn == 0:
        _check_start(game, text)
    if state.seat >= 0:
        state.history[0] = state.pie | state.hands << 20 | state.seat << 50
        state.seen = int(state.repetition > 0)


def _read_pie(state: np.record, text: str) -> None:
    if not re.fullmatch(f"[{SIZES}.]{{{rules.SLOTS}}}", text) or text.count(".") != 1:
        raise PositionError("PIE", f"'{text}' is not ten letters out of S, M, L with one . for the gap")
    state.gap = text.index(".")
    clockwise = text[state.gap + 1 :] + text[: state.gap]
    state.pie = rules.pack_pie([SIZES.index(letter) for letter in clockwise])


def _read_hands(state: np.record, hands: Sequence[str]) -> None:
    if len(hands) != state.players:
        raise PositionError("HANDS", f"has {len(hands)} hands for {state.players} players")
    out: list[int] = []
    packed = 0
    for seat, hand in enumerate(hands):
        if re.fullmatch("x[0-9]", hand):
            state.ranks[seat] = int(hand[1:])
            out.append(int(hand[1:]))
            continue
        if len(hand) != 3 or set(hand) - set(SIZES) or list(hand) != sorted(hand, key=SIZES.index):
            raise PositionError("HANDS", f"'{hand}' is not three pieces in the order S, M, L, or x and a rank")
        if len(set(hand)) == 1:
            raise PositionError("HANDS", f"'{hand}' is three alike, which is out")
        packed |= sum(hand.count(size) << 2 * i for i, size in enumerate(SIZES)) << 6 * seat
    check_ranks_out("HANDS", out, state.players)
    state.hands = packed
    state.seats_in = state.players - len(out)


def _count_pieces(state: np.record) -> None:
    for i, size in enumerate(SIZES):
        in_pie = sum(int(state.pie >> 2 * offset & 3) == i for offset in range(1, rules.SLOTS))
        count = in_pie + sum(int(state.hands >> 6 * seat + 2 * i & 3) for seat in range(state.players))
        allowed_count = 3 + state.players
        if count > allowed_count or (state.seats_in == state.players and count != allowed_count):
            raise PositionError(
                "PIE", f"{count} pieces of size {size} with the hands, where {allowed_count} are in play"
            )


def _read_seat(state: np.record, text: str) -> None:
    if text == "-":
        state.seat = rules.TERMINAL
        capped = rules.CAP if state.turn == state.max_turns else rules.REPETITION
        state.ended = rules.NORMAL if state.seats_in == 1 else capped
        return
    seat = read_seat(text, state.players)
    if state.seats_in == 1:
        raise PositionError("SEAT", "must be - when one seat is left")
    if state.turn == state.max_turns:
        raise PositionError("SEAT", "must be -: TURN has reached the cap")
    if not state.hands >> 6 * seat & 63:
        raise PositionError("SEAT", f"{seat} is out")
    if not rules.allowed(state, seat):
        raise PositionError("SEAT", f"{seat} has no legal play, so it would be out")
    if state.seats_in == state.players and seat != state.turn % state.players:
        raise PositionError("SEAT", f"{seat} is not TURN modulo players, {state.turn % state.players}")
    state.seat = seat


def _check_start(game: KernelGame, text: str) -> None:
    """Check that at TURN 0 there is a start: the standard one, or what some deal leaves."""
    start = game.new_initial_state()
    if start.current_player() != rules.CHANCE:
        if start.position != text:
            raise PositionError("TURN", f"0 is the start, which is {start.position}")
        return
    letters = text.split(" ")[0][: rules.SLOTS - 1]
    if letters not in OUTCOMES or start.child(OUTCOMES.index(letters)).position != text:
        raise PositionError("TURN", "0 is the start, and no deal leaves this position")


class LastPlay(NamedTuple):
    """A play, the slot its piece was put into, and how many slots clockwise from there the piece taken stood."""

    action: int
    slot: int
    steps: int


def last_play(state: KernelState) -> LastPlay | None:
    """Return the last play; None at the start, after a deal, and in a state read from a position."""
    history, gap = state.history(), int(state.record.gap)
    if not history or not state.record.turn:
        return None
    offset = int(rules.offset_of(history[-1]))
    return LastPlay(
        history[-1], (gap - offset) % rules.SLOTS, offset if offset < rules.SLOTS // 2 else offset - rules.SLOTS
    )


def draw(state: KernelState) -> str:
    """Draw the pie as a ring, the gap and the last play marked, and every hand."""
    record = state.record
    letters = list(pie_letters(record).replace(".", "_"))
    cells = [f" {letter} " for letter in letters]
    last = last_play(state)
    if last:
        cells[last.slot] = f"[{letters[last.slot]}]"
    lines = [
        "        9   0   1",
        f"       {cells[9]} {cells[0]} {cells[1]}",
        f"  8 {cells[8]}           {cells[2]} 2",
        f"  7 {cells[7]}           {cells[3]} 3",
        f"       {cells[6]} {cells[5]} {cells[4]}",
        "        6   5   4",
        "",
    ]
    who = state.current_player()
    for seat in range(state.game.players):
        hand = " ".join(hand_letters(int(record.hands), seat)) or f"out, place {record.ranks[seat] + 1}"
        lines.append(f"{'>' if seat == who else ' '} seat {seat}  {hand}")
    lines.append(_status(state, who))
    return "\n".join(lines)


def _status(state: KernelState, who: int) -> str:
    if who == rules.CHANCE:
        return "  before the deal"
    plays = counted(int(state.record.turn), "play")
    if who == rules.TERMINAL:
        return f"  over after {plays} ({state.ended}), places {[rank + 1 for rank in state.ranks()]}"
    return f"  after {plays}, legal: {' '.join(ACTIONS[action] for action in state.legal_actions())}"
