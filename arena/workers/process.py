"""Spawn a worker process, send it messages, watch it, end it; for drivers and for Ray workers."""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from multiprocessing.connection import Connection
from typing import NamedTuple, TypeVar

from arena.core import records
from arena.core.errors import UnwritableError, WorkerError, disk_full_error, is_disk_full
from arena.core.exit_codes import exit_description, may_be_external_kill
from arena.core.files import temporary_folder
from arena.core.process_trees import (
    KILL_TIMEOUT_SECONDS,
    STOPPED_STATES,
    WAITING_STATES,
    kill_session,
    kill_tree,
    send_signal,
    thread_states,
    wait_readable,
)
from arena.core.versions import code_hash
from arena.match.heartbeat import HEARTBEAT_BYTES, NOBODY, STARVED_CPU_SHARE, Activity, Heartbeat, ShownMatch
from arena.registry.plugin_games import folders_for
from arena.workers import messages
from arena.workers.parent import START_SECONDS, KilledWorkerError, environment, parent_for

GRACE_SECONDS = 2.0
"""Seconds that a bot may overrun its limit before its whole process is ended (its own alarm comes first)."""
MAX_STARTS = 3
"""Tries to start a worker that is killed before it plays."""
END_SECONDS = 2 * KILL_TIMEOUT_SECONDS
"""Seconds in which a worker that has closed its socket, or is to end, is gone with all that bots started."""
POLL_SECONDS = 0.1
STALL_SECONDS = 5.0
"""Seconds after which a worker that uses no processor time counts as stopped: a living one uses some for its beats."""
MAX_STILLNESS_PER_LOOK_SECONDS = 1.0
"""Seconds of stillness that one look may add: when more have passed, it was this process that was stopped."""


Reply = TypeVar("Reply", bound=messages.Message)


class ActivityStart(NamedTuple):
    """First sight of a worker's activity: when, and with how much processor time used before; in nanoseconds."""

    activity: Activity
    since: int
    cpu: int


class StallDetector:
    """Detect a stopped worker from its processor time."""

    def __init__(self, process: int) -> None:
        """`process` is its number, 0 while that is not known."""
        self.process = process
        self._used, self._still, self._looked = -1, 0.0, time.monotonic()

    def has_stopped(self, between_moves: bool) -> bool:
        """Return whether a signal has stopped it for a while or, `between_moves`, nothing at all happens in it.

        A process that waits for a processor, the disk or a debugger has not stopped, however long that takes.
        """
        now, used = time.monotonic(), processor_time(self.process) if self.process else 0
        self._still = (
            self._still + min(now - self._looked, MAX_STILLNESS_PER_LOOK_SECONDS) if used == self._used else 0.0
        )
        self._used, self._looked = used, now
        if self._still < STALL_SECONDS or not self.process:
            return False
        states = thread_states(self.process)
        return bool(states & STOPPED_STATES or (between_moves and states and not states & WAITING_STATES))


class Supervisor:
    """The process above a worker, whose number is its own until it is reaped."""

    def __init__(self, games: tuple[str, ...], descriptors: list[int]) -> None:
        """Fork it; see `arena.workers.supervisor`. Raises `WorkerError`."""
        self.parent = parent_for(games)
        self.number, self._descriptor = self.parent.fork(descriptors)

    def ends(self) -> bool:
        """Wait for its end, which follows that of its worker; return whether it has ended in time."""
        return wait_readable(self._descriptor, self.number, END_SECONDS)

    def end(self) -> int:
        """End it and all below it; return how it ended, negative for a signal."""
        try:
            signal.pidfd_send_signal(self._descriptor, 0)
            for number in (signal.SIGTERM, signal.SIGCONT):
                send_signal(self.number, number)
            self.ends()
            kill_tree(self.number)  # what a supervisor that was killed has left
            self.ends()
        except ProcessLookupError:  # the parent is gone too, and its number is free
            kill_session(self.number)
        finally:
            os.close(self._descriptor)
        return self.parent.reap(self.number)


class WorkerProcess:
    """A worker, started again with the same plan whenever it dies.

    It works in an empty folder, made inside `folder` or else the system's temporary folder, and removed when it ends.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._parent = folder
        self._plan: messages.WorkerPlan | None = None
        self._games: tuple[str, ...] = ()
        """Folders that it imports the plan's games from first."""
        self.supervisor: Supervisor | None = None
        self.process = 0
        """The number of the worker's process."""
        self._ending = threading.Lock()
        self._seen: ActivityStart | None = None
        self.versions: dict[str, str] = {}
        self.name = ""

    def start(self) -> None:
        """Spawn and greet it; raises `WorkerError` when it does not come up or runs other code."""
        for left in reversed(range(MAX_STARTS)):
            try:
                self._start()
                return
            except KilledWorkerError:
                if not left:
                    raise
            except OSError as error:
                if is_disk_full(error):
                    raise disk_full_error(error, self._parent or tempfile.gettempdir()) from None
                raise

    def _start(self) -> None:
        if _plays_bots():
            raise WorkerError(
                'matches are played while a bot\'s file is read; put what plays them below if __name__ == "__main__":'
            )
        self._games = _game_folders(self._plan) if self._plan is not None else ()
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryFile() as beats, tempfile.TemporaryFile() as complaints, theirs:
            beats.write(
                bytes(HEARTBEAT_BYTES)
            )  # on a disk that is full this fails, while a file of holes would end us later on
            beats.flush()
            self._heartbeat = Heartbeat(mmap.mmap(beats.fileno(), HEARTBEAT_BYTES))
            self._heartbeat.rest(0)
            self._heartbeat.hide_moves()
            self._folder = contextlib.ExitStack()
            folder = str(self._folder.enter_context(temporary_folder(self._parent, "arena-worker-")))
            self._connection = Connection(ours.detach())
            try:
                self.supervisor = Supervisor(self._games, [theirs.fileno(), beats.fileno(), complaints.fileno()])
            except BaseException:
                self._folder.close()
                raise
            theirs.close()
            start = messages.Start(folder, environment(self._games))
            with contextlib.suppress(OSError):  # it has ended, which the next message finds out
                self._connection.send_bytes(records.encode(start))
            greeting = self.call(messages.Hello(), messages.Greeting, START_SECONDS)
            if isinstance(greeting, messages.WorkerDeath):
                complaints.seek(0)
                lines = complaints.read().decode(errors="replace").strip().splitlines()
                kind = WorkerError if lines else KilledWorkerError
                raise kind(f"a worker process did not start: {lines[-1] if lines else greeting.how}")
        if greeting.code != code_hash():
            self.stop()
            raise WorkerError(
                "a worker process runs another version of the arena than this command; was it just edited?"
            )
        self.process = greeting.process
        self.versions = greeting.versions
        self.name = f"{greeting.host}:{greeting.process}"
        if self._plan is not None:
            self._send_plan(self._plan)

    def give_plan(self, plan: messages.WorkerPlan) -> None:
        """Tell it the plan, starting it anew if it may know other versions of the plan's games.

        A worker started later gets it by itself. Raises `WorkerError` when it cannot play the plan.
        """
        self._plan = plan
        if self.supervisor is None or _game_folders(plan) != self._games:
            self.stop()
            self.start()
            return
        try:
            self._send_plan(plan)
        except KilledWorkerError:
            self.start()

    def _send_plan(self, plan: messages.WorkerPlan) -> None:
        if self.supervisor is not None:
            self.supervisor.parent.load((board.game, board.players) for board in plan.boards)
        reply = self.call(plan, messages.PlanReply, START_SECONDS)
        if isinstance(reply, messages.WorkerDeath):
            raise KilledWorkerError(f"a worker process ended while it read the plan ({reply.how})")
        if reply.refusal:
            raise WorkerError(reply.refusal)

    def call(
        self, message: messages.Message, expected: type[Reply], limit: float | None = None
    ) -> Reply | messages.WorkerDeath:
        """Return its reply, or how it died; `limit` is in seconds and for messages that no bot's clock covers.

        After a death the next message goes to a fresh process. Raises `UnwritableError` when it has no room on disk.
        """
        reply = self.exchange(message, limit)
        if isinstance(reply, (messages.WorkerDeath, expected)):
            return reply
        if isinstance(reply, messages.DiskFull):
            raise UnwritableError(reply.what, reply.remedy)
        raise WorkerError(f"a worker process replied {type(reply).__name__}, not {expected.__name__}")

    def exchange(
        self, message: messages.Message | None, limit: float | None = None
    ) -> messages.Message | messages.WorkerDeath:
        """Send a message and return the next reply of any kind; without a message, return the next reply only."""
        if self.supervisor is None:
            if message is None:
                return messages.WorkerDeath(0, NOBODY, 0, "crash", how="it is gone")
            self.start()
        frame = self.exchange_frame(None if message is None else messages.encode(message), limit)
        return frame if isinstance(frame, messages.WorkerDeath) else messages.decode(frame)

    def play(self, chunk: bytes) -> bytes | messages.WorkerDeath:
        """Play an encoded chunk and return the encoded reply; after a death the next chunk goes to a fresh process.

        So it does when a match has spoiled the process for others: then the reply has no rows of the matches after it.
        Raises `UnwritableError` when it has no room for what it keeps on disk.
        """
        if self.supervisor is None:
            self.start()
        reply = self.exchange_frame(chunk, None)
        if isinstance(reply, bytes) and messages.is_kind(reply, messages.DiskFull):
            message = messages.decode(reply)
            assert isinstance(message, messages.DiskFull)
            raise UnwritableError(message.what, message.remedy)
        if isinstance(reply, bytes) and messages.is_kind(reply, messages.PlayedLast):
            self.stop()
        return reply

    def exchange_frame(self, message: bytes | None, limit: float | None) -> bytes | messages.WorkerDeath:
        self._seen = None
        try:
            if message is not None:
                self._heartbeat.rest(0)  # the worker is idle: an old deadline counts no more
                self._heartbeat.hide_moves()
                self._connection.send_bytes(message)
            deadline = None if limit is None else time.monotonic() + limit
            stall = StallDetector(self.process)
            while not self._connection.poll(POLL_SECONDS):
                if stall.has_stopped(between_moves=self._heartbeat.read().seat == NOBODY):
                    return self._on_death("crash", "it was stopped")
                if self._overrun() or (deadline is not None and time.monotonic() > deadline):
                    return self._on_death("timeout")
            return self._connection.recv_bytes()
        except (EOFError, OSError):
            return self._on_death("crash")
        except ValueError:
            if self.supervisor is not None:
                raise
            return self._on_death("crash")  # another thread has ended it meanwhile

    def _overrun(self) -> bool:
        """Return whether the worker's deadline has passed; it may write while we read, so look twice."""
        activity = self._heartbeat.read()
        if self._seen is None or self._seen.activity != activity:
            self._seen = ActivityStart(activity, time.monotonic_ns(), processor_time(self.process))
        if time.monotonic_ns() <= activity.until + GRACE_SECONDS * 1e9:
            return False
        time.sleep(POLL_SECONDS)
        return self._heartbeat.read() == activity

    def _on_death(self, cause: str, how: str = "") -> messages.WorkerDeath:
        activity = self._heartbeat.read()
        starved = cause == "timeout" and self._starved()
        code, supervisor = None, self.supervisor
        if not how:
            ended = cause != "timeout" and supervisor is not None and supervisor.ends()
            code = self.stop() if ended else None
            how = "it hung" if cause == "timeout" else "it does not answer" if code is None else exit_description(code)
        self.stop()
        return messages.WorkerDeath(
            activity.number, activity.seat, activity.ply, cause, starved, how, may_be_external_kill(code)
        )

    def _starved(self) -> bool:
        """Return whether it had the processor for little of the time of its last activity."""
        if self._seen is None:
            return False
        used = processor_time(self.process) - self._seen.cpu
        return used < STARVED_CPU_SHARE * (time.monotonic_ns() - self._seen.since)

    def moves(self) -> ShownMatch | None:
        """Return a match that takes long, as far as it is played; any thread may call this."""
        try:
            return self._heartbeat.moves()
        except (AttributeError, ValueError):  # it has never started, or has just ended
            return None

    @property
    def is_fit_for_any_plan(self) -> bool:
        """Whether it runs, and has imported no folder of games for the plan before."""
        return self.supervisor is not None and not self._games

    def forget_plan(self) -> None:
        """Begin without a plan should it have to be started again."""
        self._plan = None

    def stop(self) -> int | None:
        """End it and return its exit code, None if it was not running; any thread may call this."""
        with self._ending:
            if self.supervisor is None:
                return None
            code = self.supervisor.end()
            self.supervisor = None
            self._connection.close()
            self._heartbeat.close()
            self._folder.close()
            return code

    def stop_thread(self, thread: threading.Thread) -> None:
        """End it until a thread that uses it has ended, which may be starting a new process just now."""
        while thread.is_alive():
            self.stop()
            thread.join(POLL_SECONDS)


def _game_folders(plan: messages.WorkerPlan) -> tuple[str, ...]:
    """Return the folders that a worker imports a plan's plug-in games from."""
    return folders_for({board.game.partition("(")[0] for board in plan.boards}, plan.games)


def _plays_bots() -> bool:
    """Return whether this process is itself one in which bots run."""
    program = getattr(sys.modules.get("__main__"), "__spec__", None)
    return program is not None and program.name.startswith(("arena.workers.preloaded", "arena.isolation."))


def processor_time(process: int) -> int:
    """Return nanoseconds of processor time that a process has used, in all its threads; 0 when it is gone."""
    try:
        return time.clock_gettime_ns(~process << 3 | 2)
    except OSError:
        return 0
