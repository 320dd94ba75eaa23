"""Read the plans, bots, bundles and keys of a log, and check each against its hash."""

from __future__ import annotations

import json
import sqlite3
import zlib
from dataclasses import dataclass, field
from datetime import datetime

from arena.core.errors import StoreError
from arena.core.names import is_open_ended
from arena.match.stored import SecretKey
from arena.plan.bots import bot_identity
from arena.plan.model import ResolvedPlan, dice_fields
from arena.registry.bundles import MAX_BUNDLE_BYTES, Bundle
from arena.schedule.boards import Entry
from arena.schedule.ladder_rounds import Event, Joined
from arena.store import BotRow, EventRow
from arena.store.plan_deltas import unpack_plan
from arena.tournament.seasons import is_season, read_event
from arena.verify.findings import Findings

MAX_BUNDLE_BYTES = 4 * MAX_BUNDLE_BYTES
"""Largest size in bytes of an unpacked bundle: its files in hexadecimal, and their names."""


@dataclass
class LoggedPlan:
    """A plan of one or more runs."""

    runs: list[int]
    """Numbers of the runs, the latest first."""
    resolved: ResolvedPlan
    finished: bool = False
    """Whether one of the runs recorded that all of it was in the log."""

    @property
    def is_open_ended(self) -> bool:
        """Whether it is only played as far as it goes: a match of persons."""
        return is_open_ended(self.resolved.name)


@dataclass
class LogContents:
    """The readable content of a log besides its matches."""

    plans: list[LoggedPlan] = field(default_factory=list)
    """Plans, those of the latest runs first."""
    unread: int = 0
    """Number of plans that cannot be read."""
    bots: dict[str, BotRow] = field(default_factory=dict)
    bundles: dict[str, Bundle] = field(default_factory=dict)
    """Bundles by hash, without the names of the bots' modules."""
    secret: dict[str, SecretKey] = field(default_factory=dict)
    """Keys of secret dice that fit their hashes, by hash."""
    events: list[Event] = field(default_factory=list)
    """Of a contest's season, whose `plans` are the latest one alone."""
    erased: set[str] = field(default_factory=set)
    """Hashes of bundles whose files were removed, since their author was erased."""

    @property
    def bots_of_plans(self) -> list[Entry]:
        """All bots that are or were in a plan."""
        found = {entry.identity: entry for plan in self.plans for entry in plan.resolved.schedule().entries}
        for event in self.events:
            if isinstance(event, Joined):
                found.setdefault(event.entry.identity, event.entry)
        return [*found.values()]


def read_contents(db: sqlite3.Connection, findings: Findings) -> LogContents:
    """Read and check all tables without matches."""
    contents = LogContents()
    with findings.guard("cannot be read", table="keys"):
        for row in db.execute("SELECT key, hash, created, disclosed FROM keys ORDER BY number").fetchall():
            with findings.guard(f"the key with the hash {row[1]!a} cannot be read", table="keys"):
                contents.secret[row[1]] = _secret_key(SecretKey(*row))
    with findings.guard("cannot be read", table="bundles"):
        for key, packed in db.execute("SELECT bundle, files FROM bundles ORDER BY bundle"):
            with findings.guard(f"bundle {key} cannot be read", table="bundles"):
                if packed == b"":
                    contents.erased.add(key)
                else:
                    contents.bundles[key] = _bundle(key, packed)
    with findings.guard("cannot be read", table="bots"):
        for row in db.execute("SELECT identity, spec, module, class, bundle FROM bots ORDER BY bot"):
            contents.bots[row[0]] = BotRow(*row)
    with findings.guard("cannot be read", table="runs"):
        _read_runs(db, contents, findings)
    with findings.guard("cannot be read", table="events"):
        for row in db.execute("SELECT round, kind, label, data FROM events ORDER BY number"):
            with findings.guard(f"event of round {row[0]}", table="events"):
                contents.events.append(read_event(EventRow(*row)))
    if not contents.plans and not contents.unread and db.execute("SELECT 1 FROM blocks LIMIT 1").fetchone():
        findings.add("holds no run", table="runs")
    for plan in contents.plans:
        _check_dice(plan, contents, findings)
    for bot in contents.bots_of_plans:
        with findings.guard(f"bot {bot.identity}", table="bots"):
            _check_bot(bot, contents)
    _check_unused(contents, findings)
    return contents


def _secret_key(key: SecretKey) -> SecretKey:
    key.checked()
    for when in filter(None, (key.created, key.disclosed)):
        datetime.fromisoformat(when)
    return key


def _bundle(key: str, packed: bytes) -> Bundle:
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(packed, MAX_BUNDLE_BYTES)
    if not unpacker.eof or unpacker.unused_data:
        raise StoreError("is damaged, or too large")
    bundle = Bundle("", {name: bytes.fromhex(text) for name, text in json.loads(content).items()})
    if bundle.hash != key:
        raise StoreError(f"its files have the hash {bundle.hash}")
    return bundle


def _read_runs(db: sqlite3.Connection, contents: LogContents, findings: Findings) -> None:
    known: dict[str | bytes, LoggedPlan | None] = {}
    season: LoggedPlan | None = None
    query = "SELECT run, plan, versions, started, finished FROM runs ORDER BY run DESC"
    following = ""
    for run, kept, versions, started, finished in db.execute(query):
        with findings.guard(f"run {run}: its times and versions cannot be read", table="runs"):
            for when in (started, *filter(None, [finished])):
                datetime.fromisoformat(when)
            if not all(isinstance(version, str) for version in dict(json.loads(versions)).values()):
                raise StoreError("a version is no text")
        text = kept
        if isinstance(kept, bytes) and season is None:
            with findings.guard(f"run {run}: its plan cannot be read", table="runs"):
                text = unpack_plan(kept, following)
        following = text if isinstance(text, str) else following
        if season is not None:  # its rounds are followed, not read one by one
            season.runs.append(run)
            continue
        if text not in known:
            known[text] = None
            with findings.guard(f"run {run}: its plan cannot be read", table="runs"):
                resolved = ResolvedPlan.read(json.loads(text), "not a plan")
                known[text] = LoggedPlan([], resolved)
                contents.plans += filter(None, [known[text]])
            contents.unread += known[text] is None
        if (plan := known[text]) is not None:
            plan.runs.append(run)
            plan.finished |= finished is not None
            season = plan if is_season(plan.resolved) else None


def _check_dice(plan: LoggedPlan, contents: LogContents, findings: Findings) -> None:
    """Check that the public keys of a plan follow from its seed, and the secret ones are in the log."""
    resolved, schedule, run = plan.resolved, plan.resolved.schedule(), plan.runs[0]
    for hash in schedule.keys:
        if hash not in contents.secret:
            findings.add(f"a key of the secret dice of run {run} is missing or damaged", table="keys")
        elif plan.finished and contents.secret[hash].disclosed is None:
            findings.add(f"a key is not disclosed, though run {run} is finished", table="keys")
    if schedule.has_secret_dice and not schedule.keys:
        findings.add(f"run {run} has secret dice, but its plan no key of them", table="runs")
    for name, ours in dice_fields(schedule).items():
        if getattr(resolved, name) != ours:
            findings.add(f"run {run}: the {name} of its plan does not follow from the seed", table="runs")
    if any(key.key is not None for key in resolved.secret_keys):
        findings.add(f"run {run}: its plan holds a secret key", table="runs")


def _check_bot(planned: Entry, contents: LogContents) -> None:
    """Check that a planned bot is in the log and its identity follows from its source and parameters.

    Bots of imported matches have no source.
    """
    row = contents.bots.get(planned.identity)
    if row is None:
        raise StoreError("is in a plan, but not in the log")
    name, spec = row.identity.rpartition("@")[0], planned.spec
    if row.spec != spec or not (spec == name or spec.startswith(f"{name}:")):
        raise StoreError(f"its spec is {row.spec}, {spec} in the plan")
    if not (row.bundle or row.module or row.class_name):
        return
    if bot_identity(name, row.bundle, row.class_name, planned.params) != row.identity:
        raise StoreError("its identity does not follow from its class, parameters and bundle")
    bundle = contents.bundles.get(row.bundle)
    if row.bundle in contents.erased:
        return
    if bundle is None:
        raise StoreError(f"its bundle {row.bundle} is missing or damaged")
    base = row.module.replace(".", "/")
    if not {row.module, f"{base}.py", f"{base}/__init__.py"} & set(bundle.files):
        raise StoreError(f"its bundle has no module {row.module}")


def _check_unused(contents: LogContents, findings: Findings) -> None:
    """Check that every bot is in a plan, and every bundle belongs to a bot."""
    if contents.unread:
        return
    planned = {bot.identity for bot in contents.bots_of_plans}
    for identity in sorted(contents.bots.keys() - planned):
        findings.add(f"bot {identity} is in no plan", table="bots")
    for key in sorted(contents.bundles.keys() - {row.bundle for row in contents.bots.values()}):
        findings.add(f"bundle {key} belongs to no bot", table="bundles")
