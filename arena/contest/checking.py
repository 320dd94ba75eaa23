"""Check what was handed in, in the sandbox, and write the report line by line as it comes.

Whatever a bot does, the check ends: every answer has its limit, and no board is begun after `MAX_CHECK_SECONDS`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

from arena.accounts import Accounts, BotVersion
from arena.contest.config import ContestConfig, contest_from
from arena.contest.entrants import games_of, resolved_version
from arena.core.errors import ArenaError, StoreError, WorkerError
from arena.core.limits import Limits
from arena.core.text import bots_part
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.results.pages.templates import board_name
from arena.runner.check import ADVICE, OPPONENT_SPEC, BoardCheck, check_found
from arena.workers.process import WorkerProcess
from engine import EngineError

MAX_CHECK_SECONDS = 300.0
MAX_DETAIL_CHARS = 4_000
"""Of what a bot left behind when it failed, in a report."""


class CheckError(ArenaError):
    """A check could not be made; it says nothing of the bot."""

    def __init__(self, label: str, reason: str) -> None:
        super().__init__(f"{label} could not be checked: {reason}")
        self.label = label


def next_version(
    accounts: Accounts,
    failed: Container[str] = frozenset(),
    resting: Container[str] = frozenset(),
    busy: Container[str] = frozenset(),
) -> BotVersion | None:
    """Return the version that is to be checked next; None where none waits.

    Versions whose check has `failed`, by label, come after all others, so that none of them keeps others out, and those
    that are `resting` not at all, as those of a bot that is `busy`: whose version is being checked.
    """
    found = accounts.submissions.waiting()
    waiting = [version for version in found if version.label not in resting and version.bot not in busy]
    return min(waiting, key=lambda version: version.label in failed, default=None)


def check_begun(
    accounts: Accounts,
    version: BotVersion,
    home: Path,
    worker: WorkerProcess,
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Check a version that is marked as being checked, and say how it ended.

    What comes out while this is `stopping` counts for nothing, since the worker may have been ended: the check is begun
    anew, as is one whose machine fails. Raises `CheckError` where the machine fails.
    """
    try:
        valid = check_version(accounts, version, home, worker, stopping)
    except (StoreError, WorkerError, OSError) as error:  # of this machine: nobody's bot is to blame
        accounts.submissions.restart_check(version)
        if not stopping():
            raise CheckError(version.label, str(error)) from error
        return
    if stopping():
        accounts.submissions.restart_check(version)
    else:
        accounts.submissions.end_check(version, valid)


def check_version(
    accounts: Accounts,
    version: BotVersion,
    home: Path,
    worker: WorkerProcess,
    stopping: Callable[[], bool] = lambda: False,
) -> bool:
    """Check a version and write its report; return whether it is valid. No board is begun while this is `stopping`."""
    bot = accounts.submissions.bot(version.bot)
    config = contest_from(accounts.contests.get(bot.contest).config)
    try:
        return _check(accounts, version, config, home, worker, stopping)
    except (StoreError, WorkerError):
        raise
    except (ArenaError, EngineError) as error:
        words = str(error).replace(f"{home.absolute()}{os.sep}", "").replace(f"{home}{os.sep}", "")
        _say(accounts, version, f"It cannot be used: {words}"[:MAX_DETAIL_CHARS])
        return False


def _check(
    accounts: Accounts,
    version: BotVersion,
    config: ContestConfig,
    home: Path,
    worker: WorkerProcess,
    stopping: Callable[[], bool],
) -> bool:
    boards = games_of(config)
    games = [game for game, _ in boards]
    _say(accounts, version, "It is loaded in the sandbox, and asked what it plays.")
    bot = resolved_version(version, games, home, worker)
    for game, refusal in zip(games, bot.refusals, strict=True):
        if refusal is not None:
            _say(accounts, version, f"{game.spec}, {game.players} players: it {refusal}")
    if all(refusal is not None for refusal in bot.refusals):
        _say(accounts, version, "It plays on none of the boards of this contest.")
        return False
    (opponent,) = resolve_bots([BotEntry(bot=OPPONENT_SPEC)], games, (), worker)
    started = time.monotonic()

    def show(board: BoardCheck) -> None:
        accounts.submissions.report(version, _line(board))

    def is_over() -> bool:
        late = time.monotonic() - started > MAX_CHECK_SECONDS
        return late or stopping() or not accounts.submissions.is_being_checked(version)

    path = version.module.replace(".", "/") + ".py" if version.class_name else "."
    result = check_found([bot, opponent], boards, path, worker, Limits(**config.limits.model_dump()), show, is_over)
    if result.not_played:
        left = [board_name(game.spec, game.players) for game, _ in boards][-len(result.not_played) :]
        why = "it ran out of time before" if result.boards and result.boards[-1].hung else "the check took too long"
        _say(accounts, version, f"Not played, since {why}: {', '.join(left)}.")
    return result.ok


def _line(board: BoardCheck) -> dict[str, Any]:
    """Return the line of a report on a board."""
    problems = [
        {
            "cause": problem.cause,
            "where": problem.where,
            "detail": bots_part(problem.detail)[-MAX_DETAIL_CHARS:],
            "advice": ADVICE.get(problem.cause, ""),
            "command": problem.command,
        }
        for problem in board.problems
    ]
    slowest = max(board.wall_seconds, default=0.0)
    result = f"{board.matches} matches, {'failed' if problems else 'passed'}, slowest move {slowest:.3f} s"
    return {
        "board": board_name(board.board.game, board.board.players),
        "result": result,
        "problems": problems,
        "printed": board.printed,
    }


def _say(accounts: Accounts, version: BotVersion, text: str) -> None:
    accounts.submissions.report(version, {"text": text})
