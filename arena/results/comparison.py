"""Comparison of two bots by the matches of a log, of whatever kind: nothing is played or written.

A block is what the statistics of the log take for one. Its score of A over B is that of `arena.stats.sprt`, with the
mean difference of returns over the matches that both played; in the log of a comparison it is what that counted.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena.core.errors import ConfigError, StoreError, UnknownTargetError
from arena.core.names import COMPARISONS_FOLDER
from arena.plan.model import ResolvedPlan
from arena.results.matches import chosen_boards, two_entries
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board
from arena.schedule.openings import setup_plies
from arena.stats.estimates import Lead, ScoreEstimate, fixed_estimate, lead
from arena.stats.paired import Saving, dice_saving
from arena.stats.repeats import Repeats
from arena.stats.sprt import Sprt, Verdict, block_values
from arena.store import Store, read_moves
from arena.tournament.counted import BoardMatches
from arena.tournament.dice_keys import has_own_dice, shared_in_blocks
from arena.tournament.tournament import Tournament
from engine import load_game

MATCHES_PER_BLOCK = 2
"""Matches of a block of a comparison."""


@dataclass(frozen=True)
class LoggedComparison:
    """Comparison of two bots by a log. Scores are A's, from 0 to 1, 1/2 for equal strength."""

    name: str
    """Of the tournament."""
    schedule: Schedule
    index: int
    """Number of the board."""
    entries: tuple[int, int]
    """A and B in the schedule."""
    test: Sprt
    values: np.ndarray
    """Scores of blocks."""
    counts: np.ndarray
    """Blocks that counted, by score."""
    llr: float
    """Of all blocks."""
    decision: Verdict | None
    """Of the test, had it been applied block by block in the order of the log."""
    decided_after: int | None
    """Blocks read by then."""
    blocks: int
    repeats: int
    """Blocks that are not counted, as they repeat others."""
    matches: int
    is_paired: bool
    """Whether every block has two matches."""
    forfeits: tuple[int, int] | None
    """None where they are not known."""
    saving: Saving
    """By what the matches of a block have in common; NaN where blocks are not of two matches in one seat."""
    remarks: tuple[str, ...]
    """What the figures do not allow for."""

    @property
    def a(self) -> str:
        """Label of A."""
        return self.schedule.entries[self.entries[0]].label

    @property
    def b(self) -> str:
        """Label of B."""
        return self.schedule.entries[self.entries[1]].label

    @property
    def board(self) -> Board:
        """The game, its number of players and its opening."""
        return self.schedule.boards[self.index]

    @property
    def fillers(self) -> tuple[str, ...]:
        """Labels of the bots in the other seats of a comparison."""
        return tuple(self.schedule.entries[entry].label for entry in self.schedule.fillers(self.index))

    @property
    def is_foreign(self) -> bool:
        """Whether the matches were played elsewhere."""
        return self.schedule.is_foreign

    @property
    def own_dice(self) -> bool:
        """Whether the matches of a block have dice of their own."""
        return not self.is_foreign and has_own_dice(self.schedule, self.index)

    @property
    def shared(self) -> list[str]:
        """What the matches of a block have in common: dice, opening, seeds."""
        return [] if self.is_foreign else shared_in_blocks(self.schedule, self.index)

    @property
    def estimate(self) -> ScoreEstimate:
        """The mean of all blocks."""
        return fixed_estimate(self.counts, values=self.values)

    @property
    def lead(self) -> Lead:
        """Which bot is stronger, and how sure that is, for a number of blocks that was fixed beforehand."""
        return lead(self.counts, None, self.values)

    @property
    def elo(self) -> ScoreEstimate:
        """The estimate as logistic Elo."""
        return self.estimate.elo

    @property
    def difference(self) -> ScoreEstimate:
        """The estimate as A's mean return minus B's, from -2 to 2."""
        return self.estimate.difference

    @property
    def normalized_elo(self) -> ScoreEstimate | None:
        """The estimate in deviations of a match's score; None where blocks are equal, or not of two matches."""
        return self.estimate.normalized_elo(self.counts, self.values) if self.is_paired else None

    @property
    def matches_per_block(self) -> float:
        """Mean number of matches of a block."""
        return self.matches / self.blocks

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data (docs/reference/json.md)."""
        ahead, test, normalized = self.lead, self.test, self.normalized_elo
        return {
            "from": self.name,
            "foreign": self.is_foreign,
            "a": self.a,
            "b": self.b,
            "game": self.board.game,
            "players": self.board.players,
            "fillers": list(self.fillers),
            "test": {**asdict(test), "lower": test.lower, "upper": test.upper, "llr": self.llr},
            "decision": self.decision,
            "decided_after": self.decided_after,
            "blocks": self.blocks,
            "repeated_blocks": self.repeats,
            "matches": self.matches,
            "score_values": self.values.tolist(),
            "score_counts": [int(count) for count in self.counts],
            "estimate": "mean",
            "score": self.estimate.as_dict(),
            "return_difference": self.difference.as_dict(),
            "stronger": None if ahead.sign == 0 else "a" if ahead.sign > 0 else "b",
            "confidence": ahead.confidence,
            "more_matches": None if ahead.more_blocks is None else round(self.matches_per_block * ahead.more_blocks),
            "elo": self.elo.as_dict(),
            "normalized_elo": normalized and normalized.as_dict(),
            "forfeits": self.forfeits and dict(zip("ab", self.forfeits, strict=True)),
            "common_dice": None if self.own_dice or math.isnan(self.saving.factor) else asdict(self.saving),
            "remarks": list(self.remarks),
        }


class _PairedMatches(NamedTuple):
    """Matches of a board that compare two bots: arrays (matches,), sorted by block."""

    rows: np.ndarray
    """Indices into the board's matches; within a block by A's seat, in a duel A's match first."""
    block: np.ndarray
    """Numbers of blocks, from 0 without a gap."""
    seats: np.ndarray
    """(matches, 2) seats of A and B; in a duel both the one that is compared."""
    units_a: np.ndarray
    """A's result as `arena.tournament.tally.SeatResult` counts it; 0 in matches without A."""
    units_b: np.ndarray
    matches: np.ndarray
    """(blocks,) matches that a block's difference is a mean of."""


def compare_in(
    target: str | Path,
    a: str,
    b: str,
    game: str | None = None,
    players: int | None = None,
    test: Sprt | None = None,
    home: str | Path | None = None,
) -> LoggedComparison:
    """Compare two bots by the matches of a log in which both played, on one board.

    Raises an `ArenaError` when they never met, or met on several boards and none was chosen.
    """
    with Tournament.open(target, home) as tournament:
        schedule = tournament.schedule
        entries = two_entries(target, schedule, a, b)
        index = _board(target, schedule, entries, game, players)
        found = tournament.counted(index)
        paired = _duels(found, schedule, index, entries) if schedule.compared_pair(index) else _meetings(found, entries)
        if not len(paired.rows):
            board = schedule.boards[index]
            raise StoreError(f"{target}: {a} and {b} never met on {board.title}: no complete block has a match of both")
        return _comparison(tournament, index, entries, found, paired, test or Sprt())


def _board(
    target: str | Path, schedule: Schedule, entries: tuple[int, int], game: str | None, players: int | None
) -> int:
    """Return the number of the board on which two bots play; raises `UnknownTargetError` unless it is one."""
    a, b = (schedule.entries[entry].label for entry in entries)
    chosen = chosen_boards(target, schedule, game, players)
    both = [index for index in chosen if set(entries) <= set(schedule.boards[index].entries)]
    if not both:
        raise UnknownTargetError(f"{target}: has no such board on which both {a} and {b} play")
    if len(both) > 1:
        listed = "; ".join(schedule.boards[index].title for index in both)
        raise UnknownTargetError(f"{target}: {a} and {b} play on {listed}; choose one by --game and --players")
    return both[0]


def _units(ranks: np.ndarray, seat: np.ndarray) -> np.ndarray:
    """Return (matches,) two for each seat that a seat beat, one for each that it tied with."""
    mine = np.take_along_axis(ranks, seat[:, None], axis=1)
    return 2 * (ranks > mine).sum(axis=1) + (ranks == mine).sum(axis=1) - 1


def _meetings(found: BoardMatches, entries: tuple[int, int]) -> _PairedMatches:
    """Return the matches that both bots played."""
    sits = np.stack([found.entries == entry for entry in entries], axis=1)
    rows = np.flatnonzero(np.all(np.any(sits, axis=2), axis=1))
    seats, block = sits[rows].argmax(axis=2), found.block[rows]
    order = np.lexsort((seats[:, 0], block))
    rows, seats = rows[order], seats[order]
    block = np.unique(found.block[rows], return_inverse=True)[1]
    a, b = (_units(found.ranks[rows], seats[:, who]) for who in range(2))
    return _PairedMatches(rows, block, seats, a, b, np.bincount(block))


def _duels(found: BoardMatches, schedule: Schedule, index: int, entries: tuple[int, int]) -> _PairedMatches:
    """Return the matches of a comparison with others at the table, where the two take turns in one seat."""
    rivals = schedule.compared_pair(index) or ()
    if set(entries) != set(rivals):
        two = " and ".join(schedule.entries[entry].label for entry in rivals)
        raise UnknownTargetError(
            f"the log is of a comparison of {two}; the others at the table are compared with nobody"
        )
    seat = found.round % found.ranks.shape[1]
    is_b = np.take_along_axis(found.entries, seat[:, None], axis=1)[:, 0] == entries[1]
    rows = np.lexsort((is_b, found.block))
    block, seat, is_b = found.block[rows], seat[rows], is_b[rows]
    units = _units(found.ranks[rows], seat)
    ones = np.ones(len(rows) // MATCHES_PER_BLOCK, np.int64)
    return _PairedMatches(
        rows, block, np.column_stack([seat, seat]), np.where(is_b, 0, units), np.where(is_b, units, 0), ones
    )


def _comparison(
    tournament: Tournament,
    index: int,
    entries: tuple[int, int],
    found: BoardMatches,
    paired: _PairedMatches,
    test: Sprt,
) -> LoggedComparison:
    schedule = tournament.schedule
    board, blocks = schedule.boards[index], len(paired.matches)
    is_paired = bool((np.bincount(paired.block) == MATCHES_PER_BLOCK).all())
    if test.model == "normalized" and not is_paired:
        raise ConfigError(
            "model = 'normalized': works for blocks of two matches only; logistic takes blocks of any size"
        )
    most = 2 * (board.players - 1) * paired.matches
    above = np.bincount(paired.block, paired.units_a - paired.units_b)
    scores = (above + most) / (2 * most)
    usual = block_values(4 * (board.players - 1))
    values, number = np.unique(np.concatenate([scores, usual]), return_inverse=True)
    number, is_usual = number[:blocks], np.isin(values, usual)
    repeats = Repeats[int]()
    if schedule.is_foreign:  # nobody knows the moves: no block is taken for a copy of another
        order = [[block] for block in range(blocks)]
    else:
        order = [repeats.add(*each) for each in _contents(tournament.store, board, found, paired)]
    counts = np.zeros(len(values))
    decision, after = None, None
    for block, counted in enumerate(order):
        np.add.at(counts, number[counted], 1)
        if counted and decision is None:
            known = is_usual | (counts > 0)
            decision = test.verdict(test.llr(counts[known], values[known]))
            after = None if decision is None else block + 1
    known = is_usual | (counts > 0)
    values, counts = values[known], counts[known]
    return LoggedComparison(
        name=tournament.plan.name,
        schedule=schedule,
        index=index,
        entries=entries,
        test=test,
        values=values,
        counts=counts,
        llr=test.llr(counts, values),
        decision=decision,
        decided_after=after,
        blocks=blocks,
        repeats=repeats.count,
        matches=len(paired.rows),
        is_paired=is_paired,
        forfeits=None if schedule.is_foreign else _forfeits(found, paired, entries),
        saving=_saving(schedule, index, paired, [block for each in order for block in each]),
        remarks=tuple(_remarks(tournament.plan, board, found, paired)),
    )


def _contents(
    store: Store, board: Board, found: BoardMatches, paired: _PairedMatches
) -> Iterator[tuple[Hashable, Hashable, int]]:
    """Yield the arguments of `Repeats.add` for each block: its line-ups and opening, its moves, its number."""
    opening = setup_plies(load_game(board.game, board.players)) + board.opening
    first = np.flatnonzero(np.diff(paired.block, prepend=-1))
    block_of = {int(row): block for block, row in enumerate(found.rows[paired.rows[first]])}
    starts: dict[int, tuple[str, ...]] = {}
    for row, (moves,) in enumerate(store.board(board.game, board.players).match_rows("m.moves")):
        if row in block_of:
            starts[block_of[row]] = tuple(read_moves(moves).split(maxsplit=opening)[:opening])
    for block, rows in enumerate(np.split(paired.rows, first[1:])):
        lineups = found.lineup[rows].tobytes(), found.entries[rows].tobytes()
        yield (lineups, starts[block]), found.moves_hash[rows].tobytes(), block


def _saving(schedule: Schedule, index: int, paired: _PairedMatches, counted: list[int]) -> Saving:
    """Return the saving of counted blocks by what their two matches share."""
    board = schedule.boards[index]
    if schedule.is_foreign or (board.players > MATCHES_PER_BLOCK and not schedule.takes_turns(index)):
        return dice_saving(np.zeros(0), np.zeros(0), np.zeros(0))
    scale = board.players - 1
    a, b = (
        paired.units_a[::MATCHES_PER_BLOCK][counted] / scale - 1,
        paired.units_b[1::MATCHES_PER_BLOCK][counted] / scale - 1,
    )
    return dice_saving(a, b, paired.seats[::MATCHES_PER_BLOCK, 0][counted])


def _forfeits(found: BoardMatches, paired: _PairedMatches, entries: tuple[int, int]) -> tuple[int, int]:
    forfeited, seated = found.forfeited[paired.rows].astype(bool), found.entries[paired.rows]
    a, b = (int((forfeited & (seated == entry)).sum()) for entry in entries)
    return a, b


def elo_remarks(players: int, have_met: bool) -> Iterator[str]:
    """Yield what the Elo of a comparison means where it is not that of two bots that play each other."""
    if players > MATCHES_PER_BLOCK:
        yield f"With {players} players Elo is that of the score by convention, and who else sat there matters."
    elif not have_met:
        yield "The two have not met: Elo is that of the score by convention, about half of what it is where they meet."


def _remarks(resolved: ResolvedPlan, board: Board, found: BoardMatches, paired: _PairedMatches) -> Iterator[str]:
    """Yield what the figures do not allow for."""
    blocks = len(paired.matches)
    if resolved.foreign is not None:
        yield f"{resolved.foreign.status.capitalize()}: nobody can check that these matches were played, or by whom."
        if "block" not in resolved.foreign.columns:
            yield "The file has no blocks: each match is taken to be independent of the others."
        if not found.has_seats:
            yield "The file has no seats: whatever a seat is worth may be in the difference."
        elif uneven := _uneven(paired, board.players):
            yield (
                f"In {uneven:,} of {blocks:,} blocks the two did not have every seat equally often: whatever a seat is "
                "worth may be in the difference."
            )
    yield from elo_remarks(board.players, not blocks or bool((paired.seats[:, 0] != paired.seats[:, 1]).any()))
    if blocks == 1:
        yield "One block says nothing of chance: an interval takes two at least."
    if resolved.schedule().scheduler.has_stages:
        kind = resolved.scheduler.made().describe()
        yield f"The schedule was {kind}: the number of blocks depended on results, which intervals do not allow for."
    if resolved.name.startswith(f"{COMPARISONS_FOLDER}/") and blocks < board.blocks:
        yield (
            f"The comparison has {blocks:,} of {board.blocks:,} blocks: where a test ended it, these figures overstate "
            "the difference; `arena compare` without --from allows for that."
        )


def _uneven(paired: _PairedMatches, players: int) -> int:
    """Return the number of blocks in which one of two bots had some seat more often than the other."""
    size = len(paired.matches) * players
    often = [np.bincount(paired.block * players + paired.seats[:, who], minlength=size) for who in range(2)]
    return int((often[0] != often[1]).reshape(-1, players).any(axis=1).sum())
