"""Read and write plan.json, and the plans in logs."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path

from arena.core.errors import ConfigError, RecordError
from arena.core.files import read_json
from arena.core.files import write_file as write_file
from arena.match.dice import key_hash
from arena.match.stored import SecretKey, StoredMatch
from arena.plan.model import ResolvedPlan

PLAN_CHANGED = "Another plan counts in the log than before: boards and exports are of that one."


def read_plan(path: Path) -> ResolvedPlan:
    """Read a plan.json whose secret keys are all disclosed, without progress, which follows from the log.

    Raises `RecordError`, and `ConfigError` where there is none.
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
    if any(key.key is None for key in resolved.secret_keys):
        raise RecordError(
            f"{path}: the dice are secret and their key is not disclosed yet, so that no roll can be checked; "
            "export again when everything is played"
        )
    if any(key_hash(bytes.fromhex(each.key)) != each.hash for each in resolved.secret_keys if each.key is not None):
        raise RecordError(f"{path}: a key of its dice is not the one whose hash it holds")
    return resolved


def with_key(match: StoredMatch, plan: Path) -> StoredMatch:
    """Return a match with the key of its secret dice as a plan.json discloses it."""
    if not match.key_hash:
        return match
    key = read_plan(plan).disclosed_keys().get(match.key_hash)
    if key is not None:
        return replace(match, secret=SecretKey(key, match.key_hash, "", None))
    raise RecordError(f"{plan}: holds no key of the secret dice of match {match.id}")


def read_versions(path: Path) -> dict[str, str]:
    """Read a versions.json; empty where there is none, or it cannot be read."""
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
