"""Tally of a comparison: scores, repetitions and forfeits of its blocks in plan order, and the state of its test.

Two deterministic bots play the same pair of matches whenever an opening comes again. Such a block is no new evidence
and is not counted as long as every repeated opening led to the same matches; once one did not, chance plays a part, and
all blocks count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.stats.sprt import Sprt, Verdict
from engine import Game

PATIENCE = 50
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
        self.llr = 0.0
        self.verdict: Verdict | None = None
        self.chance = False
        """Whether one opening led to different matches."""
        self._players, self._opening = players, opening
        self._seen: dict[tuple[object, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._held: list[BlockResult] = []
        self._in_a_row = 0

    @property
    def repeats(self) -> int:
        """Blocks that are not counted."""
        return len(self._held)

    @property
    def exhausted(self) -> bool:
        """Whether new openings have become too rare to go on."""
        return self._in_a_row >= max(PATIENCE, len(self._seen)) and not self.chance

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
        for counted in self._new_evidence((*key, a.moves[: self._opening]), (a.moves, b.moves), block):
            self.counts[counted.units_a - counted.units_b + 2 * (self._players - 1)] += 1
            self.evidence.append(counted)
        if self.test is not None and self.counts.any():
            self.llr = self.test.llr(self.counts)
            self.verdict = self.test.verdict(self.llr)

    def _new_evidence(
        self, start: tuple[object, ...], matches: tuple[tuple[str, ...], tuple[str, ...]], block: BlockResult
    ) -> list[BlockResult]:
        """Return the blocks that count from now on: this one, none, or with it all that were held back."""
        if self.chance:
            return [block]
        known = self._seen.setdefault(start, matches)
        if known is matches:
            self._in_a_row = 0
            return [block]
        if known == matches:
            self._in_a_row += 1
            self._held.append(block)
            return []
        self.chance, held = True, self._held
        self._held, self._seen = [], {}
        return [*held, block]


def setup_plies(game: Game) -> int:
    """Return the number of plies of chance before the first decision."""
    state, count = game.new_initial_state(), 0
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
        count += 1
    return count
