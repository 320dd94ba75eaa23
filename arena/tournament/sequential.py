"""Comparisons: the blocks that count are those in plan order up to the one that decides the sequential test.

Which one that is follows from plan and results, whatever finished first; later blocks may be in the log, and do not
count.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from arena.core.errors import StoreError
from arena.schedule.blocks import Block, Schedule
from arena.schedule.scheduler import Stage
from arena.store import Store, read_moves
from arena.tournament.tally import SeatResult, Tally


def new_tally(schedule: Schedule) -> Tally:
    """Return the tally of a comparison without any blocks."""
    compared, (board,) = schedule.comparison, schedule.boards
    assert compared is not None
    return Tally(compared.test, board.players, compared.opening)


def seat_result(
    schedule: Schedule, block: Block, lineup: int, ranks: Sequence[int], moves: Sequence[str], lost: Sequence[int]
) -> SeatResult:
    """Return what the tally needs of a match, given the ranks by seat and the seats that forfeited."""
    assert schedule.comparison is not None
    seats, mine = schedule.seats(block, lineup), ranks[compared_seat(schedule, block)]
    units = 2 * sum(rank > mine for rank in ranks) + sum(rank == mine for rank in ranks) - 1
    who = [seats[seat] for seat in lost]
    a, b = schedule.comparison[:2]
    return SeatResult(units, tuple(moves), (who.count(a), who.count(b)))


def add_block(tally: Tally, schedule: Schedule, block: Block, results: Mapping[int, SeatResult]) -> None:
    """Add the next block to a tally, given its results by line-up."""
    assert schedule.comparison is not None
    seat = compared_seat(schedule, block)
    by_entry = {schedule.seats(block, lineup)[seat]: result for lineup, result in results.items()}
    a, b = schedule.comparison[:2]
    tally.add((seat, *block.table), seat, by_entry[a], by_entry[b])


def compared_seat(schedule: Schedule, block: Block) -> int:
    """Return the seat in which the two are compared; of a seat-swapped pair the first."""
    return block.round % schedule.boards[block.board].players if schedule.takes_turns(block.board) else 0


def tally_of(store: Store, schedule: Schedule) -> Tally:
    """Return the tally of the blocks of a comparison in its log that count: up to the first gap, or the decision."""
    tally, (board,) = new_tally(schedule), schedule.boards
    results = _results(store, schedule)
    lineups = range(schedule.lineups(board))
    for block in replace(schedule, stages=()).blocks():
        there = results.get(block.identity, {})
        if tally.done or len(there) < len(lineups):
            break
        found = {lineup: seat_result(schedule, block, lineup, *there[lineup]) for lineup in lineups}
        add_block(tally, schedule, block, found)
    return tally


def _results(store: Store, schedule: Schedule) -> dict[bytes, dict[int, tuple[list[int], list[str], list[int]]]]:
    """Return the matches of a comparison's log, by block and line-up: ranks, moves, and the seats that forfeited."""
    (board,) = schedule.boards
    at = board.game, board.players
    found: dict[bytes, dict[int, tuple[list[int], list[str], list[int]]]] = {}
    seats = store.board(*at).seat_rows("b.identity, s.lineup, s.seat, s.rank, s.cause IS NOT NULL")
    matches: Iterator[tuple[bytes, int, str | bytes]] = store.board(*at).match_rows("b.identity, m.lineup, m.moves")
    for (identity, lineup, moves), (match, rows) in zip(
        matches, itertools.groupby(seats, lambda row: row[:2]), strict=True
    ):
        if match != (identity, lineup):
            raise StoreError(f"{store.path}: the log is damaged: seats of a match on {board.title} are missing")
        of_seats = [*rows]
        ranks, lost = [row[3] for row in of_seats], [row[2] for row in of_seats if row[4]]
        found.setdefault(identity, {})[lineup] = ranks, read_moves(moves).split(), lost
    return found


def decided_stage(store: Store, schedule: Schedule) -> Stage | None:
    """Return the blocks of a comparison that count, once its test is decided; None before, when all may."""
    tally = tally_of(store, schedule)
    count = (len(tally.blocks),)
    return Stage(count, count, ()) if tally.done else None
