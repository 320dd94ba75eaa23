"""Template: TD(lambda) by self-play on the states that actions lead to.

In each match every seat takes the action that the weights value most, and now and then a random one. When the match is
over, the states it went through are taken up from the last to the first: each is worth a mixture, by lambda, of what
the next one was valued at and what came of that. No state learns from a random action.

Each weight has a step size of its own (temporal coherence: Beal and Smith 1999): as long as its changes point the same
way it learns at full rate, and slows down as they cancel out. All in float64, by + - * / and square roots in the order
written, from whole random numbers: a seed gives the same bytes on every machine.
"""

from typing import NamedTuple

import numpy as np

from bots.learning.value_kernel import CHANCE, TERMINAL, UNIT
from engine.chance import below

RULES = ("current_player", "apply_action", "sample_chance", "apply_chance")
OPTIONAL = ()

MILLION = 1_000_000
SUM_OF_ERRORS, STATES_LEARNED, ABANDONED = range(3)  # what a tally counts


class Memory(NamedTuple):
    """Arrays of a training."""

    weights: np.ndarray  # (features,) float64
    drift: np.ndarray  # (features,) float64: by weight the sum of the errors it was changed by
    travel: np.ndarray  # (features,) float64: and the sum of their sizes
    active: np.ndarray  # int64: scratch of `features`
    trail: np.ndarray  # (plies, words) uint64: the states after each action of a match
    by_chance: np.ndarray  # (plies,) int64: 1 = the action was a random one
    actions: np.ndarray  # (actions,) int64
    values: np.ndarray  # (actions,) float64
    words: np.ndarray  # uint64: the state
    child: np.ndarray  # uint64
    place: np.ndarray  # (players,) int64: final ranks
    tally: np.ndarray  # (3,) float64: sum of sizes of errors, states learned from, matches too long to learn from


def train(start, matches, exploration, rate, decay, rng, memory):
    """Play matches from a state and learn from each; a random action is due with `exploration` in a million."""
    for _ in range(matches):
        plies = play(start, exploration, rng, memory)
        if plies < 0:
            memory.tally[ABANDONED] += 1.0
            continue
        for seat in range(1 if TWO else memory.place.size):
            learn(seat, plies, rate, decay, memory)


def play(start, exploration, rng, memory):
    """Play a match; return how many actions it took, -1 when there is no room for more."""
    weights, _, _, active, trail, by_chance, actions, values, words, child, place, _ = memory
    copy_state(start, words)
    state = words.view(STATE)[0]
    plies = 0
    while True:
        who = current_player(state)
        if who == TERMINAL:
            return plies
        if who == CHANCE:
            apply_chance(state, sample_chance(state, rng))
            continue
        if plies == by_chance.size:
            return -1
        count = look_ahead(words, who, actions, values, child, place, (weights, active))
        by_chance[plies] = count > 1 and below(rng, MILLION) < exploration
        chosen = below(rng, count) if by_chance[plies] else best_of(values, count, rng)
        apply_action(state, actions[chosen])
        copy_state(words, trail[plies])
        plies += 1


def best_of(values, count, rng):
    """Return the place of the highest value, of equals one at random."""
    best, ties = 0, 1
    for i in range(1, count):
        if values[i] > values[best]:
            best, ties = i, 1
        elif values[i] == values[best]:
            ties += 1
            if below(rng, ties) == 0:
                best = i
    return best


def learn(seat, plies, rate, decay, memory):
    """Learn from the states of a match, last to first, what each is worth to a seat; an action or dice ended it."""
    weights, drift, travel, active, trail, by_chance, _, _, words, _, place, tally = memory
    target, known = worth(words.view(STATE)[0], seat, place, (weights, active)), True
    for ply in range(plies - 1, -1, -1):
        state = trail[ply].view(STATE)[0]
        if current_player(state) != TERMINAL:
            count, sign = describe(state, seat, active)
            value = sign * squashed(added(weights, active, count))
            if known:
                error = target - value
                adjust(weights, drift, travel, active, count, sign * error, rate * UNIT / count)
                tally[SUM_OF_ERRORS] += abs(error)
                tally[STATES_LEARNED] += 1.0
                target = value + decay * error
            else:
                target = value
        known = by_chance[ply] == 0


def adjust(weights, drift, travel, active, count, error, step):
    """Move the weights of the active features towards less error."""
    for i in range(count):
        feature = active[i]
        share = 1.0
        if travel[feature] > 0.0:
            share = abs(drift[feature]) / travel[feature]
        weights[feature] += step * share * error
        drift[feature] += error
        travel[feature] += abs(error)
