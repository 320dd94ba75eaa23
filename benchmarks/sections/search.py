"""Simulations of `uct` from the first decision on one core."""

from __future__ import annotations

from collections.abc import Callable

import engine
from benchmarks.figures import Measured, busy, rate
from benchmarks.sections.engine import boards
from benchmarks.sections.state import beside
from bots import first_decision, make_bot
from bots.search.uct import UCT

BUDGETS = (1_000, 100_000)
"""Simulations a move: what `uct` takes by default, and plenty."""


def measure(full: bool) -> Measured:
    count = BUDGETS[1] if full else BUDGETS[1] // 5
    for game in boards():
        if not full and game.players > engine.game_type(game.name).min_players:
            continue
        for budget in BUDGETS if full else BUDGETS[:1]:
            seconds = busy(search(game, budget, count), 5)
            name = f"{game.name}, {game.players} players, {budget:,} a move"
            yield rate(name, "M simulations/s", count, seconds, 1e6)
    if "connect_four" in engine.game_names():
        ours = search(engine.load_game("connect_four"), count, count)
        yield from beside("OpenSpiel's MCTS", ours, count, open_spiel_search, count // 4, "open_spiel", "simulations/s")


def first_choice(game: engine.Game) -> engine.State:
    """Return a state in which there is something to search: Pig begins with a roll that nobody can decline."""
    state = first_decision(game)
    while state.is_chance_node() or len(state.legal_actions()) == 1:
        outcomes = state.chance_outcomes()
        state.apply_action(outcomes[-1][0] if outcomes else state.legal_actions()[0])
    return state


def search(game: engine.Game, budget: int, count: int) -> Callable[[], None]:
    """Return a call that runs so many simulations in all, so many a move; compiled already."""
    state = first_choice(game)
    bot = make_bot(UCT, game, state.current_player(), 1, {"simulations": budget})

    def run() -> None:
        for _ in range(count // budget):
            bot.choose(state)

    run()
    return run


def open_spiel_search(count: int) -> Callable[[], object]:
    import pyspiel

    game = pyspiel.load_game("connect_four")
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)  # one rollout a simulation, as ours; seed 1
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, count, 4000, False, 1, False)
    return lambda: bot.step(game.new_initial_state())
