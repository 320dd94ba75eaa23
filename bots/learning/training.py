"""Training of a game's weights by self-play."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bots.learning import training_kernel
from bots.learning.training_kernel import MILLION, Memory
from bots.learning.weights import features_of, learned_kernels, scratch, whole
from engine import UnsupportedError
from engine.chance import new_rng
from engine.kernel import bind
from engine.state import KernelGame

LONGEST = 20_000
"""Actions of a match that is learned from, in a game that does not say how far its matches can go."""


class Settings(NamedTuple):
    """How a training learns."""

    rate: float = 1.0
    """How far an error of 1 moves a state's sum of weights at first."""
    decay: float = 0.8
    """The lambda of TD(lambda): 0 learns from the next valuation alone, 1 from the end of the match."""
    exploration: float = 0.05
    """The share of actions that are random ones."""


class Progress(NamedTuple):
    """What a part of a training found."""

    matches: int
    """Matches so far."""
    error: float
    """Mean size of the difference between what states were valued at and what they turned out to be worth."""
    states: int
    """States that were learned from."""
    abandoned: int
    """Matches too long to learn from."""


DEFAULTS = Settings()


class Training:
    """The training of a game's weights: the same seed and settings give the same weights, bit for bit."""

    def __init__(self, game: KernelGame, seed: int, settings: Settings = DEFAULTS) -> None:
        self.game, self.seed, self.settings = game, seed, settings
        count = features_of(game).feature_count(game.players)
        self._start = game.blank()
        game.rules.set_up(game.record(self._start), game.players, game.params)
        self._rng = new_rng(seed)
        plies = _longest(game)
        self._memory = Memory(
            weights=np.zeros(count),
            drift=np.zeros(count),
            travel=np.zeros(count),
            active=scratch(game),
            trail=np.zeros((plies, self._start.size), np.uint64),
            by_chance=np.zeros(plies, np.int64),
            actions=game.action_buffer,
            values=np.zeros(game.action_buffer.size),
            words=game.blank(),
            child=game.blank(),
            place=np.zeros(game.players, np.int64),
            tally=np.zeros(3),
        )
        self._train = training_kernels(game).train
        self.matches = 0

    def go_on(self, matches: int) -> Progress:
        """Play and learn from some more matches."""
        tally = self._memory.tally
        tally[:] = 0.0
        rate, decay, exploration = self.settings
        self._train(self._start, matches, round(exploration * MILLION), rate, decay, self._rng, self._memory)
        self.matches += matches
        total, states, abandoned = tally.tolist()
        return Progress(self.matches, total / states if states else 0.0, int(states), int(abandoned))

    @property
    def exact(self) -> np.ndarray:
        """The weights as they are learned, in float64."""
        return self._memory.weights

    def kept(self) -> np.ndarray:
        """Return the weights as they are kept."""
        return whole(self._memory.weights)


def _longest(game: KernelGame) -> int:
    try:
        return min(game.max_game_length, LONGEST)
    except UnsupportedError:
        return LONGEST


def training_kernels(game: KernelGame) -> Any:
    """Return the kernels of `bots.learning.training_kernel`, bound to a game and its features."""
    shared = vars(learned_kernels(game))
    names = ("copy_state", "look_ahead", "describe", "added", "squashed", "worth", "TWO")
    return bind(training_kernel, game.rules, game.dtype, **{name: shared[name] for name in names})
