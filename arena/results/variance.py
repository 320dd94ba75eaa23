"""Variance decompositions from a log."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from arena.core.errors import StoreError
from arena.results.matches import BoardName, board_frames
from arena.stats.variance import variance_table


def variance(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[BoardName, pd.DataFrame]:
    """Return `arena.stats.variance.variance_table` of a tournament's boards, or of those of a game or player count."""
    found = {}
    for name, matches, _, own_dice in board_frames(target, game, players, home):
        try:
            found[name] = variance_table(matches, name[1], own_dice)
        except StoreError as error:
            raise StoreError(f"{target}: {name[0]}, {name[1]} players: {error}") from None
    return found
