"""Games: compiled rules, states, notation and drawings; nothing of bots or tournaments.

import engine
game = engine.load_game("epicycle", players=2)
state = game.new_initial_state()
"""

from typing import Any

from engine.errors import (
    DuplicateNameError,
    EngineError,
    IllegalActionError,
    NotationError,
    ParameterError,
    PositionError,
    UnknownNameError,
    UnsupportedError,
)
from engine.game import CHANCE, TERMINAL, Game, State, returns_from_ranks
from engine.game_types import Bounds, Credit, GameType
from engine.loading import canonical_spec, load_game
from engine.registry import game_names, game_type, register_game
from engine.specs import Parameter
from engine.words import Motion, Names, Sentence

__all__ = [
    "CHANCE",
    "TERMINAL",
    "Bounds",
    "Credit",
    "DuplicateNameError",
    "EngineError",
    "Game",
    "GameType",
    "IllegalActionError",
    "Motion",
    "Names",
    "NotationError",
    "Parameter",
    "ParameterError",
    "PositionError",
    "Sentence",
    "State",
    "UnknownNameError",
    "UnsupportedError",
    "canonical_spec",
    "game_names",
    "game_type",
    "load_game",
    "random_playouts",
    "register_game",
    "returns_from_ranks",
]


def __getattr__(name: str) -> Any:
    if name == "random_playouts":  # needs Numba, which takes half a second to import
        from engine.playouts import random_playouts

        return random_playouts
    raise AttributeError(f"module 'engine' has no attribute '{name}'")
