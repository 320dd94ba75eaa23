"""`arena verify` and `arena archive`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Literal

from arena.cli.exit_codes import FAILED, FINE
from arena.cli.output import Output, matches_in_words, plain_table, print_json, print_text
from arena.cli.progress import Display, bar
from arena.core.errors import ConfigError
from arena.isolation import Isolation
from arena.verify.archive import make_archive
from arena.verify.verification import Verification, verify
from engine.errors import one_line


def print_verification(
    target: str,
    rerun: str | None,
    seed: int,
    isolation: Isolation | None,
    workers: int | None,
    as_json: bool,
    home: Path | None,
) -> int:
    """Run `arena verify` and return the exit code."""
    display = Display(quiet=as_json)

    def show(what: str, done: int, total: int) -> None:
        text = f"{what} {done:,}/{matches_in_words(total)}" if total else what
        display.show(lambda: text, lambda width, height: bar(done, total or None, text))

    try:
        report = verify(target, home, _rerun(rerun), seed, workers, isolation, show)
    finally:
        display.end()
    if as_json:
        print_json(report.as_dict())
    else:
        _print(report)
    return FINE if report.sound else FAILED


def _rerun(given: str | None) -> int | Literal["all"] | None:
    if given is None or given == "all":
        return given  # type: ignore[return-value]  # mypy does not narrow text by ==
    if not given.isdecimal() or not 1 <= int(given) <= 10_000_000:
        raise ConfigError(f"--rerun {given}: must be all, or a number of matches from 1 to 10,000,000")
    return int(given)


def _print(report: Verification) -> None:
    totals = report.totals
    runs = "1 run" if report.runs == 1 else f"{report.runs:,} runs"
    print_text(f"{one_line(report.target)}: {matches_in_words(totals.matches)} in {totals.blocks:,} blocks, of {runs}.")
    if report.manifest:
        print_text(f"BLAKE2b-256 of its manifest: {report.manifest}")
    if report.running:
        print_text("A run is writing to this log; what was there when the check began was checked.")
    if totals.matches:
        draws = f"{totals.draws:,} rolls and random moves recomputed from the keys"
        print_text(f"{matches_in_words(totals.matches - totals.unverified)} replayed by the rules, {draws}.")
    if not report.comparison and totals.planned:
        _print_missing(report)
    if totals.earlier_blocks:
        print_text(f"{totals.earlier_blocks:,} blocks belong to earlier plans of this log alone.")
    if report.compared:
        files = "1 exported file" if len(report.compared) == 1 else f"{len(report.compared)} exported files"
        print_text(f"{files} compared with what the log says.")
    if report.rerun:
        _print_bots(report)
    for remark in report.remarks:
        print_text(f"Note: {remark}.")
    if report.sound is not False:
        print_text("Sound." if report.sound else "NOT CHECKED: no match can be replayed here.")
        return
    print_text(f"NOT SOUND: {'1 finding' if report.count == 1 else f'{report.count:,} findings'}.")
    for finding in report.findings:
        print_text(f"- {finding}")
    if report.count > len(report.findings):
        print_text(f"... and {report.count - len(report.findings):,} more.")


def _print_missing(report: Verification) -> None:
    missing = report.totals.planned - report.totals.present
    if missing > 0:
        state = "" if report.finished else ", which is not finished"
        print_text(
            f"{matches_in_words(missing)} of {report.totals.planned:,} of the latest plan{state}, are not there."
        )
    else:
        print_text("The latest plan is complete.")


def _print_bots(report: Verification) -> None:
    print_text(f"{matches_in_words(report.rerun)} played again:")
    table = plain_table()
    for bot in report.bots:
        if bot.deterministic is None:
            result = "not tried"
        elif bot.deterministic:
            result = f"deterministic, in {matches_in_words(bot.matches)}"
        else:
            result = f"not deterministic: match {bot.differing}, ply {bot.ply}"
        table.add_row(f"  {one_line(bot.bot)}", result)
    Output().print(table)


def print_archive(target: str, out: Path | None, as_json: bool, home: Path | None) -> None:
    """Run `arena archive`."""
    path = make_archive(target, home, out)
    size = path.stat().st_size
    if as_json:
        print_json({"archive": str(path), "bytes": size})
    else:
        print_text(f"{path}: {size:,} bytes. To check it:")
        print(f"  {shlex.join(['arena', 'verify', str(path)])}")
