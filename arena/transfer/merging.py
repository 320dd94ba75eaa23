"""Merging logs: what several machines have played becomes one log, all of it or nothing.

Matches are the same when their ids are, so each comes in once, and one that two logs hold with another content is
refused. Side tables (times, texts of faults) are those of the log whose runs began first. Whatever follows from
results, such as who is benched or which blocks an adaptive board has been given, follows from the merged log by the
same rules, and what its plan still lacks `arena run` plays.
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
from arena.plan.files import logged_plan
from arena.plan.logs import LOG, find_log
from arena.store import Store
from arena.store.merging import Taken, age, check_rows, readable, runs_of, take_bots, take_keys, take_matches, take_runs
from arena.transfer.importing import put


@dataclass(frozen=True)
class Merged:
    """What a merge did."""

    log: Path
    added: int
    known: int
    """Matches that the log, or one before, had already."""
    done: int
    """Matches of the latest run's plan in the log."""
    planned: int
    """Matches that this plan has, as far as is known."""
    plans: int
    """Different plans of the logs' latest runs."""
    name: str
    """Of the latest run's plan: of a tournament, or `compare/...`."""
    remarks: tuple[str, ...]


def merge(targets: Sequence[str | Path], into: str | Path, home: str | Path | None = None) -> Merged:
    """Merge logs, named by database, folder, configuration or tournament, into another one, made if need be.

    What that one holds already stays. Raises an `ArenaError` and changes nothing when something does not fit.
    """
    log = _place(into, home)
    paths = list(dict.fromkeys(find_log(target, home).resolve() for target in targets))
    with contextlib.ExitStack() as stack:
        sources = [stack.enter_context(Store.open(path)) for path in paths if path != log.resolve()]
        sources.sort(key=_begun)
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
            put(made, log)
    return Merged(**{**vars(merged), "log": log})


def _place(into: str | Path, home: str | Path | None) -> Path:
    """Where the merged log is or will be."""
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
        numbers = take_runs(store, sources)
        taken = [Taken(0, 0)]
        for source, runs in zip(sources, numbers, strict=True):
            with readable(source):
                take_keys(store, source)
                take_bots(store, source)
                taken.append(take_matches(store, source, runs))
        boards = coverage(store, with_stages(store, logged_plan(store).schedule()))
        done, planned = sum(board.matches for board in boards), sum(board.planned for board in boards)
        added, known = (sum(counts) for counts in zip(*taken, strict=True))
        if done == planned and added and not store.is_finished():
            store.finish_run(now(), disclose=logged_plan(store).schedule().has_secret_dice)
    return Merged(store.path, added, known, done, planned, len(latest), logged_plan(store).name, store.remarks)


def _begun(log: Store) -> tuple[str, str, str]:
    """When the first run of a log began."""
    with readable(log):
        return min((age(run) for run, _ in runs_of(log).values()), default=("", "", ""))


def _checked_plan(log: Store) -> str:
    """The plan of a log's latest run, if there is one; raises `StoreError` when its side tables are damaged."""
    with readable(log):
        check_rows(log)
        if not runs_of(log):
            return ""
        return logged_plan(log).as_json()
