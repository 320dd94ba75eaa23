"""Every command that is printed for a user to run is run here as a shell reads it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.app import run_command
from tests.support.tournaments import write

ODIN = "midgard(variant=odin)"
CRASHES = """
from bots import Bot


class Crashes(Bot):
    games = ("midgard(variant=odin)",)

    def choose(self, state):
        raise ValueError("on purpose")
"""


def in_a_shell(command):
    """The exit code of a command line in bash, and what it said; the arena is that of this interpreter."""
    line = command.replace("arena", f"{sys.executable} -m arena", 1)
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def commands(text):
    """The commands that a text prints on lines of their own."""
    return re.findall(r"^  (arena .*)$", text, re.MULTILINE)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder whose name has to be quoted."""
    folder = tmp_path / "a folder's name"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ARENA_HOME", "my home")
    return folder


def test_the_next_steps_of_a_new_bot_run_as_they_are_printed(here, capsys):
    assert run_command(["init-bot", "odin_bot", "--game", ODIN]) == 0
    match, check, submit = commands(capsys.readouterr().out)
    assert in_a_shell(match)[0] == 0
    code, said = in_a_shell(check)
    assert code == 0 and f"{ODIN}, 2 players: ok" in said and said.count(" players: ok") == 1
    code, said = in_a_shell(submit)
    assert code == 0 and "Submitted: odin_bot" in said


def test_a_bot_for_all_variants_of_a_game_is_checked_on_each(here, capsys):
    assert run_command(["init-bot", "mid", "--game", "midgard"]) == 0
    assert run_command(["check", "mid.py", "--isolation", "none"]) == 0
    said = capsys.readouterr().out
    for variant in ("midgard, ", "midgard(variant=mere_mortal)", "midgard(variant=odin)", "midgard(variant=loki)"):
        assert said.count(variant) == 1


def test_a_failure_is_reproduced_by_the_command_that_a_check_prints(here, capsys):
    Path("it's here").mkdir()
    Path("it's here/b.py").write_text(CRASHES)
    assert run_command(["check", "it's here/b.py", "--isolation", "none"]) == 1
    (again,) = commands(capsys.readouterr().out)
    code, said = in_a_shell(again)
    assert code == 0 and ": crash" in said and "on purpose" in said


def test_a_configuration_and_an_archive_are_used_as_their_commands_print(here, capsys):
    write(here, "", "")
    file = "my cup's.toml"
    given = ["--game", ODIN, "--bots", "random,greedy", "--blocks", "1", "--name", "cup"]
    assert run_command(["init", file, *given]) == 0
    (run,) = commands(capsys.readouterr().out)
    assert in_a_shell(f"{run} --no-report --workers 1")[0] == 0
    assert run_command(["archive", file, "--out", "my cup.zip"]) == 0
    (verify,) = commands(capsys.readouterr().out)
    assert in_a_shell(f"{verify} --workers 1")[0] == 0
    assert os.path.exists("my home/cup")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        (["match", "odin", "random", "random"], "did you mean 'midgard(variant=odin)'?"),
        (["rules", "odin"], "did you mean 'midgard(variant=odin)'?"),
        (["games", "loky"], "did you mean 'midgard(variant=loki)'?"),
        (["match", "midgard", "variant=odin", "random", "random"], "write GAME(variant=odin) for a game's"),
        (["match", "midgard:variant=odin", "random", "random"], "write midgard(variant=odin)"),
        (["run", "--game", "midgard,variant=odin", "--bots", "random,greedy"], "write GAME(variant=odin)"),
        (["match", "epicycle", "uct:sims=5", "random"], "did you mean 'simulations'?"),
        (["match", "epicycle", "uct:", "random"], "bot spec 'uct:' cannot be read"),
        (["check", "b.py", "--game", "midgard"], "plays midgard(variant=odin), not midgard"),
    ],
)
def test_a_wrong_name_leads_to_the_right_one(tmp_path, monkeypatch, capsys, line, hint):
    monkeypatch.chdir(tmp_path)
    Path("b.py").write_text(CRASHES)
    assert run_command([*line, *(["--isolation", "none"] if line[0] == "check" else [])]) == 2
    said = capsys.readouterr().err
    assert hint in said and said.count("\n") == 1


def test_a_variant_that_there_is_not_is_named_by_a_check(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("b.py").write_text(CRASHES.replace("odin", "oden"))
    assert run_command(["check", "b.py", "--isolation", "none"]) == 2
    said = capsys.readouterr().err
    assert "games: midgard: variant=oden: not a choice; did you mean 'odin'?" in said
