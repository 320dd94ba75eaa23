"""Training of a game's evaluation, from its spec to its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bots.learning.record import write_training
from bots.learning.training import Progress as Progress
from bots.learning.training import Settings, Training
from bots.learning.weights import weights_file
from engine import UnsupportedError, load_game
from engine.specs import split_game_spec
from engine.state import KernelGame

PARTS = 20
"""Parts of a training that are told of."""
SMALL_PART = 200
"""Matches between two looks at the keyboard."""


class SelfPlay:
    """A training of a game that a spec names, by rate, decay and exploration.

    Raises an `EngineError` for a game that cannot be trained.
    """

    def __init__(self, game: str, players: int, seed: int, settings: tuple[float, float, float]) -> None:
        name, options = split_game_spec(game)
        loaded = load_game(name, players, **options)
        self._file = weights_file(loaded)
        if not isinstance(loaded, KernelGame):
            raise UnsupportedError(f"{loaded.name} has no kernels, and training needs them")
        self.spec = loaded.spec
        self._training, self._log = Training(loaded, seed, Settings(*settings)), list[Progress]()

    def parts(self, matches: int) -> Iterator[Progress]:
        """Train part by part, and tell how each went."""
        for until in sorted({matches * part // PARTS for part in range(1, PARTS + 1)} - {0}):
            self._log.append(self._trained(until))
            yield self._log[-1]

    def write(self, out: Path | None) -> Path:
        """Write weights and record, by default to where bots look for them; return the file of the weights."""
        path = out or self._file
        write_training(path, self._training, self._log)
        return path

    def _trained(self, until: int) -> Progress:
        """Go on until so many matches have been learned from."""
        error, states, abandoned = 0.0, 0, 0
        while self._training.matches < until:
            progress = self._training.go_on(min(SMALL_PART, until - self._training.matches))
            error += progress.error * progress.states
            states += progress.states
            abandoned += progress.abandoned
        return Progress(self._training.matches, error / states if states else 0.0, states, abandoned)
