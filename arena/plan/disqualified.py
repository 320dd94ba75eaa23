"""Who is benched, told from a log."""

from __future__ import annotations

from collections import Counter

from arena.plan.disqualification import Bench
from arena.schedule.blocks import Schedule
from arena.store import Store


def benched(store: Store, schedule: Schedule, board: int) -> dict[int, int]:
    """By entry, the last round that it played on a board before it was benched there."""
    stage = schedule.stage(board)
    if stage is not None and stage.benched is not None:
        return dict(stage.benched)
    shape = schedule.boards[board]
    forfeits = store.forfeits(shape.game, shape.players) if schedule.bench_after else {}
    if sum(len(falls) for blocks in forfeits.values() for falls in blocks.values()) < max(schedule.bench_after, 1):
        return {}
    sizes = store.block_sizes(shape.game, shape.players)
    bench = Bench(schedule.tables[board], schedule.lineups(shape), schedule.bench_after)
    for number in range(min(max(schedule.counts(board), default=0), max(forfeits) + 1)):
        blocks = [schedule.block(board, number, table) for table in bench.tables]
        if any(sizes.get(block.identity, 0) < schedule.lineups(shape) for block in blocks):
            break
        falls = forfeits.get(number, {})
        bench.close_round(
            Counter(
                schedule.seats(block, lineup)[seat]
                for block in blocks
                for lineup, seat, _ in falls.get(block.identity, ())
            )
        )
    return bench.benched
