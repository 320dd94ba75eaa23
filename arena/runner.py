"""Plays what a plan still lacks: hands chunks of matches to workers, writes what comes back, survives what dies.

Which worker plays what, in which order and in what chunks never shows in the results. The driver (this process) runs
no bot's code.
"""

from __future__ import annotations

import contextlib
import functools
import json
import queue
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import engine
from arena.errors import ArenaError, WorkerError
from arena.plan import Plan
from arena.pools import IN_FLIGHT, LISTEN, Chunk, LocalPool, Lost, Pool, Reply
from arena.process import Death, WorkerProcess
from arena.schedule import Block, MatchSpec
from arena.store import Finished, MatchRow, Store

CHUNK_SECONDS = 0.2
MAX_CHUNK = 2000
FIRST_CHUNK = 4
TRIES = 3
WRITE_EVERY = 0.5
LOOK_UP = 256
SETTLED = 2.0
"""Seconds after the first reply from which the rate is believed."""
RAY_PAYS_AFTER = 60.0
"""Seconds of play still ahead from which Ray workers are brought in (starting Ray takes about 4)."""


@dataclass
class Progress:
    """What a run has done so far, for whoever shows it."""

    total: int
    found: int = 0
    """Matches that were in the log already."""
    played: int = 0
    failed: int = 0
    started: float = field(default_factory=time.monotonic)
    first_match: float | None = None
    """Seconds from the start of the run to the first reply, with `first_reply` matches."""
    first_reply: int = 0
    seconds_left: float | None = None
    where: str = ""
    """`Ray` when it plays."""
    sums: dict[tuple[int, int], list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0, 0]))
    """By (board, entry): returns added up, and seats."""
    forfeits: int = 0
    stopping: bool = False
    """Interrupted: what is in flight is played to its end, then the run ends."""
    remarks: list[str] = field(default_factory=list)
    """What a user should be told at the end."""

    @property
    def rate(self) -> float:
        """Matches a second, without the time it took to get going as soon as that can be told."""
        if self.playing > SETTLED:
            return (self.played - self.first_reply) / self.playing
        return self.played / max(time.monotonic() - self.started, 1e-9)

    @property
    def playing(self) -> float:
        """Seconds since the first reply."""
        return 0.0 if self.first_match is None else time.monotonic() - self.started - self.first_match

    @property
    def left(self) -> int:
        return self.total - self.found - self.played - self.failed


@dataclass(frozen=True)
class Outcome:
    """How a run went."""

    progress: Progress
    interrupted: bool
    not_played: list[str]
    """Ids of the matches that could not be played, each with why."""
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether every match of the plan is in the log."""
        return self.progress.left == 0 and not self.not_played


@functools.cache
def _returns(ranks: tuple[int, ...]) -> list[float]:
    return engine.returns_from_ranks(ranks)


class _Signals:
    """SIGINT and SIGTERM as calls instead of exceptions, so that nothing is torn in the middle of a transaction."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.works = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self.works:
            numbers = (signal.SIGINT, signal.SIGTERM)
            self.previous = {number: signal.signal(number, lambda *_: self.call()) for number in numbers}

    def __exit__(self, *_: object) -> None:
        if self.works:
            for number, handler in self.previous.items():
                signal.signal(number, handler)


@dataclass
class _Trouble:
    """A match that ended its worker."""

    attempts: int = 1
    deaths: list[Death] = field(default_factory=list)
    """Since a seat was last charged."""


class Run:
    """One run of a plan into a log."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        workers: int = 1,
        backend: str = "auto",
        address: str | None = None,
        first: WorkerProcess | None = None,
        show: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self.plan, self.store, self.show = plan, store, show
        self.workers, self.backend, self.address = workers, backend, address
        self.message = plan.message()
        self.first = first
        self.progress = Progress(plan.schedule.total_matches)
        self.replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.again: deque[tuple[MatchSpec, list[list[Any]]]] = deque()
        self.trouble: dict[tuple[bytes, int], _Trouble] = defaultdict(_Trouble)
        self.waiting: list[Finished] = []
        self.not_played: list[str] = []
        self.seconds_per_match: dict[int, float] = {}
        self.in_flight = 0
        self.stopping = False
        self.hurry = False
        self.pools: list[Pool] = []
        self._ray_thread: threading.Thread | None = None
        self._ray_pool: Any = None
        self._ray_error: BaseException | None = None
        self._ray_up = threading.Event()
        self._ray_settled = self._ray_unwanted = False

    def play(self) -> Outcome:
        """Play everything that is missing. Ctrl-C lets the chunks in flight finish and keeps them."""
        started = time.monotonic()
        missing = self._missing()
        head = next(missing, None)
        resolved = json.dumps(self.plan.resolved(), sort_keys=True)
        if head is None and resolved == self.store.last_plan():
            return Outcome(self.progress, False, [], time.monotonic() - started)
        versions = self._versions()
        bots = [bot.row for bot in self.plan.bots]
        bundles = {key: json.dumps(files) for key, files in self.plan.bundles().items()}
        self.run = self.store.begin_run(resolved, json.dumps(versions), datetime.now(UTC).isoformat(), bots, bundles)
        if head is not None:
            self.again.append((head, []))
            with _Signals(self._interrupt):
                self._drive(missing)
        interrupted = self.stopping and self.progress.left > 0
        return Outcome(self.progress, interrupted, self.not_played, time.monotonic() - started)

    def _versions(self) -> dict[str, str]:
        if self.first is None:
            self.first = WorkerProcess()
        if not self.first.name:
            self.first.start()
        return self.first.versions

    def _drive(self, missing: Iterator[MatchSpec]) -> None:
        try:
            if self.backend == "ray" or self.address is not None:
                self._start_ray()
            if self.backend != "ray":
                self.pools.append(LocalPool(self.workers, self.message, self.replies, self.first))
            self._play_missing(missing)
        finally:
            self._write()
            self._dismiss()
        if self.stopping and self.store.totals()[0] > self.progress.found + self.progress.played:
            for _ in missing:  # counts what an earlier run has played of the rest
                pass
        self.show(self.progress)

    def _play_missing(self, missing: Iterator[MatchSpec]) -> None:
        written = time.monotonic()
        while not self.hurry:
            self._consider_ray()
            self._hand_out(missing)
            if self.in_flight == 0 and (self.pools or self.stopping):
                return
            with contextlib.suppress(queue.Empty):
                self._take(self.replies.get(timeout=LISTEN))
                while not self.replies.empty():
                    self._take(self.replies.get())
            if time.monotonic() - written > WRITE_EVERY or len(self.waiting) > MAX_CHUNK:
                self._write()
                written = time.monotonic()
            self.progress.seconds_left = self._seconds_left()
            self.show(self.progress)

    def _dismiss(self) -> None:
        self._ray_unwanted = True
        if self._ray_thread is not None and self.address is None:
            self._ray_up.wait()  # our own Ray cannot be stopped while it starts: it would leave processes behind
        if self._ray_pool is not None and self._ray_pool not in self.pools:
            self.pools.append(self._ray_pool)
        for pool in self.pools:
            pool.close()
        if self.first is not None:
            self.first.stop()

    def _interrupt(self) -> None:
        """First: let what is in flight finish. Again: drop it (it is played when the run is resumed)."""
        self.hurry = self.stopping
        self.stopping = self.progress.stopping = True

    def _missing(self) -> Iterator[MatchSpec]:
        """The matches that the log lacks, in plan order, looked up a few hundred blocks at a time."""
        schedule = self.plan.schedule
        batch: list[Block] = []

        def look_up() -> Iterator[MatchSpec]:
            finished = self.store.finished([block.identity for block in batch])
            for block in batch:
                done = finished.get(block.identity, set())
                self.progress.found += len(done)
                yield from (spec for spec in schedule.matches(block) if spec.lineup not in done)
            batch.clear()

        for block in schedule.blocks():
            batch.append(block)
            if len(batch) == LOOK_UP:
                yield from look_up()
        yield from look_up()

    def _hand_out(self, missing: Iterator[MatchSpec]) -> None:
        """Keep every worker a chunk ahead."""
        for pool in reversed(self.pools):
            while not self.stopping and (idle := pool.idle()):
                chunk = self._next_chunk(missing)
                if chunk is None:
                    return
                self.in_flight += 1
                pool.submit(idle[0], chunk)

    def _next_chunk(self, missing: Iterator[MatchSpec]) -> Chunk | None:
        """About `CHUNK_SECONDS` of matches of one board; a match that ended its worker goes alone."""
        matches: list[tuple[MatchSpec, list[list[Any]]]] = []
        board, size = -1, 1
        while len(matches) < size:
            if self.again:
                spec, charges = self.again[0]
            else:
                head = next(missing, None)
                if head is None:
                    break
                spec, charges = head, []
                self.again.append((spec, charges))
            alone = (spec.block.identity, spec.lineup) in self.trouble
            if matches and (alone or spec.block.board != board):
                break
            if not matches:
                board = spec.block.board
                size = 1 if alone else self._chunk_size(board)
            matches.append(self.again.popleft())
        return Chunk(matches, board) if matches else None

    def _chunk_size(self, board: int) -> int:
        seconds = self.seconds_per_match.get(board)
        if seconds is None:
            return FIRST_CHUNK
        most = max(1, self.progress.left // (2 * IN_FLIGHT * self.workers))  # share out the tail
        return max(1, min(MAX_CHUNK, int(CHUNK_SECONDS / max(seconds, 1e-6)), most))

    def _take(self, reply: Reply) -> None:
        _, chunk, answer = reply
        self.in_flight -= 1
        if isinstance(answer, BaseException):
            raise answer if isinstance(answer, ArenaError) else WorkerError(f"a worker failed: {answer}")
        if isinstance(answer, Lost):
            self.again.extendleft(reversed(chunk.matches))
            return
        if isinstance(answer, Death):
            self._mourn(chunk, answer)
            return
        rows = [MatchRow(*row) for row in json.loads(answer)["rows"]]
        seconds = sum(row.seconds for row in rows) / len(rows)
        known = self.seconds_per_match.get(chunk.board, seconds)
        self.seconds_per_match[chunk.board] = min(seconds, 0.7 * known + 0.3 * seconds)  # the first ones compile
        if self.progress.first_match is None:
            self.progress.first_match = time.monotonic() - self.progress.started
            self.progress.first_reply = len(rows)
        for (spec, _), row in zip(chunk.matches, rows, strict=True):
            trouble = self.trouble.pop((spec.block.identity, spec.lineup), None)
            attempts = trouble.attempts if trouble else 1
            self.waiting.append(Finished(spec, row, chunk.worker_name, attempts))
            self._count(spec, row)
        self.progress.played += len(rows)

    def _seconds_left(self) -> float | None:
        """Estimated from the boards that have been played on; None before any has."""
        schedule = self.plan.schedule
        sizes = {
            board: schedule.boards[board].blocks
            * len(schedule.tables[board])
            * schedule.lineups(schedule.boards[board])
            for board in self.seconds_per_match
        }
        if not sizes:
            return None
        mean = sum(size * self.seconds_per_match[board] for board, size in sizes.items()) / sum(sizes.values())
        return self.progress.left * mean / self.workers

    def _count(self, spec: MatchSpec, row: MatchRow) -> None:
        returns = _returns(tuple([seat[0] for seat in row.seats]))
        for entry, value in zip(spec.seats, returns, strict=True):
            total = self.progress.sums[spec.block.board, entry]
            total[0] += value
            total[1] += 1
        if row.details:
            self.progress.forfeits += len(row.details)

    def _mourn(self, chunk: Chunk, death: Death) -> None:
        """Put a dead worker's matches back; the one it died in goes alone, and at last is charged or given up."""
        lost = chunk.matches.pop(min(death.number, len(chunk.matches) - 1))
        spec, charges = lost
        self.again.extendleft(reversed(chunk.matches))
        trouble = self.trouble[spec.block.identity, spec.lineup]
        trouble.attempts += 1
        trouble.deaths.append(death)
        certain = death.cause == "timeout" and death.seat >= 0
        if not certain and len(trouble.deaths) < TRIES:
            self.again.appendleft(lost)
        elif certain or (death.seat >= 0 and all(other.seat == death.seat for other in trouble.deaths)):
            self.again.appendleft((spec, [*charges, [death.seat, death.ply, death.cause]]))
            trouble.deaths.clear()
        else:
            self.progress.failed += 1
            self.not_played.append(f"{spec.id}: its worker process ended {TRIES} times ({death.cause})")

    def _write(self) -> None:
        if self.waiting:
            self.store.add(self.plan.schedule, self.waiting, self.run)
            self.waiting = []

    def _consider_ray(self) -> None:
        """Bring Ray in when enough is left to pay for its start; it takes over when it is ready."""
        if self._ray_thread is None:
            pays = self.progress.playing > SETTLED and (self.progress.seconds_left or 0.0) > RAY_PAYS_AFTER
            if pays and self.backend == "auto" and self.workers > 1 and not self.stopping:
                self._start_ray()
        elif self._ray_up.is_set() and not self._ray_settled:
            self._ray_settled = True
            self._settle_ray()

    def _start_ray(self) -> None:
        def live() -> None:
            try:
                from arena.ray_pool import RayPool

                self._ray_pool = RayPool(self.workers, self.message, self.replies, self.address)
            except BaseException as error:
                self._ray_error = error
            self._ray_up.set()
            if self._ray_pool is not None:
                self._ray_pool.serve(wanted=not self._ray_unwanted)

        self.progress.where = "Ray is starting"
        self._ray_thread = threading.Thread(target=live, daemon=True, name="ray")
        self._ray_thread.start()

    def _settle_ray(self) -> None:
        """Ray has started, or has not: that is an error only when it was asked for."""
        if self._ray_error is not None:
            message = f"Ray could not be used: {self._ray_error}"
            if self.backend == "ray" or self.address is not None:
                raise WorkerError(message)
            self.progress.where = ""
            self.progress.remarks.append(f"{message}; local processes played on")
            return
        for pool in self.pools:
            pool.retire()
        self.pools.append(self._ray_pool)
        self.progress.where = "Ray"
