"""Make the log of foreign results from their file: a pure function of the file, its name and what columns stand for."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.core.errors import RecordError
from arena.core.files import open_regular
from arena.core.limits import Limits
from arena.foreign.rows import chosen_columns, open_table, read_rows
from arena.foreign.staging import StagedMatch, Staging
from arena.match.result import MatchRow
from arena.plan.config import DEFAULT_FORMATS
from arena.plan.model import ForeignRecord, ResolvedPlan
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.schedule.boards import Board, Entry
from arena.schedule.foreign import ForeignSchedule, foreign_name
from arena.schedule.kinds.round_robin import RoundRobin
from arena.store import BotRow, FinishedMatch, Store
from engine import game_names
from engine.errors import one_line

MATCHES_PER_BATCH = 1_000
"""Matches written at a time."""
UNVERIFIED = "unverified"
"""Ending of all matches."""
IMPORT_WORKER = "import-results"
HASH_PERSON = b"arena foreign v1"
COPY_BYTES = 2**20


class ResultsFile(NamedTuple):
    """A file of results, and how to read it."""

    path: Path
    """Of the copy that is read."""
    where: str
    """What errors call it."""
    kind: str
    digest: str
    """BLAKE2b-256, hexadecimal."""
    columns: Mapping[str, str]
    """Asked for: columns of the file by what they are taken for."""
    game: str
    """Name of the game, if no column has it."""


class BuiltLog(NamedTuple):
    """Content of a log made from a file."""

    plan: ResolvedPlan
    matches: int
    ignored: list[str]
    """Columns of the file that were not used."""


def copy_and_hash(path: Path, to: Path, below: Path | None = None) -> str:
    """Copy a file and return its BLAKE2b-256, hexadecimal; with `below` it is in that folder, and no link.

    Raises `RecordError` for what is no file to read.
    """
    hasher = hashlib.blake2b(digest_size=32)
    try:
        with open_regular(path, below) as file, to.open("wb") as copy:
            while piece := file.read(COPY_BYTES):
                hasher.update(piece)
                copy.write(piece)
    except OSError as error:
        if error.filename == str(to) or error.filename is None:
            raise
        raise RecordError(f"{path}: cannot be read: {(error.strerror or '').lower()}") from None
    return hasher.hexdigest()


def build(store: Store, source: ResultsFile, name: str, started: str, folder: Path) -> BuiltLog:
    """Write the results of a file to an empty log, in one transaction; `folder` is for what is needed meanwhile.

    Raises `RecordError` that names file, line and column, for what cannot be taken.
    """
    with Staging(folder / "rows.db", source.where, source.game) as staging:
        with open_table(source.path, source.kind, source.where) as table:
            columns = chosen_columns(table.header, source.columns, source.where)
            staging.take(read_rows(table, columns, source.where))
            ignored = [one_line(each) for each in table.header if each not in columns.values()]
        plan = _plan(staging, staging.boards("score" in columns), source, name, columns)
        matches = 0
        with store.transaction():
            schedule = plan.schedule()
            bots = [BotRow(entry.identity, entry.spec) for entry in schedule.entries]
            run = store.begin_run(plan.as_json(), "{}", started, bots, {})
            places = _Blocks(staging, schedule)
            finished = (FinishedMatch(places.spec(match), _row(match), IMPORT_WORKER, 1) for match in staging.matches())
            while batch := list(itertools.islice(finished, MATCHES_PER_BATCH)):
                store.add(schedule, batch, run)
                matches += len(batch)
            store.finish_run(started)
    return BuiltLog(plan, matches, ignored)


def _plan(
    staging: Staging, boards: Sequence[Board], source: ResultsFile, name: str, columns: Mapping[str, str]
) -> ResolvedPlan:
    known = {foreign_name(game): game for game in game_names()}
    for board in boards:
        if board.game in known:
            raise RecordError(
                f"{source.where}: '{known[board.game]}' is a game of this arena, whose matches are replayed before "
                "they count (`arena import`); give foreign results another name: --game, or the column game"
            )
    names = sorted(staging.bots)
    foreign = ForeignRecord(
        status="unverified foreign results",
        file=one_line(Path(source.where).name),
        kind=source.kind,  # type: ignore[arg-type]  # pydantic checks it
        digest=source.digest,
        rows=staging.rows,
        game=source.game,
        columns=dict(columns),
    )
    schedule = Schedule(
        seed=0,
        entries=tuple(Entry(bot, bot, foreign_name(bot), f"{foreign_name(bot)}@{_hash([bot]).hex()}") for bot in names),
        boards=tuple(boards),
        permutations=False,
        scheduler=RoundRobin(),
        limits=Limits(),
    )
    slugs = [board.slug for board in schedule.boards]
    if twice := next((slug for number, slug in enumerate(slugs) if slug in slugs[:number]), None):
        raise RecordError(f"{source.where}: two games would have files of the same name, {twice}; rename one")
    return ResolvedPlan.of(name, ForeignSchedule.of(schedule, True), DEFAULT_FORMATS, foreign=foreign)


class _Blocks:
    """Assigns the matches of a file to blocks, which are numbered by board in the order of their first rows."""

    def __init__(self, staging: Staging, schedule: Schedule) -> None:
        entries = {entry.label: number for number, entry in enumerate(schedule.entries)}
        self._entries = {number: entries[bot] for bot, number in staging.bots.items()}
        self._boards = {(board.game, board.players): index for index, board in enumerate(schedule.boards)}
        self._rounds: list[dict[str, int]] = [{} for _ in self._boards]
        self._alone = [0 for _ in self._boards]

    def spec(self, match: StagedMatch) -> MatchSpec:
        """Return the block and seats of a match."""
        players, table = len(match.seats), tuple(self._entries[bot] for bot in match.bots)
        board = self._boards[foreign_name(match.game), players]
        identity = id = _hash(["match", match.game, players, match.name])
        if match.block is None:
            number = self._alone[board]
            self._alone[board] += 1
        else:
            number = self._rounds[board].setdefault(match.block, len(self._rounds[board]))
            id = _hash(["block", match.game, players, match.block])
        return MatchSpec(Block(board, number, table, id, identity), 0, table)


def _hash(parts: list[str | int]) -> bytes:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16, person=HASH_PERSON).digest()


def _row(match: StagedMatch) -> MatchRow:
    final, seats = "00" * 8, match.seats
    return MatchRow(lineup=0, ended=UNVERIFIED, plies=0, timed=False, final=final, moves="", notes=[], seats=seats)
