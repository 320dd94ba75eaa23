"""All that one worker has running for bots in processes of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.referee import Match, Player
from arena.sandbox.host import Host, RemoteBot
from arena.sandbox.kernels import compiled
from arena.sandbox.parent import ForkServer
from arena.sandbox.players import RemotePlayer
from arena.sandbox.programs import ProgramHost
from engine import Game

if TYPE_CHECKING:
    from arena.config import Isolation


class Hosts:
    """All that one worker has running for bots: fork servers, which serve any Python bot, and programs.

    A fork server has one child at a time, so that bots of one match never share one.
    """

    def __init__(self) -> None:
        self._servers: dict[Isolation, list[ForkServer]] = {"process": [], "sandbox": []}
        self._programs: dict[int, ProgramHost] = {}

    def host(self, bot: RemoteBot, game: Game | None) -> Host:
        """A host for a bot, ready for a game, until it is released."""
        if bot.bundle.is_program:
            if bot.key not in self._programs:
                self._programs[bot.key] = ProgramHost(bot)
            return self._programs[bot.key]
        servers = self._servers[bot.isolation]
        for dead in [each for each in servers if not each.is_alive]:
            servers.remove(dead)
            dead.close()
        server = next((each for each in servers if not each.busy), None)
        if server is None:
            server = ForkServer(bot.isolation)
            servers.append(server)
        server.busy = True
        server.get_ready(bot, game)
        if game is not None:
            server.compiled = compiled(bot, server, game)
        return server

    def close(self) -> None:
        """End everything."""
        hosts: list[Host] = [*self._programs.values(), *self._servers["process"], *self._servers["sandbox"]]
        for host in hosts:
            host.close()
        self._programs.clear()
        for servers in self._servers.values():
            servers.clear()


@dataclass(frozen=True)
class RemoteContestant:
    """A bot in a process of its own, as something that can take a seat."""

    bot: RemoteBot
    hosts: Hosts

    def join(self, match: Match, seat: int) -> Player:
        return RemotePlayer(self.bot, self.hosts.host(self.bot, match.game), match, seat)
