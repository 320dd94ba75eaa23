"""Options of runs and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from arena.core.adjudication import AdjudicationRules
from arena.core.errors import ConfigError
from arena.core.machine import cores
from arena.core.names import plain_name
from arena.isolation import Isolation, launcher
from arena.stats.sprt import Sprt

DEFAULT_MAX_BLOCKS = 10_000
BLOCKS_LIMIT = 10_000_000
SEED_BOUND = 2**63
"""Seeds are below this."""


def check_seed(seed: int) -> None:
    """Raise `ConfigError` for a seed that no log can hold."""
    if type(seed) is not int or not 0 <= seed < SEED_BOUND:
        raise ConfigError(f"seed = {seed!r}: must be a whole number from 0 to 2^63 - 1")


@dataclass(frozen=True)
class RunOptions:
    """Where the matches of a run are played. Results do not depend on it."""

    workers: int
    """Processes that play."""
    backend: str = "auto"
    """`auto` (local processes, Ray once it is ready and pays), `local` or `ray`."""
    address: str | None = None
    """Address of a running Ray cluster; `auto` plays on without it."""
    rated: bool = True
    """Whether results will be rated, which is then compiled before play too."""
    shows_play: bool = True
    """Whether others on this machine who may read the log may watch matches in play; a contest may not want that."""

    @classmethod
    def of(
        cls,
        workers: int | None = None,
        backend: str | None = None,
        address: str | None = None,
        rated: bool = True,
        shows_play: bool = True,
    ) -> Self:
        """Return options with their defaults: a process for each core, and Ray where an address is given."""
        return cls(
            cores() if workers is None else workers,
            backend or ("auto" if address is None else "ray"),
            address,
            rated,
            shows_play,
        )

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise ConfigError(f"workers = {self.workers}: at least 1 is needed")
        if self.backend not in ("auto", "local", "ray"):
            raise ConfigError(f"backend = '{self.backend}': must be auto, local or ray")
        if self.address is not None and self.backend == "local":
            raise ConfigError(
                f"address = '{self.address}': is of a Ray cluster, which backend = 'local' does not play on"
            )


@dataclass(frozen=True)
class Matchup:
    """Two bots to compare, and the matches they are compared in; any of them may be given as `label=spec`."""

    a: str
    b: str
    game: str
    players: int | None = None
    """The fewest that the game allows by default."""
    fillers: Sequence[str] = ()
    """Bots for the other seats."""
    seed: int = 0
    opening: str | None = None
    """`none` or `random:k`; the game's default otherwise."""
    isolation: Isolation | None = None
    """Where all bots run; None leaves each bot its default."""
    common_dice: bool = False
    """Let both matches of a block share secret dice, for sandboxed or submitted bots whose authors are trusted."""
    name: str | None = None
    """Name of the comparison; made of board and bots by default."""
    adjudication: AdjudicationRules | None = None
    """When matches are ended early; None for never."""

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.isolation is not None:
            launcher(self.isolation)
        if self.name is not None:
            try:
                plain_name(self.name)
            except ValueError as error:
                raise ConfigError(f"name = '{self.name}': {error}") from None


@dataclass(frozen=True)
class StopRule:
    """When a comparison ends."""

    test: Sprt | None = field(default_factory=Sprt)
    """None to play `blocks` and only estimate."""
    blocks: int = DEFAULT_MAX_BLOCKS
    """Maximum number of blocks."""

    def __post_init__(self) -> None:
        if not 1 <= self.blocks <= BLOCKS_LIMIT:
            name = "fixed" if self.test is None else "max_blocks"
            raise ConfigError(f"{name} = {self.blocks}: must be from 1 to {BLOCKS_LIMIT:,}")

    @classmethod
    def fixed(cls, blocks: int) -> StopRule:
        """Play a fixed number of blocks, without a test."""
        return cls(None, blocks)
