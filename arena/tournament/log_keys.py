"""The keys of secret dice that a log holds: which blocks were drawn with which, and what is disclosed."""

from __future__ import annotations

from dataclasses import replace

from arena.core.errors import StoreError
from arena.plan.model import ResolvedPlan
from arena.schedule.blocks import Schedule
from arena.store import Store


def with_log_keys(store: Store, schedule: Schedule) -> Schedule:
    """Return a schedule with all keys of a log, so that blocks are found whichever key they were played with.

    The plan's own keys come last: new blocks use the last one.
    """
    hashes = store.keys.hashes() if schedule.has_secret_dice else []
    keys = (*(hash for hash in hashes if hash not in schedule.keys), *schedule.keys)
    return schedule if keys == schedule.keys else replace(schedule, keys=keys)


def with_complete_blocks(store: Store, schedule: Schedule) -> Schedule:
    """Return a schedule that has the keys of a log, with the blocks there that keep an older key, or lose theirs."""
    if not schedule.has_secret_dice:
        return schedule
    older, redrawn = schedule.keys[:-1], store.keys.uncounted_blocks()
    complete = (
        store.board(board.game, board.players).complete_blocks(schedule.lineups(board), older)
        for board in (schedule.boards if older else ())
    )
    return replace(schedule, complete=frozenset().union(*complete) - redrawn, redrawn=redrawn)


def with_disclosed_keys(resolved: ResolvedPlan, store: Store) -> ResolvedPlan:
    """Return a plan with the keys of its log, in full where they are disclosed.

    Raises `StoreError` when one of the plan's own is not there.
    """
    if resolved.dice == "public":
        return resolved
    kept = {key.hash: key for key in store.keys.all()}
    own = [key.hash for key in resolved.secret_keys]
    if not kept.keys() >= set(own):
        raise StoreError(f"{store.path}: the log is damaged: its dice key is not the one of its plan")
    others = [hash for hash in kept if hash not in own]
    keys = [(hash, kept[hash].checked().hex(), kept[hash].disclosed) for hash in (*others, *own)]
    return resolved.with_keys([(hash, key if disclosed is not None else None) for hash, key, disclosed in keys])
