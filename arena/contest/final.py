"""The final of a season: a round robin of those who play at its end, whose dice everybody can check.

The key of its dice is drawn when the season begins and kept in the final's log; its hash is shown before anything is
handed in, and the key itself when the final is complete.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from arena.contest.config import ContestConfig
from arena.contest.layout import final_log, season_name
from arena.contest.logged_bots import logged_bots
from arena.plan.bots import ResolvedBot
from arena.plan.resolve import Plan
from arena.registry.game_rules import rules_of_plugins
from arena.runner.options import RunOptions
from arena.runner.run import Outcome, Progress, Run
from arena.schedule.blocks import Schedule
from arena.schedule.kinds.ladder import Ladder
from arena.schedule.kinds.round_robin import RoundRobin
from arena.store import Store
from arena.tournament.dice_keys import finish_log, now
from arena.tournament.preparing import prepare
from arena.tournament.tournament import Tournament
from arena.workers.reserve import WorkerReserve


def commit_to_key(home: str | Path | None, contest: str, season: int) -> str:
    """Draw the key of a final's dice, unless that has been done; return its hash."""
    log = final_log(home, contest, season)
    log.parent.mkdir(parents=True, exist_ok=True)
    with Store.create(log) as store:
        if not store.keys.all():
            store.keep_key(secrets.token_bytes(32), now())
        return store.keys.all()[0].hash


class FinalKey(NamedTuple):
    """The key of a final's dice."""

    hash: str
    key: str
    """Hexadecimal; empty until it is disclosed."""


def final_key(home: str | Path | None, contest: str, season: int) -> FinalKey | None:
    """Return what is known of the key of a final's dice; None where none has been drawn."""
    log = final_log(home, contest, season)
    if not log.is_file():
        return None
    with Store.open(log) as store:
        keys = store.keys.all()
    return FinalKey(keys[0].hash, keys[0].key.hex() if keys[0].disclosed is not None else "") if keys else None


def is_final_over(home: str | Path | None, contest: str, season: int) -> bool:
    """Return whether every match of a final is in its log."""
    log = final_log(home, contest, season)
    if not log.is_file():
        return False
    with Store.open(log) as store:
        return store.runs.has_run() and store.runs.is_finished()


def play_final(
    home: str | Path | None,
    contest: str,
    season: int,
    config: ContestConfig,
    ended: Store,
    options: RunOptions,
    show: Callable[[Progress], None] = lambda progress: None,
    reserve: WorkerReserve | None = None,
) -> Outcome:
    """Play what a final lacks; `ended` is the log of its season.

    Its plan has no boards where on none enough bots are left.
    """
    with Tournament.create(final_log(home, contest, season)) as tournament:
        last = Tournament(ended).plan.schedule()
        plan = _plan(f"{season_name(contest, season)}/final", config, last, logged_bots(ended, last))
        plan = prepare(plan, tournament, same_rules=False)
        staged = Tournament(tournament.store, plan.schedule)
        outcome = Run(plan, staged, options, None, show, reserve=reserve).play()
        if outcome.complete:
            finish_log(tournament.store, plan.schedule)
            if not plan.schedule.has_secret_dice:  # nothing was drawn with the key, which was promised all the same
                tournament.store.end_season(now())
        return outcome


def _plan(name: str, config: ContestConfig, last: Schedule, bots: Mapping[str, ResolvedBot]) -> Plan:
    """Return the plan of a final: those who are in the last round and neither suspended nor retired."""
    ladder = last.scheduler
    assert isinstance(ladder, Ladder)
    resting = {*ladder.suspended, *ladder.retired}
    entries = tuple(entry for entry in last.entries if entry.label not in resting)
    places = {entry.label: place for place, entry in enumerate(entries)}
    members = [
        tuple(places[label] for entry in board.entries if (label := last.entries[entry].label) in places)
        for board in last.boards
    ]
    boards = tuple(
        replace(board, entries=playing, blocks=config.final_blocks)
        for board, playing in zip(last.boards, members, strict=True)
        if len(playing) >= board.players
    )
    schedule = Schedule(
        seed=last.seed,
        entries=entries,
        boards=boards,
        permutations=last.permutations,
        scheduler=RoundRobin(),
        limits=last.limits,
        secret_dice=last.secret_dice,
        forfeit_limit=config.forfeit_limit,
    )
    rules = rules_of_plugins(board.game for board in boards)
    return Plan(name, schedule, tuple(bots[entry.label] for entry in entries), (), (), rules)
