"""Merge logs that several machines have played into one, all of it or nothing.

Matches with the same id are the same match, so each is copied once; different content under one id is refused. No clock
decides which plan counts: it is the target's, or that of a log that was named, or all logs have the same. Rows of side
tables (times, texts of faults) are those of the log whose runs started first. What follows from results, such as
disqualifications or blocks that depend on results, follows from the merged log by the same rules; `arena run` plays
what its plan still lacks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.core.errors import ConfigError, StoreError, UnknownTargetError, adding_saved_state
from arena.core.files import created_folder, temporary_folder
from arena.core.paths import home_folder
from arena.plan.config import tournament_name
from arena.plan.model import ResolvedPlan
from arena.store import Store, check_rows, first_start, merge_logs, move_into_place, readable
from arena.tournament.dice_keys import finish_log
from arena.tournament.logs import LOG_FILE, find_log
from arena.tournament.same_rules import check_same_rules
from arena.tournament.tournament import Tournament


@dataclass(frozen=True)
class MergeResult:
    """Result of a merge."""

    log: Path
    added: int
    known: int
    """Matches that the target, or an earlier source, had already."""
    done: int
    """Matches of the plan that counts in the log."""
    planned: int
    """Matches of that plan, as far as they are decided."""
    plans: int
    """Number of different plans among the logs' latest runs."""
    plan_changed: bool
    """Whether another plan counts in an existing log than before."""
    name: str
    """Name of the tournament or comparison whose plan counts."""


@adding_saved_state(lambda: "nothing is changed")
def merge(
    targets: Sequence[str | Path],
    into: str | Path,
    home: str | Path | None = None,
    plan_of: str | Path | None = None,
) -> MergeResult:
    """Merge logs, named by database, folder, configuration or tournament, into an existing or new one.

    What an existing one holds stays, and its plan counts, unless `plan_of` names another one of the logs. Raises an
    `ArenaError` and changes nothing if something does not fit.
    """
    log = _place(into, home)
    paths = list(dict.fromkeys(find_log(target, home).resolve() for target in targets))
    named = None if plan_of is None else find_log(plan_of, home).resolve()
    if named is not None and named not in (*paths, *([log.resolve()] if log.exists() else [])):
        raise ConfigError(f"--plan-of {plan_of}: is none of the logs")
    with contextlib.ExitStack() as stack:
        sources = [stack.enter_context(Store.open(path)) for path in paths if path != log.resolve()]
        sources.sort(key=first_start)
        if log.exists():
            with Store.create(log) as store:
                return _merge(sources, store, named)
        if not sources:
            raise UnknownTargetError(f"{log}: no such match log, and no other one to merge")
        beside = log.parent if log.parent.is_dir() else log.parent.parent
        with created_folder(beside), temporary_folder(beside, ".merge-") as folder:
            made = folder / "merged.db"
            with Store.create(made) as store:
                merged = _merge(sources, store, named)
            move_into_place(made, log)
    return replace(merged, log=log)


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
    return home_folder(home) / into / LOG_FILE


def _merge(sources: Sequence[Store], store: Store, named: Path | None) -> MergeResult:
    with store.transaction():
        plans = {log.path: plan for log in (store, *sources) if (plan := _checked_plan(log)) is not None}
        check_same_rules((store, *sources))
        before = plans.get(store.path)
        base = _base(sources, plans, named) if before is None or named is not None else None
        added, known = merge_logs(store, sources, base)
        tournament = Tournament(store)
        plan, schedule = _comparable(tournament.plan), tournament.schedule
        boards = [tournament.progress(board) for board in range(len(schedule.boards))]
        done, planned = sum(board.matches for board in boards), sum(board.planned for board in boards)
        changed = before is not None and plan != before
        if done == planned and (added or changed) and not store.runs.is_finished():
            finish_log(store, schedule)
    different = {plan.as_json() for plan in plans.values()}
    return MergeResult(store.path, added, known, done, planned, len(different), changed, plan.name)


def _checked_plan(log: Store) -> ResolvedPlan | None:
    """Return the plan of a log's latest run, if any; raises `StoreError` if rows beside matches are damaged."""
    with readable(log):
        check_rows(log)
        if not log.runs.has_run():
            return None
        tournament = Tournament(log)
        tournament.check_playable("they cannot be merged; put the files together, and import that")
        if tournament.plan.schedule().scheduler.has_rounds:
            raise StoreError(f"{log.path}: has rounds, each of which follows from the one before: nothing is merged")
        return _comparable(tournament.plan)


def _comparable(plan: ResolvedPlan) -> ResolvedPlan:
    """Return a plan without what has been checked before plans are compared."""
    return plan.model_copy(update={"rules": {}})


def _base(sources: Sequence[Store], plans: Mapping[Path, ResolvedPlan], named: Path | None) -> Store | None:
    """Return the source whose plan is to count: the named one, else any, if all plans are the same.

    None stands for the target.
    """
    if named is not None:
        return next((source for source in sources if source.path == named), None)
    with_plans = [source for source in sources if source.path in plans]
    first = next(iter(with_plans), None)
    for other in with_plans:
        if first and (parts := _differing(plans[first.path], plans[other.path])):
            raise ConfigError(
                f"{first.path} and {other.path} have different plans ({', '.join(parts)}), of which one is to count: "
                "name its log with --plan-of"
            )
    return first


def _differing(one: ResolvedPlan, other: ResolvedPlan) -> list[str]:
    """Return the keys in which two plans differ."""
    return [name for name, value in one if value != getattr(other, name)]
