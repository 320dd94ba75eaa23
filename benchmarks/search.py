"""Bench of `uct`: simulations a second in every game, and how soon a fresh worker has played it everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import engine
from benchmarks.tools import Row, best_of, tournament
from bots import first_decision, make_bot
from bots.search.uct import UCT
from engine.cache import cache_root

SIMULATIONS = 100_000
BUDGETS = (1_000, SIMULATIONS)
"""Simulations a move: what `uct` takes by default, and plenty."""
AIMS = {"connect_four": "over 1.5 M simulations/s"}


def searches(full: bool) -> Iterator[Row]:
    """Simulations from the first decision on one core, held against whole random matches in this run."""
    for name in engine.game_names():
        kind = engine.game_type(name)
        for players in range(kind.min_players, kind.max_players + 1) if full else (kind.min_players,):
            game = engine.load_game(name, players)
            *searching, playing = seconds_of_all(game)
            rates = [
                f"{SIMULATIONS / seconds / 1e6:.2f} M simulations/s at {budget:,} a move, "
                f"{playing / seconds:.2f} of random matches/s"
                for budget, seconds in zip(BUDGETS, searching, strict=True)
            ]
            aim = AIMS.get(name, "at least 0.6 of random matches")
            yield Row(f"{name}, {players} players: uct, one core", "; ".join(rates), aim)


def seconds_of_all(game: engine.Game) -> list[float]:
    """The shortest times of as many simulations by each budget, and of as many random matches.

    They are taken in turns: the machine's speed wanders.
    """
    calls: list[Callable[[], object]] = [search_of(game, budget) for budget in BUDGETS]
    calls.append(partial(engine.random_playouts, game, SIMULATIONS, 1))
    calls[-1]()
    times = [[best_of(call, 1) for call in calls] for _ in range(5)]
    return [min(seconds) for seconds in zip(*times, strict=True)]


def search_of(game: engine.Game, budget: int = SIMULATIONS) -> Callable[[], None]:
    """A call that has `uct` run SIMULATIONS in all, so many a move, at the first decision, compiled already."""
    state = first_decision(game)
    bot = make_bot(UCT, game, state.current_player(), 1, {"simulations": budget})

    def search() -> None:
        for _ in range(SIMULATIONS // budget):
            bot.choose(state)

    search()
    return search


def worker_start() -> Iterator[Row]:
    """The second start of a worker that plays `uct` in every game; the first one has filled Numba's cache."""
    fewest = {name: engine.game_type(name).min_players for name in engine.game_names()}
    config = {
        "name": "bench",
        "seed": 1,
        "blocks": 1,
        "games": [{"game": name, "players": players} for name, players in fewest.items()],
        "bots": [{"bot": "uct:simulations=100", "label": f"uct {n}"} for n in range(max(fewest.values()))],
    }
    tournament(config, 1, "local")
    before = compiled_files()
    second = tournament(config, 1, "local")
    written = len(compiled_files().items() - before.items())
    yield Row(
        f"a worker's start and {second['played']:.0f} matches of uct over {len(fewest)} games, second time",
        f"{second['in_all']:.2f} s, {written} files written to Numba's cache",
        "under 2 s, no file",
    )


def compiled_files() -> dict[Path, int]:
    """Numba's cache: its files with the times of their last change."""
    return {path: path.stat().st_mtime_ns for path in cache_root().joinpath("numba").rglob("*.nb?")}
