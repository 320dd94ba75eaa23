"""Manage the keys of secret dice: draw them for a log, keep them there, disclose them after the last match."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime

from arena.core.errors import StoreError
from arena.core.match_ids import Kind, listed_dice
from arena.plan.adaptive import with_stages
from arena.plan.coverage import blocks_in_plan, missing
from arena.plan.files import logged_plan
from arena.plan.model import ResolvedPlan
from arena.plan.resolve import Plan
from arena.schedule.blocks import Schedule
from arena.store import Store
from engine import load_game
from engine.errors import EngineError


def now() -> str:
    """Return the time in UTC, as logs have it."""
    return datetime.now(UTC).isoformat()


def with_dice_keys(plan: Plan, store: Store) -> Plan:
    """Return the plan with the keys of the log that it will be played into, and remarks on its dice.

    A key is drawn and kept in the log where blocks with secret dice are to be played and all keys before are disclosed.
    The log has to be open for writing, which keeps other runs from drawing another.
    """
    remarks = (*plan.remarks, *_other_dice(plan.schedule, store))
    if not plan.schedule.has_secret_dice:
        return replace(plan, remarks=remarks)
    kept = sorted(store.secret_keys(), key=lambda key: key.disclosed is None)  # the last one is drawn with
    plan = plan.with_keys([key.checked() for key in kept])
    if not kept or (kept[-1].disclosed is not None and _plays_more(plan, store)):
        before = kept[-1].disclosed if kept else None
        kept.append(store.keep_key(secrets.token_bytes(32), now()))
        plan = plan.with_keys([key.checked() for key in kept])
        if before is not None:
            remarks += (
                f"The key of the dice so far was disclosed on {before[:10]}: what is played from now on is drawn with "
                "another one",
            )
    remarks += (f"The key of the dice is secret; its BLAKE2b-256 hash is {kept[-1].hash}",)
    return replace(plan, remarks=remarks)


def _other_dice(schedule: Schedule, store: Store) -> tuple[str, ...]:
    """Return a line where the log's matches were played with other kinds of dice."""
    planned = {kind for board in range(len(schedule.boards)) for kind in schedule.dice_of(board)}
    there = store.dice_kinds()
    secret, before = planned - {Kind.PUBLIC}, there - {Kind.PUBLIC}
    if (there and not planned & there) or (secret and before and not secret & before):
        lost = listed_dice(sorted(there - planned))
        return (
            f"The dice of this plan are {listed_dice(sorted(planned))}: what the log holds with others ({lost}) does "
            "not count any more",
        )
    return ()


def _plays_more(plan: Plan, store: Store) -> bool:
    """Return whether the log lacks a match of the plan with secret dice.

    A comparison that was decided may go on, for a stricter test: its bots are those of before the disclosure.
    """
    if store.is_finished() and logged_plan(store) == plan.resolved():
        return False
    schedule = with_stages(store, plan.schedule)
    secret = (block for block in blocks_in_plan(store, schedule) if block.key)
    return next(missing(store, schedule, secret), None) is not None


def with_disclosed_keys(resolved: ResolvedPlan, store: Store) -> ResolvedPlan:
    """Return a plan with the keys of its log, in full where they are disclosed.

    Raises `StoreError` when one of the plan's own is not there.
    """
    if resolved.dice == "public":
        return resolved
    kept = {key.hash: key for key in store.secret_keys()}
    own = [key.hash for key in resolved.secret_keys]
    if not kept.keys() >= set(own):
        raise StoreError(f"{store.path}: the log is damaged: its dice key is not the one of its plan")
    others = [hash for hash in kept if hash not in own]
    keys = [(hash, kept[hash].checked().hex(), kept[hash].disclosed) for hash in (*others, *own)]
    return resolved.with_keys([(hash, key if disclosed is not None else None) for hash, key, disclosed in keys])


def finish_log(store: Store, schedule: Schedule) -> None:
    """Record that the log holds every match of its plan that counts, and disclose the keys of secret dice."""
    counted = blocks_in_plan(store, with_stages(store, schedule)) if schedule.has_secret_dice else None
    store.finish_run(now(), counted)


def has_own_dice(schedule: Schedule, index: int) -> bool:
    """Return whether matches of any block of a board draw dice of their own, so that they share none."""
    board = schedule.boards[index]
    if Kind.SECRET not in schedule.dice_of(index):
        return False
    try:
        return load_game(board.game, board.players).has_chance
    except EngineError:  # the game is not installed here
        return True


def shared_in_blocks(schedule: Schedule, index: int) -> list[str]:
    """Return what the matches of a block have in common: dice, openings, seeds."""
    board, own = schedule.boards[index], has_own_dice(schedule, index)
    has_dice = load_game(board.game, board.players).has_chance
    common = {"dice": has_dice and not own, "openings": board.opening, "seeds": not own}
    return [what for what, is_common in common.items() if is_common]
