"""`arena compare`."""

from __future__ import annotations

import json
import math
import os
import shlex
import time
from pathlib import Path
from typing import Any

from arena.cli.exit_codes import FINE, INTERRUPTED, NOT_ALL_PLAYED
from arena.cli.output import OWN_DICE, Output, matches, plain_table, say, tell
from arena.cli.progress import Display
from arena.plan.resolve import Plan
from arena.runner.compare import Comparison, compare
from arena.runner.options import MAX_BLOCKS, Matchup, StopRule
from arena.runner.run import Progress
from arena.runner.tally import Tally
from arena.stats.estimates import Estimate
from arena.stats.sprt import Sprt

BAR = 20
"""Characters between the two bounds."""


def print_comparison(matchup: Matchup, stop: StopRule, workers: int | None, as_json: bool, home: Path | None) -> int:
    """Run `arena compare` and return the exit code."""
    again = _again(matchup, stop, workers, as_json, home)
    display = Display()

    def planned(plan: Plan) -> None:
        for line in plan.remarks:
            tell(line)

    def show(progress: Progress, tally: Tally) -> None:
        display.show(lambda: progress_line(progress, tally), stopping=progress.stopping)

    started = time.monotonic()
    try:
        found = compare(matchup, stop, workers, home, show=show, planned=planned)
    except KeyboardInterrupt:  # while planning
        display.end()
        tell(f"Interrupted: every match that was finished is saved. To go on:\n  {again}")
        return INTERRUPTED
    finally:
        display.end()
    seconds = time.monotonic() - started
    if as_json:
        print(json.dumps({**found.as_dict(), "seconds": round(seconds, 3)}, indent=1, ensure_ascii=False))
    else:
        _print(found, seconds)
    for fault in found.outcome.game_faults:
        tell(f"the game {fault.game} failed, not a bot: {fault.line}\n{fault.trace}")
    for line in [*found.outcome.progress.remarks, *(f"not played: {line}" for line in found.outcome.not_played)]:
        tell(line)
    if found.end == "interrupted":
        tell(f"Interrupted: every block up to here is saved. To go on:\n  {again}")
        return INTERRUPTED
    return NOT_ALL_PLAYED if found.outcome.not_played else FINE


def _again(matchup: Matchup, stop: StopRule, workers: int | None, as_json: bool, home: Path | None) -> str:
    """Return the command line that resumes a comparison."""
    usual = {**vars(Sprt()), "max_blocks": MAX_BLOCKS, "seed": 0}
    test = {"fixed": stop.blocks} if stop.test is None else {**vars(stop.test), "max_blocks": stop.blocks}
    options: dict[str, Any] = {"game": matchup.game, "players": matchup.players, **test, "seed": matchup.seed}
    options |= {"opening": matchup.opening, "isolation": matchup.isolation, "workers": workers}
    options["home"] = home if str(home) != os.environ.get("ARENA_HOME") else None
    given = [
        part
        for name, value in options.items()
        if value is not None and usual.get(name) != value
        for part in (f"--{name.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value))
    ]
    given += [part for filler in matchup.fillers for part in ("--with", filler)]
    given += ["--common-dice"] * matchup.common_dice + ["--json"] * as_json
    return shlex.join(["arena", "compare", matchup.a, matchup.b, *given])


def progress_line(progress: Progress, tally: Tally) -> str:
    """Return the number of blocks and, for a test, the log-likelihood ratio between its bounds."""
    blocks = len(tally.blocks)
    if tally.test is None:
        return f"{blocks:,} of {progress.total // 2:,} blocks, {progress.rate:,.0f} matches/s"
    low, high = tally.test.lower, tally.test.upper
    place = round(min(max((tally.llr - low) / (high - low), 0.0), 1.0) * BAR)
    bar = f"{'─' * place}┃{'─' * (BAR - place)}"
    return f"{blocks:,} blocks, {progress.rate:,.0f}/s  H0 {low:.2f} {bar} {high:.2f} H1  LLR {tally.llr:+.2f}"


def _print(found: Comparison, seconds: float) -> None:
    say(f"{found.a} (A) and {found.b} (B) on {found.board.title}: {_how(found)}.")
    say(conclusion(found))
    table = plain_table()
    if found.elo and found.difference:
        table.add_row("Elo of A over B", *_cells(found.elo, ".0f", 1200))
        table.add_row("return of A minus B", *_cells(found.difference, ".3f"))
        if found.test and found.test.model == "normalized" and found.normalized_elo:
            table.add_row("normalised Elo", *_cells(found.normalized_elo, ".0f"))
        Output().print(table)
    count = len(found.tally.blocks)
    played = f"{count:,} block{'s' * (count != 1)}, {matches(2 * count)}, {seconds:.1f} s"
    forfeits = found.tally.forfeits
    say(f"{played}; forfeits: {f'A {forfeits[0]:,}, B {forfeits[1]:,}' if any(forfeits) else 'none'}.")
    for line in _remarks(found):
        say(line)
    say(f"Log and comparison.json: {found.folder}{os.sep}")


def _cells(estimate: Estimate, digits: str, most: float = math.inf) -> tuple[str, str]:
    """Return an estimate and its interval; Elo out of range is marked."""

    def cell(value: float) -> str:
        text = f"{value + 0.0:+{digits}}"  # no negative zero
        return text if abs(value) < most - 0.5 else f"{'over' if value > 0 else 'under'} {text}"

    return cell(estimate.score), f"95 %: {cell(estimate.low)} to {cell(estimate.high)}"


def _how(found: Comparison) -> str:
    dice = "dice of each match's own" if found.own_dice else "common dice"
    if found.duel:
        return f"they take turns in each seat, among {', '.join(found.fillers)}, with {dice}"
    return f"pairs of matches with seats swapped and {dice}"


def conclusion(found: Comparison) -> str:
    """Return the result of the test in words."""
    test, tally = found.test, found.tally
    if test is None:
        return "A fixed number of blocks: no test, an estimate only."
    bounds = f"LLR {tally.llr:+.2f}, bounds {test.lower:.2f} and {test.upper:.2f}"
    unit = "Elo" if test.model == "logistic" else "normalised Elo"
    if tally.verdict == "H1":
        more = "A is stronger than B" if test.elo0 == 0 else f"A over B is worth more than {test.elo0:+g} {unit}"
        return f"H1: {more}. {bounds}; at {test.elo0:g} {unit}, {100 * test.alpha:g} % of tests would say so."
    if tally.verdict == "H0":
        less = f"A over B is worth less than {test.elo1:+g} {unit}"
        return f"H0: {less}. {bounds}; at {test.elo1:g} {unit}, {100 * test.beta:g} % of tests would say so."
    return f"Undecided: {REASONS[found.end]}. {bounds}."


REASONS = {
    "max_blocks": "--max-blocks is reached; a larger one goes on",
    "openings": "both bots are deterministic, and there are no more distinct openings; --opening random:k has more",
    "interrupted": "interrupted",
    "not_played": "matches could not be played",
}


def _remarks(found: Comparison) -> list[str]:
    lines = []
    if found.tally.repeats:
        lines.append(
            f"{found.tally.repeats:,} of the blocks repeat others move for move (deterministic bots, the same opening) "
            "and are not counted."
        )
    saving = found.saving
    if found.own_dice:
        lines.append(f"{OWN_DICE} --common-dice has them share dice, for bots whose authors are trusted.")
    if not math.isnan(saving.factor) and (found.board.opening or not found.own_dice):
        shared = "Common openings" if found.own_dice else "Common dice, openings and seeds"
        lines.append(
            f"{shared}: without them it would take {saving.factor:.2f} times as many blocks "
            f"(95 %: {saving.low:.2f} to {saving.high:.2f})."
        )
    if found.end == "decided":
        lines.append("The estimate allows for the early stop (median-unbiased).")
    return lines
