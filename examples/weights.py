"""The weights of two built-in evaluations as parameters, to be tuned: as they are here, they are the built-in ones.

arena tune examples/weights.py:Mids --param small=0.2:3 --param large=0.2:3 --game magic_mids
"""

from typing import Annotated

import numpy as np

from bots import Between, Bot
from bots.greedy import look_ahead
from bots.heuristics import magic_mids, pyramid_punch

Weight = Annotated[float, Between(0.0, 100.0)]


class Mids(Bot):
    """Take the placement after which the own hand burdens least, and the others' most."""

    games = ("magic_mids",)
    small: Weight = 1.0
    medium: Weight = 0.5
    large: Weight = 1.4

    def prepare(self):
        self.weights = np.array([self.small, self.medium, self.large])

    def choose(self, state):
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        return self.pick_best(actions, [self.worth(state.child(action)) for action in actions])

    def worth(self, state):  # the roll that comes next changes nothing: this evaluation foresees it
        if state.is_terminal():
            return state.returns()[self.seat]
        return magic_mids.evaluate_by(state.record, self.seat, self.weights)


class Punch(Bot):
    """Take the action after which the own fighters are worth most, next to the others'."""

    games = ("pyramid_punch",)
    big: Weight = 9.3
    medium: Weight = 4.4
    small: Weight = 2.1
    stone: Weight = 1.0

    def prepare(self):
        self.weights = np.array([self.big, self.medium, self.small, self.stone])

    def choose(self, state):
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        return self.pick_best(actions, look_ahead(self.worth, state, self.seat, self.rng.getrandbits(32)))

    def worth(self, state, seat):
        return pyramid_punch.evaluate_by(state.record, seat, self.weights)
