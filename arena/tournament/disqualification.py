"""Disqualification: a bot that forfeits too often leaves the plan of a board from the next round on.

The rule is a pure function of plan and results. At the end of a round, a bot that has forfeited at least
`forfeit_limit` matches on the board, and at least one in `MATCHES_PER_FORFEIT` of those it has played there, is
disqualified: the blocks of later rounds that it sits in leave the plan, and count for nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from arena.schedule.blocks import Schedule
from arena.schedule.tables import Table
from arena.store import Store

MATCHES_PER_FORFEIT = 10


def in_plan(disqualified: Mapping[int, int], number: int, table: Table) -> bool:
    """Return whether a table's block in a round stays in the plan, given the last rounds of disqualified entries."""
    return not disqualified or all(number <= disqualified.get(entry, number) for entry in table)


class Disqualifications:
    """The disqualified bots of one board, found round by round."""

    def __init__(self, tables: Mapping[Table, int], lineups: int, forfeit_limit: int) -> None:
        """Begin with tables and how many rounds each of them plays."""
        self.tables = {table: count for table, count in tables.items() if count}
        """Tables that play the present round, with their numbers of rounds."""
        self.forfeit_limit = forfeit_limit
        self.rounds = 0
        """Complete rounds; the number of the first that is not."""
        self.disqualified: dict[int, int] = {}
        """By entry: the last round that it played."""
        self.faults: defaultdict[int, int] = defaultdict(int)
        """By entry: matches forfeited in complete rounds."""
        self._lineups = lineups
        self._since, self._before = 0, dict[int, int]()
        self._set_sizes()

    def _set_sizes(self) -> None:
        self.per_round = len(self.tables) * self._lineups
        """Matches in the present round."""
        self._fewest = min(self.tables.values(), default=0)
        counts = Counter(entry for table in self.tables for entry in table)
        self._share = {entry: count * self._lineups for entry, count in counts.items()}
        """By entry: its matches in a round."""

    def matches(self, entry: int, rounds: int) -> int:
        """Return an entry's matches in the first rounds, of which all but one at most are complete."""
        return self._before.get(entry, 0) + self._share.get(entry, 0) * (rounds - self._since)

    def close_round(self, faults: Mapping[int, int]) -> int:
        """End the present round, given each entry's forfeited matches; return the matches that leave the plan.

        They are those of later rounds with a bot that is disqualified now.
        """
        self.rounds += 1
        out = []
        if faults and self.forfeit_limit:
            for entry, count in faults.items():
                self.faults[entry] += count
            out = [
                entry
                for entry in faults
                if entry not in self.disqualified
                and self.faults[entry] >= self.forfeit_limit
                and self.faults[entry] * MATCHES_PER_FORFEIT >= self.matches(entry, self.rounds)
            ]
        if not out and self.rounds < self._fewest:
            return 0
        self._before |= {entry: self.matches(entry, self.rounds) for entry in self._share}
        self._since = self.rounds
        self.disqualified.update((entry, self.rounds - 1) for entry in sorted(out))
        left = {table: count for table, count in self.tables.items() if count > self.rounds}
        self.tables = {table: count for table, count in left.items() if not {*table} & {*out}}
        self._set_sizes()
        return sum(left[table] - self.rounds for table in left.keys() - self.tables.keys()) * self._lineups


def find_disqualified(store: Store, schedule: Schedule, index: int) -> dict[int, int]:
    """Find a board's disqualified entries in a log; return the last round that each of them played."""
    stage = schedule.stage(index)
    if stage is not None and stage.disqualified is not None:
        return dict(stage.disqualified)
    board, limit = schedule.boards[index], schedule.forfeit_limit
    forfeits = store.board(board.game, board.players).forfeits() if limit else {}
    if sum(len(seats) for blocks in forfeits.values() for seats in blocks.values()) < max(limit, 1):
        return {}
    sizes, lineups = store.board(board.game, board.players).block_sizes(), schedule.lineups(board)
    counts = schedule.counts(index)
    found = Disqualifications(dict(zip(schedule.tables[index], counts, strict=True)), lineups, limit)
    for number in range(min(max(counts, default=0), max(forfeits) + 1)):
        blocks = [schedule.block(index, number, table) for table in found.tables]
        if any(sizes.get(block.identity, 0) < lineups for block in blocks):
            break
        lost = forfeits.get(number, {})
        found.close_round(
            Counter(
                schedule.seats(block, lineup)[seat]
                for block in blocks
                for lineup, seat, _ in lost.get(block.identity, ())
            )
        )
    return found.disqualified
