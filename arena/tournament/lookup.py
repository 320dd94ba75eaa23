"""Look blocks up in a log: which of their line-ups are there, and which blocks a run may have played."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from arena.schedule.blocks import Block, Schedule
from arena.store import Store

LOOKUP_BATCH_BLOCKS = 256
"""Blocks looked up at a time."""


def lineups_in_log(store: Store, blocks: Iterable[Block]) -> Iterator[tuple[Block, set[int]]]:
    """Yield blocks, each with its line-ups in the log."""
    blocks = iter(blocks)
    while batch := list(itertools.islice(blocks, LOOKUP_BATCH_BLOCKS)):
        found = store.finished([block.identity for block in batch])
        yield from ((block, found.get(block.identity, set())) for block in batch)


def playable_blocks(schedule: Schedule, key: str = "") -> Iterator[Block]:
    """Yield the blocks of a schedule, and those that a run may have played before results decided against them.

    With a `key`, by its hash, as if all secret dice were drawn with that one.
    """
    stages = (
        stage and stage._replace(counts=tuple(map(max, stage.counts, schedule.start(board))))
        for board, stage in enumerate(schedule.stages)
    )
    schedule = replace(schedule, stages=() if schedule.comparison is not None else tuple(stages))
    if key:
        schedule = replace(schedule, keys=(key,), complete=frozenset(), redrawn=frozenset())
    return schedule.blocks()
