"""Import matches from JSON Lines into a log: all of them or none, each replayed and audited first."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.core.errors import ArenaError, ConfigError, RecordError, StoreError, adding_saved_state
from arena.core.files import created_folder, temporary_folder
from arena.core.match_ids import match_id
from arena.core.paths import home_folder
from arena.match.adjudication import check_adjudication
from arena.match.dice import key_pair
from arena.match.json_lines import read_matches
from arena.match.replay import check_draws, check_game, check_words, replay
from arena.match.stored import StoredMatch, without_side_tables
from arena.plan.config import tournament_name
from arena.plan.files import read_plan, read_versions
from arena.plan.model import ResolvedPlan
from arena.schedule.blocks import Block, MatchSpec
from arena.store import BotRow, FinishedMatch, MatchRow, SeatRow, Store, move_into_place
from arena.tournament.dice_keys import finish_log, now
from arena.tournament.logs import LOG_FILE
from arena.tournament.tournament import Tournament

MATCHES_PER_BATCH = 256
"""Matches written at a time."""
IMPORT_WORKER = "import"
"""Worker of imported matches."""
LocatedMatch = tuple[str, StoredMatch]
"""Place of a match in its file, and the match."""


@dataclass(frozen=True)
class ImportResult:
    """Result of an import."""

    log: Path
    added: int
    skipped: int
    """Matches that the log had already."""
    plan_changed: bool = False
    """Whether another plan counts in an existing log than before."""


@adding_saved_state(lambda: "nothing is changed")
def import_records(
    files: Sequence[Path], name: str, plan: Path | None = None, home: str | Path | None = None
) -> ImportResult:
    """Import matches into the log of the tournament `name`, which is created if it is missing.

    `plan` is by default the plan.json beside the first file. Raises an `ArenaError` and changes nothing if something
    does not fit.
    """
    try:
        tournament_name(name)
    except ValueError as error:
        raise ConfigError(f"--name {name}: {error}") from None
    for path in files:
        if not path.exists():
            raise ConfigError(f"{path}: no such file")
        if path.is_dir():
            raise ConfigError(f"{path}: is a folder; name a file of matches")
    plan = plan or files[0].parent / "plan.json"
    resolved, versions = read_plan(plan), read_versions(plan.with_name("versions.json"))
    log = home_folder(home) / name / LOG_FILE
    if log.exists():
        with Tournament.create(log) as tournament:
            tournament.check_playable("no matches can be added")
            before = tournament.plan if tournament.store.runs.has_run() else None
            counts = _import(tournament.store, _RecordChecker(plan, resolved), versions, files)
            return ImportResult(log, *counts, before is not None and tournament.now().plan != before)
    with created_folder(home_folder(home)), temporary_folder(home_folder(home), ".import-") as folder:
        made = folder / "import.db"
        with Store.create(made) as store:
            counts = _import(store, _RecordChecker(plan, resolved), versions, files)
        move_into_place(made, log)
    return ImportResult(log, *counts)


def _import(store: Store, places: _RecordChecker, versions: dict[str, str], files: Sequence[Path]) -> tuple[int, int]:
    """Import matches in one transaction; return how many were added, and how many were there."""
    added = skipped = 0
    located = ((f"{path}, line {line}", match) for path in files for line, match in read_matches(path))
    with store.transaction():
        run = _begin(store, places, versions)
        while batch := list(itertools.islice(located, MATCHES_PER_BATCH)):
            new = list(_new(store, batch))
            store.add(places.schedule, [places.result(where, match) for where, match in new], run)
            added += len(new)
            skipped += len(batch) - len(new)
        if not added + skipped:
            raise RecordError(f"{', '.join(map(str, files))}: no matches in the file")
        if Tournament(store, places.schedule).is_complete():
            finish_log(store, places.schedule)
    return added, skipped


def _begin(store: Store, places: _RecordChecker, versions: dict[str, str]) -> int:
    """Record the import as a run, with the keys of secret dice; return its number."""
    kept = {key.checked() for key in store.keys.all()}
    for key in places.keys.values():
        if key not in kept:
            store.keep_key(key, now(), now())
    bots = [BotRow(entry.identity, entry.spec) for entry in places.schedule.entries]
    plan = places.plan.with_keys([(hash, None) for hash in places.schedule.keys])
    return store.begin_run(plan.as_json(), json.dumps(versions), now(), bots, {})


def _new(store: Store, batch: Sequence[LocatedMatch]) -> Iterator[LocatedMatch]:
    """Yield the matches that the log lacks; raises `RecordError` for one that differs from the log's."""
    found = store.matches([match.identity for _, match in batch])
    known = {(match.identity, match.lineup): _content(match) for matches in found.values() for match in matches}
    for where, match in batch:
        at = (match.identity, match.lineup)
        if at not in known:
            known[at] = _content(match)
            yield where, match
        elif known[at] != _content(match):
            raise RecordError(f"{where}: match {match.id} is known already, with other moves or another result")


def _content(match: StoredMatch) -> StoredMatch:
    return replace(without_side_tables(match), bots=[])


class _RecordChecker:
    """Finds the places of matches in a plan, and checks the matches against plan and rules."""

    def __init__(self, path: Path, plan: ResolvedPlan) -> None:
        self.plan, self.schedule, self.keys = plan, plan.schedule(), plan.disclosed_keys()
        self.schedules = {hash: replace(self.schedule, keys=(hash,)) for hash in self.schedule.keys}
        """Schedules with one secret key, by its hash."""
        self.boards = {(board.game, board.players): index for index, board in enumerate(self.schedule.boards)}
        self.entries = {entry.label: index for index, entry in enumerate(self.schedule.entries)}
        for board in self.schedule.boards:
            try:
                check_game(board)
            except StoreError as error:
                raise RecordError(f"{path}: {error}") from None
        if len(self.boards) < len(self.schedule.boards):
            raise RecordError(f"{path}: has a board twice")

    def result(self, where: str, match: StoredMatch) -> FinishedMatch:
        """Return a match as the log takes it; raises `RecordError` if it does not fit plan, rules or dice."""
        block = self._block(where, match)
        try:
            check_words(match)
            keys = key_pair(self.schedule.seed, self.keys[block.key] if block.key else None)
            board = self.schedule.boards[block.board]
            check_draws(check_adjudication(match, replay(match, keys), board.adjudication))
        except ArenaError as error:
            raise RecordError(f"{where}: {error}") from None
        seats = tuple(self.entries[label] for label in match.labels)
        return FinishedMatch(MatchSpec(block, match.lineup, seats), _row(match), IMPORT_WORKER, 1)

    def _block(self, where: str, match: StoredMatch) -> Block:
        schedule = self.schedules.get(match.key_hash, self.schedule)
        index = self.boards.get((match.game, match.players))
        if index is None:
            raise RecordError(f"{where}: the plan has no board {match.game}, {match.players} players")
        board = schedule.boards[index]
        seats = [self.entries.get(label, -1) for label in match.labels]
        twice = len(set(seats)) < len(seats) and not schedule.takes_turns(index)
        if twice or not set(seats) <= set(board.entries):
            raise RecordError(f"{where}: the plan does not seat {', '.join(match.labels)} together on {board.title}")
        if match.lineup >= schedule.lineups(board):
            raise RecordError(f"{where}: the plan has no line-up {match.lineup}")
        table = tuple(sorted(seats, key=board.entries.index))
        fixed = schedule.tables[index][0] if schedule.compared_pair(index) else table
        block = schedule.block(index, match.round, fixed)
        entries = [schedule.entries[entry] for entry in seats]
        compared: list[tuple[str, Any, Any]] = [
            ("bots", list(schedule.seats(block, match.lineup)), seats),
            ("identities", [entry.identity for entry in entries], match.identities),
            ("specs", [entry.spec for entry in entries], match.bots),
            ("opening", board.opening, match.opening),
            ("rules_version", board.rules_version, match.rules_version),
            ("seed", schedule.seed, match.seed),
            ("dice", block.dice, match.dice),
            ("dice_key_hash", block.key, match.key_hash),
            ("block", block.id, match.block_id),
            ("match", match_id(block.identity, match.lineup), match.id),
        ]
        for key, ours, theirs in compared:
            if ours != theirs:
                raise RecordError(f"{where}: match {match.id} is not in the plan: it has another {key}")
        return block


def _row(match: StoredMatch) -> MatchRow:
    forfeits = [match.forfeits.get(seat, (None, None)) for seat in range(match.players)]
    results = zip(match.ranks, match.scores, forfeits, strict=True)
    return MatchRow(
        lineup=match.lineup,
        ended=match.ended,
        plies=len(match.moves),
        timed=match.timed,
        final=match.final,
        moves=" ".join(match.moves),
        notes=match.notes,
        seats=[SeatRow(rank, score, *forfeit) for rank, score, forfeit in results],
        details={},
        seconds=0.0,
        clocks="",
        estimates=match.packed_estimates,
        retried=False,
    )
