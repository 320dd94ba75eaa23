"""A comparison from its log, block by block, while it runs or afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from arena.schedule.boards import Board
from arena.stats.estimates import ScoreEstimate, fixed_estimate, stopped_estimate
from arena.stats.sprt import Sprt
from arena.tournament.sequential import tally_of
from arena.tournament.tally import Tally
from arena.tournament.tournament import Tournament

MAX_POINTS = 2_000
"""Most points of the course of a test."""


class LlrPoint(NamedTuple):
    """A test after a block."""

    blocks: int
    llr: float


@dataclass(frozen=True)
class ComparisonSoFar:
    """How a comparison stands. Scores are A's, from 0 to 1."""

    a: str
    b: str
    board: Board
    test: Sprt | None
    """None where the number of blocks is fixed."""
    tally: Tally
    points: list[LlrPoint]
    estimate: ScoreEstimate | None
    """None without a block."""

    @property
    def elo(self) -> ScoreEstimate | None:
        """The estimate as logistic Elo."""
        return self.estimate and self.estimate.elo


def follow(tournament: Tournament) -> ComparisonSoFar:
    """Return how a comparison stands by its log."""
    schedule = tournament.schedule
    tally = tally_of(tournament.store, schedule)
    estimate = None
    if tally.counts.any():
        stopped = tally.test if tally.verdict is not None else None
        estimate = stopped_estimate(tally.counts, stopped) if stopped else fixed_estimate(tally.counts)
    assert schedule.comparison is not None
    a, b = (schedule.entries[entry].label for entry in schedule.comparison[:2])
    every = [LlrPoint(number, llr) for number, llr in enumerate(tally.llrs, 1)]
    step = -(-len(every) // MAX_POINTS) or 1
    points = [*every[:-1:step], *every[-1:]]
    return ComparisonSoFar(a, b, schedule.boards[0], tally.test, tally, points, estimate)
