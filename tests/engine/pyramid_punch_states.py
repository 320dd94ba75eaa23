"""Games and positions of Pyramid Punch for its tests."""

import random

import engine
from tests.engine.vectors import choices

PLAYERS = (2, 3, 4, 5)
GAMES = {players: engine.load_game("pyramid_punch", players=players) for players in PLAYERS}


def state_at(position, players=None, **options):
    players = players or position.split(" ")[0].count("/") + 1
    return engine.load_game("pyramid_punch", players=players, **options).state_from_position(position)


def walk(state, seed, plies=10_000):
    """Return the states of a match played at random, the given one first."""
    chooser = random.Random(seed)
    yield state
    for _ in range(plies):
        if state.is_terminal():
            return
        state = state.child(chooser.choice(choices(state)))
        yield state
