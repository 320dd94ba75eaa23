"""Matches of OpenSpiel's games, with its own searches."""

import random

import numpy as np

import engine
from engine.specs import Value
from tests.engine.matches import tables

NAMES = [name for name in engine.game_names() if engine.game_type(name).bounds is not None]
"""Our games that OpenSpiel can have, which tell how far their matches can go."""


def bounded_tables() -> list[tuple[str, int, dict[str, Value]]]:
    """Return (name, players, options) of these games, as `tests.engine.matches.tables` does of all."""
    return [table for table in tables() if table[0] in NAMES]


def assert_same_matches(first, second, seeds):
    """Play random matches of two games of OpenSpiel side by side; they must not differ in what is legal or won."""
    for seed in seeds:
        rng = random.Random(seed)
        one, other = first.new_initial_state(), second.new_initial_state()
        while not one.is_terminal():
            legal = one.legal_actions()
            assert (one.current_player(), legal) == (other.current_player(), other.legal_actions())
            action = rng.choice(legal)
            one.apply_action(action)
            other.apply_action(action)
        assert other.is_terminal()
        assert one.returns() == other.returns()


def compiled_search(game, simulations, rng):
    """Return OpenSpiel's MCTS in C++, by the call that works for games in Python (`step` does not)."""
    import pyspiel

    evaluator = pyspiel.RandomRolloutEvaluator(1, rng.randint(2**31))
    bot = pyspiel.MCTSBot(game, evaluator, 1.4, simulations, 100, True, rng.randint(2**31), False)
    return lambda state: bot.step_with_policy(state)[1]


def plain_search(game, simulations, rng):
    """Return OpenSpiel's MCTS in Python."""
    from open_spiel.python.algorithms import mcts

    return mcts.MCTSBot(game, 1.4, simulations, mcts.RandomRolloutEvaluator(1, rng), random_state=rng).step


def certainty(game, search, matches, simulations):
    """Return how many standard errors a search's mean return is above 0 against random play, in every seat in turn."""
    rng = np.random.RandomState(1)
    choose, returns = search(game, simulations, rng), []
    for match in range(matches):
        state, seat = game.new_initial_state(), match % game.num_players()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choice(outcomes, p=probabilities))
            elif state.current_player() == seat:
                state.apply_action(choose(state))
            else:
                state.apply_action(rng.choice(state.legal_actions()))
        returns.append(state.player_return(seat))
    return np.mean(returns) / max(np.std(returns), 0.1) * matches**0.5
