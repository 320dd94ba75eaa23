"""Benching: a bot that forfeits too often leaves the plan of a board from the next round on.

The rule is a pure function of plan and results. At the end of a round, a bot that has forfeited at least `bench_after`
matches on the board, and at least one in `ONE_IN` of those it has played there, is benched: the blocks of later rounds
that it sits in leave the plan, and count for nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from arena.schedule.blocks import Table

ONE_IN = 10


def in_plan(benched: Mapping[int, int], number: int, table: Table) -> bool:
    """Whether a table's block in a round stays in the plan; `benched` has the last round of every benched entry."""
    return not benched or all(number <= benched.get(entry, number) for entry in table)


class Bench:
    """Who is benched on one board; it is told the board's rounds one after the other, each when it is complete."""

    def __init__(self, tables: Sequence[Table], lineups: int, after: int) -> None:
        self.tables = list(tables)
        """Those still in the plan."""
        self.after = after
        self.rounds = 0
        """Complete rounds; the number of the first that is not."""
        self.benched: dict[int, int] = {}
        """By entry: the last round that it played."""
        self.faults: defaultdict[int, int] = defaultdict(int)
        """By entry: matches forfeited in complete rounds."""
        self._lineups = lineups
        self._since, self._before = 0, dict[int, int]()
        self._set_sizes()

    def _set_sizes(self) -> None:
        self.per_round = len(self.tables) * self._lineups
        """Matches in the present round, and in all later ones as far as is known."""
        counts = Counter(entry for table in self.tables for entry in table)
        self._share = {entry: count * self._lineups for entry, count in counts.items()}
        """Of those, by entry."""

    def matches(self, entry: int, rounds: int) -> int:
        """Matches of an entry in the first rounds, of which all but one at most are complete."""
        return self._before.get(entry, 0) + self._share.get(entry, 0) * (rounds - self._since)

    def close_round(self, faults: Mapping[int, int]) -> bool:
        """The present round is complete, with so many matches forfeited by each entry; whether anybody is benched."""
        self.rounds += 1
        if not faults or not self.after:
            return False
        for entry, count in faults.items():
            self.faults[entry] += count
        out = [
            entry
            for entry in faults
            if entry not in self.benched
            and self.faults[entry] >= self.after
            and self.faults[entry] * ONE_IN >= self.matches(entry, self.rounds)
        ]
        if out:
            self._before = {entry: self.matches(entry, self.rounds) for entry in self._share}
            self._since = self.rounds
            self.benched.update((entry, self.rounds - 1) for entry in sorted(out))
            self.tables = [table for table in self.tables if in_plan(self.benched, self.rounds, table)]
            self._set_sizes()
        return bool(out)
