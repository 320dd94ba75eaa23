"""`arena init-bot`, `check`, `submit` and `withdraw`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from arena.cli.exit_codes import FAILED, FINE
from arena.cli.output import print_detail, print_json, print_text, wrong_estimates_in_words
from arena.isolation import Isolation
from arena.registry.init_bot import init_bot
from arena.registry.submissions import submitted
from arena.registry.submitting import SubmissionResult, withdraw
from arena.runner.check import ADVICE, BoardCheck, CheckResult, check, submit


def print_init_bot(name: str, game: str | None, language: str) -> None:
    """Run `arena init-bot`."""
    path = init_bot(name, game, language)
    print_text(f"{path} is written. Next:")
    for command in (
        ["match", game or "epicycle", str(path), "random"],
        ["check", str(path)],
        ["submit", str(path), "--name", name, "--author", "YOU"],
    ):
        print(f"  {shlex.join(['arena', *command])}")


def print_check(
    path: str,
    isolation: Isolation,
    game: Sequence[str] | None,
    players: Sequence[int] | None,
    as_json: bool,
    home: Path | None,
) -> int:
    """Run `arena check` and return the exit code."""
    report = check(path, isolation, game or (), players or (), home, _show(as_json))
    if as_json:
        print_json(report.as_dict())
    else:
        print_verdict(report)
    return FINE if report.ok else FAILED


def _show(as_json: bool) -> Callable[[BoardCheck], None]:
    """Return what is called with each board that has been checked."""
    return (lambda board: None) if as_json else print_board_check


def print_submit(
    path: str,
    name: str,
    author: str,
    isolation: Isolation,
    game: Sequence[str] | None,
    as_json: bool,
    home: Path | None,
) -> int:
    """Run `arena submit` and return the exit code."""
    kept, report = submit(path, name, author, isolation, game or (), home, _show(as_json))
    if as_json:
        print_json(_submission_data(kept, report))
        return FAILED if kept is None else FINE
    if report is not None:
        print_verdict(report)
    if kept is None:
        print_text("Not submitted.")
        return FAILED
    version = f"{name}@{kept.submission.newest.short}"
    if not kept.changed:
        print_text(f"Nothing changed: {version} is this source, and the newest version already.")
        return FINE
    for warning in kept.submission.newest.warnings:
        print_text(f"Worth a look: {warning}.")
    print_text(
        f"Submitted: {name}, version {len(kept.submission.versions)}, by {author}. "
        f"Tournaments name it {name}, which is its newest version, or {version}, which is always this one."
    )
    return FINE


def _submission_data(kept: SubmissionResult | None, report: CheckResult | None) -> dict[str, Any]:
    """Return the result of a submission as plain data."""
    newest = None if kept is None else kept.submission.newest
    return {
        "submitted": kept is not None,
        "changed": kept is not None and kept.changed,
        "bot": None if kept is None else f"{kept.name}@{kept.submission.newest.short}",
        "version": None if kept is None else len(kept.submission.versions),
        "warnings": [] if newest is None else list(newest.warnings),
        "check": None if report is None else report.as_dict(),
    }


def print_withdraw(name: str, home: Path | None) -> None:
    """Run `arena withdraw`."""
    if not withdraw(name, home):
        print_text(f"Nothing changed: {name} was withdrawn before.")
        return
    print_text(
        f"{name} is withdrawn: no new plan finds it. Tournaments that had it go on with "
        f"{name}@{submitted(home)[name].newest.short}; submitting it again brings it back."
    )


def print_board_check(board: BoardCheck) -> None:
    """Print the result of one board of a check."""
    result = ", ".join(problem.cause for problem in board.problems) or "ok"
    if board.timed and not board.problems:
        result += ", not compared because it plays by the clock"
    if board.wall_seconds:
        longest, cpu = _span(max(board.wall_seconds)), _span(max(board.cpu_seconds))
        result += f"; a move {_span(median(board.wall_seconds))}, worst {longest} (processor {cpu})"
    print_text(f"{board.board.title}: {result}")


def print_verdict(report: CheckResult) -> None:
    """Print the result of a check: what failed, why, and what to do."""
    failed = sum(bool(board.problems) for board in report.boards)
    for cause, found in report.causes().items():
        board, problem = found[0]
        print_text(f"\n{cause} on {len(found)} of {len(report.boards)} boards; {board.board.title}, {problem.where}:")
        print_detail(problem.detail or "nothing was said")
        print_text(f"{ADVICE.get(cause, '')} To reproduce:")
        print(f"  {problem.command}")
    printed = [board for board in report.boards if board.printed]
    if printed:
        print_text(
            f"\nIt printed on {len(printed)} of {len(report.boards)} boards; {printed[0].board.title}, at the end:"
        )
        print_detail(printed[0].printed)
    if wrong := sum(board.wrong_estimates for board in report.boards):
        print_text(f"\nIt gave {wrong_estimates_in_words(wrong)}")
    verdict = f"failed on {failed} of {len(report.boards)} boards" if failed else "fine on every board"
    if report.not_played:
        print_text(f"\nNot played, because the bot ran out of time before: {'; '.join(report.not_played)}.")
    limit = f"{report.limits.seconds_per_move:g} s for a move, {report.limits.memory:,} MiB of memory"
    print_text(f"\n{report.bot.spec}, isolation {report.bot.isolation}: {verdict}. Limits: {limit}.")


def _span(seconds: float) -> str:
    """Return a time with two digits, never in powers of ten."""
    number, unit = (seconds, "s") if seconds >= 1 else (seconds * 1000, "ms")
    return f"{float(f'{number:.2g}'):g} {unit}"
