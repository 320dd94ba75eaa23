"""Compiled random playouts on one core."""

from __future__ import annotations

import engine
from benchmarks.figures import Measured, busy, rate

MEASUREMENT_SECONDS = 0.1
"""Of one measurement, about."""


def boards() -> list[engine.Game]:
    """Return every game at every number of players."""
    kinds = [engine.game_type(name) for name in engine.game_names()]
    return [engine.load_game(kind.name, n) for kind in kinds for n in range(kind.min_players, kind.max_players + 1)]


def measure(full: bool) -> Measured:
    for game in boards():
        engine.random_playouts(game, 10, 0)
        once = busy(lambda game=game: engine.random_playouts(game, 200, 1), 3)  # type: ignore[misc]
        count = max(200, int(200 * MEASUREMENT_SECONDS / once.wall))
        seconds = busy(lambda game=game, count=count: engine.random_playouts(game, count, 1), 9 if full else 5)  # type: ignore[misc]
        actions = engine.random_playouts(game, count, 1).actions
        note = f"{count / seconds.wall:,.0f} matches/s of {actions / count:.1f} actions"
        yield rate(f"{game.name}, {game.players} players", "M actions/s", actions, seconds, 1e6, note)
