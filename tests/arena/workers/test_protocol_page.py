"""The page of the protocol is complete, and the match on it is a real one."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import engine
from arena import api
from tests.support.protocol_driver import Follower, Message, gameover, move, newgame, play_match
from tests.support.protocol_samples import START, beginning, first_move, last_message
from tests.support.splitmix_bot import Splitmix

ROOT = Path(__file__).parents[3]
PROTOCOL = (ROOT / "arena" / "workers" / "sandbox" / "PROTOCOL.md").read_text()


LISTENER = """
import json, sys

with open({heard!r}, "w") as heard:
    for line in sys.stdin:
        print(line, end="", file=heard, flush=True)
        message = json.loads(line)
        if message["type"] == "move":
            print(json.dumps({{"type": "action", "action": message["legal"][0]}}), flush=True)
        elif message["type"] in ("hello", "newgame"):
            print(json.dumps({{"type": "ready"}}), flush=True)
"""
"""A program that writes down what it hears."""


class Script:
    """A seat of a written match: it must hear what is written there, and says what is written there."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = iter([(line[0], json.loads(line[1:])) for line in lines])

    def hear(self, message: Message) -> None:
        assert next(self.lines) == (">", message)

    def say(self) -> Message:
        mark, answer = next(self.lines)
        assert mark == "<"
        return answer

    def begin(self, message: Message) -> None:
        self.hear(message)
        assert self.say() == {"type": "ready"}

    def choose(self, message: Message) -> str:
        self.hear(message)
        return self.say()["action"]

    def end(self, message: Message) -> None:
        self.hear(message)
        assert list(self.lines) == []


class Reciter(Follower):
    """A seat whose moves are given beforehand."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(Splitmix)
        self.texts = texts

    def choose(self, message: Message) -> str:
        self.follow(message["plies"])
        return self.texts[len(self.state.history())]


@pytest.fixture(scope="module")
def written():
    """The lines of the match on the page."""
    lines = PROTOCOL.split("## A match")[1].split("```text\n")[1].split("```")[0].splitlines()
    assert lines[:2] == ['> {"type":"hello","protocol":1}', '< {"type":"ready"}']
    return lines[2:]


def test_the_match_on_the_page_is_what_the_driver_and_the_rule_make_of_its_seed(written):
    begun = json.loads(written[0][1:])
    texts = [text for line in written if line[0] == ">" for _, text in json.loads(line[1:]).get("plies", [])]
    game = engine.load_game(begun["spec"], 2)
    seeds, options = [int(begun["seed"]), 0], [begun["options"], {}]
    for seat in (Script(written), Follower(Splitmix)):
        played = play_match(game, [seat, Reciter(texts)], 0, options, texts[:2], seeds)
        assert [text for _, text in played] == texts


def test_the_match_on_the_page_is_what_its_command_plays(written, monkeypatch):
    command = re.search("`arena match (.*) --seed ([0-9]+)`", PROTOCOL)
    assert command is not None
    game, *bots = command[1].split()
    monkeypatch.chdir(ROOT)
    match = api.play_match(game, bots, int(command[2]))
    assert match.moves == [text for line in written for _, text in json.loads(line[1:]).get("plies", [])]


def test_a_program_hears_from_the_arena_what_the_page_says(tmp_path):
    """A process that is kept for a second match, and killed at its end."""
    (tmp_path / "bot.py").write_text(LISTENER.format(heard=str(tmp_path / "heard")))
    manifest = 'command = ["python3", "bot.py"]\nresettable = true\nparameters.n = {default = 3}\n'
    (tmp_path / "bot.toml").write_text(manifest)
    config = {"name": "two", "blocks": 1, "bots": [{"bot": str(tmp_path)}, {"bot": "random"}]}
    config["games"] = [{"game": "epicycle", "players": 2}]
    assert api.run(config, tmp_path / "home", workers=1, backend="local", report=False).outcome.complete
    hello, *heard = map(json.loads, (tmp_path / "heard").read_text().splitlines())
    assert hello == {"type": "hello", "protocol": 1}
    state = START
    for message in heard:
        if message["type"] == "newgame":
            state = START.clone()
            assert message == newgame(state, message["seat"], int(message["seed"]), {"n": 3})
            continue
        for _, text in message["plies"]:
            state.apply_action(state.string_to_action(text))
        assert message == (gameover if message["type"] == "gameover" else move)(state, message["plies"])
    kinds = [message["type"] for message in heard]
    assert kinds.count("newgame") == 2 and kinds.count("gameover") == 1 and "move" in kinds


def test_the_page_describes_every_key_of_every_message():
    for name, message in {"newgame": beginning(), "move": first_move(), "gameover": last_message()}.items():
        section = PROTOCOL.split(f"### `{name}`")[1].split("\n###")[0].split("The answer is")[0]
        for key in message.keys() - {"type"}:
            assert f"\n| `{key}` |" in section, f"{name}: {key} is not described"
