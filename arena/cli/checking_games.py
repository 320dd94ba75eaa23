"""The command that holds anybody's game against the contract."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.cli.exit_codes import FINE, USER_ERROR
from arena.cli.output import Output, say
from arena.core.files import write_file
from arena.results.pages.conformance import WORDS, conformance_page, summary
from engine import game_type
from engine.conformance import FAILED, Finding, check_game
from engine.game_types import GameType
from engine.loading import check_players
from engine.specs import split_game_spec


def print_check_game(game: str, players: Sequence[int] | None, seed: int, time_limit: float, out: Path | None) -> int:
    """Run `arena check-game` and return the exit code."""
    kind = game_type(game)
    spec = kind.spec(kind.resolve(split_game_spec(game)[1]))
    found: dict[int, list[Finding]] = {}
    for number in _numbers(kind, players or ()):
        say(f"{spec} for {number} players")
        found[number] = []
        for finding in check_game(spec, number, seed, time_limit):
            found[number].append(finding)
            Output().print(line(finding), soft_wrap=True)
    everything = [finding for findings in found.values() for finding in findings]
    say(f"{spec}: {summary(everything)}.")
    if out is not None:
        say(f"Page: {write_file(out, [conformance_page(spec, kind.rules_version, seed, found)])}")
    return USER_ERROR if any(finding.status == FAILED for finding in everything) else FINE


def _numbers(kind: GameType, wanted: Sequence[int]) -> list[int]:
    """Return the numbers of players to check, all by default; raises `UnsupportedError` for one that cannot play."""
    for number in wanted:
        check_players(kind, number)
    return sorted({*wanted}) or [*range(kind.min_players, kind.max_players + 1)]


def line(finding: Finding) -> str:
    """Return a finding as a line."""
    what = "FAILED" if finding.status == FAILED else WORDS[finding.status]
    told = f" ({finding.detail})" if finding.detail else ""
    where = f" [{finding.where}]" if finding.where else ""
    return f"  {what}: {finding.check}: {finding.claim}{told}{where}"
