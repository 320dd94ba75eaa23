"""Draw the keys of secret dice for a log, and say what the matches of a block have in common."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime

from arena.core.match_ids import DiceKind, list_dice_kinds
from arena.plan.resolve import Plan
from arena.schedule.blocks import Schedule
from arena.store import Store
from arena.tournament.tournament import Tournament
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
    kept = sorted(store.keys.all(), key=lambda key: key.disclosed is None)  # the last one is drawn with
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
    planned = {kind for board in range(len(schedule.boards)) for kind in schedule.dice_kinds(board)}
    there = store.keys.dice_kinds()
    secret, before = planned - {DiceKind.PUBLIC}, there - {DiceKind.PUBLIC}
    if (there and not planned & there) or (secret and before and not secret & before):
        lost = list_dice_kinds(sorted(there - planned))
        kinds = list_dice_kinds(sorted(planned))
        return (f"The dice of this plan are {kinds}: what the log holds with others ({lost}) does not count any more",)
    return ()


def _plays_more(plan: Plan, store: Store) -> bool:
    """Return whether the log lacks a match of the plan with secret dice.

    A comparison that was decided may go on, for a stricter test: its bots are those of before the disclosure.
    """
    if store.runs.is_finished() and Tournament(store).plan == plan.resolved():
        return False
    tournament = Tournament(store, plan.schedule)
    return next(tournament.missing(block for block in tournament.blocks() if block.key), None) is not None


def finish_log(store: Store, schedule: Schedule) -> None:
    """Record that the log holds every match of its plan that counts, and disclose the keys of secret dice."""
    store.finish_run(now(), Tournament(store, schedule).blocks() if schedule.has_secret_dice else None)


def has_own_dice(schedule: Schedule, index: int) -> bool:
    """Return whether matches of any block of a board draw dice of their own, so that they share none."""
    board = schedule.boards[index]
    if DiceKind.SECRET not in schedule.dice_kinds(index):
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
