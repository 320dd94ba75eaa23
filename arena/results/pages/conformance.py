"""The page of `arena check-game`: what every check has found, in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from arena.results.pages.templates import single_file
from engine.conformance import FAILED, NOT_APPLICABLE, PASSED, Finding
from engine.words import counted

STATUS_WORDS = {PASSED: "passed", FAILED: "failed", NOT_APPLICABLE: "not applicable"}


def summary(findings: Sequence[Finding]) -> str:
    """Return how many checks have passed, failed and did not apply, in words."""
    counts = {status: sum(finding.status == status for finding in findings) for status in STATUS_WORDS}
    others = (f"{counts[status]:,} {STATUS_WORDS[status]}" for status in (FAILED, NOT_APPLICABLE))
    return ", ".join([f"{counted(counts[PASSED], 'check')} passed", *others])


def conformance_page(spec: str, rules_version: int, seed: int, findings: Mapping[int, Sequence[Finding]]) -> bytes:
    """Return the page of a game's findings, by number of players, as one HTML file that loads nothing."""
    return single_file(
        "conformance.html",
        {players: [finding.plain() for finding in found] for players, found in findings.items()},
        title=f"Check of {spec}",
        summary=summary([finding for found in findings.values() for finding in found]),
        tables={players: (summary(found), found) for players, found in findings.items()},
        words=STATUS_WORDS,
        failed=FAILED,
        facts={
            "Game": spec,
            "Version of its rules": rules_version,
            "Seed": seed,
            "Checked by": f"pyramid-arena {version('pyramid-arena')}",
        },
    )
