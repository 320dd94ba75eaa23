"""`arena compare`."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from arena.cli.arguments import MatchupOptions, StopOptions
from arena.cli.exit_codes import A_STRONGER, B_STRONGER, FINE, NOT_ALL_PLAYED, UNDECIDED
from arena.cli.output import (
    MATCHES_SAVED,
    OWN_DICE,
    Output,
    matches_in_words,
    plain_table,
    print_interrupted,
    print_json,
    print_text,
    print_to_stderr,
)
from arena.cli.progress import Display
from arena.core.errors import adding_saved_state
from arena.plan.resolve import Plan
from arena.results.comparison import elo_remarks
from arena.runner.compare import Comparison, compare
from arena.runner.options import DEFAULT_MAX_BLOCKS, Matchup, StopRule
from arena.runner.progress import Progress, per_second
from arena.stats.estimates import ScoreEstimate
from arena.stats.paired import Saving
from arena.stats.sprt import Sprt
from arena.tournament.tally import Tally

if TYPE_CHECKING:
    from arena.results.comparison import LoggedComparison

MAX_BLOCKS_SHOWN = 5_000_000
"""Blocks beyond which no number is shown."""
BAR_CHARS = 20
"""Characters between the two bounds."""


def print_comparison(
    matchup: MatchupOptions,
    stop: StopOptions,
    workers: int | None,
    exit_code: bool,
    as_json: bool,
    same_rules: bool,
    home: Path | None,
) -> int:
    """Run `arena compare` without --from and return the exit code."""
    if matchup.game is None:
        raise typer.BadParameter("is missing: a game spec, or the log of matches played, --from", param_hint="--game")
    rule = stop_rule(stop)
    asked = Matchup(**matchup.others(), adjudication=matchup.rules())
    display = Display()
    plans = []

    def planned(plan: Plan) -> None:
        plans.append(plan)
        for line in plan.remarks:
            print_to_stderr(line)

    def show(progress: Progress, tally: Tally) -> None:
        display.show(lambda: progress_line(progress, tally), stopping=progress.stopping)

    started = time.monotonic()
    try:
        with adding_saved_state(lambda: MATCHES_SAVED if plans else ""):
            found = compare(asked, rule, workers, home, show, planned, same_rules, print_to_stderr)
    except KeyboardInterrupt:  # while planning
        display.end()
        return print_interrupted("every match that was finished is")
    finally:
        display.end()
    seconds = time.monotonic() - started
    if as_json:
        print_json({**found.as_dict(), "seconds": round(seconds, 3)})
    else:
        _print(found, seconds)
    for fault in found.outcome.game_faults:
        print_to_stderr(f"the game {fault.game} failed, not a bot: {fault.line}\n{fault.trace}")
    for line in [*found.outcome.progress.remarks, *(f"not played: {line}" for line in found.outcome.not_played)]:
        print_to_stderr(line)
    if found.end == "interrupted":
        return print_interrupted("every block up to here is")
    if found.outcome.not_played:
        return NOT_ALL_PLAYED
    return verdict_code(found) if exit_code else FINE


def verdict_code(found: Comparison | LoggedComparison) -> int:
    """Return the exit code that says which bot is stronger."""
    return {"a": A_STRONGER, "b": B_STRONGER, None: UNDECIDED}[found.as_dict()["stronger"]]


def stop_rule(options: StopOptions) -> StopRule:
    """Return when a comparison ends; a test and a fixed number of blocks exclude each other."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    fixed = given.pop("fixed", None)
    if fixed is not None and given:
        unused = f"runs no test, so --{next(iter(given)).replace('_', '-')} has no effect"
        raise typer.BadParameter(unused, param_hint="--fixed")
    most = given.pop("max_blocks", DEFAULT_MAX_BLOCKS)
    return StopRule(Sprt(**given), most) if fixed is None else StopRule.fixed(fixed)


def progress_line(progress: Progress, tally: Tally) -> str:
    """Return the number of blocks and, for a test, the log-likelihood ratio between its bounds."""
    count, rate = len(tally.blocks), f", {per_second(progress.rate)}" if progress.played else ""
    if tally.test is None:
        return f"{count:,} of {progress.total // 2:,} blocks{rate}"
    low, high = tally.test.lower, tally.test.upper
    place = round(min(max((tally.llr - low) / (high - low), 0.0), 1.0) * BAR_CHARS)
    bar = f"{'─' * place}┃{'─' * (BAR_CHARS - place)}"
    return f"{count:,} blocks{rate}  H0 {low:.2f} {bar} {high:.2f} H1  LLR {tally.llr:+z.2f}"


def _print(found: Comparison, seconds: float) -> None:
    print_text(f"{found.a} (A) and {found.b} (B) on {found.board.title}: {_how(found)}.")
    for line in (stronger_in_words(found), conclusion_in_words(found)):
        print_text(line)
    print_figures(found, found.tally.test)
    count = len(found.tally.blocks)
    played, forfeited = matches_in_words(2 * count), forfeits_in_words(found.tally.forfeits)
    print_text(f"{blocks_in_words(count)}, {played}, {seconds:.1f} s; {forfeited}.")
    for line in _remarks(found):
        print_text(line)
    print_text(f"Log and comparison.json: {found.folder}{os.sep}")
    Output().print(f"Its name for other commands: {found.plan.name.partition('/')[2]}", soft_wrap=True)


def print_figures(found: Comparison | LoggedComparison, test: Sprt | None) -> None:
    """Print the estimates; nothing where there is no block."""
    table = plain_table()
    if found.elo and found.difference:
        table.add_row("Elo of A over B", *_cells(found.elo, ".0f", 1200))
        table.add_row("return of A minus B", *_cells(found.difference, ".3f"))
        if test and test.model == "normalized" and found.normalized_elo:
            table.add_row("normalised Elo", *_cells(found.normalized_elo, ".0f"))
        Output().print(table)


def blocks_in_words(count: int) -> str:
    """Return a number of blocks in words."""
    return f"{count:,} block{'s' * (count != 1)}"


def forfeits_in_words(counts: Sequence[int]) -> str:
    """Return the forfeits of A and B in words."""
    return f"forfeits: {f'A {counts[0]:,}, B {counts[1]:,}' if any(counts) else 'none'}"


def _cells(estimate: ScoreEstimate, digits: str, most: float = math.inf) -> tuple[str, str]:
    """Return an estimate and its interval; Elo out of range is marked."""

    def cell(value: float) -> str:
        text = f"{value:+z{digits}}"
        return text if abs(value) < most - 0.5 else f"{'over' if value > 0 else 'under'} {text}"

    return cell(estimate.score), f"95 %: {cell(estimate.low)} to {cell(estimate.high)}"


def _how(found: Comparison) -> str:
    dice = "dice of each match's own" if found.own_dice else "common dice" * ("dice" in found.shared)
    if found.fillers:
        return f"they take turns in each seat, among {', '.join(found.fillers)}" + f", with {dice}" * bool(dice)
    return "pairs of matches with seats swapped" + f" and {dice}" * bool(dice)


def stronger_in_words(found: Comparison | LoggedComparison) -> str:
    """Return which bot is stronger, by how much and how surely, or how many matches it would take to know."""
    ahead, elo = found.lead, found.elo
    if ahead is None or elo is None:
        return "Not known which is stronger: no block is complete."
    sign = ahead.sign or (1 if elo.score >= 0 else -1)
    ends = (elo.low, elo.high) if sign > 0 else (-elo.high, -elo.low)
    value, interval = _cells(ScoreEstimate(sign * elo.score, *ends), ".0f", 1200)
    value = value.replace("+", "")
    one, other = (f"{found.a} (A)", f"{found.b} (B)")[::sign]
    if ahead.confidence is not None:
        how = " by the test, which is one-sided" * (ends[0] <= 0)
        return (
            f"{one} is stronger than {other}, by {value} Elo ({interval}; sure at {100 * ahead.confidence:g} %{how})."
        )
    so_far = f"{one} is ahead by {value} Elo ({interval})" if round(elo.score) else f"they are even ({interval} Elo)"
    if ahead.more_blocks is None or ahead.more_blocks > MAX_BLOCKS_SHOWN:
        more = "no practical number of matches would decide, unless they differ by more"
    else:
        needed = two_digits(round(found.matches_per_block * ahead.more_blocks))
        more = f"if that is right, about {needed} more matches would decide"
    return f"Not known which is stronger: {so_far}; {more}."


def two_digits(count: int) -> str:
    """Return a number to two digits: it is an estimate."""
    digits = max(len(str(count)) - 2, 0)
    return f"{round(count, -digits):,}"


def conclusion_in_words(found: Comparison) -> str:
    """Return the result of the test in words."""
    test, tally = found.tally.test, found.tally
    if test is None:
        return "A fixed number of blocks: no test, an estimate only."
    bounds = f"LLR {tally.llr:+z.2f}, bounds {test.lower:.2f} and {test.upper:.2f}"
    unit = "Elo" if test.model == "logistic" else "normalised Elo"
    if tally.verdict == "H1":
        more = "A is stronger than B" if test.elo0 == 0 else f"A over B is worth more than {test.elo0:+g} {unit}"
        return f"H1: {more}. {bounds}; at {test.elo0:g} {unit}, {100 * test.alpha:g} % of tests would say so."
    if tally.verdict == "H0":
        less = f"A over B is worth less than {test.elo1:+g} {unit}"
        return f"H0: {less}. {bounds}; at {test.elo1:g} {unit}, {100 * test.beta:g} % of tests would say so."
    return f"The test has not decided: {END_REASONS[found.end]}. {bounds}{by_interval(found)}."


def by_interval(found: Comparison | LoggedComparison) -> str:
    """Return a remark that the first line rests on the interval alone, if it names a stronger bot."""
    if found.lead is None or not found.lead.sign:
        return ""
    return "; which bot is stronger is known from the interval above, whatever the test would say"


END_REASONS = {
    "max_blocks": "--max-blocks is reached; a larger one goes on",
    "openings": "both bots are deterministic, and there are no more distinct openings; --opening random:k has more",
    "interrupted": "interrupted",
    "not_played": "matches could not be played",
}


def saving_in_words(saving: Saving, shared: Sequence[str]) -> list[str]:
    """Return how much is saved by what the matches of a block share, if that is known."""
    if math.isnan(saving.factor) or not shared:
        return []
    listed = " and ".join(filter(None, (", ".join(shared[:-1]), shared[-1])))
    return [
        f"Common {listed}: without them it would take {saving.factor:.2f} times as many blocks "
        f"(95 %: {saving.low:.2f} to {saving.high:.2f})."
    ]


def repeats_in_words(count: int) -> list[str]:
    """Return how many blocks are not counted, if any."""
    if not count:
        return []
    return [
        f"{count:,} of the blocks repeat others move for move (deterministic bots, the same opening) "
        "and are not counted."
    ]


def _remarks(found: Comparison) -> list[str]:
    lines = repeats_in_words(found.tally.repeats)
    if found.own_dice:
        lines.append(f"{OWN_DICE} --common-dice has them share dice, for bots whose authors are trusted.")
    lines += saving_in_words(found.saving, found.shared)
    if found.tally.blocks:
        lines += elo_remarks(found.board.players, not found.fillers)
    if found.end == "decided":
        lines.append("The estimate allows for the early stop (median-unbiased).")
    return lines
