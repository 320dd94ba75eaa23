"""What people read: tables that fit, words that say what they mean."""

import io
import time
from functools import partial

import pandas as pd
import pytest
from rich.console import Console

from arena import api
from arena.cli.app import run_command
from arena.cli.boards import print_board
from arena.cli.progress import Display
from arena.cli.running import drawing, leaders
from arena.runner.progress import Progress, RatedBoard


@pytest.mark.parametrize("columns", [60, 80])
def test_the_group_is_shown_however_narrow_the_terminal(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    frame = pd.DataFrame({"rank": [1, 2], "bot": ["alice", "flat_mc:playouts=100"], "rating": [30.5, 20.25]})
    frame = frame.assign(rating_ci_low=20.0, rating_ci_high=31.0, rank_ci_low=1, rank_ci_high=2, group="ab")
    frame = frame.assign(matches=1000, wins=100, ties=100, mean_rank=1.5, forfeits=0)
    frame = frame.assign(mean_return=0.25, mean_return_ci_low=0.125, mean_return_ci_high=0.375, mean_margin=1.5)
    print_board(("epicycle", 2), frame)
    said = capsys.readouterr().out
    assert "group" in said and "ab" in said
    assert max(map(len, said.splitlines())) <= columns


def test_bots_that_do_not_play_everywhere_are_told_in_one_line_and_with_verbose_by_board(tmp_path, capfd):
    config = tmp_path / "a plan.toml"
    games = '[{ game = "epicycle", players = [2, 3] }, { game = "magic_mids", players = 2 }]'
    config.write_text(
        f'name = "t"\nblocks = 1\ngames = {games}\nbots = [{{ bot = "random" }}, {{ bot = "random", label = "r" }}, '
        '{ bot = "random", label = "s" }, { bot = "cautious" }, { bot = "perfect" }]'
    )
    run = ["run", str(config), "--home", str(tmp_path / "home"), "--workers", "1"]
    assert run_command(run) == 0
    said = capfd.readouterr().err
    assert "Of 3 boards perfect on 1, cautious on 2; --verbose says why." in said and "without" not in said
    assert run_command([*run, "--verbose"]) == 0
    said = capfd.readouterr().err
    assert said.count("without perfect: it ") == 2 and said.count("without cautious: it ") == 1


@pytest.mark.parametrize("live", [False, True])
def test_a_bar_that_is_full_gives_way_to_what_is_done_then_even_a_moment_later(live, capfd, monkeypatch):
    monkeypatch.setattr("arena.cli.progress.can_draw", lambda stream: live)
    monkeypatch.setenv("TTY_INTERACTIVE", "0")
    display, drawn = Display(), []

    def line(phase):
        drawn.append(phase)
        return phase

    for phase in ("", "", "rating a", "rating b"):
        display.show(partial(line, phase), phase=phase)
    display.end()
    assert drawn[-1:] == (["rating b"] if live else ["rating a"])


def test_where_there_is_no_terminal_a_line_that_has_not_changed_is_not_repeated(capsys, monkeypatch):
    monkeypatch.setattr("arena.cli.progress.LINE_SECONDS", 0.0)
    display = Display()
    for line in ("compiling a", "compiling a", "compiling b", "compiling b", "compiling a"):
        display.show(partial(str, line), phase=line)
    assert capsys.readouterr().err == "compiling a\ncompiling b\ncompiling a\n"


def test_bots_are_listed_with_the_games_that_they_do_not_refuse(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    assert run_command(["bots", "--home", str(tmp_path)]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    for bot, row in (("uct", "all"), ("perfect", "epicycle"), ("expectimax", "magic_mids, pig, pyramid_punch")):
        assert rows[bot].split("  ", 1)[1].lstrip().startswith(f"{row} ")
    assert run_command(["bots", "expectimax", "--home", str(tmp_path)]) == 0
    assert "Games: magic_mids, pig, pyramid_punch   players: all" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["match epicycle random random", "compare greedy random --game epicycle"])
def test_an_opening_that_leaves_no_move_to_the_bots_is_refused(command, tmp_path, capsys):
    assert run_command([*command.split(), "--opening", "random:999", "--home", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert (
        "opening = 'random:999': leaves the bots no say: of 20 random matches of epicycle" in said
        and said.count("\n") == 1
    )
    assert not list(tmp_path.iterdir())


def test_boards_that_are_rated_early_are_a_line_each_where_there_is_no_terminal_and_a_row_where_there_is_one(
    capsys, monkeypatch
):
    monkeypatch.setattr("arena.cli.progress.LINE_SECONDS", 1000.0)
    display, progress = Display(), Progress(total=10, started=time.monotonic() - 60)
    best = [("uct:simulations=1000,solve=off", 31.456), ("greedy", 25.0), ("random", 18.0)]
    for _ in range(2):
        display.show(lambda: "never", news=progress.rated_lines)
        progress.rated[1] = RatedBoard("epicycle, 3 players", best)
    display.show(lambda: "never", news=progress.rated_lines)
    said = capsys.readouterr().err
    assert said == f"rated: epicycle, 3 players: {best[0][0]} 31.46, greedy 25.00, random 18.00\n"
    bots = [{"bot": name} for name in ("random", "greedy", "cautious")]
    plan = api.load_plan({"name": "cup", "games": [{"game": "epicycle", "players": [2, 3]}], "bots": bots})
    progress.sums[0, 0] = [3.0, 4]
    assert leaders(plan, progress, 0, 1, 60) == ["random +0.75"]
    assert leaders(plan, progress, 1, 1, 60) == ["rated: uct:simu…lve=off 31.5  greedy 25.0  random 18.0"]
    assert leaders(plan, progress, 1, 1, 48) == ["rated: uct:simu…lve=off 31.5  greedy 25.0"], "no number is cut"
    assert leaders(plan, progress, 0, 3, 60) == ["1. random +0.75"]
    ranked = [f"rated: 1. {best[0][0]} 31.5", "2. greedy 25.0", "3. random 18.0"]
    assert [leaders(plan, progress, 1, rows, 60) for rows in (2, 3, 99)] == [ranked[:2], ranked, ranked]
    assert leaders(plan, progress, 1, 2, 30) == ["rated: 1. uct:sim…ve=off 31.5", "2. greedy 25.0"]
    console = Console(width=74, file=io.StringIO())
    for height in (2, 5, 6, 24):
        with console.capture() as drawn:
            console.print(drawing(plan, progress, 74, height))
        lines = drawn.get().splitlines()
        assert max(map(len, lines)) <= 74 and len(lines) <= max(2, height - 2)
        assert any("greedy 25.0" in line for line in lines) == (height > 5)
        assert not any(line.rstrip().endswith("…") for line in lines)
        assert ("more boards" in drawn.get()) == (height <= 5)
