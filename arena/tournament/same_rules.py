"""Keep matches of a plug-in game whose rules have changed under the same version from counting with those before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from arena.core.errors import ConfigError, StoreError
from arena.plan.model import ResolvedPlan
from arena.plan.resolve import Plan
from arena.registry.game_rules import RulesRecord, rules_of_plugins
from arena.store.reading import StoreReader

PlayedRules = tuple[str, int, RulesRecord]
"""Game, version of its rules, and its rules."""


def with_same_rules(plan: Plan, store: StoreReader, same_rules: bool) -> Plan:
    """Return the plan, which records with `same_rules` what other rules of its games the log was played by.

    Without it, raises `ConfigError` for such rules.
    """
    before = list(_played(plans_of(store)))
    versions = {board.game.partition("(")[0]: board.rules_version for board in plan.schedule.boards}
    rules = dict(plan.rules)
    for name, ours in plan.rules.items():
        there = [record for game, version, record in before if (game, version) == (name, versions[name])]
        others = {record.digest: record for record in differing_rules(ours.digest, there)}
        if others and not same_rules:
            raise ConfigError(
                f"{name}: its sources ({ours}) are not those that {store.path} was played by "
                f"({next(iter(others.values()))}), and its rules_version is still {versions[name]}; raise that, so "
                "that its matches are played anew, or, if the rules are the same, add --same-rules"
            )
        known = {digest for record in there if record.digest == ours.digest for digest in record.same_as}
        rules[name] = ours.model_copy(update={"same_as": sorted({*known, *others})})
    return replace(plan, rules=rules)


def check_same_rules(logs: Iterable[StoreReader]) -> None:
    """Raise `StoreError` where logs have played a game by different rules under one version."""
    played = [(log, *each) for log in logs for each in _played(plans_of(log))]
    alike: dict[tuple[str, int], list[RulesRecord]] = {}
    for _, name, version, record in played:
        alike.setdefault((name, version), []).append(record)
    for log, name, version, record in played:
        if others := differing_rules(record.digest, alike[name, version]):
            raise StoreError(
                f"{log.path}: {name} was played by other sources ({record}) than elsewhere ({others[0]}), both with "
                f"rules_version {version}; nothing is merged"
            )


def other_sources(plans: Iterable[ResolvedPlan]) -> list[str]:
    """Return lines on plug-in games whose sources here are not those that a log's plans have."""
    played: dict[str, list[RulesRecord]] = {}
    for name, _, record in _played(plans):
        played.setdefault(name, []).append(record)
    found = (
        (name, ours, differing_rules(ours.digest, played[name])) for name, ours in rules_of_plugins(played).items()
    )
    return [
        f"the sources of {name} here ({ours}) are not those that it was played by ({others[0]})"
        for name, ours, others in found
        if others
    ]


def plans_of(log: StoreReader) -> Iterator[ResolvedPlan]:
    """Yield the different plans of a log, in the order of their first runs."""
    for text in log.runs.plans():
        try:
            yield ResolvedPlan.read(json.loads(text), f"{log.path}: a plan cannot be read")
        except (ValueError, RecursionError) as error:
            raise StoreError(str(error)) from None


def _played(plans: Iterable[ResolvedPlan]) -> Iterator[PlayedRules]:
    for plan in plans:
        for board in plan.boards:
            name = board.game.partition("(")[0]
            if (record := plan.rules.get(name)) is not None:
                yield name, board.rules_version, record


def differing_rules(digest: str, others: Iterable[RulesRecord]) -> list[RulesRecord]:
    """Return those of the rules that are neither these nor said to be the same, directly or by way of others."""
    others = list(others)
    links = [{each.digest, *each.same_as} for each in others]
    same, before = {digest}, 0
    while len(same) > before:
        before = len(same)
        same = same.union(*(link for link in links if link & same))
    return [each for each in others if each.digest not in same]
