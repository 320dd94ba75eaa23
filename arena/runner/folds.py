"""Folds: which blocks of a board count, by the results that a run has so far, in whatever order they come.

They keep in memory what `arena.tournament.disqualification` and `arena.tournament.sequential` find in a log, so that a
run hands out what counts. Every result is written; what lies behind a decision stays in the log and does not count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arena.match.result import MatchRow
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.schedule.tables import Table
from arena.store import Store
from arena.tournament.disqualification import MATCHES_PER_FORFEIT, Disqualifications, in_plan
from arena.tournament.sequential import add_block, new_tally, seat_result
from arena.tournament.tally import SeatResult, Tally


class Fold(ABC):
    """Results of a board, and which blocks count as far as is known."""

    max_ahead: int
    """Results behind a pending decision from which no more matches are handed out."""

    def __init__(self, total: int) -> None:
        self.total = total
        """Matches that count, as far as is known."""
        self.found = self.played = 0
        """Results among them: those in the log before, those of this run."""
        self.ahead = 0
        """Results of both kinds behind the first pending decision."""

    @property
    def full(self) -> bool:
        """Whether no more matches should be handed out, since too many results may not count in the end."""
        return self.ahead > self.max_ahead

    @property
    def left(self) -> int:
        """Matches without a result."""
        return self.total - self.found - self.played

    @abstractmethod
    def counts(self, block: Block) -> bool:
        """Return whether a block counts as far as is known."""

    @abstractmethod
    def find(self, block: Block, lineups: Iterable[int], forfeits: Sequence[tuple[int, int]]) -> None:
        """Take the results that are in the log, `forfeits` by line-up and seat. Blocks come in plan order."""

    @abstractmethod
    def take(self, spec: MatchSpec, row: MatchRow) -> None:
        """Take the result of a match that this run has played."""

    def _count(self, found: bool, count: int) -> None:
        if found:
            self.found += count
        else:
            self.played += count


class TableResults(NamedTuple):
    """Results of one table in a round that is not complete."""

    table: Table
    forfeits: Sequence[int]
    """The entry of each forfeit."""
    matches: int
    found: bool
    """Whether they were in the log before this run."""


class DisqualificationFold(Fold):
    """Blocks count whose bots have not been disqualified in an earlier round."""

    max_ahead = 20_000
    max_ahead_without_suspects = 1_000_000
    """The same while nobody is near a disqualification: all of them are held in memory."""

    def __init__(self, schedule: Schedule, index: int) -> None:
        """Begin with a board's present stage, all of which counts after the first."""
        stage, lineups = schedule.stage(index), schedule.lineups(schedule.boards[index])
        self._schedule = schedule
        if stage is None or stage.disqualified is None:
            counts = schedule.counts(index)
            tables = dict(zip(schedule.tables[index], counts, strict=True))
            self.rule, self.rounds = Disqualifications(tables, lineups, schedule.forfeit_limit), max(counts, default=0)
            super().__init__(sum(counts) * lineups)
        else:
            self.rule, self.rounds = Disqualifications({}, lineups, 0), 0
            super().__init__(lineups * (sum(stage.counts) - sum(stage.done)))
        self._open: defaultdict[int, list[TableResults]] = defaultdict(list)
        """By round that is not complete."""
        self._sizes: Counter[int] = Counter()
        """Results, by such a round."""
        self._faults: Counter[int] = Counter()
        """By entry: forfeits in all those rounds."""

    @property
    def full(self) -> bool:
        """The same; while no bot is near a disqualification, many more results are allowed."""
        suspects = map(self._is_suspect, self._faults.keys() | self.rule.faults)
        return self.ahead > self.max_ahead and (self.ahead > self.max_ahead_without_suspects or any(suspects))

    def _is_suspect(self, entry: int) -> bool:
        """Return whether an entry would soon be disqualified if it forfeited twice as often."""
        rule = self.rule
        faults = 2 * (rule.faults.get(entry, 0) + self._faults[entry])
        in_time = entry not in rule.disqualified and faults >= rule.forfeit_limit
        return in_time and faults * MATCHES_PER_FORFEIT >= rule.matches(entry, rule.rounds + 1)

    def counts(self, block: Block) -> bool:
        return in_plan(self.rule.disqualified, block.round, block.table)

    def find(self, block: Block, lineups: Iterable[int], forfeits: Sequence[tuple[int, int]]) -> None:
        forfeited = [self._schedule.seats(block, lineup)[seat] for lineup, seat in forfeits]
        self._take(block, TableResults(block.table, forfeited, len([*lineups]), found=True))

    def take(self, spec: MatchSpec, row: MatchRow) -> None:
        forfeited = [entry for entry, seat in zip(spec.seats, row.seats, strict=True) if seat.cause is not None]
        self._take(spec.block, TableResults(spec.block.table, forfeited, 1, found=False))

    def _take(self, block: Block, result: TableResults) -> None:
        if not self.counts(block):
            return
        self._count(result.found, result.matches)
        if self.rule.forfeit_limit:
            self._open[block.round].append(result)
            self._sizes[block.round] += result.matches
            self._faults.update(result.forfeits)
            self.ahead += result.matches * (block.round > self.rule.rounds)
            if block.round == self.rule.rounds:
                self._advance()

    def _advance(self) -> None:
        """Close every round that is complete."""
        rule = self.rule
        while rule.rounds < self.rounds and self._sizes.get(rule.rounds) == rule.per_round:
            del self._sizes[rule.rounds]
            faults = Counter(entry for result in self._open.pop(rule.rounds) for entry in result.forfeits)
            self._faults -= faults
            before = len(rule.disqualified)
            self.total -= rule.close_round(faults)
            if len(rule.disqualified) > before:
                self._remove_disqualified()
            self.ahead -= self._sizes.get(rule.rounds, 0)

    def _remove_disqualified(self) -> None:
        """Take back results whose blocks do not count any more."""
        for number, results in self._open.items():
            kept = [result for result in results if in_plan(self.rule.disqualified, number, result.table)]
            for result in results if len(kept) < len(results) else ():
                if not in_plan(self.rule.disqualified, number, result.table):
                    self._count(result.found, -result.matches)
                    self._sizes[number] -= result.matches
                    self._faults.subtract(result.forfeits)
                    self.ahead -= result.matches
            self._open[number] = kept


class SequentialFold(Fold):
    """Blocks of a comparison count in plan order, up to the one that decides its test."""

    max_ahead = 2_000

    def __init__(self, store: Store, schedule: Schedule) -> None:
        super().__init__(schedule.total_matches)
        self.schedule, self.store = schedule, store
        self._lineups = schedule.lineups(schedule.boards[0])
        self.tally: Tally = new_tally(schedule)
        self._open: defaultdict[int, dict[int, SeatResult]] = defaultdict(dict)
        """By round that has not been added to the tally, and by line-up."""
        self._blocks: dict[int, Block] = {}
        self._sizes: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
        """By such a round: results of this run, and of those before."""

    def counts(self, block: Block) -> bool:
        return not self.tally.done or block.round < len(self.tally.blocks)

    def find(self, block: Block, lineups: Iterable[int], forfeits: Sequence[tuple[int, int]]) -> None:
        for lineup in sorted(lineups):
            match = self.store.match(block.identity, lineup)
            self._take(block, lineup, match.ranks, match.moves, [*match.forfeits], found=True)

    def take(self, spec: MatchSpec, row: MatchRow) -> None:
        forfeited = [seat for seat, of_seat in enumerate(row.seats) if of_seat.cause is not None]
        ranks = [seat.rank for seat in row.seats]
        self._take(spec.block, spec.lineup, ranks, row.moves.split(), forfeited, found=False)

    def _take(
        self,
        block: Block,
        lineup: int,
        ranks: Sequence[int],
        moves: Sequence[str],
        forfeited: Sequence[int],
        found: bool,
    ) -> None:
        if not self.counts(block):
            return
        self._count(found, 1)
        self.ahead += 1
        self._sizes[block.round][found] += 1
        self._blocks[block.round] = block
        self._open[block.round][lineup] = seat_result(self.schedule, block, lineup, ranks, moves, forfeited)
        while len(self._open.get(number := len(self.tally.blocks), ())) == self._lineups:
            add_block(self.tally, self.schedule, self._blocks.pop(number), self._open.pop(number))
            self.ahead -= sum(self._sizes.pop(number))
            if self.tally.done:
                self._close()
                return

    def _close(self) -> None:
        """Take back the results behind the block that has decided the test."""
        self.total = len(self.tally.blocks) * self._lineups
        for played, found in self._sizes.values():
            self._count(False, -played)
            self._count(True, -found)
        self._sizes.clear()
        self._open.clear()
        self.ahead = 0


def fold_of(store: Store, schedule: Schedule, index: int) -> Fold:
    """Return the fold of a board in its present stage."""
    if schedule.comparison is not None:
        return SequentialFold(store, schedule)
    return DisqualificationFold(schedule, index)
