"""Tally of a comparison: scores, repetitions and forfeits of its blocks in plan order, and the state of its test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.stats.repeats import Repeats
from arena.stats.sprt import Sprt, Verdict

MAX_REPEATED_BLOCKS = 50
"""Blocks in a row without a new opening, and more than have been distinct, after which a test gives up."""


class SeatResult(NamedTuple):
    """Result of one match for the bot in the seat that is compared."""

    units: int
    """Two for each seat that it beat, one for each that it tied with."""
    moves: tuple[str, ...]
    forfeits: tuple[int, int]
    """By A and by B, in this match."""


@dataclass(frozen=True)
class BlockResult:
    """Scores of A and B in one block."""

    seat: int
    units_a: int
    units_b: int


class Tally:
    """Blocks added so far. `test` is None when their number is fixed."""

    def __init__(self, test: Sprt | None, players: int, opening: int) -> None:
        self.test = test
        self.counts = np.zeros(4 * (players - 1) + 1)
        """Numbers of counted blocks, by score from 0 to 1 in equal steps."""
        self.blocks: list[BlockResult] = []
        self.evidence: list[BlockResult] = []
        """Counted blocks."""
        self.forfeits = [0, 0]
        self.llrs: list[float] = []
        """Log-likelihood ratio after each block."""
        self.verdict: Verdict | None = None
        self._players, self._opening = players, opening
        self._repeats = Repeats[BlockResult]()

    @property
    def llr(self) -> float:
        """Log-likelihood ratio after all blocks, 0 without a test."""
        return self.llrs[-1] if self.llrs else 0.0

    @property
    def repeats(self) -> int:
        """Blocks that are not counted, as they repeat others."""
        return self._repeats.count

    @property
    def exhausted(self) -> bool:
        """Whether new openings have become too rare to go on."""
        return self._repeats.in_a_row >= max(MAX_REPEATED_BLOCKS, self._repeats.openings) and not self._repeats.chance

    @property
    def done(self) -> bool:
        """Whether a sequential test ends here."""
        return self.test is not None and (self.verdict is not None or self.exhausted)

    def add(self, key: tuple[object, ...], seat: int, a: SeatResult, b: SeatResult) -> None:
        """Add the next block; blocks of one key have the same line-ups."""
        block = BlockResult(seat, a.units, b.units)
        self.blocks.append(block)
        for who in range(2):
            self.forfeits[who] += a.forfeits[who] + b.forfeits[who]
        for counted in self._repeats.add((*key, a.moves[: self._opening]), (a.moves, b.moves), block):
            self.counts[counted.units_a - counted.units_b + 2 * (self._players - 1)] += 1
            self.evidence.append(counted)
        if self.test is not None and self.counts.any():
            self.llrs.append(self.test.llr(self.counts))
            self.verdict = self.test.verdict(self.llr)
        else:
            self.llrs.append(0.0)
