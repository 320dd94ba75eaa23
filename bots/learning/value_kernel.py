"""Template: what a state is worth by learned weights, and one ply of look-ahead with that.

A game's `features` writes the numbers of the features that a state has for a seat. Their weights are added up in that
order, in units of a 1024th, and the sum x is squashed to x / sqrt(1 + x * x), by operations that every machine rounds
alike. With two players the state is described for the seat whose turn it is, and worth the opposite to the other one.

`memory` is a pair: the weights, and scratch for the numbers of features.
"""

import numpy as np

RULES = ("current_player", "rolling_seat", "legal_actions", "apply_action", "ranks")
OPTIONAL = ()

CHANCE, TERMINAL = -1, -4
UNIT = 1024.0


def describe(state, seat, active):
    """Write the features by which the state is valued for a seat; return (how many, 1 or -1 for the opposite)."""
    if not TWO:
        return features(state, seat, active), 1.0
    who = current_player(state)
    if who == CHANCE:
        who = rolling_seat(state)
    if who < 0:
        who = 0
    return features(state, who, active), 1.0 if seat == who else -1.0


def assess(state, seat, memory):
    """Return what a running state is worth to a seat, between -1 and 1."""
    weights, active = memory
    count, sign = describe(state, seat, active)
    return sign * squashed(added(weights, active, count))


def added(weights, active, count):
    """Return the sum of the weights of features."""
    total = weights[0] - weights[0]
    for i in range(count):
        total += weights[active[i]]
    return total


def squashed(total):
    """Return the worth that a sum of weights stands for."""
    x = total / UNIT
    return x / np.sqrt(1.0 + x * x)


def worth(state, seat, place, memory):
    """Return the seat's return after the end, the learned worth before it."""
    if current_player(state) != TERMINAL:
        return assess(state, seat, memory)
    ranks(state, place)
    return (points_of(place, seat) + 1 - place.size) / (place.size - 1)


def look_ahead(words, seat, actions, values, child, place, memory):
    """Write the legal actions and what each is worth to the seat; return how many there are."""
    count = legal_actions(words.view(STATE)[0], actions)
    for i in range(count):
        copy_state(words, child)
        apply_action(child.view(STATE)[0], actions[i])
        values[i] = worth(child.view(STATE)[0], seat, place, memory)
    return count
