"""Built-in bots that search say what they expect: returns that fit what they found, and lines that can be played."""

from itertools import chain

import pytest

from arena.isolation.levels.none import ASKED_DIRECTLY
from arena.match.estimates import read_search_info
from arena.match.player import ask_move
from bots import make_bot
from bots.search.perfect_solver import solve
from bots.search.uct import BATCH
from engine import load_game
from engine.loading import load
from tests.bots.built_in import all_games, as_params, built_in_bots, label
from tests.bots.matches import random_walk
from tests.bots.test_contract import cheapest
from tests.engine.test_plain_game import NIM

BOTS = built_in_bots()
TELLING = ("uct", "alphabeta", "expectimax", "flat_mc", "greedy", "perfect")
SMALL = {
    "uct": {"simulations": 60},
    "flat_mc": {"playouts": 5},
    "alphabeta": {"nodes": 300},
    "expectimax": {"nodes": 300},
}
PAIRS = [(BOTS[name], game) for name in TELLING for game in all_games() if BOTS[name].refusal(game) is None]


def answers(kind, game, longest=30, seed=3, **params):
    """What bots answer at the decisions of a random match, each with the state."""
    seats = [make_bot(kind, game, seat, 5, SMALL.get(kind.name, {}) | params) for seat in range(game.players)]
    for state in random_walk(game, seed=seed, longest=longest):
        if len(state.legal_actions()) > 1:
            yield state, ask_move(seats[state.current_player()], state.clone(), 1.0)


@pytest.mark.parametrize(("kind", "game"), as_params(PAIRS), ids=label)
def test_what_they_give_is_right_and_their_lines_can_be_played(kind, game):
    given = [(state, answer.action, answer.given) for state, answer in answers(kind, game)]
    assert given
    for state, action, each in given:
        if each is None:
            assert kind.name in ("alphabeta", "expectimax", "greedy") and game.players > 2
            continue
        assert each.wrong == 0
        if each.evaluation and kind.name not in ("alphabeta", "expectimax"):
            assert abs(sum(each.evaluation)) <= game.players, "returns sum to 0 but for rounding"
        assert each.line[:1] in ([], [action])
        for ply in each.line:
            state.apply_action(ply)
    if game.players == 2 or kind.name in ("uct", "flat_mc"):
        assert all(each is not None and each.evaluation for _, _, each in given)


@pytest.mark.parametrize(
    "game", [load_game("epicycle", 2), load_game("magic_mids", 3), load(NIM, 2, {})], ids=lambda game: game.spec
)
def test_searches_tell_how_much_they_have_searched(game):
    for name in ("uct", "flat_mc", "alphabeta", "expectimax"):
        kind = BOTS[name]
        if kind.refusal(game) is None:
            steps = [
                (answer.given.search_steps, len(state.legal_actions())) for state, answer in answers(kind, game, 10)
            ]
            budget = SMALL[name].get("nodes", 0)
            expected = {"uct": [(60, actions) for _, actions in steps], "flat_mc": [(5 * n, n) for _, n in steps]}
            assert steps == expected.get(name, steps) and all(each > 0 for each, _ in steps)
            assert not budget or max(steps)[0] >= budget, "it looks on until the budget is spent"


def test_simulations_by_the_clock_and_those_of_a_proven_position_are_counted_and_those_of_before_are_not():
    epicycle, nim = load_game("epicycle", 2), load(NIM, 2, {})

    def told(game, **params):
        return [answer.given.search_steps for _, answer in answers(BOTS["uct"], game, 99, **params)]

    assert all(each > 0 and each % BATCH == 0 for each in told(epicycle, seconds=0.001))
    assert {*told(epicycle, reuse=True)} == {60}
    assert 0 < min(told(nim, solve=True, simulations=5000)) < 5000


@pytest.mark.parametrize("opponents", ["maxn", "paranoid"])
def test_several_players_are_valued_by_max_n_alone(opponents):
    game = load_game("epicycle", 3)
    given = [answer.given for _, answer in answers(BOTS["alphabeta"], game, opponents=opponents)]
    if opponents == "maxn":
        assert all(each is not None and len(each.evaluation) == 3 for each in given)
    else:
        assert all(each is None or each.evaluation == [] for each in given)


def test_perfect_says_who_wins_and_both_seats_follow_its_line():
    game = load_game("epicycle", 2)
    lines = []
    for state, answer in answers(BOTS["perfect"], game, longest=60):
        assert set(answer.given.evaluation) <= {-1000, 0, 1000}
        lines.append(len(answer.given.line))
        if abs(answer.given.evaluation[0]) == 1000 and len(answer.given.line) < 16:
            for ply in answer.given.line:
                state.apply_action(ply)
            assert [1000 * value for value in state.returns()] == answer.given.evaluation
    assert max(lines) == 16


def test_what_uct_has_proven_is_worth_what_the_solved_game_says():
    game, table, found = load_game("epicycle", 2), solve(), 0
    walks = (answers(BOTS["uct"], game, seed=seed, simulations=1000, solve=True) for seed in range(6))
    for state, answer in chain.from_iterable(walks):
        if (sure := answer.given.evaluation[state.current_player()]) in (-1000, 1000):
            found += 1
            assert table.look_up(state).value == sure // 1000
    assert found


def test_uct_gives_the_mean_returns_of_the_action_that_it_takes():
    """With three players its own seat's mean is counted in the tree, and again with the others'."""
    game = load_game("epicycle", 3)
    bot = make_bot(BOTS["uct"], game, 0, 9, {"simulations": 500})
    state = game.new_initial_state()
    best = bot.think(state)[0]
    bot.choose(state)
    assert bot.evaluation[0] == pytest.approx(best.value, abs=1e-9)
    assert sum(bot.evaluation) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("module", "name"), sorted(ASKED_DIRECTLY))
def test_bots_that_are_asked_directly_give_neither_notes_nor_estimates(module, name):
    """The referee does not look for any where it asks directly."""
    (kind,) = (kind for kind in BOTS.values() if (kind.__module__, kind.__name__) == (module, name))
    for _, answer in answers(kind, load_game("epicycle", 2)):
        assert (answer.note, answer.given) == (None, None)


def test_the_others_are_not_mistaken_for_wrong_ones():
    game = load_game("epicycle", 2)
    for name, kind in BOTS.items():
        if kind.refusal(game) is None and name not in TELLING:
            params = {key: value for key, value in cheapest(kind).items()}
            assert all(answer.given is None for _, answer in answers(kind, game, **params))
    assert read_search_info({}, 0, game.new_initial_state()) == ([], [], 0, (), 0)
