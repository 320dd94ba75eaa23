"""Template: bots as policies of a batch (`engine.batch.Policy`), a function for each.

Each chooses as its bot does that draws from the same generator; `uct` as the bot whose seed is the generator's state,
which stays as it is. A forced move is made without a draw.
"""

import numpy as np

from engine.chance import below, next_word

RULES = ("legal_actions",)
OPTIONAL = ()


def greedy(words, seat, rng, legal, scratch):
    """Return the action that is worth most after one ply."""
    count = legal_actions(words.view(STATE)[0], legal)
    if count == 1:
        return legal[0]
    values, child, rolled, outcomes, weights, place = scratch
    luck = np.int64(next_word(rng) >> np.uint64(32))
    look_ahead(words, seat, luck, legal, values, child, rolled, outcomes, weights, place)
    return best(legal, values, count, rng)


def flat_mc(words, seat, rng, legal, scratch):
    """Return the action that gains most in random playouts."""
    count = legal_actions(words.view(STATE)[0], legal)
    if count == 1:
        return legal[0]
    playouts, points, totals, child, rolled, wide, place = scratch
    compare_actions(words, seat, playouts, rng, legal, points, totals, child, rolled, wide, place)
    return best(legal, points, count, rng)


def best(actions, values, count, rng):
    """Return the action of the highest value, one of equals at random."""
    highest, ties = values[0], 0
    for i in range(count):
        if values[i] > highest:
            highest, ties = values[i], 0
        ties += values[i] == highest
    left = below(rng, ties)
    for i in range(count):
        if values[i] == highest:
            if left == 0:
                return actions[i]
            left -= 1
    return actions[0]


def uct(words, seat, rng, legal, scratch):
    """Return the action that a tree search comes to."""
    if legal_actions(words.view(STATE)[0], legal) == 1:
        return legal[0]
    simulations, own, weights, tree, pool, arrays = scratch
    own[0] = rng[0]
    seed_rng(words, own)
    plant(tree, pool)
    search(words, simulations, weights, own, tree, pool, arrays)
    return tree[chosen_child(tree, arrays.place.size)].label


def chosen_child(tree, players):
    """Return the first of the root's children as `Tree.children` sorts them."""
    first = tree[0].first
    most, proven = first, first
    for child in range(first + 1, first + tree[0].count):
        if comes_before(tree, child, most, players):
            most = child
    if not SOLVE:
        return most
    found = False
    for child in range(first, first + tree[0].count):
        if tree[child].proven != 0:
            worth, best_worth = mean_return(tree, child, players), mean_return(tree, proven, players)
            better = worth > best_worth or (worth == best_worth and comes_before(tree, child, proven, players))
            if not found or better:
                found, proven = True, child
    worth = mean_return(tree, proven, players)
    if found and (tree[most].proven != 0 or (worth > -1.0 and worth >= mean_return(tree, most, players))):
        return proven
    return most


def comes_before(tree, child, other, players):
    """Return whether a child was visited more, or as often with more gain; what is proven lost comes last."""
    worth, other_worth = mean_return(tree, child, players), mean_return(tree, other, players)
    if SOLVE:
        lost = tree[child].proven != 0 and worth == -1.0
        other_lost = tree[other].proven != 0 and other_worth == -1.0
        if lost != other_lost:
            return other_lost
    if tree[child].visits != tree[other].visits:
        return tree[child].visits > tree[other].visits
    return worth > other_worth


def mean_return(tree, child, players):
    """Return the mean return of a child of the root for the seat to move, 0 without visits."""
    if tree[child].visits == 0:
        return 0.0
    points, visits = tree[child].points, tree[child].visits
    if SOLVE and tree[child].proven != 0:
        points, visits = points_proven(tree[child].proven, tree[0].who), 1
    return points / (visits * (players - 1)) - 1.0
