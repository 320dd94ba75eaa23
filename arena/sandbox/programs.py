"""Programs as bots: built once on each machine, started for each match, or for one after another."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.bundle import MANIFEST, Bundle
from arena.files import own_folder
from arena.referee import Fault
from arena.sandbox.channel import Channel
from arena.sandbox.host import RemoteBot, must_be_able, open_pipes, processor_seconds
from arena.sandbox.launch import MOST_FILES
from arena.sandbox.levels import Spawn, program_environment, program_paths
from arena.sandbox.program import Program, read_program
from arena.schedule import Limits
from engine import Game
from engine.cache import cache_root

if TYPE_CHECKING:
    from arena.config import Isolation

BUILD_LIMIT = 300.0
BUILD_MEMORY = 2048
BUILD_BYTES = 256 * 2**20
LEAVE_LIMIT = 0.2
"""Seconds that a program may take to end by itself when its match is over."""


class ProgramHost:
    """A program's process: started anew for each match, unless it says that it can begin afresh by itself."""

    def __init__(self, bot: RemoteBot) -> None:
        must_be_able(bot.isolation)
        self.bot = bot
        self.program = read_program(bot.bundle.files[MANIFEST], bot.name)
        self._stack = contextlib.ExitStack()
        self._channel: Channel | None = None
        self._blocks: set[bytes] = set()
        self.failure = ""
        try:
            self.folder = built(bot.bundle, self.program, bot.isolation)
        except Fault as fault:
            self.failure = str(fault)

    def begin(self, block: bytes, game: Game) -> None:
        """A process that knows the dice of this block may not play again in it."""
        if block in self._blocks and game.has_chance:
            self.close()
            self._blocks.clear()
        self._blocks.add(block)

    def open(self, bot: RemoteBot, limits: Limits) -> Channel:
        """The process, which has the processor time of a whole match left."""
        if self.failure:
            raise Fault("init", self.failure)
        allowed = processor_seconds(limits)
        if self._channel is None or not self._channel.open or self._channel.cpu > allowed:
            self.close()
            self._channel = self._start(limits.memory, 2 * allowed if self.program.resettable else allowed)
        return self._channel

    def _start(self, memory: int, seconds: float) -> Channel:
        inside = "/bot" if self.bot.isolation == "sandbox" else str(self.folder)
        spawn = Spawn(
            self.program.command,
            self.bot.isolation,
            environment=program_environment(self.program.command[0], self.bot.isolation),
            readable=program_paths(self.program.command[0]),
            bound=[(str(self.folder), inside)] if self.bot.isolation == "sandbox" else [],
            folder=inside,
            limits={"memory": memory, "seconds": seconds},
        )
        try:
            with open_pipes() as (pipes, theirs):
                _, number = self._stack.enter_context(spawn.start(*theirs))
                process = os.pidfd_open(number)
        except OSError as error:
            raise Fault("init", f"'{self.program.command[0]}' cannot be started: {error}") from None
        tmp = f"/proc/{number}/root/tmp" if self.bot.isolation == "sandbox" else ""
        return Channel(pipes, number, process, memory, tmp)

    def release(self, channel: Channel | None, over: dict[str, Any] | None) -> None:
        if channel is None or over is None:
            self.close()
            return
        channel.tell(over)
        if not self.program.resettable:
            channel.leave(LEAVE_LIMIT)
            self.close()

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel = None
        self._stack.close()


def built(bundle: Bundle, program: Program, isolation: Isolation) -> Path:
    """The folder with a program's files, built; made once on each machine. Raises `Fault` when it cannot be built."""
    key = hashlib.blake2b(f"{bundle.hash} {isolation}".encode(), digest_size=16).hexdigest()
    folder = cache_root() / "programs" / key
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with own_folder(folder.parent, "build-") as desk:
        fresh = desk / "bot"
        for name, content in bundle.files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content)
            (fresh / name).chmod(0o755)
        if program.build:
            _build(program, fresh, isolation)
            _take_over(fresh)
        with contextlib.suppress(OSError):  # another process was first
            os.rename(fresh, folder)
    return folder


def _take_over(folder: Path) -> None:
    """Make files that a build has made ordinary ones, which lend nobody rights; raises `Fault` for too much."""
    size = count = 0
    waiting = [str(folder)]
    try:
        folder.chmod(0o755)
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    size += entry.stat(follow_symlinks=False).st_size
                    if size > BUILD_BYTES or count > MOST_FILES:
                        most = f"{BUILD_BYTES >> 20} MiB or {MOST_FILES:,} files"
                        raise Fault("init", f"its build made more than {most}")
                    if not entry.is_symlink():
                        os.chmod(entry.path, 0o755)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    except OSError as error:
        raise Fault("init", f"its build made files that cannot be used: {error.strerror}") from None


def _build(program: Program, folder: Path, isolation: Isolation) -> None:
    inside = "/bot" if isolation == "sandbox" else str(folder)
    spawn = Spawn(
        program.build,
        isolation,
        environment=program_environment(program.build[0], isolation),
        readable=program_paths(program.build[0]),
        writable=[(str(folder), inside)] if isolation == "sandbox" else [],
        folder=inside,
        limits={"memory": BUILD_MEMORY, "seconds": BUILD_LIMIT},
        processes=True,
    )
    with tempfile.TemporaryFile() as said:
        try:
            with spawn.start(subprocess.DEVNULL, said.fileno(), said.fileno()) as (process, _):
                code = process.wait(BUILD_LIMIT)
        except subprocess.TimeoutExpired:
            raise Fault("init", f"its build took longer than {BUILD_LIMIT:g} s") from None
        except OSError as error:
            raise Fault("init", f"its build '{program.build[0]}' cannot be started: {error}") from None
        said.seek(0)
        words = said.read(65_536).decode(errors="replace").strip()
    if code:
        raise Fault("init", f"its build ended with code {code}: {words[-2000:]}")
