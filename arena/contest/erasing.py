"""Erase an author: names and sources go, results stay under opaque ids.

The accounts are changed first; what follows from them can be done again at any time, so that an interruption loses
nothing. Sources in the logs of seasons that have ended, and in their archives, are removed at once; those in the log of
a running season by its driver, when the bots have left the plan.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from arena.accounts import ARENA, Accounts
from arena.accounts.contests import CLOSED
from arena.contest.layout import ARCHIVE_FILE, final_log, season_log
from arena.core.errors import StoreError
from arena.core.names import CONTESTS_FOLDER
from arena.registry.submissions import source_path, submitted
from arena.store import Store
from arena.tournament.logs import LOG_FILE


class Erasure(NamedTuple):
    """What was removed with an author's name."""

    sources: int
    """Files of sources under the home."""
    logs: tuple[Path, ...]
    """Logs of ended seasons that had sources of the author; their archives are removed, and can be made again."""
    waiting: tuple[Path, ...]
    """Logs of running seasons, whose driver removes the sources."""


def erase_author(accounts: Accounts, home: Path, author: str, actor: str) -> Erasure:
    """Erase an author, or go on where that was interrupted; raises `AccountError` for nobody."""
    if not accounts.authors.get(author).erased:
        accounts.authors.erase(author, actor)
    return remove_sources(accounts, home)


def remove_sources(accounts: Accounts, home: Path) -> Erasure:
    """Remove the sources of all erased authors that nobody else has handed in."""
    kept = {version.hash for bot in submitted(home).values() for version in bot.versions}
    count = 0
    with accounts.database.change(ARENA):  # nobody hands one of them in meanwhile
        gone = accounts.submissions.erased_bundles()
        for bundle in sorted(gone - kept):
            path = source_path(bundle, home)
            count += path.exists()
            for each in (path, path.with_suffix(".json")):
                each.unlink(missing_ok=True)
    playing = {
        of(home, contest.id, contest.season)
        for contest in accounts.contests.all()
        if contest.state != CLOSED
        for of in (season_log, final_log)
    }
    logs, waiting = [], []
    for log in sorted((home / CONTESTS_FOLDER).glob(f"**/{LOG_FILE}")) if gone else ():
        erased = None if log in playing else _erase_in_log(log, gone)
        if erased is None:
            waiting.append(log)
        elif erased:
            logs.append(log)
    return Erasure(count, tuple(logs), tuple(waiting))


def _erase_in_log(log: Path, gone: set[str]) -> bool | None:
    """Remove sources from a log that has ended; return whether it had any, None for one that is still played."""
    try:
        with Store.create(log) as store:
            if not store.runs.has_run() or not store.runs.is_finished():
                return None
            found = sorted(gone & store.bots.bundles())
            if found:
                log.with_name(ARCHIVE_FILE).unlink(missing_ok=True)
                store.erase_sources(found)
            return bool(found)
    except StoreError:  # its driver writes to it
        return None
