"""Variance decompositions from a log."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from arena.core.errors import StoreError
from arena.results.matches import BoardName, chosen_boards, seat_frame
from arena.schedule.blocks import Schedule
from arena.schedule.foreign import ForeignSchedule
from arena.stats.head_to_head import rounded
from arena.stats.variance import VARIANCE_SOURCES, seat_advantage, variance_table
from arena.tournament.dice_keys import has_own_dice
from arena.tournament.tournament import Tournament


def variance(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[BoardName, pd.DataFrame]:
    """Return `board_variance` of a tournament's boards, or of those of a game or player count."""
    found = {}
    with Tournament.open(target, home) as tournament:
        schedule = tournament.schedule
        for index in chosen_boards(target, schedule, game, players):
            board, matches = schedule.boards[index], seat_frame(tournament.counted(index))
            try:
                found[board.game, board.players] = board_variance(matches, schedule, index)
            except StoreError as error:
                raise StoreError(f"{target}: {board.title}: {error}") from None
    return found


def board_variance(matches: pd.DataFrame, schedule: Schedule, index: int) -> pd.DataFrame:
    """Return `arena.stats.variance.variance_table` of the matches of a board.

    Of foreign results whose blocks are no Latin squares, only the mean returns of seats are there. Raises `StoreError`
    where nothing can be told apart.
    """
    players = schedule.boards[index].players
    if isinstance(schedule, ForeignSchedule) and not schedule.has_seats:
        raise StoreError("the results have no seats, so nothing can be computed about them; give a column of seats")
    try:
        return variance_table(matches, players, has_own_dice(schedule, index))
    except StoreError:
        if not schedule.is_foreign:
            raise
    shares = pd.DataFrame({"statistic": "share", "part": VARIANCE_SOURCES})
    shares[["value", "value_ci_low", "value_ci_high"]] = np.nan
    return rounded(pd.concat([seat_advantage(matches, players), shares], ignore_index=True))
