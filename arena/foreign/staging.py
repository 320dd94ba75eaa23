"""Rows of results on disk while they are checked, so that any number of them takes little memory."""

from __future__ import annotations

import itertools
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self, cast

from arena.core.errors import RecordError
from arena.core.names import plain_name
from arena.foreign.rows import ResultRow, printable
from arena.match.result import SeatRow
from arena.plan.model import MAX_FOREIGN_SEATS
from arena.schedule.boards import Board
from arena.schedule.foreign import foreign_name

MAX_BOTS = 10_000
"""Bots of a file: what a rating takes grows with their cube."""
MAX_BOARDS = 200
MAX_ROWS = 10_000_000
MAX_CELLS = 50_000_000
"""Largest product of a board's blocks and the matches of the largest one, or of matches and their players squared."""
ROWS_PER_BATCH = 1_000

SCHEMA = """
CREATE TABLE rows (line INTEGER PRIMARY KEY, game TEXT, match TEXT, block TEXT, bot INTEGER, seat INTEGER,
    place REAL, score REAL);
"""
GROUP_BY_MATCH = """
CREATE INDEX by_match ON rows (game, match);
CREATE TABLE matches AS SELECT min(line) AS first, game, match, min(block) AS block, count(*) AS players
    FROM rows GROUP BY game, match ORDER BY first;
"""


class StagedMatch(NamedTuple):
    """One match of a file."""

    name: str
    game: str
    block: str | None
    bots: tuple[int, ...]
    """By seat: their numbers in the file."""
    seats: list[SeatRow]


class _StagedRow(NamedTuple):
    """A row of the database."""

    line: int
    game: str
    match: str
    block: str | None
    bot: int
    seat: int | None
    place: float | None
    score: float | None


class Staging:
    """Rows of a file, each checked by itself, in a database of their own. Use as a context manager."""

    def __init__(self, path: Path, where: str, game: str) -> None:
        self.where, self.game = where, game
        self.bots: dict[str, int] = {}
        """Numbers of bots by name, in the order of their first rows."""
        self.rows = 0
        self._bot_lines: list[int] = []
        self._alike: dict[str, str] = {}
        self._games: set[str] = set()
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {SCHEMA}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def take(self, rows: Iterable[ResultRow]) -> None:
        """Take all rows of a file; raises `RecordError` for one that does not fit those before."""
        stream = map(self._as_staged, rows)
        while batch := list(itertools.islice(stream, ROWS_PER_BATCH)):
            self.rows += len(batch)
            if self.rows > MAX_ROWS:
                raise RecordError(f"{self.where}: has more than {MAX_ROWS:,} rows; split it by game or by season")
            self._db.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)", batch)
        if not self.rows:
            raise RecordError(f"{self.where}: has no rows; each row is one bot in one match")
        self._db.executescript(GROUP_BY_MATCH)

    def _as_staged(self, row: ResultRow) -> tuple[object, ...]:
        game = row.game or self.game
        if game not in self._games:
            try:
                self._games.add(plain_name(game))
            except ValueError as error:
                raise RecordError(f"{self.where}, line {row.line:,}, game '{printable(game)}': {error}") from None
        if row.place is None and row.score is None:
            raise RecordError(
                f"{self.where}, line {row.line:,}: has neither a place nor a score; give one, the last place for "
                "example to a bot that did not finish"
            )
        bot = self._bot(row.bot, row.line)
        return (row.line, game, row.match, row.block, bot, row.seat, row.place, row.score)

    def _bot(self, name: str, line: int) -> int:
        """Return the number of a bot; raises `RecordError` for a name that differs from another in case alone."""
        number = self.bots.get(name)
        if number is not None:
            return number
        other = self._alike.setdefault(unicodedata.normalize("NFKC", name).casefold(), name)
        if other != name:
            raise RecordError(
                f"{self.where}, line {line:,}: bot '{printable(name)}' differs from '{printable(other)}' (line "
                f"{self._bot_lines[self.bots[other]]:,}) in case or in form alone; write both alike, or rename one"
            )
        if len(self.bots) == MAX_BOTS:
            raise RecordError(
                f"{self.where}, line {line:,}: has more than {MAX_BOTS:,} bots, which cannot be rated together; leave "
                "out those with the fewest matches"
            )
        self._bot_lines.append(line)
        self.bots[name] = len(self.bots)
        return self.bots[name]

    def boards(self, has_scores: bool) -> list[Board]:
        """Return the boards, sorted, with bots numbered by name; raises `RecordError` for what cannot be one."""
        query = "SELECT game, players, count(*), min(first), min(match) FROM matches GROUP BY game, players"
        found = []
        for game, players, matches, line, match in self._db.execute(f"{query} ORDER BY game, players").fetchall():
            if not 2 <= players <= MAX_FOREIGN_SEATS:
                of = "1 row" if players == 1 else f"{players:,} rows"
                raise RecordError(
                    f"{self.where}, line {line:,}: match '{printable(match)}' of {game} has {of}; a match has a row "
                    f"for each of its 2 to {MAX_FOREIGN_SEATS} bots"
                )
            found.append((game, players, matches))
        if len(found) > MAX_BOARDS:
            raise RecordError(
                f"{self.where}: has {len(found):,} boards, one for each game and number of bots in a match; up to "
                f"{MAX_BOARDS} are taken"
            )
        for game, players, total in found:
            self._check_size(game, players, total)
        place = {self.bots[name]: number for number, name in enumerate(sorted(self.bots))}
        return [
            Board(
                game=foreign_name(game),
                params="{}",
                players=players,
                rules_version=0,
                entries=tuple(sorted(place[bot] for bot in self._bots_of(game, players))),
                blocks=total,
                opening=0,
                utilities=has_scores,
            )
            for game, players, total in found
        ]

    def _check_size(self, game: str, players: int, total: int) -> None:
        """Raise `RecordError` where rating a board, with the number of its matches, would take too much memory."""
        board = f"{game} with {players} players"
        if total * players**2 > MAX_CELLS:
            raise RecordError(f"{self.where}: has {total:,} matches of {board}, too many to be rated together")
        query = (
            "SELECT block, count(DISTINCT match) FROM rows JOIN "
            "(SELECT game, match, players FROM matches) USING (game, match) "
            "WHERE game = ? AND players = ? AND block IS NOT NULL GROUP BY block"
        )
        blocks, most, largest = 0, 1, ""
        for name, matches in self._db.execute(query, (game, players)):
            blocks += 1
            if matches > most:
                most, largest = matches, name
        if blocks * most > MAX_CELLS:
            raise RecordError(
                f"{self.where}, column block: {blocks:,} blocks of {board}, the largest, '{printable(largest)}', with "
                f"{most:,} matches, are too uneven to be rated together; split the large ones, or leave the column out"
            )

    def _bots_of(self, game: str, players: int) -> list[int]:
        """Return the numbers of a board's bots."""
        query = "SELECT DISTINCT bot FROM rows JOIN matches USING (game, match) WHERE game = ? AND players = ?"
        return [bot for (bot,) in self._db.execute(query, (game, players))]

    def matches(self) -> Iterator[StagedMatch]:
        """Yield every match in the order of first rows; raises `RecordError` for one that does not fit together."""
        least = self._db.execute("SELECT min(seat) FROM rows").fetchone()[0]
        query = (
            "SELECT line, game, match, r.block, bot, seat, place, score FROM matches m "
            "CROSS JOIN rows r USING (game, match) ORDER BY m.first, line"
        )
        rows = map(_StagedRow._make, self._db.execute(query))
        for _, of_match in itertools.groupby(rows, lambda row: (row.game, row.match)):
            yield self._match(list(of_match), least)

    def _match(self, rows: list[_StagedRow], least: int | None) -> StagedMatch:
        line, game, name, block, *_ = rows[0]
        where = f"{self.where}, line {line:,}: match '{printable(name)}'"
        blocks, bots = {row.block for row in rows}, [row.bot for row in rows]
        if len(blocks) > 1:
            listed = " and ".join(f"'{printable(each)}'" for each in sorted(map(str, blocks))[:2])
            raise RecordError(f"{where} is in several blocks, {listed}; a match is in one")
        if len(set(bots)) < len(bots):
            twice = next(row for place, row in enumerate(rows) if row.bot in bots[:place])
            bot = next(bot for bot, number in self.bots.items() if number == twice.bot)
            raise RecordError(
                f"{where} has bot '{printable(bot)}' twice, again in line {twice.line:,}; or are they two matches?"
            )
        for what in ("place", "score"):
            empty = [row.line for row in rows if getattr(row, what) is None]
            if 0 < len(empty) < len(rows):
                raise RecordError(f"{where} has no {what} in line {empty[0]:,}, but in others; give all or none")
        seats = range(len(rows)) if least is None else [cast(int, row.seat) - least for row in rows]
        if least not in (None, 0, 1) or sorted(seats) != [*range(len(rows))]:
            listed = ", ".join(str(row.seat) for row in rows[:8])
            more = ", ..." * (len(rows) > 8)
            raise RecordError(
                f"{where} has seats {listed}{more}; the numbers from 0 to {len(rows) - 1} are wanted, once each, or "
                f"in the whole file those from 1 to {len(rows)}"
            )
        keys = [-cast(float, row.score) if row.place is None else row.place for row in rows]
        by_seat = sorted(zip(seats, rows, keys, strict=True), key=lambda each: each[0])
        results = [SeatRow(sum(other < key for other in keys), row.score) for _, row, key in by_seat]
        return StagedMatch(name, game, block, tuple(row.bot for _, row, _ in by_seat), results)
