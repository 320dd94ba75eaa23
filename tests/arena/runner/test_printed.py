"""What bots print is shown where somebody looks, bounded, and kept with their faults."""

from functools import partial

import pytest

from arena import api
from arena.cli.app import run_command
from arena.isolation.bubblewrap import missing_requirements
from arena.match.faults import MAX_TRACEBACK_CHARS
from arena.match.printed import MAX_PRINTED_CHARS, PrintedOutput

TALKERS = """
import sys

from bots import Bot


class Talker(Bot):
    '''Say what it does, and a lot else.'''

    def prepare(self):
        print("noise" * 20_000, file=sys.stderr)
        print("ready")

    def choose(self, state):
        print("I see", len(state.legal_actions()), "moves \\x1b[31m\\x07\\u202e")
        return state.legal_actions()[0]


class Breaker(Talker):
    '''Say something, then break.'''

    def choose(self, state):
        print("the last word")
        raise RuntimeError("broken on purpose")
"""
LEVELS = ("none", pytest.param("process", marks=pytest.mark.system), "sandbox")


@pytest.fixture
def talkers(tmp_path, monkeypatch):
    folder = tmp_path / "my bots"
    folder.mkdir()
    (folder / "b.py").write_text(TALKERS)
    monkeypatch.chdir(folder)
    return folder


def skip_without(level):
    if level == "sandbox" and missing_requirements():
        pytest.skip(missing_requirements())


@pytest.mark.parametrize("level", LEVELS)
def test_the_end_of_what_a_bot_prints_in_a_match_is_there_without_what_steers_a_terminal(level, talkers):
    skip_without(level)
    match = api.play_match("magic_mids", ["random", "b.py:Talker"], seed=1, isolation=[None, level])
    assert list(match.printed) == [1]
    assert len(match.printed[1]) <= max(MAX_PRINTED_CHARS, MAX_TRACEBACK_CHARS)
    assert match.printed[1].splitlines()[-1].startswith("I see ")
    assert all(letter.isprintable() or letter == "\n" for letter in match.printed[1])


@pytest.mark.parametrize("level", LEVELS)
def test_the_end_of_what_a_bot_prints_is_kept_with_its_fault(level, talkers):
    skip_without(level)
    detail = api.play_match("epicycle", ["b.py:Breaker", "random"], seed=1, isolation=[level, None]).details[0]
    assert len(detail) <= 2 * MAX_TRACEBACK_CHARS + 200
    assert -1 < detail.index("the last word") < detail.index("RuntimeError: broken on purpose")


def test_match_and_check_show_what_a_bot_prints(talkers, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command(["match", "epicycle", "b.py:Talker", "random", "--home", "here"]) == 0
    said = capsys.readouterr().out
    assert "seat 0 (Talker) printed, at the end:\n" in said and "    I see" in said and "\x1b" not in said
    assert len(said) < 5000
    check = ["check", "b.py:Talker", "--isolation", "none", "--game", "epicycle", "--players", "2", "--home", "here"]
    run_command(check)
    said = capsys.readouterr().out
    assert "It printed on 1 of 1 boards; epicycle, 2 players, at the end:\n" in said and "    I see" in said


@pytest.mark.parametrize("level", LEVELS)
def test_a_bot_may_use_standard_output_as_a_file(level, talkers):
    skip_without(level)
    uses = "sys.stdout.reconfigure(errors='replace'); sys.stdout.buffer.write('näh'.encode()); sys.stderr.fileno()"
    text = TALKERS.replace('print("ready")', f"{uses}; assert sys.stdout.encoding.lower() == 'utf-8'")
    (talkers / "b.py").write_text(text)
    match = api.play_match("epicycle", ["random", "b.py:Talker"], seed=1, isolation=[None, level])
    assert match.forfeits == {} and "näh" in match.printed[1]


def test_only_ends_are_kept_and_nothing_of_what_is_printed_while_nobody_plays():
    printed = PrintedOutput()
    out = printed.as_text()
    for seat, text in ((0, "a" * 10 * MAX_PRINTED_CHARS), (1, "one"), (0, "b"), (-1, "nobody"), (0, "c\r")):
        printed.seat = partial(int, seat)
        print(text, end="", file=out)
    assert printed.take() == {0: "a" * (MAX_PRINTED_CHARS - 3) + "bc ", 1: "one"}
    assert printed.take() == {}
