"""Version, completion in a shell, rules in a terminal, and the notation above drawings."""

import importlib.metadata
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import engine
from arena.cli.app import run_command
from arena.registry import rules
from tests.support.terminal import Terminal
from tests.support.tournaments import ARENA


def say(capsys, *arguments):
    assert run_command(list(arguments)) == 0
    return capsys.readouterr().out


def test_the_version_is_that_of_the_package_and_needs_nothing_heavy(capsys):
    version = importlib.metadata.version("pyramid-arena")
    python = ".".join(map(str, sys.version_info[:3]))
    assert say(capsys, "--version") == say(capsys, "-V") == f"pyramid-arena {version}, Python {python}\n"
    script = "import sys; from arena.cli.app import run_command; run_command(['-V']); print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.endswith("False\n")


def completed(folder, line, **environment):
    """What a shell offers for the end of a line."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1), "_ARENA_COMPLETE": "complete_bash"}
    done = subprocess.run(
        ARENA, cwd=folder, env={**os.environ, **words, **environment}, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_a_shell_completes_commands_choices_games_bots_and_tournaments(tmp_path):
    for name in ("reports/cup", "reports/compare/a-b"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "matches.db").touch()
    assert completed(tmp_path, "arena lead") == ["leaderboard"]
    assert completed(tmp_path, "arena run --back") == ["--backend"]
    assert completed(tmp_path, "arena leaderboard --format c") == ["csv"]
    assert completed(tmp_path, "arena match ep") == ["epicycle"]
    assert completed(tmp_path, "arena match epicycle gree") == ["greedy"]
    assert completed(tmp_path, "arena run --bots greedy,fl") == ["greedy,flat_mc"]
    assert completed(tmp_path, "arena compare rand") == ["random"]
    assert completed(tmp_path, "arena leaderboard ") == ["compare/a-b", "cup"]
    assert completed(tmp_path, "arena leaderboard ", ARENA_HOME="elsewhere") == []


def test_what_cannot_be_read_completes_to_nothing(tmp_path):
    (tmp_path / "arena.toml").write_text("home = 3")
    assert completed(tmp_path, "arena leaderboard ", ARENA_HOME="") == []


NO_NETWORK = """
import sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise RuntimeError(f"{event}{arguments}")

sys.addaudithook(watch)
"""


def test_completion_is_installed_without_a_network(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(NO_NETWORK)
    done = subprocess.run(
        ["bash", "-c", '"$@"; exit $?', "bash", *ARENA, "--install-completion"],
        env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "bash completion installed" in done.stdout
    assert "complete -o default" in (tmp_path / ".bash_completions/arena.sh").read_text()


@pytest.mark.parametrize("game", engine.game_names())
def test_the_rules_of_every_game_fit_80_columns_and_have_their_sections(game, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = say(capsys, "rules", game)
    assert said.split()[: len(engine.game_type(game).title.split())] == engine.game_type(game).title.split()
    assert max(map(len, said.splitlines())) <= 80 and "\x1b" not in said
    sections = [line.removeprefix("## ") for line in rules.rules_of(game).splitlines() if line.startswith("## ")]
    assert [line for line in said.splitlines() if line in sections] == sections
    assert say(capsys, "rules", f"{game}(x=y)") == said


def test_a_game_without_rules_in_its_package_is_told(monkeypatch, capsys):
    monkeypatch.setattr(rules, "RULES_FILE", "NONE.md")
    assert run_command(["rules", "connect_four"]) == 2
    told = capsys.readouterr().err
    assert told == "error: game 'connect_four': its package 'connect_four' has no NONE.md\n"
    assert "How actions are written" not in say(capsys, "match", "epicycle", "random", "random", "--show")


@pytest.mark.parametrize("game", engine.game_names())
def test_how_actions_are_written_stands_above_the_drawings(game, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = say(capsys, "match", game, "random", "random", "--show")
    assert said.count(f"How actions are written (arena rules {game} has the rules):") == 1
    legend = said.partition("has the rules):\n")[2].partition("\n   1 ")[0]
    assert "ction" in legend and "Position" not in legend
    assert "How actions" not in say(capsys, "match", game, "random", "random")


def test_rules_are_paged_on_a_terminal(tmp_path):
    terminal = Terminal("rules", "epicycle", folder=tmp_path, PAGER="head -n 3; echo that was the pager")
    try:
        assert terminal.finish() == 0
        assert "Epicycle" in terminal.screen.text and "that was the pager" in terminal.screen.text
    finally:
        terminal.close()


def test_a_command_ends_without_collecting_what_ends_with_the_process():
    """`gc.get_freeze_count` tells how many objects the last collection leaves alone."""
    script = (
        "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count())); sys.argv[1:] = ['--version']"
    )
    run = [sys.executable, "-c", f"{script}; from arena.cli.app import main; main()"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) > 0


ROOT = Path(__file__).parents[3]
SCRIPT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["arena"]
INTERRUPTED_BY = """
import os, signal, sys

class Finder:
    def find_spec(name, path, target=None):
        if name == os.environ["INTERRUPTED_BY"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
"""
"""Sends the interrupt when a module is imported."""


@pytest.mark.parametrize("module", ["arena.cli.app", "typer", "arena.cli.commands"])
@pytest.mark.parametrize("start", ["-m arena", "-c from {0} import {1}; {1}()".format(*SCRIPT.split(":"))])
def test_an_interrupt_while_the_command_is_imported_ends_it_without_a_word(tmp_path, start, module):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED_BY)
    run = [sys.executable, *start.split(maxsplit=1), "--version"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "INTERRUPTED_BY": module}
    done = subprocess.run(run, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
