"""The iterations of a tuning run: the next plan follows from the one before and its complete results.

Nothing else decides: no time, and no order in which results came.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from arena.schedule.blocks import Schedule
from arena.schedule.boards import Entry
from arena.schedule.kinds.tuning import START, Trial, Tuning
from arena.schedule.tuning import bayes, spsa
from arena.schedule.tuning.space import TunedParameter, Values, number_of, point_of, values_at
from engine.specs import split_bot_spec

Identify = Callable[[dict[str, Any]], str]
"""Returns the identity that the tuned bot has with given parameters."""


def tuning_of(schedule: Schedule) -> Tuning:
    """Return what a plan of a tuning run says of it."""
    assert isinstance(schedule.scheduler, Tuning)
    return schedule.scheduler


def is_over(schedule: Schedule) -> bool:
    """Return whether nothing is left to compare: all iterations are over, and their result is the start."""
    tuning = tuning_of(schedule)
    return tuning.is_final and recommended(tuning) == tuning.start_values


def point(tuning: Tuning) -> spsa.Point:
    """Return the point that the present iteration goes on from."""
    return tuning.trials[-1].point if tuning.trials else point_of(tuning.parameters, tuning.start_values)


def recommended(tuning: Tuning) -> Values:
    """Return the values that the iterations so far recommend."""
    if not tuning.trials:
        return tuning.start_values
    points = [trial.point for trial in tuning.trials]
    if tuning.method == "spsa":
        return values_at(tuning.parameters, spsa.recommended(points))
    best = bayes.recommended(points, [trial.difference for trial in tuning.trials])
    return tuning.trials[best].first if best >= 0 else tuning.start_values


def compared_values(schedule: Schedule) -> tuple[Values, Values]:
    """Return the values of the two bots that an iteration compares, as they follow from the trials before."""
    tuning = tuning_of(schedule)
    parameters, start = tuning.parameters, tuning.start_values
    if tuning.is_final:
        return recommended(tuning), start
    if tuning.gains is not None:
        return spsa.candidates(parameters, point(tuning), tuning.gains, schedule.seed, len(tuning.trials))
    points = [point_of(parameters, start), *(trial.point for trial in tuning.trials)]
    worth = [0.0, *(trial.difference for trial in tuning.trials)]  # the start against itself is worth 0
    return values_at(parameters, bayes.candidate(points, worth, schedule.seed)), start


def planned_values(schedule: Schedule) -> tuple[Values, Values]:
    """Return the values that the two compared bots have in a plan."""
    tuning = tuning_of(schedule)
    entries = {entry.label: entry for entry in schedule.entries}
    first, second = (
        tuple(number_of(entries[label].params, each.name) for each in tuning.parameters) for label in tuning.pair
    )
    return first, second


def next_schedule(schedule: Schedule, differences: Sequence[float], identify: Identify) -> Schedule:
    """Return the plan after that of an iteration, given the mean differences of its complete results, by board."""
    tuning = with_trial(schedule, differences)
    found = replace(schedule, scheduler=tuning)
    return with_bots(schedule, tuning, compared_values(found), identify)


def with_trial(schedule: Schedule, differences: Sequence[float]) -> Tuning:
    """Return a tuning run with the trial of its present iteration."""
    tuning, (first, second) = tuning_of(schedule), planned_values(schedule)
    trial = Trial(first=first, second=second, differences=tuple(differences), point=point_of(tuning.parameters, first))
    if tuning.gains is not None:
        more = tuning.gains, schedule.seed, len(tuning.trials), trial.difference
        trial = trial.model_copy(update={"point": spsa.moved(tuning.parameters, point(tuning), *more)})
    return tuning.model_copy(update={"trials": (*tuning.trials, trial)})


def with_bots(schedule: Schedule, tuning: Tuning, compared: tuple[Values, Values], identify: Identify) -> Schedule:
    """Return the plan of an iteration that compares bots of given values.

    `schedule` is another plan of the run, or has the tuned bot as `start`, and all fillers.
    """
    base = next(entry for entry in schedule.entries if entry.label in {*tuning_of(schedule).pair, START})
    values = {START: tuning.start_values, **dict(zip(tuning.pair, compared, strict=True))}
    boards, others = schedule.boards, {entry.label: entry for entry in schedule.entries}
    seats = [{*tuning.pair, *(tuning.fillers if tuning.takes_turns(board.players) else ())} for board in boards]
    labels = sorted(set[str]().union(*seats, tuning.pair))
    entries = [
        with_values(base, label, tuning.parameters, values[label], identify) if label in values else others[label]
        for label in labels
    ]
    blocks = tuning.final_blocks if tuning.is_final else tuning.iteration_blocks
    return replace(
        schedule,
        entries=tuple(entries),
        boards=tuple(
            replace(board, entries=tuple(map(labels.index, sorted(at))), blocks=blocks)
            for board, at in zip(boards, seats, strict=True)
        ),
        scheduler=tuning,
    )


def with_values(
    base: Entry, label: str, parameters: Sequence[TunedParameter], values: Values, identify: Identify
) -> Entry:
    """Return the tuned bot with other values, under its label."""
    known = {parameter.name: parameter.default for parameter in parameters}
    given = {
        parameter.name: known[parameter.name] if value == known[parameter.name] else value
        for parameter, value in zip(parameters, values, strict=True)
    }
    params = {**base.params, **given}
    name, options = split_bot_spec(base.spec)
    changed = {key: text for key, text in options.items() if key not in given}
    changed |= {key: str(value) for key, value in given.items() if value != known[key]}
    spec = ":".join(filter(None, (name, ",".join(f"{key}={text}" for key, text in sorted(changed.items())))))
    return replace(
        base,
        label=label,
        key=label,
        spec=spec,
        identity=identify(params),
        params=params,
    )
