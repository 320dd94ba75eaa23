"""Read and write plan.json, and the plans in logs."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, replace
from pathlib import Path

from arena.core.errors import ConfigError, RecordError
from arena.core.files import read_json
from arena.core.files import write_file as write_file
from arena.match.dice import KeyPair, key_hash, key_pair
from arena.match.json_lines import Record
from arena.match.stored import SecretKey, StoredMatch
from arena.plan.model import ResolvedPlan
from arena.schedule.blocks import Block, Schedule

PLAN_CHANGED = "Another plan counts in the log than before: boards and exports are of that one."


@dataclass(frozen=True)
class ReadPlan:
    """A plan.json with its schedule, versions and keys."""

    path: Path
    resolved: ResolvedPlan
    schedule: Schedule
    versions: dict[str, str]
    secret_keys: tuple[bytes, ...]
    """Keys in the order of the schedule's hashes."""

    def keys(self, block: Block) -> KeyPair:
        """Return the keys of a block's dice and of its bots' seeds."""
        secret = self.secret_keys[self.schedule.keys.index(block.key)] if block.key else None
        return key_pair(self.schedule.seed, secret)


def read_plan(path: Path) -> ReadPlan:
    """Read a plan.json, and the versions.json beside it where there is one.

    Progress is left out: it follows from the log. Raises `RecordError`, and `ConfigError` where
    there is none.
    """
    if not path.is_file():
        what = "is no regular file" if path.exists() else "no such file"
        raise ConfigError(
            f"{path}: {what}; matches need the plan.json that `arena export` writes beside them; --plan names it"
        )
    where = f"{path}: is no plan.json"
    try:
        data = read_json(path)
    except ValueError as error:
        raise RecordError(f"{where}: {error}") from None
    resolved = ResolvedPlan.read(data, where)
    if resolved.foreign is not None:
        raise RecordError(f"{path}: is of {resolved.foreign.status}, which have no moves to import")
    schedule = resolved.schedule()
    disclosed = [key.key for key in resolved.secret_keys]
    if None in disclosed:
        raise RecordError(
            f"{path}: the dice are secret and their key is not disclosed yet, so that no roll can be checked; "
            "export again when everything is played"
        )
    keys = tuple(bytes.fromhex(key) for key in disclosed if key is not None)
    for key, hash in zip(keys, schedule.keys, strict=True):
        if key_hash(key) != hash:
            raise RecordError(f"{path}: a key of its dice is not the one whose hash it holds")
    return ReadPlan(path, resolved, schedule, _versions(path.with_name("versions.json")), keys)


def with_key(record: Record, plan: Path) -> StoredMatch:
    """Return the match of a record, with the key of its secret dice as a plan.json discloses it."""
    if not record.secret:
        return record.match
    for key in read_plan(plan).secret_keys:
        if key_hash(key) == record.secret:
            return replace(record.match, secret=SecretKey(key, record.secret, "", None))
    raise RecordError(f"{plan}: holds no key of the secret dice of match {record.id}")


def _versions(path: Path) -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError):
        found = read_json(path)
        if isinstance(found, dict):
            return {str(name): str(version) for name, version in found.items()}
    return {}


def write_plan_and_versions(folder: Path, resolved: ResolvedPlan, versions: dict[str, str]) -> list[Path]:
    """Write plan.json and versions.json."""
    text = json.dumps(versions, indent=1, sort_keys=True)
    return [write_plan(folder, resolved), write_file(folder / "versions.json", [f"{text}\n".encode()])]


def write_plan(folder: Path, resolved: ResolvedPlan) -> Path:
    """Write plan.json."""
    return write_file(folder / "plan.json", [f"{resolved.as_json(indent=1)}\n".encode()])
