"""Kinds of schedules: one file here for each, and the plug-ins of the entry-point group `arena.schedules`.

A file is named after its kind and has a `Scheduler` (`arena.schedule.scheduler`) of that `kind`, the only one. They are
found by their names, and loaded when the first plan of theirs comes.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import Any, TypeGuard

from arena.schedule.scheduler import Scheduler
from engine.errors import did_you_mean, summarise_error
from engine.registry import offers

ENTRY_POINT_GROUP = "arena.schedules"
BUILT_IN_KINDS = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py")))


def kinds() -> list[type[Scheduler]]:
    """Return the kinds that a configuration may name, built-in ones first; raises `ValueError`."""
    names = [*BUILT_IN_KINDS, *sorted({offer.name for offer in offers(ENTRY_POINT_GROUP)} - set(BUILT_IN_KINDS))]
    return [kind for kind in map(kind_named, names) if kind.configurable]


@functools.cache
def kind_named(name: str) -> type[Scheduler]:
    """Return a kind by its name; raises `ValueError` when there is none, or it cannot be loaded."""
    if name in BUILT_IN_KINDS:
        module = vars(importlib.import_module(f"{__name__}.{name}"))
        return next(each for each in module.values() if _is_kind(each, name))
    offered = [offer for offer in offers(ENTRY_POINT_GROUP) if offer.name == name]
    if not offered:
        known = [kind.kind for kind in kinds()]
        raise ValueError(f"schedule = {name!r}: no such kind is installed{did_you_mean(name, known)}")
    if len(offered) > 1:
        both = " and ".join(offer.value for offer in offered)
        raise ValueError(f"schedule = {name!r}: two plug-ins offer it, {both}; uninstall one")
    try:
        found = offered[0].load()
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"schedule = {name!r}: {offered[0].value} cannot be loaded: {summarise_error(error)}"
        ) from error
    if not _is_kind(found, name):
        raise ValueError(f"schedule = {name!r}: {offered[0].value} is no Scheduler of that kind")
    return found


def _is_kind(found: Any, name: str) -> TypeGuard[type[Scheduler]]:
    return isinstance(found, type) and issubclass(found, Scheduler) and getattr(found, "kind", None) == name
