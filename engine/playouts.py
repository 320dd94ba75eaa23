"""Uniformly random matches in compiled code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.chance import new_rng
from engine.errors import UnsupportedError
from engine.game import Game
from engine.state import KernelGame


@dataclass(frozen=True)
class Playouts:
    """The sums over `count` random matches."""

    matches: int
    actions: int
    """Decisions made."""
    plies: int
    """Decisions and chance outcomes."""
    rank_sums: np.ndarray
    """int64, shape (players,): final ranks added up by seat."""
    ended: dict[str, int]
    """Matches by ending."""


def random_playouts(game: Game, count: int, seed: int) -> Playouts:
    """Play `count` matches from the start, every legal action equally likely; a seed always gives the same matches.

    Raises `UnsupportedError` for a game without kernels.
    """
    if not isinstance(game, KernelGame):
        raise UnsupportedError(f"{game.name} has no kernels; compiled playouts need them")
    start = game.new_initial_state().words
    rank_sums = np.zeros(game.players, np.int64)
    endings = np.zeros(len(game.rules.ENDINGS), np.int64)
    place = np.zeros(game.players, np.int64)
    actions, plies = game.compiled.playouts(
        start, count, new_rng(seed), game.action_buffer, game.blank(), place, rank_sums, endings
    )
    ended = {name: int(n) for name, n in zip(game.rules.ENDINGS, endings, strict=True) if n}
    return Playouts(count, int(actions), int(plies), rank_sums, ended)
