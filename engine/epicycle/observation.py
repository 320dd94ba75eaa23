"""What a seat sees of Epicycle: the ring from the gap, the hands, and how often positions have come."""

import numpy as np

from engine.epicycle.rules import CHANCE, SLOTS, TERMINAL, THREE_ALIKE, allowed, hand_of, next_seat_in, offset_of
from engine.kernel import kernel
from engine.observation import Block, ObservationSpec, Symmetry, permuted

VERSION = 1


def spec(players, params):
    """Return the layout of the observations."""
    blocks = (
        Block("ring", (9, 3), "the size, S M L, at each offset clockwise from the gap; zeros before the deal"),
        Block("hands", (players, 3), "pieces of each size in hand, by 3; zeros for a seat that is out", seat_axes=1),
        Block("ranks", (players,), "rank of a seat that is out, by players - 1; 0 for others", seat_axes=1),
        Block("to_move", (players,), "the seat to move; zeros before the deal and at the end", seat_axes=1),
        Block("over", (1,), "1 after the end"),
        Block("occurrences", (1,), "times that the position has come, by those that end the match; 0 with that off"),
        Block("seen_after", (6,), "times that the position after each action, if it is legal, has come; likewise"),
        Block("turn", (1,), "plays made, by max_turns"),
    )
    entries = permuted(blocks, {"ring": lambda ring: ring[::-1], "seen_after": lambda seen: seen[[1, 0, 3, 2, 5, 4]]})
    mirror = Symmetry("mirror", entries, np.arange(6) ^ 1)
    return ObservationSpec(VERSION, blocks, (mirror,))


@kernel
def observe(state, seat, out):
    players = state.players
    out[:] = 0
    if state.seat != CHANCE:
        for offset in range(1, SLOTS):
            out[3 * (offset - 1) + (state.pie >> 2 * offset & 3)] = 1
    hands, ranks, to_move = 27, 27 + 3 * players, 27 + 4 * players
    for i in range(players):
        other = seat + i if seat + i < players else seat + i - players
        hand = hand_of(state, other)
        for size in range(3):
            out[hands + 3 * i + size] = (hand >> 2 * size & 3) / 3
        if hand == 0:
            out[ranks + i] = state.ranks[other] / (players - 1)
        out[to_move + i] = other == state.seat
    rest = 27 + 5 * players
    out[rest] = state.seat == TERMINAL
    if state.repetition > 0 and state.seen > 0:
        out[rest + 1] = times_seen(state, state.history[state.seen - 1], state.seen - 1) / state.repetition
        if state.seat >= 0:
            legal = allowed(state, state.seat)
            for action in range(6):
                if legal >> action & 1:
                    out[rest + 2 + action] = seen_after(state, action) / state.repetition
    out[rest + 8] = state.turn / state.max_turns


@kernel
def times_seen(state, key, last):
    """Return how often the position has come, counted back from `last`, where the same seat moves."""
    count = 0
    i = last
    while i >= 0:
        count += state.history[i] == key
        i -= state.seats_in
    return count


@kernel
def seen_after(state, action):
    """Return how often the position after a legal action has come before; 0 when a seat goes out by it."""
    seat = state.seat
    size = action >> 1
    shift = 2 * offset_of(action)
    taken = state.pie >> shift & 3
    pie = (state.pie | size) & ~(3 << shift)
    pie = pie >> shift | (pie << (2 * SLOTS - shift) & 0xFFFFF)
    hands = state.hands + (1 << (6 * seat + 2 * taken)) - (1 << (6 * seat + 2 * size))
    if THREE_ALIKE[hands >> 6 * seat & 63]:
        return 0
    key = pie | hands << 20 | next_seat_in(state, seat) << 50
    return times_seen(state, key, state.seen - state.seats_in)
