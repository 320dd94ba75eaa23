"""Check all blocks of a log, plan by plan, in one process or several."""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.core.match_ids import match_id
from arena.plan.model import ResolvedPlan
from arena.schedule.blocks import Block
from arena.store import Store
from arena.tournament.lookup import playable_blocks
from arena.tournament.tournament import Tournament
from arena.verify.findings import Findings
from arena.verify.matches import NO_PLAN, UNREADABLE_PLAN, BlockTask
from arena.verify.parallel import check_here, check_in_processes
from arena.verify.plans import LogContents, LoggedPlan

BLOCKS_PER_TASK = 128
"""Blocks looked up and checked at a time."""
MAX_MATCHES_OF_ONE_PROCESS = 20_000
"""Matches that one process checks in the time that others take to start."""


@dataclass
class LogTotals:
    """Numbers of what is in a log."""

    blocks: int = 0
    earlier_blocks: int = 0
    """Blocks of earlier plans only."""
    matches: int = 0
    draws: int = 0
    """Random draws that were recomputed."""
    not_replayed: Counter[str] = field(default_factory=Counter)
    """Matches that were not replayed, by the reason."""
    planned: int = 0
    """Matches of the latest plan."""
    present: int = 0
    """Matches of the latest plan that are in the log."""

    @property
    def unverified(self) -> int:
        """Number of the matches that were not replayed."""
        return self.not_replayed.total()


class PlanCoverage:
    """Number of a plan's matches in the log, counted block by block in canonical order."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament, self.schedule = tournament, tournament.schedule
        self.planned = sum(tournament.given_out(board) for board in range(len(self.schedule.boards)))
        self.present = 0
        self.first_missing: str | None = None
        """Id of the first missing match."""

    def take(self, block: Block, lineups: set[int]) -> None:
        """Record which line-ups of a block are in the log."""
        if not self.tournament.has(block):
            return
        self.present += len(lineups)
        missing = set(range(self.schedule.lineups(self.schedule.boards[block.board]))) - lineups
        if missing and self.first_missing is None:
            self.first_missing = match_id(block.identity, min(missing))


class BlockFinder:
    """Assigns every block of a log to one of its plans."""

    def __init__(self, db: sqlite3.Connection, store: Store, contents: LogContents, findings: Findings) -> None:
        self.db, self.store, self.contents, self.findings = db, store, contents, findings
        self.totals = LogTotals()
        self.seen: set[int] = set()
        self.remarks: list[str] = []
        """Lines on what was not checked."""
        self.followed = not contents.unread
        """Whether all plans could be read, so that a block in none of them is a finding."""

    @property
    def plans(self) -> list[ResolvedPlan]:
        """The plans that tasks name by their numbers."""
        return [plan.resolved for plan in self.contents.plans]

    def tasks(self) -> Iterator[BlockTask]:
        """Yield every block of the log once, with its place in the latest plan that has it."""
        self.totals.blocks = self.db.execute("SELECT count(*) FROM blocks").fetchone()[0]
        for number, plan in enumerate(self.contents.plans):
            if number == 0 or plan.finished or not self._all_seen:
                before = len(self.seen)
                try:
                    yield from self._of_plan(number, plan)
                except Exception as error:  # a damaged log may say anything of how far its plan has come
                    self.followed = False
                    self.findings.add(f"the plan of run {plan.runs[0]} cannot be followed: {error}", table="runs")
                if number:
                    self.totals.earlier_blocks += len(self.seen) - before
        yield from self._rest()

    @property
    def _all_seen(self) -> bool:
        return len(self.seen) >= self.totals.blocks

    def _of_plan(self, number: int, plan: LoggedPlan) -> Iterator[BlockTask]:
        """Yield the blocks of a plan that no later plan has; check whether the plan is complete."""
        tournament = Tournament(self.store, plan=plan.resolved)
        schedule, presence = tournament.schedule, PlanCoverage(tournament)
        blocks = playable_blocks(tournament.schedule)
        whole = plan.finished and not plan.is_open_ended
        while batch := list(itertools.islice(blocks, BLOCKS_PER_TASK)):
            yield from self._found(number, batch, presence)
            if self._all_seen and (presence.first_missing or not whole or presence.present == presence.planned):
                break
        if number == 0:
            self.totals.planned, self.totals.present = presence.planned, presence.present
        self._check_presence(plan, presence)
        for hash in schedule.keys if len(schedule.keys) > 1 or schedule.redrawn else ():
            if not self._all_seen:  # blocks begun with this key and drawn anew with another one, or in two logs
                former = playable_blocks(tournament.schedule, hash)
                while batch := list(itertools.islice(former, BLOCKS_PER_TASK)):
                    yield from self._found(number, batch)

    def _found(self, number: int, batch: Sequence[Block], presence: PlanCoverage | None = None) -> Iterator[BlockTask]:
        """Yield those of a plan's blocks that are in the log, unless they were seen before."""
        known = self._known([block.identity for block in batch])
        found: list[tuple[int, Block | None]] = []
        for block in batch:
            key, lineups = known.get(block.identity, (None, set()))
            if presence is not None:
                presence.take(block, lineups)
            if key is not None and key not in self.seen:
                self.seen.add(key)
                found.append((key, block))
        if found:
            yield BlockTask(number, found)

    def _check_presence(self, plan: LoggedPlan, presence: PlanCoverage) -> None:
        """Add a finding for missing matches."""
        if presence.first_missing is not None and plan.finished and not plan.is_open_ended:
            self.findings.add(f"is missing, though run {plan.runs[0]} is finished", match=presence.first_missing)

    def _known(self, identities: Sequence[bytes]) -> dict[bytes, tuple[int, set[int]]]:
        """Return the keys and line-ups of the blocks that are in the log."""
        found: dict[bytes, tuple[int, set[int]]] = {}
        query = (
            "SELECT identity, block, lineup FROM blocks LEFT JOIN matches USING (block) "
            f"WHERE identity IN ({','.join('?' * len(identities))})"
        )
        for identity, key, lineup in self.db.execute(query, identities):
            lineups = found.setdefault(identity, (key, set()))[1]
            if lineup is not None:
                lineups.add(lineup)
        return found

    def _rest(self) -> Iterator[BlockTask]:
        """Yield the blocks that belong to no plan."""
        keys = [key for (key,) in self.db.execute("SELECT block FROM blocks ORDER BY block") if key not in self.seen]
        for start in range(0, len(keys), BLOCKS_PER_TASK):
            yield BlockTask(
                NO_PLAN if self.followed else UNREADABLE_PLAN,
                [(key, None) for key in keys[start : start + BLOCKS_PER_TASK]],
            )


def check_blocks(finder: BlockFinder, path: Path, workers: int, show: Callable[[int], None]) -> LogTotals:
    """Check every match of a log; findings come in the same order for any number of workers."""
    secret = {hash: key.key for hash, key in finder.contents.secret.items()}
    arguments = (path, finder.plans, secret)
    matches = finder.db.execute("SELECT count(*) FROM matches").fetchone()[0]
    tasks, totals = finder.tasks(), finder.totals
    several = workers > 1 and matches > MAX_MATCHES_OF_ONE_PROCESS
    for done in check_in_processes(tasks, arguments, workers) if several else check_here(tasks, arguments):
        totals.matches += done.matches
        totals.draws += done.draws
        totals.not_replayed += done.unverified
        finder.findings.take(done.shown, done.count)
        show(totals.matches)
    return totals
