"""Preparation of a plan for its log: rules compared, keys of secret dice drawn, a change of plan remarked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from arena.plan.files import PLAN_CHANGED, write_plan
from arena.plan.resolve import Plan
from arena.tournament.dice_keys import with_dice_keys
from arena.tournament.log_keys import with_disclosed_keys
from arena.tournament.same_rules import with_same_rules
from arena.tournament.tournament import Tournament


def prepare(
    plan: Plan, tournament: Tournament, same_rules: bool, calibrate: Callable[[Plan], Plan] = lambda plan: plan
) -> Plan:
    """Return the plan as it is to be played into a log that is open for writing; `same_rules` is as for `api.run`.

    `calibrate` returns a plan with the numbers that its times a move stand for. The hashes of secret keys are in
    plan.json before anything is played. Raises an `ArenaError` for a log of foreign results, or of other rules.
    """
    tournament.check_playable("nothing can be played here; give the configuration another name")
    store = tournament.store
    plan = with_dice_keys(calibrate(with_same_rules(plan, store, same_rules)), store)
    resolved = plan.resolved()
    if store.runs.has_run():
        before, now = (each.model_copy(update={"rules": {}}) for each in (Tournament(store).plan, resolved))
        if before != now:
            plan = replace(plan, remarks=(*plan.remarks, PLAN_CHANGED))
    if plan.schedule.has_secret_dice:
        write_plan(store.path.parent, with_disclosed_keys(resolved, store))
    return plan
