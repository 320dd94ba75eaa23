"""`arena tune`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from arena.cli.arguments import TuneOptions
from arena.cli.exit_codes import FINE, NOT_ALL_PLAYED
from arena.cli.output import (
    MATCHES_SAVED,
    Output,
    matches_in_words,
    plain_table,
    print_interrupted,
    print_json,
    print_text,
    print_to_stderr,
)
from arena.cli.progress import Display
from arena.core.errors import ConfigError, adding_saved_state
from arena.plan.resolve import Plan
from arena.results.columns import PARAMETER
from arena.results.tuning import Claim
from arena.results.tuning_curve import learning_curve, smoothed
from arena.runner.progress import per_second
from arena.schedule.kinds.tuning import Tuning
from arena.tuning.driver import Step, TuneResult, tune
from arena.tuning.request import TuneRequest

MAX_CURVE_ROWS = 10
"""Rows of the learning curve that are printed."""


def print_tuning(
    options: TuneOptions, workers: int | None, report: bool, as_json: bool, same_rules: bool, home: Path | None
) -> int:
    """Run `arena tune` and return the exit code."""
    request, display, plans = request_of(options), Display(), list[Plan]()

    def planned(plan: Plan) -> None:
        plans.append(plan)
        for line in plan.remarks:
            print_to_stderr(line)

    def show(step: Step) -> None:
        display.show(lambda: progress_line(step), stopping=step.progress.stopping)

    started = time.monotonic()
    try:
        with adding_saved_state(lambda: MATCHES_SAVED if plans else ""):
            found = tune(request, workers, home, show, planned, report, same_rules)
    except KeyboardInterrupt:  # while planning
        display.end()
        return print_interrupted("every match that was finished is")
    finally:
        display.end()
    if as_json:
        print_json({**result_dict(found), "seconds": round(time.monotonic() - started, 3)})
    else:
        _print(found)
    for fault in found.outcome.game_faults:
        print_to_stderr(f"the game {fault.game} failed, not a bot: {fault.line}\n{fault.trace}")
    for line in [*found.outcome.progress.remarks, *(f"not played: {line}" for line in found.outcome.not_played)]:
        print_to_stderr(line)
    if found.outcome.interrupted:
        return print_interrupted("every match that was finished is")
    return NOT_ALL_PLAYED if found.outcome.not_played else FINE


def request_of(options: TuneOptions) -> TuneRequest:
    """Return what the options ask for; raises `ConfigError`."""
    given = options.others()
    for name, plural in (("game", "games"), ("param", "params")):
        given[plural] = given.pop(name, [])
    if "players" in given:
        try:
            given["players"] = [int(each) for each in given["players"].split(",")]
        except ValueError:
            raise ConfigError(f"players = '{given['players']}': must be numbers, 2 or 2,3") from None
    return TuneRequest(**given, adjudication=options.rules())


def progress_line(step: Step) -> str:
    """Return how far a run is in words."""
    progress, tuning = step.progress, step.tuning
    where = "the result against the start" if tuning.is_final else f"iteration {len(tuning.trials) + 1:,}"
    where += "" if tuning.is_final else f" of {tuning.iterations:,}"
    rate = f", {per_second(progress.rate)}" if progress.played else ""
    return f"{where}: {progress.found + progress.played:,} of {progress.total:,} matches{rate}"


def result_dict(found: TuneResult) -> dict[str, Any]:
    """Return a result as plain data (docs/reference/json.md)."""
    tuning = found.tuning
    names = [parameter.name for parameter in tuning.parameters]
    return {
        "name": found.name,
        "method": tuning.method,
        "seed": found.schedule.seed,
        "parameters": [parameter.model_dump() for parameter in tuning.parameters],
        "boards": [{"game": board.game, "players": board.players} for board in found.schedule.boards],
        "fillers": list(tuning.fillers),
        "iterations": tuning.iterations,
        "blocks": tuning.iteration_blocks,
        "final_blocks": tuning.final_blocks,
        "start": dict(zip(names, tuning.start_values, strict=True)),
        "tuned": dict(zip(names, found.values, strict=True)) if found.is_finished else None,
        "spec": found.spec,
        "matches": found.matches,
        "curve": [
            {
                "iteration": number,
                "values": dict(zip(names, values, strict=True)),
                "first": dict(zip(names, trial.first, strict=True)),
                "second": dict(zip(names, trial.second, strict=True)),
                "difference": trial.difference,
                "differences": list(trial.differences),
            }
            for number, (values, trial) in enumerate(zip(_curve_values(tuning), tuning.trials, strict=True), 1)
        ],
        "claim": found.claim and found.claim.as_dict(),
    }


def _curve_values(tuning: Tuning) -> list[list[Any]]:
    frame = learning_curve(tuning)
    return [list(row[1:-1]) for row in frame.itertuples(index=False, name=None)]


def _print(found: TuneResult) -> None:
    tuning = found.tuning
    titles = "; ".join(board.title for board in found.schedule.boards)
    print_text(f"{tuning.method} on {titles}: {len(tuning.trials):,} of {tuning.iterations:,} iterations.")
    _print_curve(tuning)
    if found.is_finished:
        table = plain_table("parameter", "start", "tuned")
        for parameter, start, tuned in zip(tuning.parameters, tuning.start_values, found.values, strict=True):
            table.add_row(parameter.name, str(start), str(tuned))
        Output().print(table)
        print_text(claim_in_words(found.claim))
        print(f"The tuned bot: {found.spec}")
    print_text(f"{matches_in_words(found.matches)} in the log, {found.played:,} of them now, {found.seconds:.1f} s.")
    if found.report is not None:
        print(f"Report: {found.report.absolute().as_uri()}")
    print_text(f"Leaderboards, plan and log: {found.folder}{os.sep}")


def _print_curve(tuning: Tuning) -> None:
    """Print the learning curve, a row for each tenth of the iterations."""
    frame = learning_curve(tuning)
    if frame.empty:
        return
    means = smoothed(frame["difference"].to_numpy())
    first, second = ("plus", "minus") if tuning.method == "spsa" else ("candidate", "start")
    table = plain_table("iteration", *(each.name for each in tuning.parameters), f"{first} - {second}", "running mean")
    for at in np.unique(np.linspace(0, len(frame) - 1, min(MAX_CURVE_ROWS, len(frame))).round().astype(int)):
        row = frame.iloc[at]
        found = [(each, row[f"{PARAMETER}{each.name}"]) for each in tuning.parameters]
        values = [str(int(value) if each.whole else value) for each, value in found]
        table.add_row(f"{int(row['iteration']):,}", *values, f"{row['difference']:+z.3f}", f"{means[at]:+z.3f}")
    Output().print(table)


def claim_in_words(claim: Claim | None) -> str:
    """Return how much better the result is than the start."""
    if claim is None:
        return "No better values were found: the result is the start, and there was nothing to compare."
    found = claim.difference
    interval = f"{found.score:+z.3f} (95 %: {found.low:+z.3f} to {found.high:+z.3f})"
    counted = f"in {matches_in_words(claim.matches)} on fresh seeds"
    if claim.is_better:
        sentence = f"tuned is stronger than start: mean return {interval}, {counted}."
    elif found.high < 0:
        sentence = f"tuned is weaker than start: mean return {interval}, {counted}."
    else:
        sentence = f"Not known whether tuned is stronger than start: mean return {interval}, {counted}."
    if len(claim.boards) == 1:
        return sentence
    parts = [
        f"{board.board.title} {board.difference.score:+z.3f} ({board.difference.low:+z.3f} to "
        f"{board.difference.high:+z.3f})"
        for board in claim.boards
    ]
    return f"{sentence} By board: {'; '.join(parts)}."
