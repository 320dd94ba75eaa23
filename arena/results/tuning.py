"""The claim of a tuning run: how much better its result is than the start."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.special import stdtrit

from arena.core.errors import ConfigError
from arena.results.comparison import LoggedComparison, compare_in
from arena.schedule.kinds.tuning import START, TUNED, Tuning
from arena.stats.estimates import ScoreEstimate, mean_and_variance
from arena.stats.means import CONFIDENCE
from arena.stats.sprt import regularised
from arena.tournament.tournament import Tournament


@dataclass(frozen=True)
class Claim:
    """How much better the result is than the start, in matches that no iteration has seen."""

    boards: tuple[LoggedComparison, ...]
    difference: ScoreEstimate
    """Mean return of `tuned` less that of `start`, from -2 to 2: the mean over all boards, with its 95 % interval."""

    @property
    def is_better(self) -> bool:
        """Whether the interval is above 0."""
        return self.difference.low > 0

    @property
    def matches(self) -> int:
        """Matches behind it."""
        return sum(board.matches for board in self.boards)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data (docs/reference/json.md)."""
        return {
            "better": self.is_better,
            "matches": self.matches,
            "return_difference": self.difference.as_dict(),
            "boards": [board.as_dict() for board in self.boards],
        }


def claim_of(folder: Path) -> Claim:
    """Return what the log of a finished tuning run says; raises an `ArenaError` where it has not come so far."""
    with Tournament.open(folder) as tournament:
        scheduler, boards = tournament.schedule.scheduler, tournament.schedule.boards
    if not isinstance(scheduler, Tuning) or not scheduler.is_final:
        raise ConfigError(f"{folder}: is of no tuning run that has come to its end")
    found = tuple(compare_in(folder, TUNED, START, board.game, board.players) for board in boards)
    return Claim(found, overall(found))


def overall(boards: Sequence[LoggedComparison]) -> ScoreEstimate:
    """Return the mean difference over boards with its interval; of one board that of the comparison.

    That of several is Student's, with the degrees of freedom of Welch and Satterthwaite.
    """
    if len(boards) == 1:
        return boards[0].difference
    means, variances, counts = [], [], []
    for board in boards:
        mean, variance = mean_and_variance(board.counts, board.values)
        variance = variance or mean_and_variance(regularised(board.counts), board.values)[1]
        count = float(board.counts.sum())
        means.append(4 * (mean - 0.5))
        variances.append(16 * variance / max(count - 1, 1))
        counts.append(count)
    total, mean = sum(variances), sum(means) / len(means)
    freedom = total**2 / sum(each**2 / max(count - 1, 1) for each, count in zip(variances, counts, strict=True))
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(total) / len(boards)
    return ScoreEstimate(mean, max(mean - reach, -2.0), min(mean + reach, 2.0))
