"""Rate a season, or its final: the standings that pages show, a function of the log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from arena.contest.standings import BoardRow, BoardStandings, OverallRow, Standings
from arena.stats.board import MatchArrays, Ratings, rating_columns, ratings_of
from arena.stats.overall import BoardField, Overall, overall
from arena.tournament.tournament import Tournament

DECIMALS = 6


def standings_of(
    tournament: Tournament, season: int, round_number: int, time: str, suspended: Collection[str] = ()
) -> Standings:
    """Return the standings of what a tournament has played; bots without a match are not in them."""
    schedule, boards = tournament.schedule, list[BoardStandings]()
    labels = [entry.label for entry in schedule.entries]
    played = [tournament.counted(index) for index in range(len(schedule.boards))]
    matches = np.array([np.bincount(board.entries.ravel(), minlength=len(labels)) for board in played])
    shown = np.flatnonzero(matches.sum(axis=0))
    place = np.zeros(len(labels), np.int64)
    place[shown] = np.arange(len(shown))

    def fields() -> Iterator[BoardField]:
        """Rate board after board, and note the standings of each."""
        for board, each, own in zip(schedule.boards, played, matches, strict=True):
            rows: tuple[BoardRow, ...] = ()
            if len(each.rows):
                ratings = ratings_of(MatchArrays(each.entries, each.ranks, each.block, each.distinct_share))
                rows = _board_rows(ratings, labels, own, schedule.lineups(board))
                yield BoardField.of(place, ratings)
                del ratings  # before the next ones are made
            boards.append(BoardStandings(game=board.game, players=board.players, rows=rows))

    found = overall(fields(), len(shown))
    return Standings(
        season=season,
        round=round_number,
        time=time,
        bots=len(shown),
        matches=sum(len(board.rows) for board in played),
        boards=tuple(boards),
        overall=_overall_rows(found, labels, shown, matches, suspended),
    )


def _board_rows(ratings: Ratings, labels: Sequence[str], matches: np.ndarray, lineups: int) -> tuple[BoardRow, ...]:
    columns: Any = rating_columns(ratings)
    entries = sorted(columns.index.tolist(), key=lambda entry: (-columns.at[entry, "rating"], labels[entry]))
    rated = np.sort(-columns["rating"].to_numpy())
    return tuple(
        BoardRow(
            bot=labels[entry],
            rank=1 + int(np.searchsorted(rated, -columns.at[entry, "rating"])),
            rank_low=int(columns.at[entry, "rank_ci_low"]),
            rank_high=int(columns.at[entry, "rank_ci_high"]),
            rating=_number(columns.at[entry, "rating"]),
            low=_number(columns.at[entry, "rating_ci_low"]),
            high=_number(columns.at[entry, "rating_ci_high"]),
            matches=int(matches[entry]),
            blocks=int(matches[entry]) // lineups,
        )
        for entry in entries
    )


def _overall_rows(
    found: Overall,
    labels: Sequence[str],
    shown: np.ndarray,
    matches: np.ndarray,
    suspended: Collection[str],
) -> tuple[OverallRow, ...]:
    names = [labels[entry] for entry in shown.tolist()]
    order = sorted(range(len(shown)), key=lambda number: (found.rank[number], names[number]))
    return tuple(
        OverallRow(
            bot=names[number],
            rank=int(found.rank[number]),
            rank_low=int(found.best_rank[number]),
            rank_high=int(found.worst_rank[number]),
            score=_number(found.score[number]),
            low=_number(found.low[number]),
            high=_number(found.high[number]),
            matches=int(matches[:, shown[number]].sum()),
            boards=int(np.count_nonzero(matches[:, shown[number]])),
            suspended=names[number] in suspended,
        )
        for number in order
    )


def _number(value: float) -> float | None:
    """Return a number with as many digits as are worth keeping; None for one that is not known."""
    return None if np.isnan(value) else round(float(value), DECIMALS)
