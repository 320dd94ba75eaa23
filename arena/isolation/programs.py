"""Programs as bots: started for each match, or outside the sandbox for one after another."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import Any

from arena.core.exit_codes import exit_description, may_be_external_kill, unwrapped_exit_code
from arena.core.limits import Limits
from arena.isolation.bot_process import BotProcess
from arena.isolation.building import built
from arena.isolation.launched import LaunchedBot
from arena.isolation.own_process import process_launcher
from arena.isolation.process_source import open_pipes, processor_seconds
from arena.isolation.spawn import KilledAtStart
from arena.match.faults import Fault, ProcessKilled
from arena.registry.bundles import MANIFEST_FILE
from arena.registry.manifest import read_program
from engine import Game

LEAVE_SECONDS = 0.2
"""Seconds that a program may take to end by itself when its match is over."""
TELLING_SECONDS = 20.0
"""Seconds that bubblewrap may take to report how a program has ended."""


class ProgramSource:
    """A program's process: started anew for each match, unless it says that it can begin afresh by itself.

    Of strangers nobody's word is taken for that.
    """

    def __init__(self, bot: LaunchedBot) -> None:
        self.launcher = process_launcher(bot.isolation)
        self.launcher.check()
        self.program = read_program(bot.bundle.files[MANIFEST_FILE], bot.name)
        self.stays = self.program.resettable and not self.launcher.for_strangers
        self._stack = contextlib.ExitStack()
        self._bot_process: BotProcess | None = None
        self._blocks: set[bytes] = set()
        self.failure = ""
        try:
            self.folder = built(bot.bundle, self.program, self.launcher)
        except Fault as fault:
            self.failure = str(fault)

    def begin(self, block: bytes, game: Game) -> None:
        """End a process that knows the dice of this block, so that it does not play in it again."""
        if block in self._blocks and game.has_chance:
            self.close()
            self._blocks.clear()
        self._blocks.add(block)

    def open(self, bot: LaunchedBot, limits: Limits) -> BotProcess:
        """Return the process, which has the processor time of a whole match left."""
        if self.failure:
            raise Fault("init", self.failure)
        allowed = processor_seconds(limits)
        if self._bot_process is None or not self._bot_process.open or self._bot_process.cpu > allowed:
            self.close()
            self._bot_process = self._start(limits.memory, 2 * allowed if self.stays else allowed)
        return self._bot_process

    def _start(self, memory: int, seconds: float) -> BotProcess:
        limits = {"memory": memory, "seconds": seconds}
        spawn = self.launcher.program(self.program.command, self.folder, limits)
        try:
            with open_pipes() as (pipes, theirs):
                self._process, number = self._stack.enter_context(self.launcher.run(spawn, *theirs))
                process = os.pidfd_open(number)
        except OSError as error:
            gone = isinstance(error, ProcessLookupError)  # it has ended already, and who stands for it tells how
            code = self.code() if gone else None
            if isinstance(error, KilledAtStart) or may_be_external_kill(code):
                how = exit_description(code) if code is not None else str(error)
                raise ProcessKilled(f"its process ended as it was started: {how}") from None
            raise Fault("init", f"'{self.program.command[0]}' cannot be started: {error}") from None
        self.launcher.bound_threads(number)
        return BotProcess(pipes, number, process, memory, self.launcher.private_files(number), seconds)

    def code(self) -> int | None:
        """Return how the program ended; in the sandbox bubblewrap says so, elsewhere perhaps a shell."""
        try:
            return unwrapped_exit_code(self._process.wait(TELLING_SECONDS))
        except subprocess.TimeoutExpired:
            return None

    def release(self, bot_process: BotProcess | None, over: dict[str, Any] | None) -> None:
        if bot_process is None or over is None:
            self.close()
            return
        bot_process.tell(over)
        if not self.stays:
            bot_process.leave(LEAVE_SECONDS)
            self.close()

    def close(self) -> None:
        if self._bot_process is not None:
            self._bot_process.close()
        self._bot_process = None
        self._stack.close()
