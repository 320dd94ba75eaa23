"""Entries and boards of a plan: who plays, and what."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from arena.core.adjudication import AdjudicationRules

if TYPE_CHECKING:
    from engine import Game
    from engine.specs import Value

MAX_SLUG_CHARS = 120
"""Letters of a game in a file's name; systems have 255 bytes for all of it."""


@dataclass(frozen=True)
class Entry:
    """A contestant of the plan."""

    label: str
    """Its name on the boards."""
    key: str
    """Its name in block ids: the canonical spec, `spec#label` where one spec enters more than once."""
    spec: str
    identity: str
    """`name@hash` over resolved parameters and source."""
    trusted: bool = True
    """Whether blocks in which it sits may have public dice, as `arena.plan.resolve.ResolvedBot.trusted` says."""
    params: Mapping[str, Value] = field(default_factory=dict)
    """All parameters, defaults spelled out."""
    isolation: str = "none"
    """Level that its matches are played with."""


@dataclass(frozen=True)
class Board:
    """One game at one number of players, with all that its matches share."""

    game: str
    """Canonical spec."""
    params: str
    """All options, defaults spelled out, as JSON."""
    players: int
    rules_version: int
    entries: tuple[int, ...]
    """Entries that play here, ordered by key."""
    blocks: int
    opening: int
    """Random plies of the opening."""
    utilities: bool = False
    """Whether scores are the game's own utilities."""
    adjudication: AdjudicationRules | None = None
    """When its matches are adjudicated; None for never."""

    @classmethod
    def of(
        cls,
        game: Game,
        entries: tuple[int, ...],
        blocks: int,
        opening: int,
        adjudication: AdjudicationRules | None = None,
    ) -> Self:
        """Return a board of a loaded game."""
        params, kind = json.dumps(dict(game.params), sort_keys=True), game.type
        version, utilities = kind.rules_version, kind.own_utilities
        return cls(game.spec, params, game.players, version, entries, blocks, opening, utilities, adjudication)

    @property
    def title(self) -> str:
        """Game and number of players, for people."""
        return f"{self.game}, {self.players} players"

    @property
    def slug(self) -> str:
        """Game and number of players, for file names."""
        clean = "".join(c if c.isalnum() or c in "_+-" else "." if c == "=" else "-" for c in self.game).strip("-")
        if len(clean) > MAX_SLUG_CHARS:
            clean = f"{clean[: MAX_SLUG_CHARS - 13]}-{hashlib.blake2b(self.game.encode(), digest_size=6).hexdigest()}"
        return f"{clean}_{self.players}p"
