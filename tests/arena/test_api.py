"""The Python API as a notebook meets it: what is refused in a line, what is shown, what progress looks like."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

import arena
import bots.greedy
from arena import api
from arena.cli.app import run_command
from arena.core.match_ids import match_id
from arena.results import leaderboards
from arena.results.early import EarlyLeaderboards
from arena.results.tables import as_csv
from arena.runner.progress import Progress, RatedBoard, notebook_line
from bots import Bot
from tests.support.samples import fill, schedule

GREEDY = bots.greedy.Greedy
FOUR = {"name": "four", "blocks": 2, "games": [{"game": "epicycle", "players": 2}]}
RANDOM = [{"bot": "random"}, {"bot": "random", "label": "other"}]


class Last(Bot):
    """Take the last legal action."""

    def choose(self, state):
        return state.legal_actions()[-1]


def without_a_file():
    """A bot's class as a notebook's cell or a prompt makes it."""
    scope = {"__name__": "a_notebook"}
    exec("from bots import Bot\nclass Mine(Bot):\n    def choose(self, state): return 0", scope)
    return scope["Mine"]


def test_a_match_is_played_by_classes_as_by_their_specs():
    by_class = api.play_match("epicycle", [Last, GREEDY], seed=3)
    by_spec = api.play_match("epicycle", [f"{Path(__file__)}:Last", "greedy"], seed=3)
    assert by_class.moves == by_spec.moves
    assert by_class.bots == by_spec.bots == ["Last", "greedy"]


def inner():
    class Inner(Last):
        pass

    return Inner


@pytest.mark.parametrize(
    ("bots", "told"),
    [
        ("random", "bots = 'random': must be a list with a bot for each seat"),
        (Last, "bots = Last: must be a list with a bot for each seat"),
        (None, "bots = None: must be a list"),
        (["random", 7], "an object of type int is no bot"),
        (["random", object()], "an object of type object is no bot"),
        (["random", without_a_file()], "Mine is in no file, .* name it 'my_bot.py'"),
        (["random", inner()], "inner.<locals>.Inner stands inside of something else"),
        (["random", int], "int is no bot's class"),
        (["random", Path], "Path is no bot's class"),
        ([], "epicycle is for 2 to 5 players, not 0"),
    ],
)
def test_what_is_no_list_of_bots_is_refused_in_one_line(bots, told):
    with pytest.raises(arena.ArenaError, match=told) as refused:
        api.play_match("epicycle", bots)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"seed": -1}, "seed = -1: must be a whole number from 0"),
        ({"seed": 2**63}, "seed = 9223372036854775808: must be"),
        ({"seed": "1"}, "seed = '1': must be"),
        ({"seed": True}, "seed = True: must be"),
        ({"isolation": "jail"}, "isolation = 'jail': must be sandbox, process, none|isolation = 'jail': must be"),
        ({"isolation": ["none"]}, "1 levels for 2 bots"),
        ({"opening": "random:0"}, "opening = 'random:0'"),
    ],
)
def test_what_a_match_cannot_be_played_with_is_refused_in_one_line(options, told):
    with pytest.raises(arena.ArenaError, match=told):
        api.play_match("epicycle", ["random", "random"], **options)


@pytest.mark.parametrize("game", ["epicicle", "epicycle(nothing=1)", "epicycle(", "midgard(variant=x)"])
def test_errors_of_the_engine_are_errors_of_the_arena(game):
    with pytest.raises(arena.ArenaError):
        api.play_match(game, ["random", "random"])


def test_a_script_that_plays_its_own_bot_unguarded_is_told_what_it_lacks(tmp_path):
    script = tmp_path / "script.py"
    lines = ["import arena", "from bots import Bot", "class Mine(Bot):", "    def choose(self, state):"]
    lines += ["        return state.legal_actions()[0]"]
    script.write_text("\n".join([*lines, "print(arena.play_match('epicycle', [Mine, Mine]))"]))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100)
    assert done.stderr.splitlines()[-1].endswith(
        'put what plays them below if __name__ == "__main__": (script.py, line 6)'
    )
    script.write_text(
        "\n".join([*lines, "if __name__ == '__main__':", "    print(arena.play_match('epicycle', [Mine] * 2))"])
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("<match ")


def test_results_are_written_in_a_line_and_boards_as_tables_in_a_notebook(tmp_path):
    result = api.run({**FOUR, "bots": RANDOM}, tmp_path, workers=1, backend="local")
    match = api.play_match("epicycle", ["random", "random"])
    for thing in (result, result.plan, result.plan.bots[0], match):
        assert len(repr(thing)) < 1000 and "\n" not in repr(thing)
    assert repr(result).startswith("<four: complete, 4 of 4 matches, 1 leaderboards, ")
    drawn = result._repr_html_()
    assert "<table" in drawn and "epicycle, 2 players" in drawn and "<four:" not in drawn


def shell(monkeypatch, **attributes):
    """Pretend that IPython runs us; `kernel` is what a notebook's shell has."""
    found = types.SimpleNamespace(**attributes)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: found))


def test_a_run_in_a_notebook_shows_one_line_written_over(tmp_path, monkeypatch, capsys):
    shell(monkeypatch, kernel=object())
    api.run({**FOUR, "bots": RANDOM}, tmp_path, workers=1, backend="local")
    told = capsys.readouterr()
    assert told.err == "" and told.out.count("\n") == 1
    assert told.out.split("\r")[-1].startswith("4/4 matches, rating ")


def test_when_all_is_played_it_is_told_that_boards_are_rated_before_the_first_one_is(tmp_path, monkeypatch):
    told = []
    rate = leaderboards.leaderboard
    monkeypatch.setattr(leaderboards, "leaderboard", lambda *given: told.append("rated") or rate(*given))
    api.run({**FOUR, "bots": RANDOM}, tmp_path, workers=1, show=lambda progress: told.append(progress.phase))
    assert told[-2:] == ["rating epicycle, 2 players (1 of 1)", "rated"] and set(told[:-2]) <= {""}


def test_a_shorter_line_leaves_nothing_of_a_longer_one(monkeypatch, capsys):
    shell(monkeypatch, kernel=object())
    with notebook_line() as show:
        show(Progress(total=10, where="waiting for the log"))
        show(Progress(total=10))
    lines = capsys.readouterr().out.rstrip("\n").split("\r")[1:]
    assert len({len(line) for line in lines}) == 1 and len(lines) == 2


@pytest.mark.parametrize("attributes", [{}, {"kernel": None}])
def test_outside_of_notebooks_a_run_prints_nothing(monkeypatch, capsys, attributes):
    shell(monkeypatch, **attributes)
    with notebook_line() as show:
        show(Progress(total=10))
    assert capsys.readouterr() == ("", "")


def test_a_script_that_asks_for_progress_gets_lines_on_standard_error(tmp_path, capsys):
    api.run({**FOUR, "bots": RANDOM}, tmp_path, workers=1, show=True)
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("4/4 matches") and told.err.endswith("\n")
    api.run({**FOUR, "bots": RANDOM}, tmp_path, workers=1, show=False)
    assert capsys.readouterr() == ("", "")


def test_a_folder_to_write_to_may_be_named_by_a_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    played = str(arena.run({**FOUR, "bots": RANDOM}, tmp_path / "home", workers=1).folder)
    assert {*arena.export(played, out="folder")} == {*Path("folder").iterdir()}
    assert arena.plot(played, "ratings", out="figures") == [*Path("figures").iterdir()]
    for format in ("bmp", "PNG", "", "../x"):
        with pytest.raises(arena.ArenaError, match="must be svg, png, pdf, json"):
            arena.plot(played, "ratings", format=format, out="others")
    assert not Path("others").exists()
    assert arena.status(played).state == "complete"
    arena.dataset(played, "data")
    assert Path("data/manifest.json").is_file()


def test_the_bots_of_a_single_match_are_called_by_their_specs():
    assert arena.play_match("epicycle", ["random", "greedy"], seed=1).names == ["random", "greedy"]


def test_the_package_is_found_beside_a_folder_of_its_name(tmp_path):
    for name in ("arena", "bots", "engine"):
        (tmp_path / name).mkdir()
    code = "import arena, bots, engine; print(arena.run, bots.Bot, engine.load_game)"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def damaged(tmp_path):
    """A home with a sound log, some that are none, and one with a damaged row; a match's id of the sound one."""
    plan = schedule(["alice", "bob"], players=(2,), blocks=2)
    fill(tmp_path / "good" / "matches.db", plan)
    sound = (tmp_path / "good" / "matches.db").read_bytes()
    for name, content in (("bad", b"no log" * 999), ("empty", b""), ("rows", sound), ("torn", sound[:5000])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "matches.db").write_bytes(content)
    with contextlib.closing(sqlite3.connect(tmp_path / "rows" / "matches.db")) as db, db:
        db.execute("UPDATE matches SET moves = x'00ff'")
    return match_id(next(plan.blocks()).identity, 0)


def test_a_damaged_log_hides_no_match_of_the_others(damaged, tmp_path, capsys):
    warned = []
    stored, _ = api.find_match(None, damaged, tmp_path, warned.append)
    assert match_id(stored.identity, stored.lineup) == damaged
    assert len(warned) == 4
    for line, name in zip(warned, ("bad", "empty", "rows", "torn"), strict=True):
        assert line.startswith(f"not looked through: {tmp_path / name / 'matches.db'}: ")
    with pytest.raises(arena.ArenaError, match="has no match whose id begins with 'ffff'"):
        api.find_match(None, "ffff", tmp_path, warned.append)
    with pytest.raises(arena.ArenaError, match="bad"):
        api.find_match(tmp_path / "bad" / "matches.db", damaged, warn=warned.append)
    with pytest.warns(UserWarning, match="not looked through"):
        api.find_match(None, damaged, tmp_path)


def test_replay_warns_of_damaged_logs_and_shows_the_match(damaged, tmp_path, capsys):
    run_command(["replay", damaged, "--no-show", "--home", str(tmp_path)])
    told = capsys.readouterr()
    assert [line.startswith("warning: not looked through: ") for line in told.err.splitlines()][:4] == [True] * 4
    assert told.out.startswith(damaged)


def test_a_board_is_rated_while_the_next_is_played_and_its_files_are_those_made_at_the_end(tmp_path, monkeypatch):
    begin = EarlyLeaderboards.begin

    def at_once(self, board):
        begin(self, board)
        self.thread.join()

    monkeypatch.setattr(EarlyLeaderboards, "begin", at_once)
    games = [{"game": "epicycle", "players": [2]}, {"game": "connect_four", "blocks": 60}]
    seen = {}

    def show(progress):
        for number, board in progress.rated.items():
            seen.setdefault(number, (board.line, progress.played < progress.total))

    result = api.run({**FOUR, "games": games, "bots": RANDOM}, tmp_path, workers=1, backend="local", show=show)
    (epicycle, _) = result.leaderboards.values()
    told = ", ".join(f"{bot} {rating:.2f}" for bot, rating in zip(epicycle["bot"], epicycle["rating"], strict=True))
    assert seen == {0: (f"rated: epicycle, 2 players: {told}", True)}
    late = api.leaderboard("four", tmp_path)
    files = [path for path in result.files if path.suffix == ".csv"]
    assert [path.read_text() for path in files] == [as_csv(frame) for frame in late.values()]
    assert [frame.attrs for frame in result.leaderboards.values()] == [frame.attrs for frame in late.values()]


def test_in_a_notebook_boards_rated_in_a_long_run_stay_as_lines(monkeypatch, capsys):
    shell(monkeypatch, kernel=object())
    board = RatedBoard("epicycle, 2 players", [("greedy", 30.123), ("random", 20.0)])
    with notebook_line() as show:
        show(Progress(total=10, rated={0: board}))
        long = Progress(total=10, rated={0: board}, started=time.monotonic() - 60)
        show(long)
        show(long)
    lines = [line.rpartition("\r")[2].rstrip() for line in capsys.readouterr().out.split("\n")]
    assert lines == ["rated: epicycle, 2 players: greedy 30.12, random 20.00", "0/10 matches", ""]
