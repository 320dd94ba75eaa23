"""The key of a tournament's secret dice: drawn once for its log, kept there, disclosed when everything is played."""

from __future__ import annotations

import itertools
import json
import secrets
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from arena.adaptive import with_stages
from arena.errors import StoreError
from arena.plan import Plan
from arena.schedule import Schedule
from arena.store import Store

LOOK_UP = 256
"""Blocks looked up at a time."""


def now() -> str:
    return datetime.now(UTC).isoformat()


def with_dice_key(plan: Plan, store: Store) -> Plan:
    """The plan with the key of the log that it will be played into, and what is to be said of its dice.

    A secret key is drawn and kept in the log when there is none yet. The log has to be open for writing, which keeps
    every other run from drawing another.
    """
    remarks = _other_dice(plan, store)
    if not plan.secret_dice:
        return replace(plan, remarks=remarks)
    kept = store.secret_key() or store.keep_key(secrets.token_bytes(32), now())
    plan = plan.with_key(kept.checked())
    remarks += (f"The key of the dice is secret; its BLAKE2b-256 hash is {kept.hash}",)
    if kept.disclosed is not None and _plays_more(plan, store):
        remarks += (
            f"The key of the dice was disclosed on {kept.disclosed[:10]}: a bot submitted since may foresee what is "
            "rolled now; --fresh or another name draws a new key.",
        )
    return replace(plan, remarks=remarks)


def _other_dice(plan: Plan, store: Store) -> tuple[str, ...]:
    """A line when all that the log holds was played with the other kind of dice."""
    if store.has_blocks(plan.secret_dice) or not store.has_blocks(not plan.secret_dice):
        return ()
    if plan.secret_dice:
        return ("The dice are secret now: what the log holds was played with public dice and does not count any more.",)
    return (
        "The dice are public now: what the log holds was played with secret dice and does not count any more; "
        'dice = "secret" goes on with it.',
    )


def _plays_more(plan: Plan, store: Store) -> bool:
    """Whether the log lacks a match of the plan."""
    if store.is_finished() and json.loads(store.last_plan()) == plan.resolved():
        return False
    return _lacks_any(plan.schedule, store)


def _lacks_any(schedule: Schedule, store: Store) -> bool:
    blocks = with_stages(store, schedule).blocks()
    while batch := list(itertools.islice(blocks, LOOK_UP)):
        finished = store.finished([block.identity for block in batch])
        for block in batch:
            if len(finished.get(block.identity, ())) < schedule.lineups(schedule.boards[block.board]):
                return True
    return False


def with_disclosed_key(resolved: dict[str, Any], store: Store) -> dict[str, Any]:
    """The latest run's resolved plan, with the key of its secret dice once all its matches are in the log."""
    if resolved["dice"] != "secret" or not store.is_finished():
        return resolved
    kept = store.secret_key()
    if kept is None or kept.hash != resolved["dice_key_hash"]:
        raise StoreError(f"{store.path}: the log is damaged: its dice key is not the one of its plan")
    return {**resolved, "dice_key": kept.checked().hex()}
