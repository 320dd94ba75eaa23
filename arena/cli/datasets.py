"""`arena dataset`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena import api
from arena.cli.output import print_text
from arena.plan.config import DatasetFormat
from arena.results.dataset import DatasetOptions


def print_dataset(
    target: str,
    out: Path,
    format: DatasetFormat,
    game: str | None,
    players: int | None,
    bots: Sequence[str] | None,
    shard_size: int,
    home: Path | None,
) -> None:
    """Run `arena dataset`."""
    print_manifest(
        api.dataset(target, out, DatasetOptions(format, game, players, tuple(bots or ()), shard_size), home), out
    )


def print_manifest(manifest: Mapping[str, Any], out: Path) -> None:
    """Print how much a dataset holds."""
    for board in manifest["boards"]:
        line = f"{board['game']}, {board['players']} players: {board['decisions']:,} decisions of "
        line += f"{board['matches']:,} matches in {len(board['shards']):,} shards"
        kinds = {
            "with_visits": "with visits",
            "visits_dropped": "whose visits were not kept",
            "with_evaluation": "with an evaluation",
        }
        for key, what in kinds.items():
            line += f", {board[key]:,} {what}" if board[key] else ""
        print_text(line)
    print_text(f"Dataset: {out}")
