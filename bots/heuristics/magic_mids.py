"""Magic Mids: an evaluation for 2 to 4 players, a rollout policy, and which rolls are alike."""

import numpy as np

from bots.features.magic_mids import ACTIVE, feature_count, features  # noqa: F401 - offered by this module
from engine.chance import below
from engine.kernel import kernel
from engine.magic_mids.rules import (
    BOARD,
    COLUMNS,
    DIRECTIONS,
    PLACEMENTS,
    ROWS,
    SIZES,
    SQUARES,
    THREE_BLANKS,
    WEIGHTS,
    captured,
    count,
    left,
    legal_actions,
    on_free_squares,
    sizes_held,
    square_at,
)

PROBABILITY = np.array(  # that a roll allows a size in a column, before hand and board are asked
    [
        [WEIGHTS[PLACEMENTS >> SQUARES * size + column & 1 == 1].sum() / WEIGHTS.sum() for column in range(COLUMNS)]
        for size in range(SIZES)
    ]
)

BURDEN = np.array([1.0, 0.5, 1.4])  # of a small, medium and large mid in hand
FORESEES_ROLLS = True
ROLL_AGAIN = -1


@kernel
def outcome_key(state, outcome):
    """Return the set of mids that the roll allows to be placed; three blanks, with their second roll, stand apart."""
    if outcome == THREE_BLANKS:
        return np.int64(ROLL_AGAIN)
    return PLACEMENTS[outcome & 63] & sizes_held(state.hands[state.seat]) & on_free_squares(state)


@kernel
def evaluate(state, seat):
    """Return how much more the others have still to place, after one roll's captures, as a share of all mids.

    With n players, b(a) the burden of the mids that a has in hand and prey(a, b) the mids of b that a can hope to
    capture with one roll, it is the sum over the other seats of

        (b(other) - b(seat) + prey(seat, other)) / (n - 1) - prey(other, seat)

    divided by the number of mids that a seat owns and cut to [-1, 1]. A medium mid in hand burdens by 0.5, a small one
    by 1 and a large one by 1.4: the rarer the rolls that place it, the more (fitted to 1,300 matches between searches).
    """
    return evaluate_by(state, seat, BURDEN)


@kernel
def evaluate_by(state, seat, burdens):
    """Return `evaluate` with other burdens of a small, medium and large mid."""
    lead = -burden(state.hands[seat], burdens)
    for other in range(state.players):
        if other != seat:
            hope, fear = prey(state, seat, other), prey(state, other, seat)
            lead += (burden(state.hands[other], burdens) + hope) / (state.players - 1) - fear
    return min(1.0, max(-1.0, lead / (left(state, seat) + count(state.mids[seat]))))


@kernel
def burden(hand, burdens):
    """Return how much is still to be done with a hand."""
    total = 0.0
    for size in range(SIZES):
        total += burdens[size] * (hand >> SQUARES * size & 15)
    return total


@kernel
def prey(state, hunter, owner):
    """Sum over all sizes and columns the chance to place there, times the most mids of `owner` that it captures."""
    open_to_hunter = sizes_held(state.hands[hunter]) & on_free_squares(state)
    hope = 0.0
    for size in range(SIZES):
        for column in range(COLUMNS):
            most = 0
            for row in range(ROWS):
                square = COLUMNS * row + column
                if open_to_hunter >> SQUARES * size + square & 1:
                    most = max(most, count(captured(state, hunter, size, square) & state.mids[owner]))
            hope += PROBABILITY[size, column] * most
    return hope


NEXT, SECOND = (  # by square and direction the squares one and two steps away; opposite directions add up to 7
    np.array(
        [
            [
                square_at(square // COLUMNS + steps * down, square % COLUMNS + steps * right)
                for down, right in DIRECTIONS
            ]
            for square in range(SQUARES)
        ]
    )
    for steps in (1, 2)
)


@kernel
def rollout_action(state, rng, actions):
    """Return a placement that the bot `catcher` might choose."""
    listed = legal_actions(state, actions)
    highest, kept = placement_worth(state, actions[0]), 0
    for i in range(listed):
        worth = placement_worth(state, actions[i])
        kept *= worth <= highest
        highest = max(worth, highest)
        actions[kept] = actions[i]
        kept += worth == highest
    return actions[below(rng, kept)]


@kernel
def placement_worth(state, action):
    """Return 3 times (2 for a mid captured, 1 for one shielded, -1 for a line open to capture), less the size."""
    size = action // SQUARES
    square = action - SQUARES * size
    own = state.mids[state.seat]
    caught = captured(state, state.seat, size, square)
    others = (state.mids[0] | state.mids[1] | state.mids[2] | state.mids[3]) ^ own ^ caught
    own, others = squares_of(own), squares_of(others)
    free = ~(own | others | 1 << square)
    gain = 2 * count(caught)
    for direction in range(8):
        beside, behind = NEXT[square, direction], NEXT[square, 7 - direction]
        gain += own >> beside & others >> SECOND[square, direction] & 1
        gain -= others >> beside & free >> behind & 1
    return 3 * gain - size


@kernel
def squares_of(mids):
    """Return the squares on which a set of mids stands."""
    return (mids | mids >> SQUARES | mids >> 2 * SQUARES) & BOARD
