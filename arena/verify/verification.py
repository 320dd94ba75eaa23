"""Verify a log or an archive: whether it is undamaged, and every match is what the rules, the dice and its plan say.

Nothing is written, nothing in a log is trusted, and no bot runs unless matches are to be played again.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from arena.core.errors import ConfigError, LogVersionError, StoreError, UnknownTargetError, WorkerError
from arena.core.machine import cores
from arena.core.match_ids import MATCH_ID_PATTERN
from arena.isolation import SUBMITTED_LEVEL, Isolation
from arena.store import Store, read_writer
from arena.tournament.logs import LOG_FILE, find_log
from arena.tournament.same_rules import other_sources
from arena.tournament.seasons import is_season
from arena.tournament.tunings import is_tuning
from arena.verify.blocks import BlockFinder, LogTotals, check_blocks
from arena.verify.database import check_database_file, check_orphans, open_log
from arena.verify.exports import compare_exports, unplanned_exports
from arena.verify.findings import Finding, Findings
from arena.verify.foreign import check_foreign
from arena.verify.plans import LogContents, LoggedPlan, read_contents
from arena.verify.reruns import Determinism, RerunOptions, rerun_matches
from arena.verify.seasons import SeasonFinder
from arena.verify.tunings import TuningFinder

RerunCount = int | Literal["all"]
ShowStep = Callable[[str, int, int], None]
"""Shows progress: the current step, its finished and total work."""


@dataclass
class Verification:
    """Result of a verification."""

    target: str
    log: str
    """Name of the file."""
    manifest: str | None = None
    """BLAKE2b-256 of the manifest of an archive, which contains the hashes of all other files."""
    running: bool = False
    finished: bool = False
    """Whether the latest plan was recorded as complete."""
    comparison: bool = False
    foreign: bool = False
    """Whether it holds results from elsewhere, without moves."""
    runs: int = 0
    totals: LogTotals = field(default_factory=LogTotals)
    compared: list[str] = field(default_factory=list)
    """Names of compared exports."""
    rerun: int = 0
    """Matches that were played again."""
    bots: list[Determinism] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """Notes that are no findings."""
    findings: list[Finding] = field(default_factory=list)
    count: int = 0
    """Number of all findings, also those that are not listed."""

    @property
    def sound(self) -> bool | None:
        """Whether nothing is wrong; None where nothing was found, but no match could be replayed."""
        matches, unverified = self.totals.matches, self.totals.unverified
        return False if self.count else None if matches and unverified == matches and not self.foreign else True

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, described in docs/reference/json.md."""
        totals = self.totals
        return {
            "target": self.target,
            "log": self.log,
            "manifest": self.manifest,
            "sound": self.sound,
            "running": self.running,
            "finished": self.finished,
            "runs": self.runs,
            "blocks": totals.blocks,
            "blocks_of_earlier_plans": totals.earlier_blocks,
            "matches": totals.matches,
            "draws": totals.draws,
            "not_replayed": totals.unverified,
            "not_checked": {} if self.foreign else dict(totals.not_replayed),
            "planned": None if self.comparison else totals.planned,
            "missing": None if self.comparison else totals.planned - totals.present,
            "compared": self.compared,
            "rerun": self.rerun,
            "bots": [vars(bot) for bot in self.bots],
            "remarks": self.remarks,
            "findings": [vars(finding) for finding in self.findings],
            "count": self.count,
        }


def verify(
    target: str | Path,
    home: str | Path | None = None,
    rerun: RerunCount | None = None,
    seed: int = 0,
    workers: int | None = None,
    isolation: Isolation | None = None,
    show: ShowStep = lambda what, done, total: None,
) -> Verification:
    """Verify a tournament or comparison (its name, folder, configuration or log) or an archive of `arena archive`.

    `rerun` plays that many matches again, or all; `seed` chooses them. `isolation` says where their bots run, by
    default where the plan says, for an archive in the sandbox. `workers` processes check large logs, and play; as
    always with `multiprocessing`, a script that calls this needs `if __name__ == "__main__"`. Raises an `ArenaError`
    if there is nothing to verify; whatever is wrong with the content is in the report.
    """
    workers = cores() if workers is None else workers
    if workers < 1:
        raise ConfigError(f"workers = {workers}: at least 1 is needed")
    if rerun is not None and rerun != "all" and rerun < 1:
        raise ConfigError(f"rerun = {rerun}: must be all, or at least 1")
    job = _Verifier(rerun, seed, workers, isolation, show)
    path = Path(target)
    if path.is_file() and (path.suffix == ".zip" or zipfile.is_zipfile(path)):
        from arena.verify.archive import check_sources, unpacked  # slow to import, and for archives alone

        with unpacked(path, job.findings) as (folder, manifest):
            report = Verification(str(target), LOG_FILE, manifest)
            if folder is not None:
                job.isolation = isolation or SUBMITTED_LEVEL
                job.verify(folder / LOG_FILE, report)
                check_sources(folder, job.contents, job.findings)
    else:
        log = find_log(target, home)
        if not log.is_file():
            raise UnknownTargetError(f"{log}: no such match log; `arena run` makes one")
        report = Verification(str(target), log.name, running=read_writer(log)[0])
        job.verify(log, report)
    report.findings, report.count = job.findings.shown, job.findings.count
    return report


@dataclass
class _Verifier:
    """One verification: its options, and what it has found so far."""

    rerun: RerunCount | None
    seed: int
    workers: int
    isolation: Isolation | None
    show: ShowStep
    findings: Findings = field(default_factory=Findings)
    contents: LogContents = field(default_factory=LogContents)

    def verify(self, log: Path, report: Verification) -> None:
        """Verify a log as far as it can be read."""
        try:
            opened = open_log(log)
        except LogVersionError:
            raise
        except (StoreError, OSError) as error:
            self.findings.add(str(error).removeprefix(f"{log}: "), file=log.name)
            return
        with contextlib.closing(opened) as db:
            db.execute("BEGIN")  # the log as it is now, whatever a run adds meanwhile
            self.show("checking the file", 0, 0)
            check_database_file(db, log, self.findings)
            self.contents = contents = read_contents(db, self.findings)
            check_orphans(db, self.findings)
            store = Store(log, db, None)
            if contents.plans and contents.plans[0].resolved.foreign is not None:
                self._check_foreign(store, report)
            else:
                self._check_matches(db, store, log, report)
            self._check_digests(store)
            if not contents.plans:
                if not self.findings.count:
                    report.remarks.append("nothing has been played yet")
                return
            newest = contents.plans[0]
            report.finished, report.comparison = newest.finished, newest.is_open_ended
            report.runs = sum(len(plan.runs) for plan in contents.plans) + contents.unread
            if log.name == LOG_FILE:
                self._compare_exports(store, newest, report)
            if self.rerun is not None:
                self._play_again(store, newest, report)

    def _compare_exports(self, store: Store, newest: LoggedPlan, report: Verification) -> None:
        """Compare the exports beside a log with what it says."""
        self.show("comparing exports", 0, 0)
        report.compared, different, redrawn = compare_exports(store, newest, self.findings)
        if left := unplanned_exports(store.path.parent, newest.resolved.schedule()):
            report.remarks.append(f"of no board of the latest plan, and not compared: {', '.join(left)}")
        report.remarks += [
            f"{name} was drawn by other versions of libraries; everything but its pictures was compared"
            for name in redrawn
        ]
        if different and newest.finished:
            for name in different:
                self.findings.add("differs from what the log says", file=name)
        elif different:
            names = ", ".join(different)
            report.remarks.append(f"not as the log says, as is usual after an interrupted run: {names}")

    def _play_again(self, store: Store, plan: LoggedPlan, report: Verification) -> None:
        assert self.rerun is not None
        options = RerunOptions(self.rerun, self.seed, self.workers, self.isolation)
        show = functools.partial(self.show, "playing again")
        try:
            rerun = rerun_matches(store, plan, self.contents, self.findings, options, show)
        except (ConfigError, WorkerError):  # of this machine, not of the log
            raise
        except Exception as error:
            self.findings.add(f"its matches cannot be played again: {error}", file=report.log)
            return
        report.rerun, report.bots = rerun.matches, rerun.verdicts
        report.remarks += rerun.remarks

    def _check_digests(self, store: Store) -> None:
        """Check that no row was changed after it was written."""
        self.show("checking digests", 0, 0)
        text = "was changed after it was written: its digest differs"
        with self.findings.guard("its digests cannot be checked"):
            for name in store.damaged():
                if MATCH_ID_PATTERN.fullmatch(name):
                    identity, _, lineup = name.partition("-")
                    self.findings.add(text, match=store.short_id(bytes.fromhex(identity), int(lineup)))
                else:
                    self.findings.add(f"{name} {text}", file=store.path.name)

    def _check_foreign(self, store: Store, report: Verification) -> None:
        if self.rerun is not None:
            raise ConfigError(f"{report.target}: holds foreign results, without moves: nothing can be played again")
        self.show("comparing with the file it was made from", 0, 0)
        with self.findings.guard("its matches cannot be read", file=report.log):
            report.foreign = True
            report.totals, remarks = check_foreign(store, self.contents, self.findings)
            report.remarks += remarks

    def _check_matches(self, db: sqlite3.Connection, store: Store, log: Path, report: Verification) -> None:
        with self.findings.guard("its matches cannot be read", file=log.name):
            total = store.totals()[0]
            finder = _finder_of(self.contents)(db, store, self.contents, self.findings)
            report.totals = check_blocks(
                finder,
                *(log, self.workers),
                lambda done: self.show("replaying", done, total),
            )
            report.remarks += finder.remarks
        if erased := len(self.contents.erased):
            sources = "the source of one bot was" if erased == 1 else f"the sources of {erased:,} bots were"
            report.remarks.append(f"source erased: {sources} removed, since their authors were erased")
        for reason, count in sorted(report.totals.not_replayed.items()):
            report.remarks.append(f"{count:,} matches could not be replayed: {reason}")
        report.remarks += other_sources(plan.resolved for plan in self.contents.plans)


def _finder_of(contents: LogContents) -> type[BlockFinder]:
    """Return what finds the blocks of a log, by the kind of its plans."""
    if not contents.plans:
        return BlockFinder
    if is_season(contents.plans[0].resolved):
        return SeasonFinder
    return TuningFinder if is_tuning(contents.plans[0].resolved.schedule()) else BlockFinder
