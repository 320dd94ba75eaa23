"""Weights of learned evaluations: where they lie, and the kernels that use them."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from bots.features.trained import FOLDER
from bots.heuristics import heuristics_of
from bots.learning import value_kernel
from bots.search.evaluation import Assessment
from engine import Game, UnsupportedError
from engine.kernel import bind
from engine.state import KernelGame

LARGEST = 32767
"""The largest size of a weight, in 1024ths: what 16 bits hold."""


def features_of(game: Game) -> ModuleType:
    """Return the heuristics of a game that has features to learn from; raises `UnsupportedError` without them."""
    module = heuristics_of(game.name) if game.kernels else None
    if module is None or not hasattr(module, "features"):
        raise UnsupportedError(f"{game.name} has no features to learn from; its heuristics may offer `features`")
    return module


def weights_file(game: Game) -> Path:
    """Return where the weights of a game, its options and its number of players belong: beside its features' file."""
    source = sys.modules[features_of(game).features.__module__].__file__
    assert source
    name = game.spec.replace("(", "-").replace(",", "-").replace("=", ".").rstrip(")")
    return Path(source).parent / FOLDER / f"{name}-{game.players}p.npy"


def trained_file(game: Game) -> Path | None:
    """Return the file of a game's weights, or of those for its default options; None where there is neither."""
    try:
        own = weights_file(game)
    except UnsupportedError:
        return None
    common = own.with_name(f"{game.name}-{game.players}p.npy")
    return own if own.exists() else common if common.exists() else None


def missing_weights(game: Game) -> str | None:
    """Return why nothing learned is known of a game, in words that follow a bot's name; None when something is."""
    if trained_file(game) is None:
        return f"has no weights for {game.spec} with {game.players} players; `arena train` makes them"
    return None


@functools.cache
def learned_kernels(game: KernelGame) -> SimpleNamespace:
    """Return the kernels of `bots.learning.value_kernel`, bound to a game and its features."""
    also = {name: getattr(game.compiled, name) for name in ("copy_state", "points_of")}
    return bind(
        value_kernel, game.rules, game.dtype, TWO=game.players == 2, features=features_of(game).features, **also
    )


def scratch(game: Game) -> np.ndarray:
    """Return an array for the numbers of a state's features."""
    return np.zeros(features_of(game).ACTIVE, np.int64)


@functools.cache
def learned_assessment(game: KernelGame) -> Assessment:
    """Return the learned evaluation of a game of which weights are there."""
    path = trained_file(game)
    assert path is not None
    weights = np.load(path, allow_pickle=False)
    expected = features_of(game).feature_count(game.players)
    if weights.dtype != np.int16 or weights.shape != (expected,):
        raise UnsupportedError(f"{path.name}: {expected} weights of 16 bits are expected; train again")
    return Assessment(learned_kernels(game).assess, (weights, scratch(game)))


def whole(weights: np.ndarray) -> np.ndarray:
    """Return weights as they are kept, in whole 1024ths."""
    kept: Any = np.clip(np.rint(weights), -LARGEST, LARGEST).astype(np.int16)
    return kept
