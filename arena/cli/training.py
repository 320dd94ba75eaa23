"""`arena train`."""

from __future__ import annotations

from pathlib import Path

from arena.cli.exit_codes import FINE, INTERRUPTED
from arena.cli.output import print_text, print_to_stderr
from arena.core.errors import ConfigError
from arena.core.files import check_output_file
from bots.learning.record import write_training
from bots.learning.training import Progress, Settings, Training
from bots.learning.weights import weights_file
from engine import UnsupportedError, load_game
from engine.specs import split_game_spec
from engine.state import KernelGame

PARTS = 20
"""Lines of a training's log."""
SMALL_PART = 200
"""Matches between two looks at the keyboard."""


def print_train(game: str, players: int, seed: int, matches: int, settings: Settings, out: Path | None) -> int:
    """Run `arena train` and return the exit code."""
    name, options = split_game_spec(game)
    loaded = load_game(name, players, **options)
    if out is not None:
        check_output_file(out, "--out")
    path = out or weights_file(loaded)
    if path.suffix != ".npy":
        raise ConfigError(f"--out {path}: weights are written to a file that ends in .npy")
    if not isinstance(loaded, KernelGame):
        raise UnsupportedError(f"{loaded.name} has no kernels, and training needs them")
    training, log = Training(loaded, seed, settings), list[Progress]()
    print_text(f"{loaded.spec} for {players} players: {matches:,} matches against itself, seed {seed}")
    try:
        for part in range(1, PARTS + 1):
            log.append(trained(training, matches * part // PARTS))
            print_text(progress_line(log[-1]))
    except KeyboardInterrupt:
        print_to_stderr("Interrupted; nothing was written.")
        return INTERRUPTED
    write_training(path, training, log)
    print_text(f"Weights: {path}")
    return FINE


def trained(training: Training, until: int) -> Progress:
    """Go on until so many matches have been learned from; return what came of those since."""
    error = states = abandoned = 0
    while training.matches < until:
        progress = training.go_on(min(SMALL_PART, until - training.matches))
        error += progress.error * progress.states
        states += progress.states
        abandoned += progress.abandoned
    return Progress(training.matches, error / states if states else 0.0, states, abandoned)


def progress_line(progress: Progress) -> str:
    """Return how a part of the training went as a line."""
    lost = f", {progress.abandoned:,} matches too long to learn from" if progress.abandoned else ""
    return f"  {progress.matches:>9,} matches: {progress.states:,} states, mean error {progress.error:.4f}{lost}"
