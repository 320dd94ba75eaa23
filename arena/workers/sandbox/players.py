"""Bots in processes of their own as players: the referee's words put into the protocol's, and back."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from arena.match.faults import Fault, Killed
from arena.match.player import Answer, MatchView, clean_note
from arena.registry.describe import OTHERWISE, is_as_planned
from arena.workers.sandbox.channel import Channel, Ended
from arena.workers.sandbox.client import PROTOCOL
from arena.workers.sandbox.host import Host, RemoteBot, ended
from arena.workers.sandbox.network import with_hint
from engine import CHANCE
from engine.errors import EngineError
from engine.game import ILLEGAL, returns_from_ranks


class RemotePlayer:
    """A seat's bot at the other end of a channel."""

    guarded = False

    def __init__(self, bot: RemoteBot, host: Host, match: MatchView, seat: int) -> None:
        self.bot, self.host, self.match, self.seat = bot, host, match, seat
        self.channel: Channel | None = None
        self.used = 0.0  # processor time of its process in earlier matches
        self.told = 0
        self.fallen = False

    def start(self, limit: float) -> None:
        """Get its process up; raises `Fault`."""
        begun = time.monotonic()
        with self._faults():
            self.host.begin(self.match.streams.block_id, self.match.game)
            self.channel = self.host.open(self.bot, self.match.limits)
            self.used = self.channel.cpu
            if not self.channel.greeted:
                left = max(0.0, begun + limit - time.monotonic())
                self._check_declared(self._ask({"type": "hello", "protocol": PROTOCOL}, left, "ready"))
                self.channel.greeted = True

    def _check_declared(self, ready: dict[str, Any]) -> None:
        """A class has to declare what it was planned with; a program's manifest was read by the driver."""
        if self.bot.options is None or self.bot.bundle.is_program:
            return
        if not is_as_planned(ready.get("declared"), self.bot.params, self.bot.options):
            raise Fault("init", OTHERWISE)

    def prepare(self, limit: float) -> bool:
        match = self.match
        message = {
            "type": "newgame",
            "game": match.game.name,
            "params": dict(match.game.params),
            "spec": match.game.spec,
            "players": match.game.players,
            "seat": self.seat,
            "seed": str(match.streams.bot_seed(self.seat)),
            "options": dict(self.bot.params),
            "position": match.state.position if match.game.position else None,
            "clock": self._clock(match.limits.seconds_per_move),
        }
        with self._faults():
            return self._ask(message, limit, "ready").get("timed") is True

    def choose(self, limit: float) -> Answer:
        state = self.match.state
        legal = state.legal_actions()
        message = {
            "type": "move",
            "plies": self._news(),
            "position": state.position if self.match.game.position else None,
            "legal": [state.action_to_string(action) for action in legal],
            "clock": self._clock(limit),
        }
        with self._faults():
            answer = self._ask(message, limit, "action")
            text, note = answer.get("action"), answer.get("note")
            if not isinstance(text, str):
                raise Fault("protocol", 'an answer without an "action" that is a text')
            try:
                action = state.string_to_action(text)
            except EngineError as error:
                raise Fault("illegal_action", str(error)) from None
            return Answer(action, clean_note(note)) if action in legal else Answer(ILLEGAL, None, self._refuse(action))

    def _refuse(self, action: int) -> str:
        return str(self.match.state.refuse(action))

    def _clock(self, limit: float) -> dict[str, float | None]:
        limits = self.match.limits
        left = max(0.0, round(self.match.left[self.seat], 6)) if limits.seconds_per_match else None
        return {"move": round(limit, 6), "match": left, "increment": limits.increment}

    def _news(self) -> list[list[Any]]:
        """The plies since the last message, each with who moved."""
        match, since = self.match, self.told
        self.told = len(match.moves)
        news = zip(match.movers[since:], match.moves[since:], strict=True)
        return [["chance" if who == CHANCE else who, text] for who, text in news]

    def _ask(self, message: dict[str, Any], limit: float, expected: str) -> dict[str, Any]:
        assert self.channel is not None
        answer = self.channel.request(message, limit, self.match.margin(self.seat))
        if answer["type"] != expected:
            raise Fault("protocol", f'{expected} was due, it answered "{answer["type"]}"')
        return answer

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """A fault ends the process; what it wrote to stderr goes with the fault."""
        try:
            yield
        except Fault as fault:
            self.fallen = True
            words = ""
            if self.channel is not None:
                self.channel.close()
                words = self.channel.last_words
                if isinstance(fault, Ended):
                    fault = ended(self.channel, self.host.code(), self.bot.isolation)
            if isinstance(fault, Killed):
                raise fault from None
            detail = f"{words}\n{fault}" if words else str(fault)
            raise Fault(fault.cause, with_hint(detail, self.bot.isolation)) from None

    def cpu(self) -> float:
        return self.channel.cpu - self.used if self.channel is not None else 0.0

    def close(self) -> None:
        over = None if self.fallen or not self.match.finished else self._farewell()
        self.host.release(self.channel, over)

    def _farewell(self) -> dict[str, Any]:
        ranks = self.match.ranks()
        return {
            "type": "gameover",
            "plies": self._news(),
            "ranks": ranks,
            "returns": returns_from_ranks(ranks),
            "scores": self.match.state.scores(),
            "ended": self.match.ended,
        }
