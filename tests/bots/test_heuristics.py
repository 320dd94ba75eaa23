"""Evaluations: bounded, blind to seat numbers, and found by the game's name."""

from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

import bots.heuristics
import engine
from bots.heuristics import GROUP, heuristics_of
from bots.heuristics.epicycle import prospects, safe_plays
from bots.search.evaluation import evaluation, evaluation_kernel, score_margin
from tests.bots.built_in import kernel_games, label, load_race
from tests.bots.matches import immediate_returns, random_walk

MODULES = [path.stem for path in Path(bots.heuristics.__file__).parent.glob("*.py") if path.stem != "__init__"]
EPICYCLES = [engine.load_game("epicycle", players) for players in (2, 3, 4, 5)]


@pytest.fixture
def offers(monkeypatch):
    """A function that pretends plug-ins name modules, `game="module"`; several modules stand side by side."""

    def install(**modules):
        entries = [EntryPoint(name, value, GROUP) for name, values in modules.items() for value in values.split()]
        monkeypatch.setattr(
            bots.heuristics,
            "entry_points",
            lambda group, name: [entry for entry in entries if (entry.group, entry.name) == (group, name)],
        )

    heuristics_of.cache_clear()
    yield install
    heuristics_of.cache_clear()


@pytest.mark.parametrize("name", MODULES)
def test_every_heuristics_module_is_for_an_installed_game(name):
    assert name in engine.game_names()


@pytest.mark.parametrize("game", kernel_games(), ids=label)
def test_evaluations_of_running_states_stay_within_the_returns(game):
    evaluate = evaluation_kernel(game)
    for seed in range(5):
        for state in random_walk(game, seed):
            for seat in range(game.players):
                assert -1 <= evaluate(state.record, seat) <= 1


@pytest.mark.parametrize("game", EPICYCLES, ids=label)
def test_epicycles_evaluations_of_all_seats_add_up_to_nothing(game):
    evaluate = evaluation_kernel(game)
    for seed in range(20):
        for state in random_walk(game, seed):
            assert sum(evaluate(state.record, seat) for seat in range(game.players)) == pytest.approx(0)


def test_an_epicycle_seat_that_is_out_is_worth_its_return():
    state = engine.load_game("epicycle", 4).state_from_position("MSSLMLSML. SML/x3/SML/x2 0 9")
    evaluate = evaluation_kernel(state.game)
    assert evaluate(state.record, 1) == pytest.approx(-1)
    assert evaluate(state.record, 3) == pytest.approx(-1 / 3)


def test_epicycles_safe_plays_are_those_that_do_not_lose_at_once():
    doomed = 0
    for seed in range(100):
        for state in random_walk(EPICYCLES[0], seed):
            seat = state.current_player()
            safe = sum(result != -1.0 for result in immediate_returns(state).values())
            doomed += not safe
            assert safe_plays(state.record, seat) == safe
            assert (prospects(state.record, seat) == 0) == (not safe)
    assert doomed


def test_without_heuristics_a_game_is_valued_by_its_score_margin():
    game = load_race(3)
    state = game.state_from_position("9/2/4 3 0")
    assert evaluation_kernel(game)(state.record, 0) == 6 / 16
    assert evaluation_kernel(game)(state.record, 1) == -4.5 / 14.5
    assert score_margin(state, 1) == -4.5 / 14.5


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_score_margin_is_the_same_compiled_and_by_way_of_the_state(players):
    game = load_race(players)
    for seed in range(5):
        for state in random_walk(game, seed):
            for seat in range(players):
                assert evaluation_kernel(game)(state.record, seat) == score_margin(state, seat)


def test_a_game_without_scores_is_worth_nothing_until_its_end():
    assert score_margin(engine.load_game("epicycle", 2).new_initial_state(), 0) == 0
    assert evaluation("a game that nobody knows") is score_margin


def test_a_plug_in_game_brings_its_heuristics_by_entry_point(offers):
    offers(race="tests.bots.race.heuristics")
    game = load_race(2)
    state = game.state_from_position("6/3 2 0")
    assert evaluation_kernel(game)(state.record, 0) == 0.5
    assert evaluation_kernel(game)(state.record, 1) == 0.25


def test_two_heuristics_modules_for_one_game_are_an_error_that_names_both(offers):
    offers(race="tests.bots.race.heuristics somewhere.else", epicycle="their.epicycle")
    with pytest.raises(engine.DuplicateNameError, match=r"somewhere\.else, tests\.bots\.race\.heuristics"):
        heuristics_of("race")
    with pytest.raises(engine.DuplicateNameError, match=r"bots\.heuristics\.epicycle, their\.epicycle"):
        heuristics_of("epicycle")


def test_an_offer_that_cannot_be_loaded_is_an_error_that_names_it(offers):
    offers(race="no.such.module")
    with pytest.raises(engine.UnsupportedError, match=r"'race' \(no\.such\.module\)"):
        heuristics_of("race")


@pytest.mark.parametrize("name", ["unheard_of", "no-identifier", "a.b"])
def test_an_unknown_game_has_no_heuristics(name):
    assert heuristics_of(name) is None


def test_a_module_without_an_evaluation_leaves_the_score_margin(monkeypatch):
    monkeypatch.setattr("bots.search.evaluation.heuristics_of", lambda name: SimpleNamespace())
    game = load_race(2)
    assert evaluation_kernel(game)(game.state_from_position("3/1 2 0").record, 0) == 2 / 12
