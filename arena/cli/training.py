"""`arena train`."""

from __future__ import annotations

from pathlib import Path

from arena.cli.exit_codes import FINE, INTERRUPTED
from arena.cli.output import print_text, print_to_stderr
from arena.core.errors import ConfigError
from arena.core.files import check_output_file
from arena.registry.training import Progress, SelfPlay


def print_train(
    game: str, players: int, seed: int, matches: int, rate: float, decay: float, exploration: float, out: Path | None
) -> int:
    """Run `arena train` and return the exit code."""
    if out is not None:
        check_output_file(out, "--out")
        if out.suffix != ".npy":
            raise ConfigError(f"--out {out}: weights are written to a file that ends in .npy")
    training = SelfPlay(game, players, seed, (rate, decay, exploration))
    print_text(f"{training.spec} for {players} players: {matches:,} matches against itself, seed {seed}")
    try:
        for progress in training.parts(matches):
            print_text(progress_line(progress))
    except KeyboardInterrupt:
        print_to_stderr("Interrupted; nothing was written.")
        return INTERRUPTED
    print_text(f"Weights: {training.write(out)}")
    return FINE


def progress_line(progress: Progress) -> str:
    """Return how a part of the training went as a line."""
    lost = f", {progress.abandoned:,} matches too long to learn from" if progress.abandoned else ""
    return f"  {progress.matches:>9,} matches: {progress.states:,} states, mean error {progress.error:.4f}{lost}"
