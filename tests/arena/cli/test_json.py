"""What commands tell in words they tell as JSON on demand: one value on standard output, and nothing else."""

import json

import pytest

from arena import api
from arena.cli.app import run_command
from tests.support.documents import described
from tests.support.tournaments import write

BOTS = """
from bots import Bot


class Low(Bot):
    '''Take the lowest action.'''

    def choose(self, state):
        return state.legal_actions()[0]


class Crashes(Bot):
    def choose(self, state):
        raise ValueError("on purpose")
"""
LIMITED = ["--isolation", "none", "--game", "epicycle"]


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """Run a command with --json; return its value."""
    write(tmp_path, "", BOTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", "reports")

    def told(*arguments, code=0):
        assert run_command([*arguments, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return told


def keys(value):
    """All keys of a value and of what it holds."""
    if isinstance(value, list):
        return {key for each in value for key in keys(each)}
    return set(value) | {key for each in value.values() for key in keys(each)} if isinstance(value, dict) else set()


def is_described(value):
    return [key for key in sorted(keys(value)) if not described(key, "docs/reference/json.md")] == []


def test_games_and_bots(told):
    games = told("games")
    assert {"epicycle", "midgard"} <= {game["name"] for game in games["games"]} and is_described(games)
    one = told("games", "midgard")
    assert one in games["games"] and [option["name"] for option in one["options"]] == ["variant", "seeds"]
    bots = told("bots")
    greedy = told("bots", "greedy")
    assert greedy in bots["bots"] and {"game": "midgard(variant=odin)", "players": 2} in greedy["boards"]
    assert bots["submitted"] == [] and is_described(bots)


def test_a_match_has_the_keys_of_exported_ones(told):
    match = told("match", "epicycle", "b.py:Crashes", "random", "--seed", "3")
    same = api.play_match("epicycle", ["b.py:Crashes", "random"], seed=3)
    assert (match["moves"], match["ranks"], match["seed"]) == (" ".join(same.moves), same.ranks, 3)
    assert match["forfeits"][0]["cause"] == "crash" and "on purpose" in match["forfeits"][0]["detail"]
    assert is_described(match)


def test_checks_and_submissions(told):
    sound = told("check", "b.py:Low", *LIMITED)
    assert sound["ok"] and [board["players"] for board in sound["boards"]] == [2, 3, 4, 5] and is_described(sound)
    failed = told("check", "b.py:Crashes", *LIMITED, "--players", "2", code=1)
    assert [problem["cause"] for problem in failed["boards"][0]["problems"]] == ["crash"]
    kept = told("submit", "b.py:Low", "--name", "low", "--author", "Ann", *LIMITED)
    assert (kept["submitted"], kept["changed"], kept["version"], kept["check"]["ok"]) == (True, True, 1, True)
    assert is_described(kept) and told("bots")["submitted"][0]["name"] == "low"
    refused = told("submit", "b.py:Crashes", "--name", "bad", "--author", "Ann", *LIMITED, code=1)
    assert (refused["submitted"], refused["bot"], refused["check"]["ok"]) == (False, None, False)


@pytest.mark.system
def test_a_check_of_a_game(told):
    checked = told("check-game", "epicycle", "--players", "2")
    assert {finding["status"] for finding in checked["findings"]} <= {"pass", "n/a"} and is_described(checked)


def test_the_doctor_and_an_archive(told, tmp_path):
    findings = told("doctor")
    assert findings[0]["what"] == "Python" and is_described(findings)
    plan = {"name": "cup", "games": [{"game": "epicycle", "players": 2}], "blocks": 1}
    api.run({**plan, "bots": [{"bot": "random"}, {"bot": "greedy"}]}, "reports", workers=1, report=False)
    archive = told("archive", "cup")
    assert (tmp_path / archive["archive"]).stat().st_size == archive["bytes"] and is_described(archive)
