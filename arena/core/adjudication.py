"""Rules by which the referee ends a match early, and what the endings are called."""

from __future__ import annotations

from typing import Any, NamedTuple

AGREEMENT, CERTAINTY = "adjudicated by agreement", "adjudicated by certainty"
"""How an adjudicated match ended, beside the words of games and `forfeit`."""
ADJUDICATED = {
    AGREEMENT: "all bots expected this",
    CERTAINTY: "the referee's search proved it, if nobody errs",
}
"""Endings of adjudicated matches, and why they ended."""


class AdjudicationRules(NamedTuple):
    """When a match is adjudicated; `arena.plan.config.Adjudication` describes each rule."""

    agreement: int = 0
    threshold: float = 0.95
    certainty: int = 0

    @property
    def is_on(self) -> bool:
        """Whether any match can be adjudicated."""
        return bool(self.agreement or self.certainty)

    @property
    def key(self) -> list[Any]:
        """The part of match identities that stands for the rules in use."""
        agreement = [["agreement", self.agreement, self.threshold]] if self.agreement else []
        return agreement + ([["certainty", self.certainty]] if self.certainty else [])

    @property
    def words(self) -> str:
        """The rules in use, for people."""
        parts = []
        if self.agreement:
            times = "evaluation" if self.agreement == 1 else f"{self.agreement} evaluations"
            parts.append(f"the last {times} of every bot expected the same places, by {self.threshold:g}")
        if self.certainty:
            parts.append(f"the referee's search of {self.certainty:,} positions proved them")
        return " or ".join(parts)


def adjudication_in_words(ended: str, plies: int) -> str:
    """Return when and why an adjudicated match ended; nothing for another ending."""
    return f"adjudicated at ply {plies:,}, as {ADJUDICATED[ended]}" if ended in ADJUDICATED else ""
