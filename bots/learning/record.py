"""The two files of a training: weights, and beside them the record of how they came, so that they can be made again."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from bots.learning.training import Progress, Training
from engine.state import KernelGame


def write_training(path: Path, training: Training, log: list[Progress]) -> None:
    """Write weights to a file `.npy` and their record to one `.json` beside it."""
    content = io.BytesIO()
    np.save(content, training.kept())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.getvalue())
    record = training_record(training, content.getvalue(), log)
    path.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def training_record(training: Training, content: bytes, log: list[Progress]) -> dict[str, Any]:
    """Return what makes the weights again, their digest, and how the training went."""
    game: KernelGame = training.game
    settings = training.settings
    options = "".join(f" --{name} {value:g}" for name, value in settings._asdict().items())
    return {
        "game": game.spec,
        "players": game.players,
        "rules_version": game.type.rules_version,
        "seed": training.seed,
        "matches": training.matches,
        **settings._asdict(),
        "command": f'arena train "{game.spec}" --players {game.players} --seed {training.seed}'
        f" --matches {training.matches}{options}",
        "blake2b": hashlib.blake2b(content, digest_size=16).hexdigest(),
        "log": [progress._asdict() for progress in log],
    }
