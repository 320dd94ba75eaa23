"""Play a tuning run into its log, iteration after iteration, and compare its result with the start.

What an iteration has follows from the one before (`arena.schedule.tuning_iterations`); a process that is killed loses
nothing, and the next one goes on with the iteration that is in the log.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from arena.core.errors import ConfigError
from arena.core.paths import home_folder
from arena.plan.config import DEFAULT_FORMATS
from arena.plan.model import ResolvedPlan
from arena.plan.resolve import Plan
from arena.results.early import EarlyLeaderboards
from arena.results.exported import Outputs
from arena.results.finishing import finish
from arena.results.tuning import Claim, claim_of
from arena.runner.options import RunOptions
from arena.runner.run import Outcome, Progress, Run
from arena.schedule.blocks import Block, Schedule
from arena.schedule.kinds.tuning import Tuning
from arena.schedule.tuning.space import Values
from arena.schedule.tuning_iterations import is_over, next_schedule, recommended, tuning_of
from arena.store import Store
from arena.tournament.dice_keys import now, with_dice_keys
from arena.tournament.logs import LOG_FILE
from arena.tournament.same_rules import with_same_rules
from arena.tournament.seasons import plans_in_order, read_plan_text
from arena.tournament.tournament import Tournament
from arena.tournament.tunings import differences, is_tuning
from arena.tuning.request import FirstPlan, TuneRequest, first_plan
from arena.workers.process import WorkerProcess


class Step(NamedTuple):
    """How far a run is."""

    tuning: Tuning
    progress: Progress


@dataclass(frozen=True)
class TuneResult:
    """Result of a tuning run, finished or interrupted."""

    schedule: Schedule
    """The latest plan."""
    outcome: Outcome
    """Of the latest plan that was played."""
    folder: Path
    claim: Claim | None
    """None before the end, and where the result is the start."""
    spec: str | None
    """The tuned bot; None before the end."""
    matches: int
    """All in the log."""
    played: int
    """Matches played by this call."""
    seconds: float
    report: Path | None = None

    @property
    def tuning(self) -> Tuning:
        """The parameters, the trials so far, and what else the plan says of the run."""
        return tuning_of(self.schedule)

    @property
    def values(self) -> Values:
        """Values of the tuned bot, or what the iterations so far recommend."""
        return recommended(self.tuning)

    @property
    def name(self) -> str:
        """Name of the log."""
        return self.folder.name

    @property
    def is_finished(self) -> bool:
        """Whether the run is over."""
        return self.spec is not None


def tune(
    request: TuneRequest,
    workers: int | None = None,
    home: str | Path | None = None,
    show: Callable[[Step], None] = lambda step: None,
    planned: Callable[[Plan], None] = lambda plan: None,
    report: bool = True,
    same_rules: bool = False,
) -> TuneResult:
    """Tune a bot, or go on with the run of that name, and compare what comes out with the start on fresh seeds.

    `show` is called with the progress, `planned` with the first plan before anything is played. `same_rules` is as for
    `arena.api.run`. Raises `ConfigError` for a log of that name that is of anything else.
    """
    home_folder(home)
    options, started = RunOptions.of(workers, "local", rated=False), time.monotonic()
    worker = WorkerProcess()
    try:
        first = first_plan(request, worker, home)
        folder = home_folder(home) / first.plan.name
        with Tournament.create(folder / LOG_FILE) as tournament:
            found = _Tuning(tournament.store, first, options, worker, show)
            found.begin(same_rules, planned)
            outcome = found.play()
            page = found.finish(report) if found.is_complete else None
            matches = tournament.store.totals()[0]
        schedule = found.schedule
        claim = None if is_over(schedule) or not found.is_complete else claim_of(folder)
        spec = _spec(first, schedule) if found.is_complete else None
        return TuneResult(
            schedule, outcome, folder, claim, spec, matches, found.played, time.monotonic() - started, page
        )
    finally:
        worker.stop()


def _spec(first: FirstPlan, schedule: Schedule) -> str:
    """Return the spec of the tuned bot."""
    label = tuning_of(schedule).pair[0]
    return next((entry.spec for entry in schedule.entries if entry.label == label), first.tuned.spec)


class _Tuning:
    """A tuning run with its log open for writing."""

    def __init__(
        self,
        store: Store,
        first: FirstPlan,
        options: RunOptions,
        worker: WorkerProcess,
        show: Callable[[Step], None],
    ) -> None:
        self.store, self.first, self.options, self.worker, self.show = store, first, options, worker, show
        self.schedule = first.plan.schedule
        self.played = 0
        self.is_complete = False

    def begin(self, same_rules: bool, planned: Callable[[Plan], None]) -> None:
        """Find the iteration to play, and draw the key of secret dice if there are any."""
        store = self.store
        if store.runs.has_run():
            self._check_same()
        plan = with_dice_keys(with_same_rules(self.first.plan, store, same_rules), store)
        self.first = replace(self.first, plan=plan)
        keys = plan.schedule.keys
        self.schedule = replace(self.schedule, keys=keys)
        planned(plan)

    def _check_same(self) -> None:
        """Go on with the plan in the log; raises `ConfigError` where that is of another run."""
        name = self.first.plan.name
        tournament = Tournament(self.store)
        tournament.check_playable("nothing can be tuned here; choose another name")
        there = tournament.plan
        _, text, _ = next(plans_in_order(self.store))
        begun = read_plan_text(text, f"{self.store.path}: its first plan cannot be read")
        if not is_tuning(begun.schedule()):
            raise ConfigError(f"name = '{name}': is that of a tournament; choose another one by --name")
        if different := _different(begun, self.first.plan.resolved()):
            raise ConfigError(f"name = '{name}': is that of a run with {different}; choose another one by --name")
        self.schedule = there.schedule()

    def play(self) -> Outcome:
        """Play iteration after iteration, until the end or an interruption."""
        while True:
            plan = self.first.plan_of(self.schedule)
            tournament = Tournament(self.store, self.schedule)
            step = tuning_of(self.schedule)
            run = Run(plan, tournament, self.options, self.worker, functools.partial(self._show, step))
            outcome = run.play()
            self.played += outcome.progress.played
            if not outcome.complete:
                return outcome
            if step.is_final:
                self.is_complete = True
                return outcome
            found = differences(Tournament(self.store, self.schedule))
            assert found is not None
            self.schedule = next_schedule(self.schedule, found, self.first.identify)
            self.worker = WorkerProcess()
            if is_over(self.schedule):
                self.is_complete = True
                return outcome

    def _show(self, tuning: Tuning, progress: Progress) -> None:
        self.show(Step(tuning, progress))

    def finish(self, report: bool) -> Path | None:
        """Record that everything is in the log, and write its files."""
        if is_over(self.schedule):
            return None
        if not self.store.runs.is_finished():
            self.store.finish_run(now(), self._blocks() if self.schedule.has_secret_dice else None)
        tournament = Tournament(self.store)
        outputs = Outputs(DEFAULT_FORMATS, report, None)
        return finish(tournament, EarlyLeaderboards(tournament), outputs, lambda phase: None).report

    def _blocks(self) -> Iterator[Block]:
        """Yield the blocks of all iterations, none of which is ever drawn anew."""
        for _, text, _ in plans_in_order(self.store):
            plan = read_plan_text(text, f"{self.store.path}: a plan cannot be read")
            yield from Tournament(self.store, plan=plan).blocks()


def _different(begun: ResolvedPlan, asked: ResolvedPlan) -> str:
    """Return what differs between the first plans of two runs; empty where nothing does."""
    there, here = begun.model_dump(), asked.model_dump()
    fields_there, fields_here = (each["scheduler"]["fields"] for each in (there, here))
    words = {
        "start_values": "other values of the bot",
        "iteration_blocks": "other blocks",
        "sampler": "another version of Optuna",
    }
    for name, value in fields_here.items():
        if fields_there.get(name) != value:
            return words.get(name, f"other {name.replace('_', ' ')}")
    for name, what in (("seed", "another seed"), ("boards", "other games, openings or adjudication")):
        if there[name] != here[name]:
            return what
    return "" if there["bots"] == here["bots"] else "another bot, or another version of its source"
