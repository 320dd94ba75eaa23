"""Pyramid Punch: an evaluation for 2 to 5 players, a rollout policy, and which dice are alike."""

import numpy as np

from bots.features.pyramid_punch import ACTIVE, feature_count, features  # noqa: F401 - offered by this module
from engine.chance import below
from engine.kernel import kernel
from engine.pyramid_punch.rules import (
    FIGHT,
    FIGHTERS,
    FIGHTS,
    FIRST_TILES,
    MOVES,
    PLACES,
    ROTATIONS,
    STEP_X,
    STEP_Y,
    anchor_seat,
    lowest,
    pairs_facing,
    random_action,
    side_towards,
    stands,
    turned,
)

WORTH = np.array([9.3, 4.4, 2.1, 1.0])  # of L, M, S and the stone
WAYS = (3, 6, 10, 15, 21, 26, 30)  # of 36 to win, by the pips that one has more, from -3 to 3
WINS = np.array(WAYS) / 36.0


@kernel
def outcome_key(state, outcome):
    """Return 1 when the mover wins the fight, 0 when it ties, -1 when the enemy wins."""
    die = outcome // 6
    margin = (die - (state.fight >> 2 & 3)) - (outcome - 6 * die - (state.fight & 3))
    return np.int64(margin > 0) - np.int64(margin < 0)


@kernel
def evaluate(state, seat):
    """Return the seat's mean return if the seats still in were equals, tilted by how much better it stands.

    With n players, k of them out and a tilt in [-1, 1] that is (k + (n - k - 1) * tilt) / (n - 1). The tilt is
    (own - mean) / (own + mean) of what the seat's fighters are worth and what the other seats' are on average,
    both less what they can expect to lose in the fights across the edges of the seat's tile. A pip more makes a
    fighter worth 2.1 times as much, as it wins 21 fights for 10 that it loses: so a fight between two is nearly
    fair, and one beside bystanders is a loss. A seat that is out has its return.
    """
    return evaluate_by(state, seat, WORTH)


@kernel
def evaluate_by(state, seat, worths):
    """Return `evaluate` with other worths of L, M, S and the stone."""
    others = state.players - 1
    if state.ranks[seat] > 0:
        return 1.0 - 2.0 * state.ranks[seat] / others
    if state.seats_in == 1:
        return 1.0
    own = max(worth_of(state, seat, worths) - expected_loss(state, seat, worths, True), 0.0)
    rest = -expected_loss(state, seat, worths, False)
    for other in range(state.players):
        if other != seat and state.ranks[other] == 0:
            rest += worth_of(state, other, worths)
    mean = max(rest / (state.seats_in - 1), 0.0)
    tilt = (own - mean) / (own + mean) if own + mean > 0.0 else 0.0
    return (state.players - state.seats_in + (state.seats_in - 1) * tilt) / others


@kernel
def worth_of(state, seat, worths):
    """Return what a seat's fighters are worth; before it has arranged, those of a full tile."""
    if state.tiles[seat] == 0:
        return worths[0] + worths[1] + worths[2] + worths[3]
    worth = 0.0
    for fighter in range(FIGHTERS):
        if stands(state, seat, fighter):
            worth += worths[fighter]
    return worth


@kernel
def expected_loss(state, seat, worths, own):
    """Return what the seat (`own`), or else its enemies, lose on average if all fights across its edges take place."""
    loss = 0.0
    left = state.beside[seat]
    while left != 0:
        enemy = lowest(left)
        left &= left - 1
        for pair in pairs_facing(state, seat, enemy):
            if pair >= 0:
                loser, winner = (pair >> 2, pair & 3) if own else (pair & 3, pair >> 2)
                loss += WINS[3 + loser - winner] * worths[loser]
    return loss


DRAWN = 3  # rotations, moves or places compared
VALUE = (9, 4, 2, 1)  # of L, M, S and the stone


OWN, ENEMY = np.divmod(np.arange(FIGHTERS * FIGHTERS), FIGHTERS)
GAINS, LOSSES = (  # by 4 * own fighter + enemy fighter, 36 times what the enemy and what the own side lose on average
    np.take(WAYS, 3 + loser - winner) * np.take(VALUE, loser) for winner, loser in ((OWN, ENEMY), (ENEMY, OWN))
)


@kernel
def rollout_action(state, rng, actions):
    """Return the fight that the bot `brawler` picks, else the best of a few random actions by its judgement."""
    if state.phase == FIGHT:
        return best_fight(state, rng, actions)
    best = random_action(state, rng, actions)
    highest = action_worth(state, best)
    for _ in range(DRAWN - 1):
        action = random_action(state, rng, actions)
        worth = action_worth(state, action)
        if worth > highest:
            best, highest = action, worth
    return best


@kernel
def best_fight(state, rng, actions):
    """Return the fight worth most; among equals all are equally likely."""
    highest, kept = fight_worth(state, state.fights[0] & 15), 0
    for i in range(state.num_fights):
        worth = fight_worth(state, state.fights[i] & 15)
        kept *= worth <= highest
        highest = max(worth, highest)
        actions[kept] = FIGHTS + state.fights[i]
        kept += worth == highest
    return actions[below(rng, kept)]


@kernel
def fight_worth(state, pair):
    """Return what the enemy loses, less what the own side loses once for each opponent still in."""
    return GAINS[pair] - (state.seats_in - 1) * LOSSES[pair]


@kernel
def action_worth(state, action):
    """Return what all fights across the edges of the own tile are worth after the action: 0 while it is not placed."""
    seat = state.seat
    if action < FIGHTS or FIRST_TILES <= action < PLACES:
        return 0
    if action < ROTATIONS:
        return fight_worth(state, action - FIGHTS & 15)
    if action < MOVES:
        tile, turns = (action - ROTATIONS) // 3, (action - ROTATIONS) % 3 + 1
        return worth_when(state, seat, tile, turns, state.x[tile], state.y[tile])
    choice = action - (MOVES if action < PLACES else PLACES)
    turns = 0
    if action >= PLACES:
        turns = choice & 3
        choice >>= 2
    tile = choice >> 4
    anchor, side = anchor_seat(tile, choice >> 2 & 3), choice & 3
    return worth_when(state, seat, tile, turns, state.x[anchor] + STEP_X[side], state.y[anchor] + STEP_Y[side])


@kernel
def worth_when(state, seat, tile, turns, x, y):
    """Return the worth of all fights of the seat with the tile turned and laid there; the state is left as it was."""
    table, fighters, old_x, old_y = state.table, state.tiles[tile], state.x[tile], state.y[tile]
    state.table, state.tiles[tile], state.x[tile], state.y[tile] = table | 1 << tile, turned(fighters, turns), x, y
    worth = worth_of_fights(state, seat)
    state.table, state.tiles[tile], state.x[tile], state.y[tile] = table, fighters, old_x, old_y
    return worth


@kernel
def worth_of_fights(state, seat):
    """Return the worth of all fights across the edges of the seat's tile, by where the tiles lie."""
    worth = 0
    if state.table >> seat & 1 == 0:
        return worth
    left = state.table & ~(1 << seat)
    while left != 0:
        enemy = lowest(left)
        left &= left - 1
        if side_towards(state, seat, enemy) >= 0:
            for pair in pairs_facing(state, seat, enemy):
                worth += 0 if pair < 0 else fight_worth(state, pair & 15)
    return worth
