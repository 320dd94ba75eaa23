"""Entries and boards of a plan: who plays, and what."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Self

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


class Budget(NamedTuple):
    """A bot's budget of a move on one board, calibrated from a time."""

    entry: int
    parameter: str
    """The parameter that has the number there in place of its default."""
    number: int


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
    budgets: tuple[Budget, ...] = ()
    """Of entries with a time in place of a number, at most one each."""

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

    def budget(self, place: int) -> Budget | None:
        """Return what an entry's time is calibrated into here; None without a time."""
        return next((budget for budget in self.budgets if budget.entry == place), None)

    def entry(self, entries: Sequence[Entry], place: int) -> Entry:
        """Return an entry with the parameters that it plays with here."""
        found, budget = entries[place], self.budget(place)
        return found if budget is None else replace(found, params={**found.params, budget.parameter: budget.number})

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


def budgets_in_words(entries: Sequence[Entry], boards: Sequence[Board]) -> dict[str, str]:
    """Return what the time a move of each entry that has one was calibrated into, by its label."""
    found: dict[str, list[str]] = {}
    for board in boards:
        for entry, parameter, count in board.budgets:
            found.setdefault(entries[entry].label, []).append(f"{count:,} {parameter} on {board.title}")
    return {label: "; ".join(texts) for label, texts in found.items()}
