"""Position strings of OpenSpiel's games: written, read and refused."""

from __future__ import annotations

import pickle
from typing import Any

import pyspiel
import pytest

import engine
from engine.errors import IllegalActionError, PositionError
from engine.game import CHANCE

LONG = " ".join(["1"] * 100_000)


def reached(spec: str, plies: str, players: int = 2) -> Any:
    """Return the state of a position."""
    game: Any = engine.load_game(spec, players)
    return game.state_from_position(plies)


def test_a_position_is_what_openspiel_writes_of_a_state_in_one_line():
    state = engine.load_game("openspiel.backgammon").new_initial_state()
    assert state.position == "-"
    for _ in range(30):
        state.apply_action((state.legal_actions() or state.chances()[0])[-1])
    theirs: Any = state
    assert state.position == theirs.native.serialize().strip().replace("\n", " ")
    native = pyspiel.load_game("backgammon").deserialize_state(state.position.replace(" ", "\n"))
    assert native.to_string() == str(theirs.native)


def test_a_state_of_a_position_plays_on_and_remembers_where_it_began():
    state = reached("openspiel.tic_tac_toe", "4 0")
    assert (state.history(), state.origin, state.position) == ([], "4 0", "4 0")
    state.apply_action(8)
    for again in (
        state.clone(),
        pickle.loads(pickle.dumps(state)),
        state.game.deserialize_state(state.serialize()),
    ):
        assert (again.history(), again.origin, again.position) == ([8], "4 0", "4 0 8")
        assert again == state == reached("openspiel.tic_tac_toe", "4 0 8")
        assert again.legal_actions() == [1, 2, 3, 5, 6, 7]
    start = reached("openspiel.tic_tac_toe", "-")
    assert start == start.game.new_initial_state() and start.origin == "-"


@pytest.mark.parametrize(
    ("spec", "text", "words"),
    [
        ("openspiel.tic_tac_toe", "", "ply 1, '', is not the number"),
        ("openspiel.tic_tac_toe", " ", "ply 1, '', is not the number"),
        ("openspiel.tic_tac_toe", "- -", "ply 1, '-', is not the number"),
        ("openspiel.tic_tac_toe", "4  0", "ply 2, '', is not the number"),
        ("openspiel.tic_tac_toe", "4\n0", r"ply 1, '4\\n0', is not the number"),
        ("openspiel.tic_tac_toe", "04", "ply 1, '04', is not the number"),
        ("openspiel.tic_tac_toe", "٤", "is not the number"),
        ("openspiel.tic_tac_toe", "x(1,1)", "is not the number"),
        ("openspiel.tic_tac_toe", "x" * 10_000, "is not the number"),
        ("openspiel.tic_tac_toe", "9" * 10_000, "is not the number"),
        ("openspiel.tic_tac_toe", "4 -1", "ply 2, '-1', is not the number"),
        ("openspiel.tic_tac_toe", "4 4", "ply 2, 4, is not legal for seat 1"),
        ("openspiel.tic_tac_toe", "9", "ply 1, 9, is not legal for seat 0"),
        ("openspiel.tic_tac_toe", str(2**32), "is not legal for seat 0"),
        ("openspiel.tic_tac_toe", "0 3 1 4 2 5", "over before ply 6"),
        ("openspiel.tic_tac_toe", LONG, "ply 2, 1, is not legal"),
        ("openspiel.chess", "-1", "is not the number"),
        ("openspiel.chess", "FEN: ", "is not the number"),
        ("openspiel.chess", "0 0", "ply 1, 0, is not legal"),
        ("openspiel.hive", "Base+MLP;NotStarted;White[1];", "is not the number"),
        ("openspiel.backgammon", "500", "ply 1, 500, is not a chance outcome"),
        ("openspiel.pig", "0 6", "ply 2, 6, is not a chance outcome"),
        ("openspiel.pig", LONG, "the match is over before ply"),
    ],
)
def test_what_is_no_position_is_refused_in_one_line_at_the_first_ply_that_cannot_be(spec, text, words):
    with pytest.raises(PositionError, match=words) as caught:
        reached(spec, text)
    assert len(str(caught.value)) < 300 and str(caught.value).isprintable()


def test_an_outcome_without_probability_cannot_happen():
    state = engine.load_game("openspiel.pig", 2).new_initial_state()
    state.apply_action(0)
    rolling: Any = state
    rolling.native = Loaded(rolling.native)
    assert state.current_player() == CHANCE
    assert state.chance_outcomes() == [(0, 1), (2, 3)] and state.chances() == ([0, 2], [1, 4])
    with pytest.raises(IllegalActionError):
        state.apply_action(1)


class Loaded:
    """A state with dice of which some sides never come."""

    def __init__(self, native: Any) -> None:
        self.native = native

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.25), (1, 0.0), (2, 0.75), (3, 0.0)]
