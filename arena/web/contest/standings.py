"""Standings of contests as pages show them: their files are read once for all who ask, and rows made as they are shown.

So a page costs the same for thirty bots and for ten thousand, but for the first one after a round.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from pydantic_core import to_json

from arena.accounts.database import as_text
from arena.contest.standings import (
    BoardRow,
    OverallRow,
    RoundRanks,
    Standings,
    file_versions,
    latest_rounds,
    read_standings,
)
from arena.results.pages.templates import board_name
from arena.web.contest.views import ContestView, bot_of, is_frozen
from arena.web.result_cache import ResultCache

T = TypeVar("T")

ROWS_SHOWN = 100
"""Rows of standings on a page."""
SPARKLINE_ROUNDS = 40
SPARKLINE_WIDTH, SPARKLINE_HEIGHT = 100.0, 20.0


class Row(NamedTuple):
    """A line of standings, as texts."""

    bot: str
    """Its id; empty for a bot of the house."""
    label: str
    name: str
    author: str
    rank: int
    ranks: str
    """The ranks that are possible."""
    change: int | None
    """Places won since the round before; None where it was not there."""
    score: str
    low: float | None
    high: float | None
    at: float | None
    """The score and its interval on a scale from 0 to 100."""
    matches: int
    path: str
    """The ranks of the latest rounds, as the path of a drawing."""
    is_suspended: bool
    is_mine: bool


class RankHistory:
    """The overall ranks of bots, whatever their version, after each of the latest rounds."""

    def __init__(self, rounds: Sequence[RoundRanks]) -> None:
        self._columns: dict[str, int] = {}
        by_label: dict[str, int] = {}
        for label in itertools.chain.from_iterable(each.ranks for each in rounds):
            if label not in by_label:
                by_label[label] = self._columns.setdefault(bot_of(label) or label, len(self._columns))
        self._ranks = np.zeros((len(rounds), len(self._columns)), np.int32)  # 0 where a bot was not there
        for number, each in enumerate(rounds):
            self._ranks[number, [by_label[label] for label in each.ranks]] = [rank for rank, _ in each.ranks.values()]
        self.worst = max((len(each.ranks) for each in rounds), default=1)
        """Most bots of a round."""

    def ranks(self, bot: str) -> list[int | None]:
        """Return the ranks of a bot by round, the latest last; None where it was not there."""
        column = self._columns.get(bot)
        if column is None:
            return [None] * len(self._ranks)
        return [rank or None for rank in self._ranks[:, column].tolist()]


class KeptStandings(NamedTuple):
    """What is read of a season's files."""

    standings: Standings
    history: RankHistory
    is_frozen: bool


class Listing(NamedTuple):
    """Which rows of the standings a contest shows, and where."""

    places: Sequence[int]
    """Their places in the standings."""
    ranks: Sequence[int]
    """Their ranks, from the best to the worst."""
    by_bot: Mapping[str, int]
    """Number of a bot's row among these."""
    on_boards: Sequence[Mapping[str, int]]
    """By board: place of a bot's row in its standings."""


class BoardView:
    """The standings of a board."""

    def __init__(self, title: str, rows: Sequence[BoardRow], places: Mapping[str, int]) -> None:
        self.title, self._rows, self._places = title, rows, places

    def first(self, most: int) -> list[tuple[str, BoardRow]]:
        """Return the rows of the best bots with the bots' ids, which are empty for bots of the house."""
        return [(bot_of(row.bot), row) for row in self._rows[:most]]

    def row_of(self, bot: str) -> BoardRow | None:
        """Return the row of a bot; None where it has none."""
        place = self._places.get(bot)
        return None if place is None else self._rows[place]


class StandingsView:
    """The standings as of a complete round."""

    def __init__(self, view: ContestView, kept: KeptStandings, listing: Listing) -> None:
        self._view, self._listing = view, listing
        self._found, self._history, self.is_frozen = kept
        self.round, self.time, self.matches = self._found.round, self._found.time, self._found.matches

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self._listing.places)

    def rows(self, start: int, most: int, mine: Collection[str] = ()) -> list[Row]:
        """Return at most so many rows from a number on; `mine` are the ids of bots that are marked."""
        return [self._row(number, mine) for number in range(start, min(start + most, self.total))]

    def number_of(self, bot: str) -> int | None:
        """Return the number of a bot's row; None where it has none."""
        return self._listing.by_bot.get(bot)

    def row_of(self, bot: str) -> Row | None:
        """Return the row of a bot; None where it has none."""
        number = self.number_of(bot)
        return None if number is None else self._row(number)

    def ranked(self, rank: int) -> Row | None:
        """Return the first row of a rank that is not of the house; None without one."""
        ranks = self._listing.ranks
        for number in range(bisect_left(ranks, rank), self.total):
            if ranks[number] != rank:
                return None
            if bot_of(self._found.overall[self._listing.places[number]].bot):
                return self._row(number)
        return None

    @cached_property
    def boards(self) -> list[BoardView]:
        """The standings of all boards that have been played; none while they are frozen."""
        return [
            BoardView(board_name(board.game, board.players), board.rows, places)
            for board, places in zip(self._found.boards, self._listing.on_boards, strict=True)
            if board.rows
        ]

    def _row(self, number: int, mine: Collection[str] = ()) -> Row:
        row = self._found.overall[self._listing.places[number]]
        bot, of_authors = bot_of(row.bot), _lists_authors(self._view)
        path = self._history.ranks(bot or row.bot)
        earlier = path[-2] if len(path) > 1 and not of_authors else None
        low, high, at = (
            None if each is None else 100 * min(1.0, max(0.0, each)) for each in (row.low, row.high, row.score)
        )
        return Row(
            bot=bot,
            label=row.bot,
            name=self._view.name(row.bot),
            author=self._view.author(row.bot),
            rank=self._listing.ranks[number],
            ranks="" if of_authors else _possible(row.rank_low, row.rank_high),
            change=None if earlier is None else earlier - row.rank,
            score=_score(row),
            low=low,
            high=high,
            at=at,
            matches=row.matches,
            path=sparkline(path, self._history.worst),
            is_suspended=row.suspended,
            is_mine=bool(bot) and bot in mine,
        )


def standings_of(
    view: ContestView, home: Path, kept: ResultCache, now: datetime, final: bool = False
) -> StandingsView | None:
    """Return the standings of a contest's season, or of its final; None before the first complete round.

    While they are frozen they are those of the last round before.
    """
    folder = home / view.season() / ("final" if final else "")
    limit = as_text(view.config.freeze) if not final and view.config.freeze and is_frozen(view, now) else None
    files = file_versions(folder)
    found = _kept(kept, (folder, "standings", limit), files, partial(_read, folder, limit))
    if found is None:
        return None
    names = view.names if _lists_authors(view) else None
    version = files, None if names is None else view.names_version
    listing = _kept(kept, (folder, "listing", limit), version, partial(_listing, found.standings, names))
    return StandingsView(view, found, listing)


def standings_json(view: ContestView, home: Path, kept: ResultCache) -> bytes | None:
    """Return the present standings of a contest with names by label, as JSON; None without any."""
    folder, _ = home / view.season(), view.names  # read before, as what is kept is not made of what is kept

    def write() -> bytes | None:
        found = read_standings(folder)
        if found is None:
            return None
        names = {row.bot: {"name": view.name(row.bot), "author": view.author(row.bot)} for row in found.overall}
        return to_json({**dict(found), "names": names})

    return _kept(kept, (folder, "json"), (file_versions(folder)[0], view.names_version), write)


def _kept(kept: ResultCache, key: Hashable, version: Hashable, make: Callable[[], T]) -> T:
    found = kept.get(key, version, make)
    assert found is not None  # nothing gives up waiting
    return found.value


def _read(folder: Path, limit: str | None) -> KeptStandings | None:
    """Read the standings of a folder, or those of the last round that was complete by a time."""
    standings = read_standings(folder)
    if standings is None:
        return None
    rounds: list[RoundRanks] = []
    with closing(latest_rounds(folder)) as latest:
        for each in latest:
            if limit is None or each.time <= limit:
                rounds.append(each)
            if len(rounds) == SPARKLINE_ROUNDS:
                break
    rounds.sort(key=lambda each: each.round)
    if limit is None:
        return KeptStandings(standings, RankHistory(rounds), False)
    return KeptStandings(_of_round(standings.season, rounds[-1]), RankHistory(rounds), True) if rounds else None


def _of_round(season: int, last: RoundRanks) -> Standings:
    """Return the standings of a round, as far as its ranks tell."""
    best = sorted(last.ranks.items(), key=lambda each: each[1][0])
    rows = (
        OverallRow(
            bot=bot, rank=rank, rank_low=rank, rank_high=rank, score=score, low=None, high=None, matches=0, boards=0
        )
        for bot, (rank, score) in best
    )
    return Standings(
        season=season, round=last.round, time=last.time, bots=len(best), matches=0, boards=(), overall=tuple(rows)
    )


def _lists_authors(view: ContestView) -> bool:
    """Whether there is one row for each author, in place of each bot."""
    return view.config.standings != "bot"


def _listing(standings: Standings, names: Mapping[str, tuple[str, str]] | None) -> Listing:
    """Return the rows that a contest shows: of all bots, or of the best of each author, with ranks of their own.

    `names` are those of bots and their authors, where there is a row for each author.
    """
    rows = standings.overall
    places, ranks = [*range(len(rows))], [row.rank for row in rows]
    if names is not None:
        best: dict[str, int] = {}
        for place, row in enumerate(rows):
            best.setdefault(names.get(bot_of(row.bot), ("", ""))[1] or row.bot, place)
        places, ranks = [*best.values()], [*range(1, len(best) + 1)]
    by_bot = _places([rows[place].bot for place in places])
    return Listing(places, ranks, by_bot, [_places([row.bot for row in board.rows]) for board in standings.boards])


def _places(labels: Sequence[str]) -> dict[str, int]:
    """Return by bot where its label is first."""
    found: dict[str, int] = {}
    for place, label in enumerate(labels):
        if bot := bot_of(label):
            found.setdefault(bot, place)
    return found


def _score(row: OverallRow) -> str:
    text = "" if row.score is None else f"{100 * row.score:.1f}"
    return text + (f" ± {50 * (row.high - row.low):.1f}" if row.low is not None and row.high is not None else "")


def _possible(low: int, high: int) -> str:
    return f"{low} to {high}" if low != high else ""


def sparkline(ranks: Sequence[int | None], worst: int) -> str:
    """Return the path of a bot's ranks over rounds, the best on top; empty below two rounds. None where it was not."""
    across, down = SPARKLINE_WIDTH / max(1, len(ranks) - 1), SPARKLINE_HEIGHT / max(1, worst - 1)
    points = [(place, rank) for place, rank in enumerate(ranks) if rank is not None]
    if len(points) < 2:
        return ""
    return "M" + "L".join(f"{place * across:.1f} {(rank - 1) * down:.1f}" for place, rank in points)
