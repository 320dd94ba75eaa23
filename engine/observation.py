"""Observations: what a seat sees of a state, as numbers for learning programs, and the map of the actions with it.

A game with kernels offers them by a module `observation` beside its rules, with

    spec(players, params)        the `ObservationSpec`; its version is raised when a tensor changes
    observe(state, seat, out)    a kernel that writes all of `out`, float32, shape (spec.size,)

A game in plain Python overrides `Game.observation_spec` and `State.write_observation`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from engine.errors import UnsupportedError


@dataclass(frozen=True)
class Block:
    """A named part of an observation, stored row by row."""

    name: str
    shape: tuple[int, ...]
    help: str
    minimum: float = 0.0
    maximum: float = 1.0
    seat_axes: int = 0
    """How many of the first axes count seats: 0 is the seat that observes, then the others in the order of turns."""

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False)
class Symmetry:
    """A change of a state after which the game plays alike.

    The changed state is observed as `observation[entries]`; action `a` of the state is `actions[a]` there. Numbers of
    actions are as the seat sees them (`ObservationSpec.relative_actions`).
    """

    name: str
    entries: np.ndarray
    actions: np.ndarray


@dataclass(frozen=True, eq=False)
class ObservationSpec:
    """The layout of a game's observations, fixed by the game, its options and the number of players.

    Options that are the same for a whole match are not observed.
    """

    version: int
    blocks: tuple[Block, ...]
    symmetries: tuple[Symmetry, ...] = ()
    tables: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Constant arrays for models that need them, such as the neighbours of every cell."""
    relative_actions: np.ndarray | None = None
    """Where actions name seats: shape (players, actions), the number of every action as each seat sees it."""

    @cached_property
    def size(self) -> int:
        """The number of entries of a flat observation."""
        return sum(block.size for block in self.blocks)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each block lies in a flat observation."""
        found, start = {}, 0
        for block in self.blocks:
            found[block.name] = slice(start, start + block.size)
            start += block.size
        return found

    @property
    def minimum(self) -> np.ndarray:
        """The lower bound of every entry, float32."""
        return np.concatenate([np.full(block.size, block.minimum, np.float32) for block in self.blocks])

    @property
    def maximum(self) -> np.ndarray:
        """The upper bound of every entry, float32."""
        return np.concatenate([np.full(block.size, block.maximum, np.float32) for block in self.blocks])

    def split(self, observations: np.ndarray) -> dict[str, np.ndarray]:
        """Return views of flat observations by block; axes before the last one stay, as in a batch."""
        if observations.shape[-1:] != (self.size,):
            raise UnsupportedError(f"observations of {self.size} entries are expected, not {observations.shape}")
        return {
            block.name: observations[..., self.slices[block.name]].reshape(observations.shape[:-1] + block.shape)
            for block in self.blocks
        }

    def seen_actions(self, seat: int, actions: int) -> np.ndarray:
        """Return the number of every action as the seat sees it: itself, but where actions name seats."""
        return np.arange(actions) if self.relative_actions is None else self.relative_actions[seat].copy()

    def __str__(self) -> str:
        """Return a line for each block: its name, shape, bounds and what it says."""
        return "\n".join(
            f"{block.name} {'x'.join(map(str, block.shape))} [{block.minimum:g}, {block.maximum:g}]: {block.help}"
            for block in self.blocks
        )


def permuted(blocks: Iterable[Block], changes: Mapping[str, Callable[[np.ndarray], np.ndarray]]) -> np.ndarray:
    """Return the `entries` of a symmetry that rearranges some blocks by these functions, as arrays of their shapes."""
    parts, start = [], 0
    for block in blocks:
        places = np.arange(start, start + block.size).reshape(block.shape)
        parts.append(changes.get(block.name, lambda same: same)(places).ravel())
        start += block.size
    return np.concatenate(parts)
