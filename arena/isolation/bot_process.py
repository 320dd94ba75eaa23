"""Talk to a bot's process in lines of JSON, and watch its clock, its memory, its end."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from arena.core.errors import WorkerError
from arena.core.process_trees import continue_process, descendants, is_stopped, resident_bytes, thread_count
from arena.isolation.launch import MAX_FILES
from arena.match.faults import MAX_TRACEBACK_CHARS, Fault, PauseOverrun

MAX_LINE_BYTES = 65_536
MAX_STDERR_BYTES = 16_384
"""Bytes of its stderr that are kept: the first half and the last."""
POLL_SECONDS = 0.05
"""Seconds between two looks at a busy process."""
MAX_THREADS = 256
"""Threads that a bot may have, those of its children included."""
BETWEEN_SECONDS = 0.5
BETWEEN_SECONDS_PER_ANSWER = 0.005
"""Processor time that a bot may use in a match between its answers and the next questions, all in all.

A thread that is at work, a garbage collection, or a runtime's helpers go on for a moment until they are stopped.
"""
STOP_SECONDS = 60.0
"""A process that Linux cannot stop for so long hangs in a device: that is the machine's fault."""
STOP_LOOKS_SECONDS = (0.00005, 0.005)
"""Pauses between two looks whether a process has stopped: the first, and the longest."""
DYING_SECONDS = 1.0
"""Seconds that a process may take to end once it has closed a pipe; on a starved machine it takes some."""
READ_BYTES = 65_536
CAUSES = ("crash", "memory", "illegal_action")


class Pipes(NamedTuple):
    """Our ends of a process's three pipes."""

    to_bot: int
    from_bot: int
    stderr: int


class Ended(Fault):
    """The process ended, and nobody here had ended it."""


class BotProcess:
    """A bot's process, which is stopped whenever it is not asked.

    Owns the three descriptors and the process's.
    """

    def __init__(
        self, pipes: Pipes, pid: int, pidfd: int, memory: int, tmp: str = "", seconds: float = math.inf
    ) -> None:
        """Take a process by its number, as seen from here, and its descriptor; `memory` is in MiB.

        `tmp` is a path, as seen from here, to the file system that holds its private temporary files, if it has any.
        `seconds` of processor time are what the kernel grants it.
        """
        self.to_bot, self.from_bot, self.stderr = pipes
        self.tmp = tmp
        self.looked = 0.0  # when its memory was looked at
        self.pid, self.pidfd = pid, pidfd
        self.memory = memory * 2**20 + resident_bytes(self.pid)  # what it had before the bot was there is not the bot's
        self.allowed_memory = memory
        self.cpu = 0.0
        self.between = 0.0
        """Processor time that it has used between its answers and the next questions, of all that it has used."""
        self.allowed_between = BETWEEN_SECONDS
        """How much of that it may have used before its match ends."""
        self.seconds = seconds
        self.asked = time.monotonic()
        """When it was last continued."""
        self.open = True
        self.greeted = False
        self._said = b""
        self._poll = select.poll()
        for descriptor in (self.from_bot, self.stderr):
            self._poll.register(descriptor, select.POLLIN)
        for descriptor in pipes:
            os.set_blocking(descriptor, False)

    def request(self, message: dict[str, Any], limit: float, slack: float = 0.0) -> dict[str, Any]:
        """Return its answer to a message; raises `Fault`, after which the process is dead.

        `limit` and `slack` are wall-clock seconds.
        """
        self.asked = time.monotonic()
        try:
            if self.greeted:
                self._check_idle_time()
            self._signal(signal.SIGCONT)
            line = self.exchange(json.dumps(message, separators=(",", ":")).encode() + b"\n", limit, slack)
            self._look_at_clock()
            self.allowed_between += BETWEEN_SECONDS_PER_ANSWER
            self._signal(signal.SIGSTOP)
            return self._understood(line)
        except Fault:
            self._look_at_clock()
            self.close()
            raise

    def pause(self) -> None:
        """Return when all its threads are stopped, so that somebody else may move.

        Raises `PauseOverrun` when it has gone on for too long, `WorkerError` when Linux cannot stop it.
        """
        until, pause = time.monotonic() + STOP_SECONDS, STOP_LOOKS_SECONDS[0]
        while self.open and not is_stopped(self.pid):
            if time.monotonic() > until:
                raise WorkerError(f"the process of a bot could not be stopped within {STOP_SECONDS:g} s")
            time.sleep(pause)
            pause = min(2 * pause, STOP_LOOKS_SECONDS[1])
            self._signal(signal.SIGSTOP)  # again: somebody may have continued it
            self._check_idle_time()

    def _check_idle_time(self) -> None:
        """Add what it has used since the last look to what it used while others were to move."""
        before = self.cpu
        self._look_at_clock()
        self.between += self.cpu - before
        if self.between > self.allowed_between:
            self.close()
            raise PauseOverrun(
                f"used more than {BETWEEN_SECONDS:g} s of processor time between its moves, "
                f"and {BETWEEN_SECONDS_PER_ANSWER:g} s for each"
            )

    def tell(self, message: dict[str, Any]) -> None:
        """Leave a message that asks for no answer, to be read when the process goes on; it ends if it is behind."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        try:
            if os.write(self.to_bot, line) == len(line):
                return
        except OSError:
            pass
        self.close()

    def exchange(self, line: bytes, limit: float, slack: float) -> bytes:
        if any(descriptor == self.from_bot and event & select.POLLIN for descriptor, event in self._poll.poll(0)):
            raise Fault("protocol", "it wrote to standard output before it was asked")
        deadline = time.monotonic() + limit + slack
        unsent = memoryview(line)
        said = b""
        while True:
            try:
                unsent = unsent[os.write(self.to_bot, unsent) if unsent else 0 :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                raise self._ended("input") from None
            wait = min(deadline - time.monotonic(), POLL_SECONDS if not unsent else 0.001)
            if wait <= 0:
                raise Fault("timeout", f"no answer within {limit:g} s")
            for descriptor, _ in self._poll.poll(wait * 1000):
                if descriptor == self.stderr:
                    self._listen()
                else:
                    said = self._read(said)
            self._look()
            line, end, rest = said.partition(b"\n")
            if rest:
                raise Fault("protocol", "more than one line in answer")
            if len(line) > MAX_LINE_BYTES:
                raise Fault("protocol", f"a line of more than {MAX_LINE_BYTES} bytes")
            if end:
                return line

    def _read(self, said: bytes) -> bytes:
        try:
            part = os.read(self.from_bot, READ_BYTES)
        except BlockingIOError:
            return said
        if not part:
            raise self._ended("output")
        return said + part

    def _ended(self, closed: str) -> Fault:
        """Return the fault of a process whose standard input or output is closed."""
        if not self._gone(DYING_SECONDS):
            return Fault("protocol", f"it closed its standard {closed}")
        return Ended("crash", "its process ended")

    @property
    def may_have_hit_limit(self) -> bool:
        """Whether it may have used up its processor time, for which the kernel kills it."""
        running = (time.monotonic() - self.asked) * (os.cpu_count() or 1)
        return self.cpu + running >= self.seconds

    def _understood(self, line: bytes) -> dict[str, Any]:
        try:
            message = json.loads(line.decode("utf-8"), parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise Fault("protocol", f"not a line of JSON: {_shown(line)}") from None
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise Fault("protocol", f'not an object with a "type": {_shown(line)}')
        if message["type"] == "fault":
            cause, detail = message.get("cause"), message.get("detail", "")
            if cause not in CAUSES or not isinstance(detail, str):
                raise Fault("protocol", f"a fault without a known cause: {_shown(line)}")
            raise Fault(cause, detail[-MAX_TRACEBACK_CHARS:])
        return message

    def _listen(self) -> None:
        """Read what it wrote to stderr; of too much the middle is dropped."""
        try:
            part = os.read(self.stderr, READ_BYTES)
        except BlockingIOError:
            return
        if not part:
            self._poll.unregister(self.stderr)
            return
        self._said += part
        if len(self._said) > MAX_STDERR_BYTES:
            self._said = self._said[: MAX_STDERR_BYTES // 2] + self._said[-MAX_STDERR_BYTES // 2 :]

    def begin_match(self) -> None:
        """Forget what it wrote before, and what it used between moves."""
        self._said = b""
        self.allowed_between = self.between + BETWEEN_SECONDS

    def read_stderr(self) -> str:
        """Read what it has written to stderr, and return the end."""
        if self.open and any(descriptor == self.stderr for descriptor, _ in self._poll.poll(0)):
            self._listen()
        return self.stderr_tail

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr."""
        return self._said.decode("utf-8", "replace")[-MAX_TRACEBACK_CHARS:].strip()

    def _look_at_clock(self) -> None:
        """Read how much processor time the process has used (all its threads), while it is there."""
        with contextlib.suppress(OSError):
            self.cpu = time.clock_gettime(~self.pid << 3 | 2)

    def _look(self) -> None:
        """Continue it now and then, should it have been stopped, and check what the kernel's limits leave open.

        That is shared memory, threads, files of no size.
        """
        if time.monotonic() - self.looked < POLL_SECONDS:
            return
        self.looked = time.monotonic()
        continue_process(self.pid)
        if resident_bytes(self.pid) > self.memory:
            raise Fault("memory", f"it uses more than {self.allowed_memory:,} MiB")
        own = thread_count(self.pid)
        if own > MAX_THREADS or own + sum(map(thread_count, descendants(self.pid))) > MAX_THREADS:
            raise Fault("memory", f"it runs more than {MAX_THREADS} threads")
        if self.tmp and self._files() > MAX_FILES:
            raise Fault("memory", f"it made more than {MAX_FILES:,} files")

    def _files(self) -> int:
        """Return how many files it has made; 0 while its sandbox is being made and it still sees the machine's."""
        with (
            contextlib.suppress(OSError),
            opened(self.tmp, os.O_PATH | os.O_DIRECTORY) as folder,
        ):  # it may just have ended
            if not os.path.samestat(os.fstat(folder), os.stat("/tmp")):
                files = os.fstatvfs(folder)
                return files.f_files - files.f_ffree
        return 0

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def leave(self, limit: float) -> None:
        """Ask it to end, and wait a little."""
        self.tell({"type": "quit"})
        if self.open:
            self._signal(signal.SIGCONT)
            self._gone(limit)

    def _gone(self, limit: float) -> bool:
        """Return whether the process ends within so many seconds."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        return bool(poll.poll(limit * 1000))

    def close(self) -> None:
        """End the process and let go of everything."""
        if not self.open:
            return
        self.open = False
        self._signal(signal.SIGKILL)
        with contextlib.suppress(KeyError):
            self._listen()
        for descriptor in (self.to_bot, self.from_bot, self.stderr, self.pidfd):
            os.close(descriptor)


@contextlib.contextmanager
def opened(path: str, flags: int, folder: int | None = None) -> Iterator[int]:
    """Give a descriptor of a path, below a folder if one is given by its own; raises `OSError`."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return text if len(text) <= 200 else f"{text[:200]}..."
