"""`arena compare`, and what it prints with --from."""

from __future__ import annotations

from pathlib import Path

import typer

from arena import api
from arena.cli.arguments import BoardOptions, MatchupOptions, StopOptions
from arena.cli.comparing import (
    blocks_in_words,
    by_interval,
    forfeits_in_words,
    print_comparison,
    print_figures,
    repeats_in_words,
    saving_in_words,
    stronger_in_words,
    verdict_code,
)
from arena.cli.crosstable import print_crosstable
from arena.cli.exit_codes import FINE
from arena.cli.output import OWN_DICE, matches_in_words, print_json, print_text
from arena.results.comparison import LoggedComparison
from arena.stats.sprt import Sprt

LOG_OPTIONS = ("a", "b", "game", "players")
"""Options of a matchup that apply where nothing is played."""
ELO_UNITS = {"logistic": "Elo", "normalized": "normalised Elo"}


def compare(
    matchup: MatchupOptions,
    stop: StopOptions,
    source: str | None,
    workers: int | None,
    exit_code: bool,
    as_json: bool,
    same_rules: bool,
    home: Path | None,
) -> int:
    """Run `arena compare` and return the exit code."""
    if source is None:
        if matchup.b is None:
            raise typer.BadParameter("is missing: another bot; only with --from it may be left out", param_hint="B")
        return print_comparison(matchup, stop, workers, exit_code, as_json, same_rules, home)
    test = {name: value for name, value in vars(stop).items() if value is not None}
    played = {
        **{name: value for name, value in vars(matchup).items() if name not in LOG_OPTIONS},
        **{name: test.pop(name, None) for name in ("fixed", "max_blocks")},
        "workers": workers,
    }
    for name, value in played.items():
        if value is not None and value is not False and value != []:
            option = {"fillers": "with"}.get(name, name).replace("_", "-")
            raise typer.BadParameter(f"plays nothing, so --{option} has no effect", param_hint="--from")
    if matchup.b is None:
        if test or exit_code:
            option = f"--{next(iter(test))}" if test else "--exit-code"
            raise typer.BadParameter("is about two bots, and B is missing", param_hint=option)
        boards = BoardOptions(source, matchup.game, matchup.players, "json" if as_json else "table", home)
        print_crosstable(boards, matchup.a, matrix=False, alpha_rank=False)
        return FINE
    found = api.compare_in(source, matchup.a, matchup.b, matchup.game, matchup.players, Sprt(**test), home)
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)
    return verdict_code(found) if exit_code else FINE


def _print(found: LoggedComparison) -> None:
    among = f", among {', '.join(found.fillers)}" if found.fillers else ""
    print_text(f"{found.a} (A) and {found.b} (B) on {found.board.title}: their matches in {found.name}{among}.")
    print_text(stronger_in_words(found))
    print_figures(found, found.test)
    known = f"; {forfeits_in_words(found.forfeits)}" if found.forfeits else ""
    print_text(f"{blocks_in_words(found.blocks)}, {matches_in_words(found.matches)}{known}.")
    lines = (
        repeats_in_words(found.repeats)
        + ([OWN_DICE] if found.own_dice else [])
        + saving_in_words(found.saving, found.shared)
    )
    for line in (*decision(found), *lines, *found.remarks):
        print_text(line)


def decision(found: LoggedComparison) -> tuple[str, str]:
    """Return what the test would have said in words, and how much that is worth."""
    test, unit = found.test, ELO_UNITS[found.test.model]
    what = f"A test of {test.elo1:g} {unit} (H1) against {test.elo0:g} (H0)"
    if found.decision is None or found.decided_after is None:
        said = f"would go on after all {blocks_in_words(found.blocks)}"
    else:
        said = f"that reads the blocks in the log's order says {found.decision} after {found.decided_after:,} of them"
    ratio = f"LLR of all {found.llr:+z.2f}, bounds {test.lower:.2f} and {test.upper:.2f}"
    if found.decision is None:
        ratio += by_interval(found)
    return (
        f"{what} {said}. {ratio}.",
        "Nothing was stopped by that test: its error rates hold for the first decision alone, not for the LLR of all, "
        "and only if the test was chosen before anybody saw the results. Estimates take the number of blocks as given.",
    )
