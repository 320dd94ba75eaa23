"""Processes that one worker has running for isolated bots."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from arena.core.errors import BotError, WorkerError
from arena.core.limits import Limits
from arena.isolation import Isolation, launcher
from arena.isolation.bot_process import Ended
from arena.isolation.fork_client import MAX_STARTS, ForkClient
from arena.isolation.kernel_cache import compiled_kernels, forget_kernels
from arena.isolation.launched import LaunchedBot, trusted_modules
from arena.isolation.own_process import process_launcher
from arena.isolation.preload import Preload
from arena.isolation.process_source import ProcessSource, ended
from arena.isolation.programs import ProgramSource
from arena.isolation.remote_player import RemotePlayer
from arena.match.faults import Fault, ProcessKilled
from arena.match.player import MatchView, Player
from arena.match.referee import MAX_KILL_REPLAYS
from arena.registry.bundles import Bundle
from arena.registry.describe import Board
from engine import Game

DESCRIBE_SECONDS = 60.0
"""Seconds that a bot may take to say what it declares."""


class ProcessPool:
    """Fork servers, which serve any Python bot, and programs.

    A fork server has one child at a time, so that bots of one match never share one. Each has one preload: that of the
    plan, or without a plan what the bot itself needs. The server of a sandbox serves one plan after another, as long as
    their preloads are the same, and asks bots what they declare: no bot's code ever runs in it, and nothing of a bot
    stays.
    """

    def __init__(self, preload: Preload | None = None) -> None:
        self._preload = preload
        self.servers: list[ForkClient] = []
        self._programs: dict[int, ProgramSource] = {}

    def expect(self, preload: Preload) -> None:
        """Serve another plan from now on."""
        forget_kernels()
        for program in self._programs.values():
            program.close()
        self._programs.clear()
        again = (preload,) if self._preload is None else (preload, Preload())  # it may be asked about bots again
        kept = [each for each in self.servers if launcher(each.isolation).for_strangers and each.preload in again]
        for other in [each for each in self.servers if each not in kept]:
            other.close()
        self.servers, self._preload = kept, preload
        for server in kept:
            server.busy = False

    def acquire(self, bot: LaunchedBot, game: Game | None) -> ProcessSource:
        """Return a process source for a bot, ready for a game, until it is released."""
        if bot.bundle.is_program:
            if bot.key not in self._programs:
                self._programs[bot.key] = ProgramSource(bot)
            return self._programs[bot.key]
        server = self._idle(bot.isolation, self._preload_for(bot, game))
        if game is not None:
            server.kernels = compiled_kernels(bot, server, game)
        server.busy = True  # not before: a trial match leaves it free
        return server

    def _preload_for(self, bot: LaunchedBot, game: Game | None) -> Preload:
        if game is None:
            return Preload()
        return self._preload or Preload(tuple(bot.modules), ((game.spec, game.players),))

    def _idle(self, isolation: Isolation, preload: Preload) -> ForkClient:
        for dead in [each for each in self.servers if not each.is_alive]:
            self.servers.remove(dead)
            dead.close()
        for server in self.servers:
            if not server.busy and (server.isolation, server.preload) == (isolation, preload):
                return server
        needed = {preload} if self._preload is None else {preload, self._preload, Preload()}
        for other in [each for each in self.servers if not each.busy and each.preload not in needed]:
            self.servers.remove(other)
            other.close()
        self.servers.append(_started(isolation, preload))
        return self.servers[-1]

    def contestant(self, bot: LaunchedBot) -> RemoteContestant:
        """Return a bot as something that can take a seat."""
        return RemoteContestant(bot, self)

    def describe(self, bot: LaunchedBot, boards: Sequence[Board]) -> Any:
        """Return what a bot declares, as `Launcher.describe`; it is asked again when its process is killed."""
        question = {"type": "describe", "name": bot.name, "class": bot.class_name, "boards": boards}
        for left in reversed(range(MAX_KILL_REPLAYS + 1)):
            try:
                content = self._asked(bot, question).get("description")
                break
            except Fault as fault:
                if not left or not isinstance(fault, ProcessKilled):
                    lines = str(fault).strip().splitlines()
                    content = {"error": f"cannot be loaded: {lines[-1] if lines else fault.cause}"}
                    break
        if isinstance(content, dict) and isinstance(content.get("error"), str):
            return {**content, "error": process_launcher(bot.isolation).explained(content["error"]).replace("\n", ". ")}
        return content

    def _asked(self, bot: LaunchedBot, question: dict[str, Any]) -> dict[str, Any]:
        source, bot_process = self.acquire(bot, None), None
        try:
            bot_process = source.open(bot, Limits())
            return bot_process.request(question, DESCRIBE_SECONDS)
        except Ended:
            assert bot_process is not None
            raise ended(bot_process, source.code()) from None
        finally:
            source.release(bot_process, None)

    def close(self) -> None:
        """End everything."""
        sources: list[ProcessSource] = [*self._programs.values(), *self.servers]
        for source in sources:
            source.close()
        self._programs.clear()
        self.servers.clear()


def _started(isolation: Isolation, preload: Preload) -> ForkClient:
    """Return a new fork server; one that ends before it is ready, which no bot can cause, is started again."""
    for _ in range(MAX_STARTS - 1):
        with contextlib.suppress(WorkerError):
            return ForkClient(isolation, preload)
    return ForkClient(isolation, preload)


def preload_of(bundles: Iterable[Bundle], boards: Iterable[tuple[str, int]]) -> Preload:
    """Return what isolated bots use, all together, in an order that tells nothing of them."""
    modules: set[str] = set()
    for bundle in bundles:
        with contextlib.suppress(BotError):  # its own fault, once it is to play
            modules.update(trusted_modules(bundle))
    return Preload(tuple(sorted(modules)), tuple(sorted(set(boards))))


@dataclass(frozen=True)
class RemoteContestant:
    """An isolated bot as something that can take a seat."""

    bot: LaunchedBot
    pool: ProcessPool

    def join(self, match: MatchView, seat: int) -> Player:
        return RemotePlayer(self.bot, self.pool.acquire(self.bot, match.game), match, seat)
