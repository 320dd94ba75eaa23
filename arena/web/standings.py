"""Standings of boards as pages show them: the leaderboard that `arena leaderboard` prints, and where its bars lie."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from arena import api
from arena.results.leaderboards import cells, notes_below
from arena.web.catalog import Log, LogCatalog
from arena.web.result_cache import CachedResult

PODIUM_PLACES = 3
RANK_HEADING, RATING_HEADING = "#", "rating ± 95 %"


class Bar(NamedTuple):
    """A rating and its interval, on a scale from 0 to 100 that all bots of a board share."""

    low: float
    at: float
    high: float


class Place(NamedTuple):
    """A place on the podium, as the leaderboard prints it."""

    rank: str
    bot: str
    rating: str


class Standings(NamedTuple):
    """The leaderboard of a board, as `arena leaderboard` prints it."""

    cells: dict[str, list[str]]
    """Texts by heading; none before the first complete block."""
    matches: int
    """Matches in complete blocks, that it was made from."""
    notes: list[str]
    """What stands below the leaderboard."""
    bars: tuple[Bar | None, ...] = ()
    """By row; None where the rating is not known."""
    ratings: tuple[float, ...] = ()
    """By row."""
    placed: int = 0
    """Rows of bots that are not disqualified."""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The texts of each bot."""
        return list(zip(*self.cells.values(), strict=True))

    @property
    def podium(self) -> list[Place]:
        """The first bots, without disqualified ones; none where there is nobody to compare with."""
        if self.placed < 2:
            return []
        columns = (self.cells[heading][:PODIUM_PLACES] for heading in (RANK_HEADING, "bot", RATING_HEADING))
        return [Place(*texts) for texts in zip(*columns, strict=True)][: self.placed]

    @property
    def rating_of(self) -> dict[str, float]:
        """The rating of each bot, by its label."""
        return dict(zip(self.cells.get("bot", ()), self.ratings, strict=True))


def standings(
    catalog: LogCatalog, log: Log, boards: Sequence[int], ends: float | None
) -> list[CachedResult[Standings] | None]:
    """Return the standings of boards, by their numbers in the plan, as `LogCatalog.all_kept` does."""
    return catalog.all_kept(log, "standings", {index: partial(_standings, log.path, index) for index in boards}, ends)


def _standings(log: Path, index: int) -> Standings:
    frame, matches = api.board_leaderboard(log, index)
    if frame.empty:
        return Standings({}, matches, notes_below(frame))
    placed = int(frame["disqualified"].isna().sum()) if "disqualified" in frame else len(frame)
    ratings = tuple(float(rating) for rating in frame["rating"])
    return Standings(cells(frame), matches, notes_below(frame), bars(frame), ratings, placed)


def bars(frame: pd.DataFrame) -> tuple[Bar | None, ...]:
    """Return the bar of every row of a leaderboard; an interval that is not known has no length."""
    rating = frame["rating"].astype(float)
    low, high = (frame[name].astype(float).fillna(rating) for name in ("rating_ci_low", "rating_ci_high"))
    least, most = low.min(), high.max()
    if pd.isna(least) or most <= least:
        return (None,) * len(frame)

    def place(value: float) -> float:
        return round(100 * (value - least) / (most - least), 1)

    return tuple(
        None if pd.isna(at) else Bar(place(begin), place(at), place(end))
        for begin, at, end in zip(low, rating, high, strict=True)
    )
