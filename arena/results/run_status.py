"""Run status of tournaments, from their logs, while they run or afterwards. Read-only."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.core.command import RESUMABLE_COMMANDS, resume_command
from arena.core.errors import ArenaError, StoreError
from arena.core.match_ids import list_dice_kinds
from arena.core.names import COMPARISONS_FOLDER, PLAYED_FOLDER, is_open_ended
from arena.core.paths import home_folder
from arena.match.game_faults import fault_lines, read_faults
from arena.schedule.blocks import Schedule
from arena.schedule.boards import budgets_in_words
from arena.store import Store, Writer, read_writer
from arena.tournament.logs import find_log, logs_under
from arena.tournament.tournament import BoardStatus, Tournament
from engine.errors import one_line

RUNNING, COMPLETE, INTERRUPTED, NOT_COMPLETE = "running", "complete", "interrupted", "not complete"


@dataclass(frozen=True)
class RunStatus:
    """Run status of a tournament."""

    name: str
    """That of its plan; of its folder where that has another, as after an import or a merge."""
    log: Path
    compares: list[str]
    """Labels of the two bots of a comparison; empty for a tournament."""
    state: str
    """`running`, `complete`, `interrupted`, or `not complete` where it is unknown what ended the last run."""
    boards: list[BoardStatus]
    matches: int
    planned: int
    rate: float | None
    """Matches a second of the latest run until its last write; None when it has played none."""
    seconds_left: float | None
    """Estimate of the time left; None unless it runs, and until every board with matches left has played a round."""
    workers: dict[str, tuple[int, int]]
    """Worker processes and matches by host, of the latest run that played."""
    writer: Writer | None
    """Process that writes, or wrote last, as it described itself."""
    started: str
    """Start of the latest run, UTC."""
    last_write: str
    """Time of the last write, UTC."""
    size: int
    """Bytes of the log."""
    free: int
    """Bytes free on its disk."""
    dice: str
    """Kinds of dice as leaderboards name them, with `disclosed` where all secret keys are; empty if unknown."""
    failed: list[str]
    """Failures of games that stopped boards in the last run."""
    foreign: str
    """What results from elsewhere are, and from which file; empty for matches that were played here."""
    budgets: dict[str, str]
    """Numbers that times a move were calibrated into, in words, by label of the bot."""
    resume: str
    """Command that resumes it; empty if unknown or not needed."""

    def as_data(self) -> dict[str, Any]:
        """Return the status as plain data."""
        return {**asdict(self), "log": str(self.log)}


def run_statuses(home: str | Path | None = None) -> Iterator[RunStatus | ArenaError]:
    """Yield the status of every tournament and comparison under the home folder; an error for a damaged log."""
    for log in logs_under(home_folder(home)):
        try:
            yield run_status(log)
        except ArenaError as error:
            yield error


def run_status(target: str | Path, home: str | Path | None = None) -> RunStatus:
    """Return the status of a tournament, from its log at one moment."""
    log = find_log(target, home)
    try:
        return _run_status(log)
    except (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError) as error:
        if isinstance(error, ArenaError):
            raise
        raise StoreError(f"{log}: is damaged: {error}; `arena verify` has details") from None


def _run_status(log: Path) -> RunStatus:
    running, writer = read_writer(log)
    with Tournament.open(log) as tournament:
        store, resolved, schedule = tournament.store, tournament.plan, tournament.schedule
        finished = store.runs.is_finished()
        boards = [tournament.progress(index) for index in range(len(schedule.boards))]
        if is_open_ended(resolved.name) and finished:  # a decided comparison has no more matches than it took
            boards = [replace(board, planned=board.matches) for board in boards]
        pair = schedule.comparison[:2] if schedule.comparison is not None else ()
        matches, planned = sum(board.matches for board in boards), sum(board.planned for board in boards)
        run, last = store.runs.last_run(), _last_write(log)
        played = sum(count for number, _, count in run.workers if number == run.number)
        rate = _rate(played, run.started, last) if resolved.foreign is None else None
        foreign = resolved.foreign
        workers = _by_host(run.workers) if foreign is None else {}
        seconds_left = _seconds_left(store, boards, workers) if running and played else None
        complete = finished or matches >= planned
        open_keys = any(key.disclosed is None for key in store.keys.all())
    return RunStatus(
        name=_name(log, resolved.name),
        log=log,
        compares=[one_line(schedule.entries[entry].label) for entry in pair],
        state=_state(running, complete, writer),
        boards=boards,
        matches=matches,
        planned=planned,
        rate=rate,
        seconds_left=seconds_left,
        workers=workers,
        writer=writer,
        started=run.started,
        last_write=last.isoformat(timespec="seconds"),
        size=sum(path.stat().st_size for path in _files(log)),
        free=shutil.disk_usage(log.parent).free,
        dice=_dice(schedule, open_keys),
        foreign="" if foreign is None else f"{foreign.status} from {one_line(foreign.file)}",
        failed=[] if running or complete else [*fault_lines(read_faults(log.parent), log)],
        budgets={one_line(label): text for label, text in budgets_in_words(schedule.entries, schedule.boards).items()},
        resume=_resume_command(writer) if writer and not (running or complete) else "",
    )


def _name(log: Path, planned: str) -> str:
    """Return what commands call a tournament: its plan's name, or that of its folder where it was put into another."""
    parts, folder = Path(planned).parts, log.parent.resolve().parts
    if folder[-len(parts) :] == parts:
        return one_line(planned)
    return one_line("/".join(folder[-2:]) if folder[-2] in (COMPARISONS_FOLDER, PLAYED_FOLDER) else folder[-1])


def _resume_command(writer: Writer) -> str:
    """Return the command line that resumes what a writer, or the one it added to, has played; empty for none."""
    command, folder = writer.player
    words = shlex.split(command)
    if words[:1] != ["arena"] or words[1:2] not in RESUMABLE_COMMANDS:
        return ""
    try:
        here = os.getcwd()
    except OSError:  # it has been removed
        here = ""
    return resume_command(command) if folder == here else f"cd {shlex.quote(folder)} && {resume_command(command)}"


def _dice(schedule: Schedule, open_keys: bool) -> str:
    disclosed = schedule.has_secret_dice and not open_keys
    return list_dice_kinds(schedule.dice_kinds()) + ", disclosed" * disclosed


def _state(running: bool, complete: bool, writer: Writer | None) -> str:
    if running:
        return RUNNING
    return COMPLETE if complete else INTERRUPTED if writer and _resume_command(writer) else NOT_COMPLETE


def _files(log: Path) -> list[Path]:
    return [path for path in (log, Path(f"{log}-wal")) if path.exists()]


def _last_write(log: Path) -> datetime:
    latest = max(path.stat().st_mtime for path in _files(log) if path == log or path.stat().st_size)
    return datetime.fromtimestamp(latest, UTC)


def _rate(played: int, started: str, last: datetime) -> float | None:
    """Return the matches per second from the start of a run to the last write; None if clocks contradict each other."""
    try:
        begun = datetime.fromisoformat(started)
    except ValueError:
        return None
    seconds = (last - (begun if begun.tzinfo else begun.replace(tzinfo=UTC))).total_seconds()
    return played / seconds if played and seconds > 0 else None


def _seconds_left(store: Store, boards: Sequence[BoardStatus], workers: Mapping[str, tuple[int, int]]) -> float | None:
    """Return the time left by what matches of each board took after its first round; None where that is not known."""
    seconds = 0.0
    for board in boards:
        if board.planned > board.matches:
            usual = store.board(board.game, board.players).usual_seconds()
            if usual is None:
                return None
            seconds += (board.planned - board.matches) * usual
    return seconds / max(1, sum(processes for processes, _ in workers.values()))


def _by_host(workers: list[tuple[int, str, int]]) -> dict[str, tuple[int, int]]:
    """Return workers and matches by host, of the latest run that played."""
    latest = max((run for run, _, _ in workers), default=0)
    found: dict[str, tuple[int, int]] = {}
    for run, worker, count in workers:
        if run == latest:
            host = one_line(worker.rpartition(":")[0] or worker)
            processes, matches = found.get(host, (0, 0))
            found[host] = processes + 1, matches + count
    return found
