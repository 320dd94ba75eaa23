"""All that one worker has running for bots in processes of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.core.errors import BotError, WorkerError
from arena.match.player import MatchView, Player
from arena.registry.bundles import Bundle
from arena.workers.process import STARTS
from arena.workers.sandbox.host import Host, Provision, RemoteBot, trusted_modules
from arena.workers.sandbox.kernels import compiled
from arena.workers.sandbox.parent import ForkServer
from arena.workers.sandbox.players import RemotePlayer
from arena.workers.sandbox.programs import ProgramHost
from engine import Game

if TYPE_CHECKING:
    from arena.core.limits import Isolation


class Hosts:
    """All that one worker has running for bots: fork servers, which serve any Python bot, and programs.

    A fork server has one child at a time, so that bots of one match never share one. Each loads one provision: that
    of the plan, or without a plan what the bot itself needs.
    """

    def __init__(self, provision: Provision | None = None) -> None:
        self._provision = provision
        self._servers: list[ForkServer] = []
        self._programs: dict[int, ProgramHost] = {}

    def host(self, bot: RemoteBot, game: Game | None) -> Host:
        """A host for a bot, ready for a game, until it is released."""
        if bot.bundle.is_program:
            if bot.key not in self._programs:
                self._programs[bot.key] = ProgramHost(bot)
            return self._programs[bot.key]
        server = self._idle(bot.isolation, self._provision_for(bot, game))
        if game is not None:
            server.compiled = compiled(bot, server, game)
        server.busy = True  # not before: a rehearsal leaves it free
        return server

    def _provision_for(self, bot: RemoteBot, game: Game | None) -> Provision:
        if game is None:
            return Provision()
        return self._provision or Provision(tuple(bot.modules), ((game.spec, game.players),))

    def _idle(self, isolation: Isolation, provision: Provision) -> ForkServer:
        for dead in [each for each in self._servers if not each.is_alive]:
            self._servers.remove(dead)
            dead.close()
        for server in self._servers:
            if not server.busy and (server.isolation, server.provision) == (isolation, provision):
                return server
        for other in [each for each in self._servers if not each.busy and each.provision != provision]:
            self._servers.remove(other)
            other.close()
        self._servers.append(_started(isolation, provision))
        return self._servers[-1]

    def close(self) -> None:
        """End everything."""
        hosts: list[Host] = [*self._programs.values(), *self._servers]
        for host in hosts:
            host.close()
        self._programs.clear()
        self._servers.clear()


def _started(isolation: Isolation, provision: Provision) -> ForkServer:
    """A fork server; one that ends before it is ready, which no bot can bring about, is started again."""
    for _ in range(STARTS - 1):
        with contextlib.suppress(WorkerError):
            return ForkServer(isolation, provision)
    return ForkServer(isolation, provision)


def provision(bundles: Iterable[Bundle], boards: Iterable[tuple[str, int]]) -> Provision:
    """What a plan's bots in processes of their own use, all together, in an order that tells nothing of them."""
    modules: set[str] = set()
    for bundle in bundles:
        with contextlib.suppress(BotError):  # its own fault, once it is to play
            modules.update(trusted_modules(bundle))
    return Provision(tuple(sorted(modules)), tuple(sorted(set(boards))))


@dataclass(frozen=True)
class RemoteContestant:
    """A bot in a process of its own, as something that can take a seat."""

    bot: RemoteBot
    hosts: Hosts

    def join(self, match: MatchView, seat: int) -> Player:
        return RemotePlayer(self.bot, self.hosts.host(self.bot, match.game), match, seat)
