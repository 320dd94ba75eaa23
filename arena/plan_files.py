"""Reading a plan.json back, as exports write it beside other files."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.dice import BOTS_PERSON, DICE_PERSON, key_hash, public_key
from arena.errors import RecordError
from arena.plan import schedule_from
from arena.records import Record
from arena.schedule import Schedule
from arena.store import SecretKey, StoredMatch


@dataclass(frozen=True)
class ReadPlan:
    """A plan.json with what follows from it."""

    path: Path
    resolved: dict[str, Any]
    schedule: Schedule
    versions: dict[str, str]
    secret_key: bytes | None

    @property
    def keys(self) -> tuple[bytes, bytes]:
        """Of the dice and of the bots' seeds."""
        seed = self.schedule.seed
        return self.secret_key or public_key(seed, DICE_PERSON), public_key(seed, BOTS_PERSON)


def read_plan(path: Path) -> ReadPlan:
    """A plan.json as exports write it, and the versions.json beside it, if there is one."""
    if not path.is_file():
        raise RecordError(
            f"{path}: no such file; records need the plan.json that `arena export` writes beside them; --plan names it"
        )
    try:
        resolved = json.loads(path.read_bytes())
        schedule = schedule_from(resolved)
        key = bytes.fromhex(resolved["dice_key"]) if schedule.secret and resolved["dice_key"] else None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{path}: is no plan.json: {type(error).__name__}: {error}") from None
    if schedule.secret and key is None:
        raise RecordError(
            f"{path}: the dice are secret and their key is not disclosed yet, so that no roll can be checked; "
            "export again when everything is played"
        )
    if key is not None and (len(key) != 32 or key_hash(key) != schedule.secret):
        raise RecordError(f"{path}: its dice_key is not the one whose hash it holds")
    return ReadPlan(path, resolved, schedule, _versions(path.with_name("versions.json")), key)


def with_key(record: Record, plan: Path) -> StoredMatch:
    """The match of a record, with the key of its secret dice as a plan.json discloses it."""
    if not record.secret:
        return record.match
    key = read_plan(plan).secret_key
    if key is None or key_hash(key) != record.secret:
        raise RecordError(f"{plan}: holds no key of the secret dice of match {record.id}")
    return replace(record.match, secret=SecretKey(key, record.secret, "", None))


def _versions(path: Path) -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_bytes())
        if isinstance(found, dict):
            return {str(name): str(version) for name, version in found.items()}
    return {}
