"""`arena play --terminal`: a conversation in plain text, and what ends it."""

import io
import sys

import pytest

from arena.cli.app import run_command
from arena.cli.playing import seats_of
from arena.core.errors import ConfigError


@pytest.fixture
def talk(monkeypatch, capsys, tmp_path):
    """Return a function that plays with given lines of input; it returns the exit code and what was printed."""

    def run(lines, *options):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
        code = run_command(["play", "epicycle", "--terminal", "--seed", "3", "--home", str(tmp_path), *options])
        return code, capsys.readouterr().out

    return run


def test_a_conversation_lists_moves_refuses_others_takes_back_and_ends(talk):
    code, said = talk(["?", "help", "X9", "hint 500", "S+", "S-", "back", "board", "S-", "resign"], "--keep")
    assert code == 0
    assert "S-  L-" in said
    assert "'X9' is not an action of epicycle" in said
    assert "S+ is not legal. The piece in slot 0 is small like the one played" in said
    assert "500 simulations" in said
    assert "Back to ply 0." in said
    assert "forfeited: resigned" in said
    assert "Kept in played/" in said
    whole = [line for line in said.splitlines() if "> " not in line]  # what was typed is not there to end a line
    assert max(map(len, whole)) <= 80


def test_the_end_of_input_leaves_the_table(talk):
    code, said = talk(["S-"])
    assert code == 130
    assert "not kept" in said
    assert talk(["quit"])[0] == 130


def test_a_game_is_needed_where_something_is_said_of_the_table(capsys):
    assert run_command(["play", "--terminal"]) != 0
    assert "name the game" in capsys.readouterr().err


def test_bots_sit_in_the_order_named_and_the_last_one_in_all_seats_left():
    assert seats_of("epicycle", [], None, 0, None) == ("person", "greedy")
    assert seats_of("epicycle", ["a", "b"], 5, 1, "ada") == ("a", "person:ada", "b", "b", "b")
    assert seats_of("pyramid_punch", ["a", "b"], None, 2, None) == ("a", "b", "person")
    for options in ((["a", "b"], 2, 0), ([], 2, 2)):
        with pytest.raises(ConfigError):
            seats_of("epicycle", *options, None)
