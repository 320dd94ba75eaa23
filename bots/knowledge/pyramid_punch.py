"""Pyramid Punch: how good a position is for a seat, for 2 to 5 players, and which dice are alike."""

import numpy as np

from engine.kernel import kernel
from engine.pyramid_punch.rules import FIGHTERS, PAIRS, TOWARDS, fighter_on, lowest, offset_between, stands

WORTH = np.array([9.3, 4.4, 2.1, 1.0])  # of L, M, S and the stone
FULL_TILE = 16.8
WINS = np.array([3, 6, 10, 15, 21, 26, 30]) / 36.0  # chance to win, by the pips one has more, from -3 to 3


@kernel
def outcome_key(state, outcome):
    """1 when the mover wins the fight, 0 when it ties, -1 when the enemy wins."""
    die = outcome // 6
    margin = (die - (state.fight >> 2 & 3)) - (outcome - 6 * die - (state.fight & 3))
    return np.int64(margin > 0) - np.int64(margin < 0)


@kernel
def evaluate(state, seat):
    """The seat's mean return if the seats still in were equals, tilted by how much better it stands than they do.

    With n players, k of them out and a tilt in [-1, 1] that is (k + (n - k - 1) * tilt) / (n - 1). The tilt is
    (own - mean) / (own + mean) of what the seat's fighters are worth and what the other seats' are on average,
    both less what they can expect to lose in the fights across the edges of the seat's tile. A pip more makes a
    fighter worth 2.1 times as much, as it wins 21 fights for 10 that it loses: so a fight between two is nearly
    fair, and one beside bystanders is a loss. A seat that is out has its return.
    """
    others = state.players - 1
    if state.ranks[seat] > 0:
        return 1.0 - 2.0 * state.ranks[seat] / others
    if state.seats_in == 1:
        return 1.0
    own = max(worth_of(state, seat) - expected_loss(state, seat, True), 0.0)
    rest = -expected_loss(state, seat, False)
    for other in range(state.players):
        if other != seat and state.ranks[other] == 0:
            rest += worth_of(state, other)
    mean = max(rest / (state.seats_in - 1), 0.0)
    tilt = (own - mean) / (own + mean) if own + mean > 0.0 else 0.0
    return (state.players - state.seats_in + (state.seats_in - 1) * tilt) / others


@kernel
def worth_of(state, seat):
    """What a seat's fighters are worth; before it has arranged, those of a full tile."""
    if state.tiles[seat] == 0:
        return FULL_TILE
    worth = 0.0
    for fighter in range(FIGHTERS):
        if stands(state, seat, fighter):
            worth += WORTH[fighter]
    return worth


@kernel
def expected_loss(state, seat, own):
    """What the seat (`own`), or else its enemies, lose on average if all fights across its edges take place."""
    loss = 0.0
    left = state.beside[seat]
    while left != 0:
        enemy = lowest(left)
        left &= left - 1
        side = TOWARDS[offset_between(state, seat, enemy)]
        mine, theirs = state.tiles[seat], state.tiles[enemy]
        loss += loss_of_pair(fighter_on(mine, side), fighter_on(theirs, side + 3), own)
        loss += loss_of_pair(fighter_on(mine, side + 1), fighter_on(theirs, side + 2), own)
    return loss


@kernel
def loss_of_pair(own_bit, enemy_bit, own):
    """The same for two spaces that face each other; 0 when one is empty."""
    pair = PAIRS[own_bit << 4 | enemy_bit]
    if pair < 0:
        return 0.0
    loser, winner = (pair >> 2, pair & 3) if own else (pair & 3, pair >> 2)
    return WINS[3 + loser - winner] * WORTH[loser]
