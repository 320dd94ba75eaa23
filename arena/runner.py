"""Plays what a plan still lacks: hands chunks of matches to workers, writes what comes back, survives what dies.

Which worker plays what, in which order and in what chunks never shows in the results. The driver (this process) runs
no bot's code.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
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
from arena.adaptive import with_stages
from arena.benching import Barrier, Bench, Gate
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
    """Matches in the plan; fewer when a bot is benched, but for adaptive boards."""
    found: int = 0
    """Matches that were in the log already."""
    played: int = 0
    """Those whose blocks have left the plan are taken off again."""
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
    """SIGINT, SIGTERM and SIGHUP as calls instead of exceptions, so that no transaction is torn in the middle."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.works = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self.works:
            numbers = [signal.SIGINT, signal.SIGTERM]
            if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # `nohup` ignores it
                numbers.append(signal.SIGHUP)
            self.previous = {number: signal.signal(number, lambda *_: self.call()) for number in numbers}

    def __exit__(self, *_: object) -> None:
        if self.works:
            for number, handler in self.previous.items():
                signal.signal(number, handler)


Charged = tuple[MatchSpec, list[list[Any]]]
"""A match with the faults it is charged with: [seat, ply, cause, how]."""


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
        barrier: Callable[[list[Finished]], Barrier] | None = None,
    ) -> None:
        """`barrier` makes one for a plan with one board, given where results pass to; by default bots are benched."""
        self.plan, self.store, self.show = plan, store, show
        self.workers, self.backend, self.address = workers, backend, address
        store.keep_waiting = self._wait_for_log
        self.message = plan.message()
        self.first = first
        self.schedule = with_stages(store, plan.schedule)
        """As far as the log decides it."""
        self.progress = Progress(plan.schedule.total_matches)
        self.replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.again: deque[Charged] = deque()
        self.trouble: dict[tuple[bytes, int], _Trouble] = defaultdict(_Trouble)
        self.waiting: list[Finished] = []
        """What is to be written."""
        boards = range(len(self.schedule.boards))
        self.gates: list[Barrier] = [barrier(self.waiting)] if barrier else [self._gate(number) for number in boards]
        """Of the present stages."""
        self.before = [self._matches_done(number) for number in boards]
        """By board: matches of the stages before, of which `played_before` were played by this run."""
        self.played_before = [0 for _ in boards]
        self.missing = {number: self._missing(number) for number in boards}
        """By board, those that are exhausted left out."""
        self.reached = dict.fromkeys(self.missing, 0)
        """By board: the round of the last match handed out."""
        self.not_played: dict[MatchSpec, str] = {}
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

    def _gate(self, number: int) -> Gate:
        """For a board, or for the present stage of an adaptive one."""
        schedule, stage = self.schedule, self.schedule.stage(number)
        tables, lineups = schedule.tables[number], schedule.lineups(schedule.boards[number])
        if stage is None or stage.benched is None:
            bench = Bench(tables, lineups, schedule.bench_after)
            return Gate(bench, max(schedule.counts(number), default=0), self.waiting)
        return Gate(Bench((), lineups, 0), 0, self.waiting, lineups * (sum(stage.counts) - sum(stage.done)))

    def _matches_done(self, number: int) -> int:
        """Matches of the stages before the present one."""
        stage = self.schedule.stage(number)
        return sum(stage.done) * self.schedule.lineups(self.schedule.boards[number]) if stage is not None else 0

    def _total(self, number: int) -> int:
        """Matches that a board is going to have; an adaptive one its whole budget until nothing is left to give out."""
        stage = self.schedule.stage(number)
        if stage is not None and stage.counts != stage.done:
            return self.schedule.budget(number)
        return self.before[number] + self.gates[number].total

    def _next_stage(self) -> bool:
        """Go on with adaptive boards whose stage is complete; whether there are any."""
        if not self.schedule.stages:
            return False
        old, self.schedule = self.schedule, with_stages(self.store, self.plan.schedule)
        grown = [n for n, stages in enumerate(zip(old.stages, self.schedule.stages, strict=True)) if len({*stages}) > 1]
        for number in grown:
            self.played_before[number] += self.gates[number].played
            self.before[number] = self._matches_done(number)
            self.gates[number] = self._gate(number)
            self.missing[number] = self._missing(number)
        return bool(grown)

    def play(self) -> Outcome:
        """Play everything that is missing. Ctrl-C lets the chunks in flight finish and keeps them."""
        started = time.monotonic()
        head = self._new_matches()
        self._tally()
        resolved = json.dumps(self.plan.resolved(), sort_keys=True)
        if not head and resolved == self.store.last_plan():
            return Outcome(self.progress, False, [], time.monotonic() - started)
        versions = self._versions()
        bots = [bot.row for bot in self.plan.bots]
        bundles = {key: json.dumps(files) for key, files in self.plan.bundles().items()}
        self.run = self.store.begin_run(resolved, json.dumps(versions), datetime.now(UTC).isoformat(), bots, bundles)
        if head:
            self.again.extend(head)
            with _Signals(self._interrupt):
                self._drive()
        interrupted = self.stopping and self.progress.left > 0
        return Outcome(self.progress, interrupted, self._tell_not_played(), time.monotonic() - started)

    def _versions(self) -> dict[str, str]:
        if self.first is None:
            self.first = WorkerProcess()
        if not self.first.name:
            self.first.start()
        return self.first.versions

    def _tell_not_played(self) -> list[str]:
        """Why matches of the plan were not played, but for an interruption."""
        lines = [f"{spec.id}: {why}" for spec, why in self.not_played.items()]
        for board, gate in zip(self.plan.schedule.boards, self.gates, strict=True):
            failed = sum(self.gates[spec.block.board] is gate for spec in self.not_played)
            left = gate.total - gate.found - gate.played - failed
            if left and not self.stopping:
                lines.append(f"{left:,} more on {board.title}: whether they are played, round {gate.reached} decides")
        return lines + self._tell_not_given_out()

    def _tell_not_given_out(self) -> list[str]:
        """What adaptive boards have left when one of their stages could not be completed."""
        if self.stopping:
            return []
        counts = ((n, self._total(n) - self.before[n] - gate.total) for n, gate in enumerate(self.gates))
        return [
            f"{count:,} more on {self.schedule.boards[number].title}: which tables play them, those before decide"
            for number, count in counts
            if count
        ]

    def _drive(self) -> None:
        try:
            if self.backend == "ray" or self.address is not None:
                self._start_ray()
            if self.backend != "ray":
                self.pools.append(LocalPool(self.workers, self.message, self.replies, self.first))
            more = True
            while more:
                self._play_missing()
                self._write()
                more = self._next_stage() and not self.stopping
        finally:
            try:
                self._write()
            finally:
                self._dismiss()
        for gate in self.gates:
            gate.abandon()
        self._tally()
        if self.stopping and self.store.totals()[0] > self.progress.found + self.progress.played:
            for missing in self.missing.values():  # counts what an earlier run has played of the rest
                for _ in missing:
                    pass
            self._tally()
        self.show(self.progress)

    def _tally(self) -> None:
        """Bring the progress up to date with the boards."""
        progress = self.progress
        progress.total = sum(map(self._total, range(len(self.gates))))
        progress.played = sum(self.played_before) + sum(gate.played for gate in self.gates)
        progress.found = sum(self.before) - sum(self.played_before) + sum(gate.found for gate in self.gates)
        if self.not_played:
            self.not_played = {spec: why for spec, why in self.not_played.items() if self._stays(spec.block)}
            progress.failed = len(self.not_played)

    def _stays(self, block: Block) -> bool:
        return self.gates[block.board].stays(block)

    def _play_missing(self) -> None:
        written = time.monotonic()
        while not self.hurry:
            self._consider_ray()
            self._hand_out()
            idle = self.in_flight == 0 and (self.pools or self.stopping)
            if idle and not any([gate.recheck() for gate in self.gates]):
                return
            with contextlib.suppress(queue.Empty):
                self._take(self.replies.get(timeout=LISTEN))
                while not self.replies.empty():
                    self._take(self.replies.get())
            if time.monotonic() - written > WRITE_EVERY or len(self.waiting) > MAX_CHUNK:
                for gate in self.gates:
                    if gate.full:
                        gate.recheck()
                self._write()
                written = time.monotonic()
            self._tally()
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

    def _missing(self, board: int) -> Iterator[MatchSpec | None]:
        """A board's matches that the log lacks, in plan order; None while too many results wait.

        The log is looked through a few hundred blocks at a time.
        """
        schedule, gate = self.schedule, self.gates[board]
        shape = schedule.boards[board]
        forfeits = self.store.forfeits(shape.game, shape.players) if schedule.bench_after else {}
        blocks = filter(gate.stays, schedule.blocks_of(board, schedule.stage(board)))
        while batch := list(itertools.islice(blocks, LOOK_UP)):
            finished = self.store.finished([block.identity for block in batch])
            for block in batch:
                while gate.full:
                    yield None
                if not gate.stays(block):
                    continue
                done = finished.get(block.identity, set())
                if done:
                    falls = forfeits.get(block.round, {}).get(block.identity, ())
                    gate.find(block, [schedule.seats(block, lineup)[seat] for lineup, seat, _ in falls], len(done))
                missing = [spec for spec in schedule.matches(block) if spec.lineup not in done]
                gate.expect(block.table, len(missing))
                for number, spec in enumerate(missing):
                    if not gate.stays(block):
                        gate.expect(block.table, number - len(missing))
                        break
                    yield spec

    def _hand_out(self) -> None:
        """Keep every worker a chunk ahead."""
        for pool in reversed(self.pools):
            while not self.stopping and (idle := pool.idle()):
                matches = self._matches_again() or self._new_matches()
                if not matches:
                    return
                self.in_flight += 1
                pool.submit(idle[0], Chunk(matches, matches[0][0].block.board))

    def _matches_again(self) -> list[Charged]:
        """Matches of one board that came back unplayed; one that ended its worker goes alone."""
        matches: list[Charged] = []
        board, size = -1, 1
        while self.again and len(matches) < size:
            block, lineup, _ = self.again[0][0]
            if not self._stays(block):
                self.gates[block.board].expect(block.table, -1)
                self.again.popleft()
                continue
            alone = (block.identity, lineup) in self.trouble
            if matches and (alone or block.board != board):
                break
            if not matches:
                board = block.board
                size = 1 if alone else self._chunk_size(board)
            matches.append(self.again.popleft())
        return matches

    def _new_matches(self) -> list[Charged]:
        """About `CHUNK_SECONDS` of missing matches of the board whose turn it is."""
        while ready := [number for number in self.missing if not self.gates[number].full]:
            board = min(ready, key=self.reached.__getitem__)
            missing = itertools.takewhile(bool, self.missing[board])
            matches: list[Charged] = [(spec, []) for spec in itertools.islice(missing, self._chunk_size(board)) if spec]
            if matches:
                self.reached[board] = matches[-1][0].block.round
                return matches
            if not self.gates[board].full:
                del self.missing[board]
        return []

    def _chunk_size(self, board: int) -> int:
        seconds = self.seconds_per_match.get(board)
        if seconds is None:
            return FIRST_CHUNK
        left = sum(gate.total - gate.found - gate.played for gate in self.gates)
        most = max(1, left // (2 * IN_FLIGHT * self.workers))  # share out the tail
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
        gate = self.gates[chunk.board]
        for (spec, _), row in zip(chunk.matches, rows, strict=True):
            trouble = self.trouble.pop((spec.block.identity, spec.lineup), None)
            attempts = trouble.attempts if trouble else 1
            forfeits = [spec.seats[number] for number, seat in enumerate(row.seats) if seat[2] is not None]
            gate.take(spec.block, forfeits, Finished(spec, row, chunk.worker_name, attempts))
            self._count(spec, row)

    def _seconds_left(self) -> float | None:
        """Estimated from the boards that have been played on; None before any has."""
        sizes = {board: self._total(board) for board in self.seconds_per_match}
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
        certain = death.cause == "timeout" and death.seat >= 0 and not death.starved
        if not certain and len(trouble.deaths) < TRIES:
            self.again.appendleft(lost)
        elif certain or (death.seat >= 0 and all(other.seat == death.seat for other in trouble.deaths)):
            self.again.appendleft((spec, [*charges, [death.seat, death.ply, death.cause, death.how]]))
            trouble.deaths.clear()
        else:
            self.not_played[spec] = f"its worker process ended {TRIES} times ({death.how or death.cause})"

    def _write(self) -> None:
        batch, where = self.waiting[:], self.progress.where
        self.waiting.clear()  # what cannot be written is played again when the run is resumed
        if batch:
            self.store.add(self.plan.schedule, batch, self.run)
        self.progress.where = where

    def _wait_for_log(self, waited: float) -> bool:
        """Say that another program has locked the log, and whether to go on waiting."""
        self.progress.where = f"waiting for the log, which another program has locked for {waited:.0f} s"
        self.show(self.progress)
        return not self.hurry

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
