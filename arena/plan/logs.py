"""Find and open the logs of tournaments."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable
from pathlib import Path

from arena.core.errors import ArenaError, UnknownTargetError
from arena.core.match_ids import check_match_id, match_id
from arena.core.names import COMPARISONS, PLAYED
from arena.core.paths import home_folder
from arena.match.game_faults import GameFault, read_faults
from arena.match.stored import StoredMatch
from arena.plan.adaptive import with_stages
from arena.plan.config import load_config
from arena.plan.files import logged_plan
from arena.plan.model import ResolvedPlan
from arena.plan.seats import with_labels
from arena.store import Store, readable

LOG = "matches.db"
"""Name of a log in its tournament's folder."""


def find_log(target: str | Path, home: str | Path | None = None) -> Path:
    """Return the log of a configuration, a tournament's name, its folder, or a database."""
    path = Path(target)
    if path.suffix == ".db":
        return path
    if path.suffix == ".toml":
        return home_folder(home) / load_config(path).name / LOG
    for folder in (path, *(home_folder(home) / part / path for part in ("", COMPARISONS, PLAYED))):
        if (folder / LOG).is_file():
            return folder / LOG
    raise UnknownTargetError(
        f"{target}: no tournament of that name under {home_folder(home).absolute()}, and no such file; name a config, "
        "folder or database, or another home: --home or ARENA_HOME"
    )


def open_log(target: str | Path, home: str | Path | None = None, progress: bool = True) -> tuple[Store, ResolvedPlan]:
    """Open a log; return it with the plan of its latest run, and with the progress of its adaptive boards if wanted."""
    store = Store.open(find_log(target, home))
    with contextlib.ExitStack() as undo:
        undo.enter_context(store)
        resolved = logged_plan(store)
        if progress:
            resolved = resolved.with_progress(with_stages(store, resolved.schedule()))
        undo.pop_all()
    return store, resolved


def logs_under(home: Path) -> list[Path]:
    """Return the logs of all tournaments, comparisons and matches of persons."""
    return sorted(log for part in ("", f"{COMPARISONS}/", f"{PLAYED}/") for log in home.glob(f"{part}*/{LOG}"))


def find_match(
    target: str | Path | None,
    match: str,
    home: str | Path | None = None,
    warn: Callable[[str], None] = lambda line: warnings.warn(line, stacklevel=3),
) -> tuple[StoredMatch, ResolvedPlan]:
    """Find a match by its id or the beginning of one; return it, with its labels, and the latest plan of its log.

    Without a target all tournaments and comparisons under the home folder are searched; `warn` is called for each log
    that cannot be read.
    """
    check_match_id(match)
    logs = [find_log(target, home)] if target is not None else logs_under(home_folder(home))
    found = []
    for log in logs:
        try:
            found += _matches_in(log, match)
        except ArenaError as error:
            if target is not None:
                raise
            named = "" if str(log) in str(error) else f"{log}: "
            warn(f"not looked through: {named}{error}")
    where = logs[0] if len(logs) == 1 else f"{home_folder(home)}{os.sep}"
    if not found:
        raise UnknownTargetError(f"{where}: has no match whose id begins with '{match}'")
    if len(found) > 1:
        names = " and ".join(match_id(stored.identity, stored.lineup) for stored, _ in found[:2])
        raise UnknownTargetError(
            f"{where}: more than one match's id begins with '{match}', such as {names}; give more of it"
        )
    return found[0]


def find_game_fault(target: str | Path | None, match: str, home: str | Path | None = None) -> GameFault | None:
    """Find the fault of a game that stopped a board, by the match's id or its beginning, as `find_match` does."""
    logs = [find_log(target, home)] if target is not None else logs_under(home_folder(home))
    found = (fault for log in logs for fault in read_faults(log.parent) if match and fault.match.startswith(match))
    return next(found, None)


def _matches_in(log: Path, match: str) -> list[tuple[StoredMatch, ResolvedPlan]]:
    """Return a log's matches whose id begins so, with its latest plan; raises `StoreError` for a damaged log."""
    store, resolved = open_log(log, progress=False)
    with store, readable(store):
        schedule = resolved.schedule()
        return [(with_labels(store, schedule, store.match(*at)), resolved) for at in store.find_matches(match)]
