"""Find a match by its id, in one log or all."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

from arena.core.errors import ArenaError, UnknownTargetError
from arena.core.match_ids import check_match_id
from arena.core.paths import home_folder
from arena.match.stored import StoredMatch
from arena.plan.model import ResolvedPlan
from arena.store import readable
from arena.tournament.logs import find_log, logs_under
from arena.tournament.tournament import Tournament


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
        names = " and ".join(stored.id for stored, _ in found[:2])
        raise UnknownTargetError(
            f"{where}: more than one match's id begins with '{match}', such as {names}; give more of it"
        )
    return found[0]


def _matches_in(log: Path, match: str) -> list[tuple[StoredMatch, ResolvedPlan]]:
    """Return a log's matches whose id begins so, with its latest plan; raises `StoreError` for a damaged log."""
    with Tournament.open(log) as tournament, readable(tournament.store):
        return [(tournament.match(*at), tournament.plan) for at in tournament.store.find_matches(match)]
