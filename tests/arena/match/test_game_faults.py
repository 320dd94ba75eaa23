"""A game that fails is told of as such, with its place; it stops its board alone, and no bot is blamed."""

from __future__ import annotations

import inspect
import json
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from arena.match import game_faults
from arena.match.alarm import GAME_CPU_SECONDS, Alarm
from arena.match.dice import Streams
from arena.match.game_faults import GAME_FAULTS_FILE, GameFailure, read_faults, replay_fault, write_faults
from arena.match.player import FirstLegalBot, LocalBot
from arena.match.referee import play_match
from arena.store import Store
from engine import registry
from engine.errors import summarise_error
from tests.support import count_up
from tests.support.tournaments import arena, write

STREAMS = Streams(bytes(32), bytes(32), bytes(16))
HERE = "count_up.py, line"
ENTRY = "[arena.games]\ncount_up = count_up:GAME\n{more}"
CONFIG = """
name = "small"
seed = 1
blocks = 3
games = [
  {{ game = "count_up(fault={fault})", players = 2 }},
  {{ game = "epicycle", players = 2 }},
  {{ game = "count_up", players = 3 }},
]
bots = [{{ bot = "random" }}, {{ bot = "random", label = "other" }}, {{ bot = "random", label = "third" }}]
"""


@pytest.fixture
def game(monkeypatch):
    monkeypatch.setitem(registry.registered_games, "count_up", count_up.GAME)
    return lambda fault: engine.load_game("count_up", 2, fault=fault)


def play(game, bots=(FirstLegalBot, FirstLegalBot)):
    return play_match(game, [LocalBot(bot, {}) for bot in bots], STREAMS)


def line_of(text):
    """The line of the plug-in's file on which something stands."""
    lines = inspect.getsource(count_up).splitlines()
    return 1 + next(number for number, line in enumerate(lines) if text in line)


@pytest.mark.parametrize(
    ("fault", "told", "where", "plies"),
    [
        ("apply", "ZeroDivisionError: count of nothing", "raise ZeroDivisionError", 6),
        ("exit", "SystemExit: 3", "raise SystemExit", 6),
        ("refuses", "IllegalActionError: ", "raise self.refuse", 6),
        ("set_up", "KeyError: 'no board'", "raise KeyError", 0),
        ("legal", "ZeroDivisionError: ", "1 // 0", 5),
        ("no_legal", "legal_actions gave \\[\\] to seat 1, not one or more different numbers", "def legal_", 5),
        ("odd_legal", "legal_actions gave \\[1, '2'\\] to seat 1", "def legal_", 5),
        ("seat", "current_player gave 7, not a seat from 0 to 1", "def current", 5),
        ("heavy", "chance_outcomes gave weights whose sum is above 2\\^64", "def chance_outcomes", 5),
        ("clone", "clone gave .*, not another state", "def clone", 5),
        ("word", "action_to_string gave '\\+ 1', not a word", "def action_to", 5),
        ("rank", "IndexError: nobody is first", "raise IndexError", 12),
        ("ranks", "ranks gave \\[1, 1\\], not 2 places", "def ranks", 12),
        ("score", "scores gave \\[0.5\\], neither None nor 2 whole numbers", "def scores", 12),
        ("endless", "current_player gave no end of the match in 500 plies", "def current", 501),
    ],
)
def test_a_games_fault_is_told_with_file_line_and_position(game, monkeypatch, fault, told, where, plies):
    monkeypatch.setattr(game_faults, "DEFAULT_MAX_PLIES", 500)
    with pytest.raises(GameFailure, match=told) as failed:
        play(game(fault))
    found = failed.value.fault
    if fault != "refuses":
        assert f"(support/{HERE} {line_of(where)})" in found.what
    assert len(found.moves) == plies
    assert ("position total" in found.line) == (fault != "set_up")


def test_a_game_whose_position_cannot_be_written_fails_where_it_is_asked_for(game):
    with pytest.raises(GameFailure, match="ValueError: no pen"):
        play(game("position"))


def test_a_sound_game_is_played(game):
    assert play(game("none")).ended == "normal"


class Meddler(FirstLegalBot):
    """Ask the game for what it does not allow."""

    def choose(self, state):
        state.apply_action(99)


class Explorer(FirstLegalBot):
    """Look ahead into what fails."""

    def choose(self, state):
        while not state.is_terminal():
            state.apply_action(1)
        return 1


@pytest.mark.parametrize(("fault", "bot"), [("none", Meddler), ("apply", Explorer), ("rank", Meddler)])
def test_what_a_bots_own_call_raises_is_its_own_fault(game, fault, bot):
    result = play(game(fault), (bot, FirstLegalBot))
    assert result.forfeits[0].cause == "crash" and result.ended == "forfeit"
    assert 1 not in result.forfeits


def test_rules_that_hang_are_interrupted_and_bots_are_not(game, monkeypatch):
    def watch():
        while not done.wait(0.02):
            Alarm.interrupt_game()

    done = threading.Event()
    slow = type("Slow", (FirstLegalBot,), {"choose": lambda self, state: time.sleep(0.2) or state.legal_actions()[0]})
    threading.Thread(target=watch).start()
    try:
        with pytest.raises(
            GameFailure, match=f"TimeUp: the rules did not come back in {GAME_CPU_SECONDS:g} s .*{HERE}"
        ):
            play(game("hangs"), (FirstLegalBot, slow))
    finally:
        done.set()


def test_a_fault_is_kept_beside_the_log_and_seen_again(game, tmp_path):
    with pytest.raises(GameFailure) as failed:
        play(game("legal"))
    fault = failed.value.fault
    fault = replace(fault, match="ab-0", game="count_up(fault=legal)", players=2, bots=("first", "first"))
    write_faults(tmp_path, [fault])
    assert read_faults(tmp_path) == [fault]
    now = replay_fault(fault)
    assert (now.what, now.moves, now.position) == (fault.what, fault.moves, fault.position)
    assert replay_fault(replace(fault, game="count_up")).what == ""
    write_faults(tmp_path, [])
    assert read_faults(tmp_path) == [] and not (tmp_path / GAME_FAULTS_FILE).exists()
    for text in ("", "[", "[1]", '{"a": 1}', "[" * 99999, json.dumps([{"what": 1}])):
        (tmp_path / GAME_FAULTS_FILE).write_text(text)
        assert read_faults(tmp_path) == []


def test_an_error_whose_text_raises_is_still_a_line():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    assert summarise_error(Mute()) == "Mute"


@pytest.fixture
def plug_in(tmp_path):
    """A folder to import from that plugs `count_up` in, and more if asked for; the environment that has it."""

    def make(more="", **files):
        folder = tmp_path / "site"
        (folder / "count_up-1.dist-info").mkdir(parents=True)
        shutil.copy(count_up.__file__, folder)
        (folder / "count_up-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: count-up\nVersion: 1\n")
        (folder / "count_up-1.dist-info" / "entry_points.txt").write_text(ENTRY.format(more=more))
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text)
        return {"PYTHONPATH": str(folder)}

    return make


def test_a_failing_game_stops_its_board_alone_and_is_told_in_lines(plug_in, tmp_path):
    environment = plug_in()
    config = write(tmp_path, CONFIG.format(fault="apply"))
    done = arena("run", config.name, "--home", "reports", "--workers", 2, folder=tmp_path, **environment)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    told, _, rest, *_ = done.stderr.splitlines()[-3:]
    assert told.startswith("count_up(fault=apply), 2 players: stopped, for the game failed, and no bot: ZeroDivision")
    assert HERE in told and "position total" in told
    assert (
        rest == "not played: 18 on count_up(fault=apply), 2 players, for the game failed; the same command tries again"
    )
    assert "forfeited" not in done.stdout
    with Store.open(tmp_path / "reports" / "small" / "matches.db") as store:
        assert store.totals() == (18 + 9, 0), "the other boards are whole, and nobody has forfeited"


@pytest.mark.system
def test_status_tells_a_stopped_board_a_command_shows_it_and_the_run_goes_on_when_the_game_is_mended(plug_in, tmp_path):
    environment = plug_in()
    config = write(tmp_path, CONFIG.format(fault="apply"))
    run = [*("run", config.name, "--home", "reports", "--workers", 2)]
    done = arena(*run, folder=tmp_path, **environment)
    command = done.stderr.splitlines()[-2]
    status = arena("status", "small", "--home", "reports", "--json", folder=tmp_path, **environment)
    told = json.loads(status.stdout)
    assert [(board["matches"], board["forfeits"]) for board in told["boards"]] == [(0, 0), (18, 0), (9, 0)]
    assert told["failed"] == done.stderr.splitlines()[-3:-1]

    shown = arena(*command.split("arena ")[1].split(), folder=tmp_path, **environment)
    assert shown.returncode == 1 and "position total" in shown.stderr.splitlines()[-1]
    assert "ZeroDivisionError: count of nothing" in shown.stderr and "in apply_action" in shown.stderr
    status = arena("status", "small", "--home", "reports", folder=tmp_path, **environment)
    assert "stopped, for the game failed" in " ".join(status.stdout.split())

    site = Path(environment["PYTHONPATH"]) / "count_up.py"
    site.write_text(site.read_text().replace('raise ZeroDivisionError("count of nothing")', "pass"))
    assert arena(*run, "--same-rules", folder=tmp_path, **environment).returncode == 0
    assert not (tmp_path / "reports" / "small" / GAME_FAULTS_FILE).exists()
    status = arena("status", "small", "--home", "reports", folder=tmp_path, **environment)
    assert "complete" in status.stdout and "failed" not in status.stdout


def test_a_match_of_a_failing_game_ends_with_its_traceback_and_one_line(plug_in, tmp_path):
    match = ("match", "count_up(fault=ranks)", "random", "random")
    done = arena(*match, folder=tmp_path, **plug_in())
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "error: the game count_up(fault=ranks) failed, no bot is to blame: ranks gave [1, 1], not 2 places"
    )


BROKEN = {
    "raises": "x = 1\nraise RuntimeError('no dice')\n",
    "leaves": "import sys\nsys.exit(5)\n",
    "unreadable": "def (:\n",
    "other": "GAME = 7\n",
}


def test_broken_plug_ins_take_no_other_game_away(plug_in, tmp_path):
    more = "".join(f"{name} = {name}:GAME\n" for name in (*BROKEN, "missing")) + "epicycle = raises:GAME\n"
    environment = plug_in(more, **BROKEN)
    done = arena("games", folder=tmp_path, COLUMNS="100", **environment)
    assert done.returncode == 0
    names = [line.partition(" ")[0] for line in done.stdout.splitlines()]
    assert {"count_up", "magic_mids", "midgard", "pyramid_punch"} <= {*names} and not {*names} & {*BROKEN, "epicycle"}
    warned = done.stderr.splitlines()
    assert len(warned) == 6 and all(line.startswith("warning: ") for line in warned)
    assert "RuntimeError: no dice (site/raises.py, line 2)" in done.stderr
    assert "(unreadable.py, line 1)" in done.stderr
    match = arena("match", "count_up", "random", "random", folder=tmp_path, **environment)
    assert match.returncode == 0, match.stderr
    named = arena("games", "raises", folder=tmp_path, **environment)
    assert named.returncode == 2 and named.stderr.startswith("error: game 'raises' (raises:GAME) cannot be loaded: ")


def test_a_bot_that_cannot_be_loaded_takes_no_other_bot_off_the_list(plug_in, tmp_path):
    environment = plug_in("[arena.bots]\nbad = raises:Bad\nmissing = missing:Bad\n", **BROKEN)
    done = arena("bots", folder=tmp_path, COLUMNS="100", **environment)
    assert done.returncode == 0 and "random " in done.stdout and "uct " in done.stdout
    warned = done.stderr.splitlines()
    assert [line.split("'")[1] for line in warned] == ["bad", "missing"], done.stderr
    assert "RuntimeError: no dice (raises.py, line 2)" in warned[0]
