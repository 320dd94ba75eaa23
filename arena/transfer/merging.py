"""Merge logs that several machines have played into one, all of it or nothing.

Matches with the same id are the same match, so each is copied once; different content under one id is refused. Rows of
side tables (times, texts of faults) are those of the log whose runs started first. What follows from results, such as
disqualifications or the blocks of an adaptive board, follows from the merged log by the same rules; `arena run` plays
what its plan still lacks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.core.errors import ConfigError, StoreError
from arena.core.files import made_folder, own_folder
from arena.core.paths import home_folder
from arena.plan.adaptive import with_stages
from arena.plan.config import tournament_name
from arena.plan.coverage import coverage
from arena.plan.dice_keys import now
from arena.plan.files import check_playable, logged_plan
from arena.plan.logs import LOG, find_log
from arena.store import Store, check_rows, first_start, merge_logs, move_into_place, readable


@dataclass(frozen=True)
class Merged:
    """Result of a merge."""

    log: Path
    added: int
    known: int
    """Matches that the target, or an earlier source, had already."""
    done: int
    """Matches of the latest run's plan in the log."""
    planned: int
    """Matches of that plan, as far as they are decided."""
    plans: int
    """Number of different plans among the logs' latest runs."""
    name: str
    """Name of the latest run's tournament or comparison."""
    remarks: tuple[str, ...]


def merge(targets: Sequence[str | Path], into: str | Path, home: str | Path | None = None) -> Merged:
    """Merge logs, named by database, folder, configuration or tournament, into an existing or new one.

    What an existing one holds stays. Raises an `ArenaError` and changes nothing if something does not fit.
    """
    log = _place(into, home)
    paths = list(dict.fromkeys(find_log(target, home).resolve() for target in targets))
    with contextlib.ExitStack() as stack:
        sources = [stack.enter_context(Store.open(path)) for path in paths if path != log.resolve()]
        sources.sort(key=first_start)
        if log.exists():
            with Store.create(log) as store:
                return _merge(sources, store)
        if not sources:
            raise StoreError(f"{log}: no such match log, and no other one to merge")
        beside = log.parent if log.parent.is_dir() else log.parent.parent
        with made_folder(beside), own_folder(beside, ".merge-") as folder:
            made = folder / "merged.db"
            with Store.create(made) as store:
                merged = _merge(sources, store)
            move_into_place(made, log)
    return Merged(**{**vars(merged), "log": log})


def _place(into: str | Path, home: str | Path | None) -> Path:
    """Return the path of the merged log."""
    path = Path(into)
    if path.suffix == ".db":
        return path
    with contextlib.suppress(StoreError):
        return find_log(into, home)
    try:
        tournament_name(str(into))
    except ValueError as error:
        raise ConfigError(f"--into {into}: {error}; or name a file that ends with .db") from None
    return home_folder(home) / into / LOG


def _merge(sources: Sequence[Store], store: Store) -> Merged:
    with store.transaction():
        latest = set(filter(None, map(_checked_plan, (store, *sources))))
        added, known = merge_logs(store, sources)
        boards = coverage(store, with_stages(store, logged_plan(store).schedule()))
        done, planned = sum(board.matches for board in boards), sum(board.planned for board in boards)
        if done == planned and added and not store.is_finished():
            store.finish_run(now(), disclose=logged_plan(store).schedule().has_secret_dice)
    return Merged(store.path, added, known, done, planned, len(latest), logged_plan(store).name, store.remarks)


def _checked_plan(log: Store) -> str:
    """Return the plan of a log's latest run, or nothing; raises `StoreError` if rows beside matches are damaged."""
    with readable(log):
        check_rows(log)
        if not first_start(log)[0]:
            return ""
        check_playable(log, "they cannot be merged; put the files together, and import that")
        return logged_plan(log).as_json()
