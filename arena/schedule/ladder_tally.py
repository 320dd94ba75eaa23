"""Tally of a ladder's board: how often which result came, and who forfeited; what a round is decided from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

PlacedBots = tuple[tuple[int, str], ...]
"""The bots of a match with their ranks from 0, in order."""


class Belief(NamedTuple):
    """What is known of a bot's strength, on the scale of the ratings."""

    mean: float
    variance: float


class BoardTally:
    """Results of complete blocks of one board, without their order."""

    def __init__(self) -> None:
        self.results: Counter[PlacedBots] = Counter()
        self.matches: Counter[str] = Counter()
        """By label."""
        self.forfeits: Counter[str] = Counter()
        """By label."""
        self._forfeits_with: Counter[tuple[PlacedBots, str]] = Counter()
        """The same by the bots of the match, so that they go with a bot that leaves."""

    def add(self, labels: Sequence[str], ranks: Sequence[int], forfeited: Sequence[bool]) -> None:
        """Add a match, by seat."""
        placed = tuple(sorted(zip(ranks, labels, strict=True)))
        lost = [label for label, has_lost in zip(labels, forfeited, strict=True) if has_lost]
        self.results[placed] += 1
        self.matches.update(labels)
        self.forfeits.update(lost)
        self._forfeits_with.update((placed, label) for label in lost)

    def remove(self, labels: Collection[str]) -> None:
        """Remove every match in which one of the bots played."""
        gone = {*labels}
        if gone.isdisjoint(self.matches):
            return
        for placed in [placed for placed in self.results if not gone.isdisjoint(label for _, label in placed)]:
            times = self.results.pop(placed)
            self.matches.subtract({label: times for _, label in placed})
            self.forfeits.subtract({label: self._forfeits_with.pop((placed, label), 0) for _, label in placed})
        for label in gone:
            del self.matches[label]
            del self.forfeits[label]

    def beliefs(self, labels: Collection[str]) -> Mapping[str, Belief]:
        """Return what is known of each bot; only matches among these bots count.

        The ratings are those of leaderboards, fitted to all results at once, so that no order matters.
        """
        from arena.stats.fit import MU, SIGMA, fit_with_margin, results_of  # slow to import, and for ladders alone

        known = {label: number for number, label in enumerate(sorted(labels))}
        rows = [placed for placed in sorted(self.results) if all(label in known for _, label in placed)]
        found = dict.fromkeys(known, Belief(MU, SIGMA**2))
        if rows:
            entries = np.array([[known[label] for _, label in placed] for placed in rows])
            ranks = np.array([[rank for rank, _ in placed] for placed in rows])
            times = np.array([self.results[placed] for placed in rows], float)
            results = results_of(entries, ranks)
            fitted = fit_with_margin(results, np.bincount(results.number, times, len(results.who)))
            names = [*known]
            for place, entry in enumerate(results.entries.tolist()):
                found[names[entry]] = Belief(float(fitted.mu[place]), float(fitted.sigma[place] ** 2))
        return found
