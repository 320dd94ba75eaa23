"""Tuning runs: logs in which every iteration has a plan of its own, which follows from the one before.

`differences` reads what the log has of the latest one; `follow` goes through all, as verification does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from arena.core.errors import ConfigError, StoreError
from arena.plan.bots import bot_identity
from arena.plan.model import ResolvedPlan
from arena.schedule.blocks import Schedule
from arena.schedule.kinds.tuning import Tuning
from arena.schedule.tuning import bayes
from arena.schedule.tuning_iterations import (
    Identify,
    compared_values,
    planned_values,
    tuning_of,
    with_bots,
    with_trial,
)
from arena.store import Store
from arena.tournament.seasons import plans_in_order, read_plan_text
from arena.tournament.tournament import Tournament


def is_tuning(schedule: Schedule) -> bool:
    """Return whether a plan is one of a tuning run."""
    return isinstance(schedule.scheduler, Tuning)


def differences(tournament: Tournament) -> list[float] | None:
    """Return the mean returns of the first compared bot less those of the second, by board.

    None where the log lacks a match of the plan. Sums are of whole numbers, so no order of matches changes a bit.
    """
    if not tournament.is_complete():
        return None
    schedule = tournament.schedule
    labels = [entry.label for entry in schedule.entries]
    first, second = map(labels.index, tuning_of(schedule).pair)
    return [_difference(tournament, index, first, second) for index in range(len(schedule.boards))]


def _difference(tournament: Tournament, index: int, first: int, second: int) -> float:
    found, players = tournament.counted(index), tournament.schedule.boards[index].players
    ranks, entries = found.ranks, found.entries
    above = (ranks[:, None, :] > ranks[:, :, None]).sum(axis=2)
    below = (ranks[:, None, :] < ranks[:, :, None]).sum(axis=2)
    wins = above - below
    if tournament.schedule.takes_turns(index):  # the two may sit in other seats as well
        rows = np.arange(len(entries))
        seat = found.round % players
        entries, wins = entries[rows, seat][:, None], wins[rows, seat][:, None]
    total = int(wins[entries == first].sum() - wins[entries == second].sum())
    return total / (int((entries == first).sum()) * (players - 1))


def identify_by(store: Store, schedule: Schedule) -> Identify:
    """Return what names the tuned bot of a log with any parameters: its source is in the log."""
    label = tuning_of(schedule).pair[0]
    identity = next(entry.identity for entry in schedule.entries if entry.label == label)
    row = store.bots.rows()[identity]
    name = identity.rpartition("@")[0]
    return lambda params: bot_identity(name, row.bundle, row.class_name, params)


class LoggedIteration(NamedTuple):
    """A plan of a tuning run."""

    run: int
    """The run that began it."""
    problem: str
    """Why it does not follow from the one before; empty where it does."""
    is_checked: bool
    """Whether its candidate was drawn again; not where the library that draws it is missing or of another version."""


def follow(store: Store) -> Iterator[LoggedIteration]:
    """Yield the plans of a tuning run, and whether each follows from the one before.

    Raises `StoreError` for plans that cannot be read.
    """
    before: Tournament | None = None
    for run, text, _ in plans_in_order(store):
        plan = read_plan_text(text, f"the plan of run {run} cannot be read")
        schedule = plan.schedule()
        if not is_tuning(schedule):
            raise StoreError(f"the plan of run {run} is no iteration of a tuning run")
        problem, is_checked = _problem(store, before, plan)
        yield LoggedIteration(run, problem, is_checked)
        before = Tournament(store, plan=plan)


def _problem(store: Store, before: Tournament | None, plan: ResolvedPlan) -> tuple[str, bool]:
    schedule = plan.schedule()
    identify, is_checked = identify_by(store, schedule), can_draw(tuning_of(schedule))
    if before is None:
        base = schedule
        if tuning_of(schedule).trials:
            return "does not begin the run: it has trials already", True
        tuning = tuning_of(schedule)
    else:
        base = before.planned
        found = differences(before)
        if found is None:
            return "was begun before that of the iteration before it was complete", True
        tuning = with_trial(base, found)
    draws = is_checked or tuning.is_final
    values = compared_values(replace(base, scheduler=tuning)) if draws else planned_values(schedule)
    expected = with_bots(base, tuning, values, identify)
    ours = ResolvedPlan.of(plan.name, expected, plan.formats, plan.left_out, plan.rules)
    return ("" if ours.as_json() == plan.as_json() else "does not follow from the one before"), draws


def can_draw(tuning: Tuning) -> bool:
    """Return whether the candidates of a run can be drawn here as they were: by the same version of the library."""
    if tuning.method == "spsa":
        return True
    try:
        return bayes.version() == tuning.sampler
    except ConfigError:
        return False
