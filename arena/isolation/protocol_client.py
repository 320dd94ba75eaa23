"""Speak the protocol for a Python bot, in the process that plays one match: the bot is the same file as in-process."""

from __future__ import annotations

import json
import os
import traceback
from typing import Any

import engine
from arena.match.estimates import write_protocol_info
from arena.match.faults import MAX_TRACEBACK_CHARS
from arena.match.player import ask_move
from arena.match.views import view
from arena.registry.bundles import Bundle
from arena.registry.describe import defaults, describe
from arena.registry.loader import load_class, made
from engine.game import ILLEGAL

PROTOCOL = 1


class ProtocolClient:
    """A bot's side of the protocol over two descriptors."""

    def __init__(self, bundle: Bundle, class_name: str, source: int, target: int) -> None:
        self.bundle, self.class_name = bundle, class_name
        self.source = open(source, "rb")  # noqa: SIM115 - for the life of the process
        self.target = target
        self.bot: Any = None
        self.state: Any = None
        self.seat = 0

    def serve(self) -> None:
        """Answer until the match is over or nobody asks any more."""
        for line in self.source:
            message = json.loads(line)
            if message["type"] in ("gameover", "quit"):
                return
            try:
                answer = getattr(self, f"do_{message['type']}")(message)
            except MemoryError:
                answer = {"type": "fault", "cause": "memory", "detail": "MemoryError"}
            except BaseException:  # a bot may raise anything
                answer = {"type": "fault", "cause": "crash", "detail": traceback.format_exc()[-MAX_TRACEBACK_CHARS:]}
            os.write(self.target, json.dumps(answer, separators=(",", ":")).encode() + b"\n")

    def do_hello(self, message: dict[str, Any]) -> dict[str, Any]:
        self.bot_class = load_class(self.bundle, self.class_name)
        return {"type": "ready", "declared": defaults(self.bot_class)}

    def do_describe(self, message: dict[str, Any]) -> dict[str, Any]:
        """Reply with what the bot declares; not part of the protocol, as programs do so in their manifest."""
        return {
            "type": "description",
            "description": describe(self.bundle, message["name"], message["class"], message["boards"]),
        }

    def do_newgame(self, message: dict[str, Any]) -> dict[str, Any]:
        game = engine.load_game(message["spec"], message["players"])
        self.state, self.seat = game.new_initial_state(), message["seat"]
        self.bot = made(self.bot_class, game, self.seat, int(message["seed"]), message["options"])
        self.bot.prepare()
        return {"type": "ready", "timed": bool(getattr(self.bot, "timed", False))}

    def do_move(self, message: dict[str, Any]) -> dict[str, Any]:
        state = self.state
        for _, text in message["plies"]:
            state.apply_action(state.string_to_action(text))
        given = ask_move(self.bot, view(state, self.seat), message["clock"]["move"])
        answer = {"type": "action"} if given.note is None else {"type": "action", "note": given.note}
        if given.action == ILLEGAL or given.action not in state.legal_actions():
            detail = given.refusal or str(state.refuse(given.action))
            return {"type": "fault", "cause": "illegal_action", "detail": detail}
        told = write_protocol_info(given.given, state) if given.given is not None else {}
        return {**answer, **told, "action": state.action_to_string(given.action)}
