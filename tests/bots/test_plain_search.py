"""Searches in plain Python find what there is to be found, in games without kernels."""

from collections.abc import Iterator

import pytest

import engine
from bots import make_bot
from bots.greedy import Greedy
from bots.random_bot import Random
from bots.search.flat_mc import FlatMonteCarlo
from bots.search.uct import UCT
from engine import State, UnsupportedError
from engine.loading import load
from tests.bots.built_in import load_race
from tests.bots.matches import mean_return
from tests.bots.plain import plain
from tests.bots.puzzles import POSITIONS
from tests.bots.test_plain_uct import twin
from tests.engine.test_plain_game import NIM, NimState

NIM_FOR = {(players, rolled): load(NIM, players, {"rolled": rolled}) for players in (2, 3) for rolled in (False, True)}
TREES = [{"simulations": 1000}, {"simulations": 1000, "solve": True}]
SEARCHES = [*((UCT, params) for params in TREES), (FlatMonteCarlo, {"playouts": 100})]
SEEDS = (1, 2)


def choices(state: State, bot, params) -> set[int]:
    return {make_bot(bot, state.game, state.current_player(), seed, params).choose(state) for seed in SEEDS}


def heaps(players: int, most: int = 3) -> Iterator[NimState]:
    """Yield positions of nim with a choice, the first seat to move."""
    sizes = range(most + 1)
    for stones in ([a, b, c] for a in sizes for b in sizes[: a + 1] for c in sizes[: b + 1]):
        if sum(stones) > 1:
            yield NimState(NIM_FOR[players, False], stones, 0, [])


def won(stones: list[int]) -> bool:
    """Return whether the seat to move wins with two players, by Bouton's theorem for at most three stones a turn."""
    return stones[0] % 4 ^ stones[1] % 4 ^ stones[2] % 4 != 0


@pytest.mark.parametrize(("bot", "params"), [*SEARCHES, (Greedy, {})], ids=str)
@pytest.mark.parametrize("players", [2, 3])
def test_a_win_in_one_is_taken(bot, params, players):
    for state in (NimState(NIM_FOR[players, False], [0, stones, 0], 0, []) for stones in (2, 3)):
        (win,) = (action for action in state.legal_actions() if state.child(action).is_terminal())
        assert choices(state, bot, params) == {win}


@pytest.mark.parametrize("params", TREES, ids=str)
def test_a_loss_in_one_is_avoided(params):
    state = NimState(NIM_FOR[2, False], [3, 2, 0], 0, [])  # to take a whole heap leaves the other to be taken
    for action in choices(state, UCT, params):
        assert state.child(action).heaps not in ([0, 2, 0], [3, 0, 0])


@pytest.mark.parametrize("params", TREES, ids=str)
def test_the_tree_search_plays_nim_by_the_book(params):
    found = 0
    for state in heaps(2):
        right = {action for action in state.legal_actions() if not won(state.child(action).heaps)}
        if right and right != set(state.legal_actions()):
            found += 1
            assert choices(state, UCT, params) <= right
    assert found >= 10


def test_what_the_tree_search_proves_is_what_nim_is_worth():
    for state in heaps(2):
        bot = make_bot(UCT, state.game, 0, 1, {"simulations": 3000, "solve": True})
        bot.choose(state)
        if len(state.legal_actions()) > 1:
            assert bot.tree.solved
            assert bot.evaluation[0] == (1.0 if won(state.heaps) else -1.0)


@pytest.mark.system
@pytest.mark.parametrize("position", [p for p in POSITIONS if p.plies <= 3], ids=str)
def test_puzzles_are_solved_without_kernels_too(position):
    """Traps at depth two, for two to five players, with and without dice."""
    state = position.state()
    assert choices(twin(state), UCT, {"simulations": 3000}) <= position.right_actions(state), position.lesson


@pytest.mark.system
@pytest.mark.parametrize(
    ("bot", "many", "few"),
    [(UCT, {"simulations": 100}, {"simulations": 4}), (FlatMonteCarlo, {"playouts": 40}, {"playouts": 1})],
)
@pytest.mark.parametrize("players", [2, 3])
def test_more_simulations_beat_fewer(bot, many, few, players):
    game = plain(engine.load_game("epicycle", players))
    assert mean_return(game, (bot, many), (bot, few), rounds=20) > 0.2


@pytest.mark.parametrize("bot", [(UCT, {"simulations": 100}), (FlatMonteCarlo, {"playouts": 30})], ids=str)
@pytest.mark.parametrize("players", [2, 3])
def test_random_is_beaten_where_chance_has_a_say(bot, players):
    assert mean_return(NIM_FOR[players, True], bot, (Random, {}), rounds=15) > 0.3


@pytest.mark.system
@pytest.mark.parametrize("bot", [(UCT, {"simulations": 100}), (FlatMonteCarlo, {"playouts": 30})], ids=str)
@pytest.mark.parametrize("players", [2, 3])
def test_random_is_beaten_where_dice_are_rolled_all_the_time(bot, players):
    assert mean_return(plain(load_race(players)), bot, (Random, {}), rounds=15) > 0.15


def test_a_move_hangs_on_seed_budget_and_state_and_on_nothing_asked_before():
    asked = list(heaps(3))[::3]
    used = make_bot(UCT, asked[0].game, 0, 1, {"simulations": 20})
    first = [used.choose(state) for state in asked]
    assert [used.choose(state) for state in reversed(asked)] == first[::-1]
    assert [make_bot(UCT, state.game, 0, 1, {"simulations": 20}).choose(state) for state in asked] == first
    others = [[make_bot(UCT, s.game, 0, seed, {"simulations": 20}).choose(s) for s in asked] for seed in range(2, 5)]
    assert any(other != first for other in others)


@pytest.mark.parametrize("name", ["alphabeta", "expectimax"])
def test_what_is_compiled_alone_refuses_by_name(name):
    from bots.search.minimax import AlphaBeta, Expectimax

    bot = {"alphabeta": AlphaBeta, "expectimax": Expectimax}[name]
    with pytest.raises(UnsupportedError, match=f"^{name} needs a game with kernels, which nim has not$"):
        make_bot(bot, NIM_FOR[2, False], 0, 1)
