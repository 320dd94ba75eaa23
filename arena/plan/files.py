"""Reading a plan.json back, as exports write it beside other files."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.core.errors import ArenaError, RecordError, StoreError
from arena.core.files import read_json
from arena.core.files import write_file as write_file
from arena.core.models import validated
from arena.match.dice import KeyPair, key_hash, key_pair
from arena.match.json_lines import Record
from arena.match.stored import SecretKey, StoredMatch
from arena.plan.model import PlanFile
from arena.plan.resolve import schedule_from
from arena.schedule.blocks import Block, Schedule
from arena.store.reading import StoreReader
from engine import EngineError, game_type

MOST_PLAYERS = 8
"""Of a game that this arena does not have."""
STAGE = {"counts", "benched"}
"""Of a board: how far an adaptive one has come."""


@dataclass(frozen=True)
class ReadPlan:
    """A plan.json with what follows from it."""

    path: Path
    resolved: dict[str, Any]
    schedule: Schedule
    versions: dict[str, str]
    secret_keys: tuple[bytes, ...]
    """In the order of the schedule's."""

    def keys(self, block: Block) -> KeyPair:
        """Of a block's dice and of the bots' seeds there."""
        secret = self.secret_keys[self.schedule.keys.index(block.key)] if block.key else None
        return key_pair(block.dice, self.schedule.seed, secret)


def read_plan(path: Path) -> ReadPlan:
    """A plan.json as exports write it, and the versions.json beside it, if there is one.

    How far adaptive boards have come is left out: it follows from the log.
    """
    if not path.is_file():
        what = "is no regular file" if path.exists() else "no such file"
        raise RecordError(
            f"{path}: {what}; matches need the plan.json that `arena export` writes beside them; --plan names it"
        )
    resolved, schedule = _read_schedule(path)
    if "dice_key_hash" in resolved:  # of version 3 of the log
        told = [resolved["dice_key"]] * len(schedule.keys)
    else:
        told = [key["key"] for key in resolved["secret_keys"]]
    if None in told:
        raise RecordError(
            f"{path}: the dice are secret and their key is not disclosed yet, so that no roll can be checked; "
            "export again when everything is played"
        )
    keys = tuple(map(bytes.fromhex, told))
    for key, hash in zip(keys, schedule.keys, strict=True):
        if key_hash(key) != hash:
            raise RecordError(f"{path}: a key of its dice is not the one whose hash it holds")
    return ReadPlan(path, resolved, schedule, _versions(path.with_name("versions.json")), keys)


def _read_schedule(path: Path) -> tuple[dict[str, Any], Schedule]:
    """The content of a plan.json, and its schedule; raises an `ArenaError` for what is none."""
    where = f"{path}: is no plan.json"
    try:
        return checked_plan(read_json(path), where)
    except ValueError as error:
        if isinstance(error, ArenaError):
            raise
        raise RecordError(f"{where}: {error}") from None


def checked_plan(resolved: Any, where: str) -> tuple[dict[str, Any], Schedule]:
    """A resolved plan that anybody may have written, without its stages, and its schedule.

    Raises an `ArenaError`, which begins with `where`, for what is none.
    """
    try:
        validated(PlanFile, resolved, where, {})
        boards = [{name: board[name] for name in board.keys() - STAGE} for board in resolved["boards"]]
        resolved = {**resolved, "boards": boards}
        labels = [bot["label"] for bot in resolved["bots"]]
        if len(set(labels)) < len(labels):
            raise ValueError("two bots have the same label")
        for board in boards:
            _check_players(board["game"], board["players"])
        schedule = schedule_from(resolved)
        needed = {entry for entry in (schedule.hero, *(schedule.duel or ())[:2]) if entry is not None}
        if not all(needed <= set(board.entries) for board in schedule.boards):
            raise ValueError("whoever every block is about has to play on every board")
        return resolved, schedule
    except KeyError as error:
        raise RecordError(f"{where}: it has no bot {error}") from None
    except ValueError as error:
        if isinstance(error, ArenaError):
            raise
        raise RecordError(f"{where}: {error}") from None


def _check_players(game: str, players: int) -> None:
    """Raise `ValueError` for more or fewer than a game seats: what is built for a board grows with their factorial."""
    name, fewest, most = game.partition("(")[0], 2, MOST_PLAYERS
    with contextlib.suppress(EngineError):  # one that this arena does not have, or cannot load
        fewest, most = game_type(name).min_players, game_type(name).max_players
    if not fewest <= players <= most:
        raise ValueError(f"{players} players on a board of {name}, which has {fewest} to {most}")


def logged_plan(store: StoreReader) -> tuple[dict[str, Any], Schedule]:
    """The plan of a log's latest run, as `checked_plan`; raises `StoreError` for what is none."""
    where = f"{store.path}: its plan cannot be read"
    try:
        return checked_plan(json.loads(store.last_plan()), where)
    except (StoreError, sqlite3.Error):
        raise
    except ArenaError as error:
        raise StoreError(str(error)) from None
    except (ValueError, RecursionError):
        raise StoreError(where) from None


def without_keys(resolved: dict[str, Any]) -> dict[str, Any]:
    """A resolved plan as it is kept in a log, which has its secret keys in a table of their own."""
    if "dice_key_hash" in resolved:  # of version 3 of the log
        return {**resolved, "dice_key": None} if resolved["dice"] == "secret" else resolved
    return {**resolved, "secret_keys": [{"hash": key["hash"], "key": None} for key in resolved["secret_keys"]]}


def with_key(record: Record, plan: Path) -> StoredMatch:
    """The match of a record, with the key of its secret dice as a plan.json discloses it."""
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


def write_plan_and_versions(folder: Path, resolved: dict[str, Any], versions: dict[str, str]) -> list[Path]:
    """Write plan.json and versions.json."""
    return [write_plan(folder, resolved), _write_json(folder / "versions.json", versions)]


def write_plan(folder: Path, resolved: dict[str, Any]) -> Path:
    """Write plan.json."""
    return _write_json(folder / "plan.json", resolved)


def _write_json(path: Path, data: dict[str, Any]) -> Path:
    return write_file(path, [(json.dumps(data, indent=1, sort_keys=True) + "\n").encode()])
