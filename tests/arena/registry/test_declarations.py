"""What a bot says of itself is believed only as far as it fits a form, and a submitted bot is asked once."""

from __future__ import annotations

import json

import pytest

from arena import api
from arena.core.errors import ArenaError, BotError
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.registry.declarations import first_answers, read_declaration
from arena.registry.describe import is_as_planned
from arena.registry.discovery import find_bot
from arena.runner.single import play_specs
from arena.workers.process import WorkerProcess
from engine import load_game
from tests.support.submissions import submit
from tests.support.tournaments import write

DEPTH = {
    "name": "depth",
    "kind": "int",
    "default": 3,
    "minimum": 1,
    "maximum": 9,
    "choices": [],
    "help": "plies",
}
HONEST = {
    "about": "Plays.\nWell.",
    "games": ["epicycle"],
    "players": [2],
    "parameters": [DEPTH],
    "refusals": [None, "plays epicycle, not midgard"],
}
LIAR = '''
import json
import types

import arena.isolation.protocol_client
from bots import Bot


class Liar(Bot):
    """Tell options of its own making."""

    def choose(self, state):
        return state.legal_actions()[0]


def dumps(message, **form):
    if message["type"] == "description":
        message["description"].update({{{lie}}})
    return json.dumps(message, **form)


arena.isolation.protocol_client.json = types.SimpleNamespace(loads=json.loads, dumps=dumps)
'''
WAVERING = """
import time
from typing import Annotated

from bots import Bot


class Wavering(Bot):
    since: Annotated[{kind}, "another one in each process"] = {kind}(time.monotonic_ns())

    def choose(self, state):
        return state.legal_actions()[0]
"""
TWO = """
name = "small"
seed = 3
blocks = 1
opening = "none"
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "random" }, { bot = "%s", isolation = "%s" }]
"""


def refusal(told, boards=2):
    with pytest.raises(BotError) as caught:
        read_declaration(told, boards, "mine")
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


def parameter(**changes):
    return {**HONEST, "parameters": [{**DEPTH, **changes}]}


def test_an_honest_description_stays_as_it_is():
    assert read_declaration(HONEST, 2, "mine").model_dump() == HONEST
    assert [setting.plain() for setting in read_declaration(HONEST, 2, "mine").settings] == [DEPTH]


@pytest.mark.parametrize(
    ("key", "told", "kept"),
    [
        ("about", "red \x1b[31m\nand \u202e", "red  [31m\nand  "),
        ("games", ["a\nb"], ["a b"]),
        ("refusals", [None, "no\nTotal: 1\x9b"], [None, "no Total: 1 "]),
    ],
)
def test_text_is_kept_without_what_would_steer_a_terminal(key, told, kept):
    assert read_declaration({**HONEST, key: told}, 2, "mine").model_dump()[key] == kept


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {},
        {**HONEST, "refusals": [None]},
        {**HONEST, "more": 1},
        {**HONEST, "options": "depth=7"},
        {**HONEST, "params": {"depth": 7}},
        {**HONEST, "players": [True]},
        {**HONEST, "about": "x" * 4001},
        {**HONEST, "parameters": [DEPTH, DEPTH]},
        {**HONEST, "parameters": [{**DEPTH, "name": f"a{number}"} for number in range(101)]},
        {"error": 5},
        parameter(name="a b"),
        parameter(name="a=1,b"),
        parameter(name="1\x1b[31m"),
        parameter(name="x" * 201),
        parameter(kind="object"),
        parameter(default=3.0),
        parameter(default=True),
        parameter(default="3"),
        parameter(default=None),
        parameter(default=[1]),
        parameter(default=10**30),
        parameter(kind="float", default=float("nan")),
        parameter(kind="str", default="a\nb", minimum=None, maximum=None),
        parameter(kind="str", default="x" * 201, minimum=None, maximum=None),
        parameter(kind="str", default="calm"),
        parameter(choices=["calm"]),
    ],
)
def test_anything_else_is_an_error_of_one_line(told):
    assert "does not say" in refusal(told)


def test_a_bots_own_error_is_one_line():
    assert refusal({"error": "broken\nTotal: all fine\x1b"}, 0) == "bot 'mine' broken Total: all fine "


def test_what_was_said_first_stands_and_later_words_count_for_further_boards_alone():
    first, later = ("epicycle", 2), ("midgard", 2)
    before = first_answers(None, read_declaration({**HONEST, "refusals": [None]}, 1, "mine"), [first])
    other = {**HONEST, "parameters": [], "about": "Other.", "refusals": ["lost there", "cannot"]}
    after = first_answers(before, read_declaration(other, 2, "mine"), [first, later])
    assert before.about([later]) is None
    assert after.about([later, first]).model_dump() == {**HONEST, "refusals": ["cannot", None]}


@pytest.mark.parametrize(
    ("declared", "same"),
    [
        ({"depth": 3, "calm": True}, True),
        ({"depth": 4, "calm": True}, False),
        ({"depth": 5, "calm": True}, True),  # spec and identity are the same
        ({"depth": 3, "calm": 1}, False),
        ({"depth": 3.0, "calm": True}, False),
        ({"depth": 3}, False),
        ({"depth": 3, "calm": True, "more": 1}, False),
        (None, False),
        ([], False),
    ],
)
def test_a_bot_declares_in_a_match_what_its_plan_knows(declared, same):
    assert is_as_planned(declared, {"depth": 4, "calm": True}, "depth=4") is same


@pytest.mark.parametrize(("level", "lie"), [("process", '"options": "elo=2800"'), ("sandbox", '"params": {"v": 2}')])
def test_a_bot_cannot_choose_its_spec(tmp_path, level, lie):
    """It is asked in a process where its own code has replaced what answers."""
    config = write(tmp_path, TWO % ("b.py:Liar", level), LIAR.format(lie=lie))
    with pytest.raises(ArenaError, match="bot 'Liar' does not say of itself what it should"):
        api.load_plan(config)


@pytest.mark.parametrize("level", ["none", pytest.param("process", marks=pytest.mark.system), "sandbox"])
def test_a_bot_that_declares_otherwise_in_a_match_forfeits_before_play(tmp_path, level):
    """So its old losses stay: nothing that it could tell instead plays on."""
    config = write(tmp_path, TWO % ("b.py:Wavering", level), WAVERING.format(kind="int"))
    plan = api.load_plan(config).with_keys([bytes(32)])
    other = WorkerProcess()
    try:
        other.give_plan(plan.message())
        match, *_ = play_specs(plan, plan.schedule.matches(next(plan.schedule.blocks())), other)
    finally:
        other.stop()
    ((cause, ply),) = match.forfeits.values()
    assert (cause, ply) == ("init", -1)
    assert "declares other parameters" in next(iter(match.details.values()))


def test_a_submitted_bot_is_asked_once(tmp_path, monkeypatch):
    """What it declares later, other defaults or other refusals, changes neither its identity nor where it plays."""
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    refuses = """
    @classmethod
    def refusal(cls, game):
        return "lost here" if cls.since % 2 else None
"""
    (tmp_path / "b.py").write_text(WAVERING.format(kind="str").replace("time.monotonic_ns()", "time.time_ns() % 2"))
    text = (tmp_path / "b.py").read_text() + refuses.replace("cls.since % 2", "time.monotonic_ns() % 2")
    (tmp_path / "b.py").write_text(text)
    submit(str(tmp_path / "b.py"), "wavering", "Ann")
    boards = [load_game("epicycle", 2), load_game("midgard", 2)]
    found = [resolve_bots([BotEntry(bot="wavering", isolation="process")], boards)[0] for _ in range(4)]
    assert len({bot.identity for bot in found}) == 1
    assert len({tuple(bot.refusals) for bot in found}) == 1
    asked = resolve_bots(
        [BotEntry(bot="wavering:since=7", isolation="process")], [*boards, load_game("magic_mids", 3)]
    )[0]
    assert (asked.spec, asked.params) == ("wavering:since=7", {"since": "7"})
    assert asked.refusals[:2] == found[0].refusals
    source, _ = find_bot("wavering")
    kept = json.loads((tmp_path / "home" / "bots" / f"{source.version.hash}.json").read_text())
    assert kept["b:Wavering"]["boards"] == [["epicycle", 2], ["midgard", 2], ["magic_mids", 3]]


def test_a_damaged_declaration_is_told_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    (tmp_path / "b.py").write_text(WAVERING.format(kind="str"))
    submit(str(tmp_path / "b.py"), "wavering", "Ann")
    source, _ = find_bot("wavering")
    (tmp_path / "home" / "bots" / f"{source.version.hash}.json").write_text('{"b:Wavering": {}}')
    with pytest.raises(ArenaError, match=r"\.json: is damaged; it holds what a submitted bot declared"):
        resolve_bots([BotEntry(bot="wavering", isolation="process")], [])
