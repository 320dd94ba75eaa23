"""Plays matches with programs as PROTOCOL.md of the sandbox says: a second reading of it, with nothing of the arena."""

from __future__ import annotations

import json
import random
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import engine
from bots import Bot, make_bot
from engine import Game, State

Message = dict[str, Any]
Ply = list[Any]
CLOCK = {"move": 60.0, "match": None, "increment": 0.0}
MAX_ANSWER = 65_536
PATIENCE = 120.0
"""Seconds after which a process is killed, so that a test ends that would hang."""


class Player(Protocol):
    """A seat's bot, however it is reached."""

    def begin(self, message: Message) -> None: ...
    def choose(self, message: Message) -> str: ...
    def end(self, message: Message) -> None: ...


class Program:
    """A bot's process, greeted; every answer must be the one line that the protocol asks for."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.killer = threading.Timer(PATIENCE, self.process.kill)
        self.killer.start()
        self.ask({"type": "hello", "protocol": 1}, "ready")

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        self.killer.cancel()

    def write(self, line: str) -> None:
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read(self, expected: str) -> Message:
        """The next line, which must be an answer of that type."""
        line = self.process.stdout.readline(MAX_ANSWER + 1)
        assert line.endswith(b"\n"), f"no line but {line!r}; stderr: {b'' if line else self.process.stderr.read()!r}"
        answer = json.loads(line.decode())
        assert isinstance(answer, dict), f"{line!r} is no object"
        assert answer.get("type") == expected, f"{line!r} is no '{expected}'"
        return answer

    def tell(self, message: Message, ensure_ascii: bool = True) -> None:
        self.write(json.dumps(message, ensure_ascii=ensure_ascii))

    def ask(self, message: Message, expected: str, ensure_ascii: bool = True) -> Message:
        self.tell(message, ensure_ascii)
        return self.read(expected)

    def begin(self, message: Message) -> None:
        self.ask(message, "ready")

    def choose(self, message: Message) -> str:
        return self.ask(message, "action")["action"]

    def end(self, message: Message) -> None:
        self.tell(message)

    def leave(self, farewell: Callable[[], None]) -> tuple[int, bytes, bytes]:
        """What is left when the process has ended by itself after the farewell: exit code, stdout, stderr."""
        farewell()
        stdout, stderr = self.process.communicate()
        return self.process.returncode, stdout, stderr

    def quit(self) -> tuple[int, bytes, bytes]:
        return self.leave(lambda: self.tell({"type": "quit"}))

    def hang_up(self) -> tuple[int, bytes, bytes]:
        return self.leave(lambda: None)


class Follower:
    """A bot of the arena behind the protocol: it has the rules, and follows the match by its plies alone."""

    def __init__(self, bot_class: type[Bot]) -> None:
        self.bot_class = bot_class

    def begin(self, message: Message) -> None:
        game = engine.load_game(message["spec"], message["players"])
        self.bot = make_bot(self.bot_class, game, message["seat"], int(message["seed"]), message["options"])
        self.state = game.new_initial_state()
        assert (dict(game.params), self.state.position) == (message["params"], message["position"])

    def follow(self, plies: Sequence[Ply]) -> None:
        for who, text in plies:
            assert who == speaker(self.state)
            self.state.apply_action(self.state.string_to_action(text))

    def choose(self, message: Message) -> str:
        self.follow(message["plies"])
        assert (self.state.position, legal_texts(self.state)) == (message["position"], message["legal"])
        return self.state.action_to_string(self.bot.choose(self.state.clone()))

    def end(self, message: Message) -> None:
        self.follow(message["plies"])
        found = self.state.ranks(), self.state.returns(), self.state.scores(), self.state.ended
        assert found == tuple(message[key] for key in ("ranks", "returns", "scores", "ended"))


def play_match(
    game: Game,
    players: Sequence[Player],
    seed: int,
    options: Sequence[Mapping[str, object]],
    opening: Sequence[str] = (),
    bot_seeds: Sequence[int] = (),
) -> list[Ply]:
    """The plies of one match; what the players do not choose follows from the seed."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    moves: list[Ply] = []
    told = [0] * game.players

    def news(seat: int) -> list[Ply]:
        start, told[seat] = told[seat], len(moves)
        return moves[start:]

    for seat, bot_seed in enumerate(bot_seeds or [rng.getrandbits(64) for _ in players]):
        players[seat].begin(newgame(state, seat, bot_seed, options[seat]))
    while not state.is_terminal():
        who = state.current_player()
        legal = legal_texts(state)
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes())
            text = state.action_to_string(rng.choices(outcomes, weights)[0])
        elif len(moves) < len(opening):
            text = opening[len(moves)]
        elif len(legal) == 1:
            text = legal[0]
        else:
            text = players[who].choose(move(state, news(who)))
            assert text in legal, f"{text!r} is not legal at {state.position}"
        moves.append([speaker(state), text])
        state.apply_action(state.string_to_action(text))
    for seat, player in enumerate(players):
        player.end(gameover(state, news(seat)))
    return moves


def speaker(state: State) -> int | str:
    return "chance" if state.is_chance_node() else state.current_player()


def legal_texts(state: State) -> list[str]:
    return [state.action_to_string(action) for action in state.legal_actions()]


def newgame(state: State, seat: int, seed: int, options: Mapping[str, object]) -> Message:
    game = state.game
    return {
        "type": "newgame",
        "game": game.name,
        "params": dict(game.params),
        "spec": game.spec,
        "players": game.players,
        "seat": seat,
        "seed": str(seed),
        "options": dict(options),
        "position": state.position,
        "clock": CLOCK,
    }


def move(state: State, plies: Sequence[Ply]) -> Message:
    return {
        "type": "move",
        "plies": list(plies),
        "position": state.position,
        "legal": legal_texts(state),
        "clock": CLOCK,
    }


def gameover(state: State, plies: Sequence[Ply]) -> Message:
    return {
        "type": "gameover",
        "plies": list(plies),
        "ranks": state.ranks(),
        "returns": state.returns(),
        "scores": state.scores(),
        "ended": state.ended,
    }
