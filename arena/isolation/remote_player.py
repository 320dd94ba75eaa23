"""Play for bots in processes of their own: translate between referee and protocol."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from arena.isolation.bot_process import BotProcess, Ended
from arena.isolation.launched import LaunchedBot
from arena.isolation.own_process import process_launcher
from arena.isolation.process_source import ProcessSource, ended
from arena.isolation.protocol_client import PROTOCOL
from arena.isolation.refusals import Refusals
from arena.isolation.seccomp import name_of
from arena.match.estimates import read_protocol_info
from arena.match.faults import Fault, ProcessKilled
from arena.match.player import Answer, MatchView, clean_note
from arena.match.printed import PRINTED_OUTPUT
from arena.registry.describe import CHANGED_DECLARATION, is_as_planned
from engine import CHANCE
from engine.errors import EngineError
from engine.game import ILLEGAL, returns_from_ranks


class RemotePlayer:
    """A bot in a process of its own, in a seat of one match."""

    guarded = False

    def __init__(self, bot: LaunchedBot, source: ProcessSource, match: MatchView, seat: int) -> None:
        self.bot, self.source, self.match, self.seat = bot, source, match, seat
        self.launcher = process_launcher(bot.isolation)
        self.bot_process: BotProcess | None = None
        self.used = self.idle_before = 0.0  # processor time of its process in earlier matches, at work and between
        self.plies_sent = 0
        self.failed = False
        self.refusals: Refusals | None = None

    def start(self, limit: float) -> None:
        """Get its process up; raises `Fault`."""
        begun = time.monotonic()
        with self._faults():
            self.source.begin(self.match.streams.block_id, self.match.game)
            self.bot_process = self.source.open(self.bot, self.match.limits)
            self.bot_process.begin_match()
            self.used, self.idle_before = self.at_work, self.bot_process.between
            self._watch(self.bot_process)
            if not self.bot_process.greeted:
                left = max(0.0, begun + limit - time.monotonic())
                self._check_declared(self.ask({"type": "hello", "protocol": PROTOCOL}, left, "ready"))
                self.bot_process.greeted = True

    def _watch(self, bot_process: BotProcess) -> None:
        """Watch which system calls its process is refused, if that is asked for and possible."""
        if self.bot.names_refusals:
            self.refusals = self.launcher.watch(bot_process.pid)

    def _refused(self) -> str:
        """Return a line about the calls that its process, which has ended, was refused; empty without any."""
        numbers = self.refusals.numbers() if self.refusals is not None else []
        self.refusals = None
        return f"\nThe sandbox refused it system calls: {', '.join(map(name_of, numbers))}." if numbers else ""

    def _check_declared(self, ready: dict[str, Any]) -> None:
        """Check that a class declares what it was planned with; a program's manifest was read by the driver."""
        if self.bot.options is None or self.bot.bundle.is_program:
            return
        if not is_as_planned(ready.get("declared"), self.bot.params, self.bot.options):
            raise Fault("init", CHANGED_DECLARATION)

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
            return self.ask(message, limit, "ready").get("timed") is True

    def choose(self, limit: float) -> Answer:
        state = self.match.state
        legal = state.legal_actions()
        message = {
            "type": "move",
            "plies": self._new_plies(),
            "position": state.position if self.match.game.position else None,
            "legal": [state.action_to_string(action) for action in legal],
            "clock": self._clock(limit),
        }
        with self._faults():
            answer = self.ask(message, limit, "action")
            text, note = answer.get("action"), answer.get("note")
            if not isinstance(text, str):
                raise Fault("protocol", 'an answer without an "action" that is a text')
            try:
                action = state.string_to_action(text)
            except EngineError as error:
                raise Fault("illegal_action", str(error)) from None
            if action not in legal:
                return Answer(ILLEGAL, None, self._refuse(action))
            return Answer(action, clean_note(note), "", read_protocol_info(answer, action, state))

    def _refuse(self, action: int) -> str:
        return str(self.match.state.refuse(action))

    def _clock(self, limit: float) -> dict[str, float | None]:
        limits = self.match.limits
        left = max(0.0, round(self.match.left[self.seat], 6)) if limits.seconds_per_match else None
        return {"move": round(limit, 6), "match": left, "increment": limits.increment}

    def _new_plies(self) -> list[list[Any]]:
        """Return the plies since the last message, each with who moved."""
        match, since = self.match, self.plies_sent
        self.plies_sent = len(match.moves)
        plies = zip(match.movers[since:], match.moves[since:], strict=True)
        return [["chance" if who == CHANCE else who, text] for who, text in plies]

    def ask(self, message: dict[str, Any], limit: float, expected: str) -> dict[str, Any]:
        assert self.bot_process is not None
        answer = self.bot_process.request(message, limit, self.match.margin(self.seat))
        if answer["type"] != expected:
            raise Fault("protocol", f'{expected} was due, it answered "{answer["type"]}"')
        return answer

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """End the process on a fault, and add to the fault what it wrote to stderr."""
        try:
            yield
        except Fault as fault:
            self.failed = True
            words = ""
            if self.bot_process is not None:
                self.bot_process.close()
                words = self.bot_process.stderr_tail
                if isinstance(fault, Ended):
                    fault = ended(self.bot_process, self.source.code())
            if isinstance(fault, ProcessKilled):
                raise fault from None
            detail = (f"{words}\n{fault}" if words else str(fault)) + self._refused()
            raise Fault(fault.cause, self.launcher.explained(detail)) from None

    def cpu(self) -> float:
        return self.at_work - self.used

    @property
    def at_work(self) -> float:
        """Seconds of processor time that its process has used on its moves."""
        return self.bot_process.cpu - self.bot_process.between if self.bot_process is not None else 0.0

    def between(self) -> float:
        return self.bot_process.between - self.idle_before if self.bot_process is not None else 0.0

    def pause(self) -> None:
        if self.bot_process is not None:
            with self._faults():
                self.bot_process.pause()

    def close(self) -> None:
        over = None if self.failed or not self.match.finished else self._game_over_message()
        if self.bot_process is not None:
            self.keep_printed(self.bot_process.read_stderr())
        self.source.release(self.bot_process, over)
        self._refused()

    def keep_printed(self, text: str) -> None:
        """Keep the end of what its process has printed."""
        PRINTED_OUTPUT.keep(self.seat, text)

    def _game_over_message(self) -> dict[str, Any]:
        ranks = self.match.ranks()
        return {
            "type": "gameover",
            "plies": self._new_plies(),
            "ranks": ranks,
            "returns": returns_from_ranks(ranks),
            "scores": self.match.state.scores(),
            "ended": self.match.ended,
        }
