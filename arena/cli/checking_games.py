"""The command that holds anybody's game against the contract."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.cli import exit_codes
from arena.cli.output import Output, print_json, print_text
from arena.core.files import check_output_file, write_file
from arena.results.pages.conformance import STATUS_WORDS, conformance_page, summary
from engine import canonical_spec, game_type
from engine.conformance import FAILED, Finding, check_game
from engine.game_types import GameType
from engine.loading import check_players


def print_check_game(
    game: str, players: Sequence[int] | None, seed: int, time_limit: float, out: Path | None, as_json: bool
) -> int:
    """Run `arena check-game` and return the exit code."""
    tell = (lambda line: None) if as_json else print_text
    if out is not None:
        check_output_file(out, "--out", ".html")
    kind = game_type(game)
    spec = canonical_spec(game)
    found: dict[int, list[Finding]] = {}
    for number in _numbers(kind, players or ()):
        tell(f"{spec} for {number} players")
        found[number] = []
        for finding in check_game(spec, number, seed, time_limit):
            found[number].append(finding)
            if not as_json:
                Output().print(line(finding), soft_wrap=True)
    everything = [finding for findings in found.values() for finding in findings]
    tell(f"{spec}: {summary(everything)}.")
    if out is not None:
        page = write_file(out, [conformance_page(spec, kind.rules_version, seed, found)])
        tell(f"Page: {page}")
    if as_json:
        findings = [finding.plain() for finding in everything]
        print_json({"game": spec, "rules_version": kind.rules_version, "seed": seed, "findings": findings})
    return exit_codes.FAILED if any(finding.status == FAILED for finding in everything) else exit_codes.FINE


def _numbers(kind: GameType, wanted: Sequence[int]) -> list[int]:
    """Return the numbers of players to check, all by default; raises `UnsupportedError` for one that cannot play."""
    for number in wanted:
        check_players(kind, number)
    return sorted({*wanted}) or [*range(kind.min_players, kind.max_players + 1)]


def line(finding: Finding) -> str:
    """Return a finding as a line."""
    what = "FAILED" if finding.status == FAILED else STATUS_WORDS[finding.status]
    detail = f" ({finding.detail})" if finding.detail else ""
    where = f" [{finding.where}]" if finding.where else ""
    return f"  {what}: {finding.check}: {finding.claim}{detail}{where}"
