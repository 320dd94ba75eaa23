"""What every built-in bot owes the arena, in every game that it accepts."""

import copy
import inspect
import random

import numpy as np
import pytest

from bots import Bot, make_bot
from engine import Game, ParameterError, State, UnsupportedError
from tests.bots.built_in import FOLDER, all_games, as_params, built_in_bots, label, names_in_source
from tests.bots.matches import random_walk

BOTS = built_in_bots()
GAMES = all_games()
PAIRS = [(bot, game) for bot in BOTS.values() for game in GAMES]
ACCEPTED = [(bot, game) for bot, game in PAIRS if bot.refusal(game) is None]
REFUSED = [(bot, game) for bot, game in PAIRS if bot.refusal(game) is not None]

on_accepted = pytest.mark.parametrize(("kind", "game"), as_params(ACCEPTED), ids=label)
on_bots = pytest.mark.parametrize("kind", BOTS.values(), ids=label)


def cheapest(kind: type[Bot]) -> dict[str, object]:
    """Return a bot's numbers at their smallest: what is shown here does not depend on strength."""
    return {parameter.name: parameter.minimum for parameter in kind.parameters if parameter.kind is int}


def moves(kind: type[Bot], game: Game, seed: int, between: list[Bot] | None = None) -> list[int]:
    """Return what bots of that seed choose along a random match; the bots in `between` are asked before each move."""
    seats = [make_bot(kind, game, seat, seed, cheapest(kind)) for seat in range(game.players)]
    chosen = []
    for state in random_walk(game, seed=7, longest=30):
        for bot in between or ():
            bot.seat = state.current_player()
            bot.choose(state.clone())
        chosen.append(seats[state.current_player()].choose(state.clone()))
    return chosen


def fingerprint(state: State) -> tuple[object, ...]:
    words = state.words.tobytes() if hasattr(state, "words") else state.inner.words.tobytes()
    return words, state.history(), state.current_player(), state.legal_actions()


def test_the_built_in_bots_are_found_by_reading_the_source():
    assert {"random", "greedy", "cautious", "catcher", "settler", "brawler", "flat_mc", "perfect"} <= BOTS.keys()
    for name, kind in BOTS.items():
        assert kind.name == name


def test_no_two_bots_have_one_name():
    names = [name for path in FOLDER.rglob("*.py") for _, name in names_in_source(path)]
    assert sorted(names) == sorted(set(names))


@on_accepted
def test_only_legal_actions_are_chosen_and_the_given_state_stays_as_it_is(kind, game):
    seats = [make_bot(kind, game, seat, 3, cheapest(kind)) for seat in range(game.players)]
    for seed in range(3):
        for state in random_walk(game, seed, longest=25):
            before = fingerprint(state)
            action = seats[state.current_player()].choose(state)
            assert type(action) is int
            assert action in state.legal_actions()
            assert fingerprint(state) == before


@on_accepted
def test_default_parameters_give_a_legal_first_move(kind, game):
    state = next(random_walk(game, seed=1))
    assert make_bot(kind, game, state.current_player(), 5).choose(state) in state.legal_actions()


@on_accepted
def test_the_same_seed_gives_the_same_moves(kind, game):
    assert moves(kind, game, 11) == moves(kind, game, 11)


@on_accepted
def test_another_instance_at_work_changes_no_move(kind, game):
    other = make_bot(kind, game, 0, 12, cheapest(kind))
    assert moves(kind, game, 11, between=[other]) == moves(kind, game, 11)


@on_accepted
def test_global_generators_are_left_alone(kind, game):
    python, numpy = random.getstate(), copy.deepcopy(np.random.get_state())
    moves(kind, game, 11)
    assert random.getstate() == python
    assert repr(np.random.get_state()) == repr(numpy)


@pytest.mark.parametrize(("kind", "game"), REFUSED, ids=label)
def test_a_game_that_it_does_not_play_is_refused_in_one_sentence(kind, game):
    with pytest.raises(UnsupportedError) as refusal:
        make_bot(kind, game, 0, 1)
    text = str(refusal.value)
    assert text.startswith(f"{kind.name} ")
    assert "\n" not in text
    assert game.name in text or str(game.players) in text


@on_bots
def test_every_bot_says_what_it_does_and_what_it_costs(kind):
    text = inspect.getdoc(kind)
    assert text and text.splitlines()[0].endswith(".")
    assert "Cost: " in text
    for parameter in kind.parameters:
        assert f"`{parameter.name}`" in text


@on_bots
def test_every_parameter_has_help_and_bounds_that_hold(kind):
    for parameter in kind.parameters:
        assert parameter.help
        if parameter.kind in (int, float):
            for bound, step in ((parameter.minimum, -1), (parameter.maximum, 1)):
                assert parameter.read(bound, kind.name) == bound
                with pytest.raises(ParameterError, match=parameter.name):
                    parameter.read(bound + step, kind.name)
        elif parameter.stands_for:
            assert parameter.read("0.02s", kind.name) == "20ms"
            with pytest.raises(ParameterError, match=parameter.name):
                parameter.read("soon", kind.name)
        elif parameter.kind is str and (kind.name, parameter.name) != ("onnx", "file"):
            assert parameter.choices
