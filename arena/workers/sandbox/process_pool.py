"""Processes that one worker has running for isolated bots."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.core.errors import BotError, WorkerError
from arena.core.limits import Limits
from arena.match.faults import Fault, Killed
from arena.match.player import MatchView, Player
from arena.match.referee import KILLS
from arena.registry.bundles import Bundle
from arena.workers.messages import Describe, WorkerPlan
from arena.workers.process import STARTS
from arena.workers.sandbox.bot_process import Ended
from arena.workers.sandbox.fork_client import ForkClient
from arena.workers.sandbox.kernel_cache import compiled_kernels
from arena.workers.sandbox.preload import Preload
from arena.workers.sandbox.process_source import ProcessSource, RemoteBot, ended, trusted_modules, with_hint
from arena.workers.sandbox.programs import ProgramSource
from arena.workers.sandbox.remote_player import RemotePlayer
from engine import Game

if TYPE_CHECKING:
    from arena.core.limits import Isolation


DESCRIBE_LIMIT = 60.0
"""Seconds that a bot may take to say what it declares."""


class ProcessPool:
    """Fork servers, which serve any Python bot, and programs.

    A fork server has one child at a time, so that bots of one match never share one. Each has one preload: that of the
    plan, or without a plan what the bot itself needs.
    """

    def __init__(self, preload: Preload | None = None) -> None:
        self._preload = preload
        self._servers: list[ForkClient] = []
        self._programs: dict[int, ProgramSource] = {}

    def acquire(self, bot: RemoteBot, game: Game | None) -> ProcessSource:
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

    def _preload_for(self, bot: RemoteBot, game: Game | None) -> Preload:
        if game is None:
            return Preload()
        return self._preload or Preload(tuple(bot.modules), ((game.spec, game.players),))

    def _idle(self, isolation: Isolation, preload: Preload) -> ForkClient:
        for dead in [each for each in self._servers if not each.is_alive]:
            self._servers.remove(dead)
            dead.close()
        for server in self._servers:
            if not server.busy and (server.isolation, server.preload) == (isolation, preload):
                return server
        for other in [each for each in self._servers if not each.busy and each.preload != preload]:
            self._servers.remove(other)
            other.close()
        self._servers.append(_started(isolation, preload))
        return self._servers[-1]

    def describe(self, request: Describe) -> Any:
        """Return what a bot declares, whatever that is; under `error` why it cannot be used.

        It is asked again when its process is killed, a few times. `arena.registry.declarations` says what is believed.
        """
        bot = RemoteBot(request.name, request.bundle, request.class_name, {}, request.isolation, -1)
        question = {"type": "describe", "name": bot.name, "class": bot.class_name, "boards": request.boards}
        for left in reversed(range(KILLS + 1)):
            try:
                content = self._asked(bot, question).get("description")
                break
            except Fault as fault:
                if not left or not isinstance(fault, Killed):
                    lines = str(fault).strip().splitlines()
                    content = {"error": f"cannot be loaded: {lines[-1] if lines else fault.cause}"}
                    break
        if isinstance(content, dict) and isinstance(content.get("error"), str):
            return {**content, "error": with_hint(content["error"], bot.isolation).replace("\n", ". ")}
        return content

    def _asked(self, bot: RemoteBot, question: dict[str, Any]) -> dict[str, Any]:
        source, bot_process = self.acquire(bot, None), None
        try:
            bot_process = source.open(bot, Limits())
            return bot_process.request(question, DESCRIBE_LIMIT)
        except Ended:
            assert bot_process is not None
            raise ended(bot_process, source.code()) from None
        finally:
            source.release(bot_process, None)

    def close(self) -> None:
        """End everything."""
        sources: list[ProcessSource] = [*self._programs.values(), *self._servers]
        for source in sources:
            source.close()
        self._programs.clear()
        self._servers.clear()


def _started(isolation: Isolation, preload: Preload) -> ForkClient:
    """Return a new fork server; one that ends before it is ready, which no bot can cause, is started again."""
    for _ in range(STARTS - 1):
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


def preload_of_plan(plan: WorkerPlan) -> Preload:
    """Return what the isolated Python bots of a plan use."""
    bundles = []
    for bot in plan.bots:
        with contextlib.suppress(BotError):
            bundle = plan.bundle_of(bot)
            if bot.isolation != "none" and not bundle.is_program:
                bundles.append(bundle)
    return preload_of(bundles, [(board.game, board.players) for board in plan.boards])


@dataclass(frozen=True)
class RemoteContestant:
    """An isolated bot as something that can take a seat."""

    bot: RemoteBot
    pool: ProcessPool

    def join(self, match: MatchView, seat: int) -> Player:
        return RemotePlayer(self.bot, self.pool.acquire(self.bot, match.game), match, seat)
