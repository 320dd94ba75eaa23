"""What a few seeded matches come to, as JSON: the same whether the rules run compiled or interpreted.

NUMBA_DISABLE_JIT=1 python -m tests.engine.interpreted_matches
"""

import json

import engine
from engine import Game
from engine.conformance.matches import playthrough, seen
from engine.kernel import COMPILED
from tests.engine.matches import is_observed, tables


def outcome(game: Game) -> dict[str, object]:
    """Return two matches step by step, and the sums of a few compiled playouts."""
    playouts = engine.random_playouts(game, 4, seed=11)
    return {
        "matches": [playthrough(game, seed).splitlines() for seed in (1, 2)],
        "observations": seen(game) if is_observed(game) else None,
        "playouts": [playouts.actions, playouts.plies, playouts.rank_sums.tolist(), playouts.ended],
    }


def outcomes() -> dict[str, object]:
    """Return the outcome of every table of a game with kernels; changed options come with the most players alone."""
    games = [
        engine.load_game(name, players, **options)
        for name, players, options in tables()
        if not options or players == engine.game_type(name).max_players
    ]
    return {f"{game.spec} {game.players}": outcome(game) for game in games if game.kernels}


if __name__ == "__main__":
    print(json.dumps({"compiled": COMPILED, "outcomes": outcomes()}))
