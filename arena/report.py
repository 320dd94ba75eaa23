"""What a tournament leaves behind: leaderboards as files, the resolved plan and versions beside them, the log as lines.

Files are a pure function of log and plan: written again they are the same, byte for byte.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from arena.benching import in_plan
from arena.leaderboards import benched
from arena.plan import schedule_from
from arena.schedule import Board, Schedule, match_id
from arena.store import Store


def markdown(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table, numbers aligned; texts stay as they are, also those that look like numbers."""
    texts = [place for place, kind in enumerate(frame.dtypes) if len(frame) and not is_numeric_dtype(kind)]
    frame = frame.astype({name: object for name in frame.select_dtypes("Int64")}).replace({pd.NA: None})
    return frame.to_markdown(index=False, floatfmt=".3f", missingval="", disable_numparse=texts) + "\n"


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame's rows as plain data; missing values are None."""
    return json.loads(frame.to_json(orient="records", double_precision=10))


def as_json(board: Board, frame: pd.DataFrame) -> str:
    """A leaderboard with the board it belongs to, as JSON."""
    data = {"game": board.game, "players": board.players, "leaderboard": records(frame)}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def write_file(path: Path, content: Iterable[bytes]) -> None:
    """Write the pieces of a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def render(board: Board, frame: pd.DataFrame, kind: str) -> bytes:
    """A leaderboard in one of the formats csv, json, md, parquet."""
    if kind == "csv":
        return frame.to_csv(index=False, lineterminator="\n").encode()
    if kind == "json":
        return as_json(board, frame).encode()
    if kind == "md":
        return f"# {board.title}\n\n{markdown(frame)}".encode()
    return frame.to_parquet(index=False)


def write_reports(
    folder: Path,
    resolved: dict[str, Any],
    versions: dict[str, str],
    boards: dict[int, pd.DataFrame],
    formats: Sequence[str],
) -> list[Path]:
    """Write every leaderboard in every format, plan.json and versions.json; the paths written."""
    schedule = schedule_from(resolved)
    paths = []
    for index, frame in boards.items():
        board = schedule.boards[index]
        for kind in formats:
            path = folder / f"{board.slug}.{kind}"
            write_file(path, [render(board, frame, kind)])
            paths.append(path)
    return [*paths, write_plan(folder, resolved), _write_json(folder / "versions.json", versions)]


def write_plan(folder: Path, resolved: dict[str, Any]) -> Path:
    """Write plan.json."""
    return _write_json(folder / "plan.json", resolved)


def _write_json(path: Path, data: dict[str, Any]) -> Path:
    write_file(path, [(json.dumps(data, indent=1, sort_keys=True) + "\n").encode()])
    return path


def match_lines(store: Store, schedule: Schedule) -> Iterator[str]:
    """Every match of the plan in the log as a line of JSON, in fold order; side tables are left out."""
    out = [benched(store, schedule, board) for board in range(len(schedule.boards))]
    blocks = (block for block in schedule.blocks() if in_plan(out[block.board], block.round, block.table))
    while batch := list(itertools.islice(blocks, 256)):
        yield from _lines(store, schedule, batch)


def _lines(store: Store, schedule: Schedule, blocks: list[Any]) -> Iterator[str]:
    finished = store.finished([block.identity for block in blocks])
    for block in blocks:
        for lineup in sorted(finished.get(block.identity, ())):
            match = store.match(block.identity, lineup)
            labels = [schedule.entries[entry].label for entry in schedule.seats(block, lineup)]
            identities = [schedule.entries[entry].identity for entry in schedule.seats(block, lineup)]
            line = {
                "match": match_id(block.identity, lineup),
                "block": match.block_id.hex(),
                "game": match.game,
                "players": match.players,
                "round": match.round,
                "lineup": lineup,
                "opening": match.opening,
                "seed": match.seed,
                "bots": labels,
                "identities": identities,
                "ranks": match.ranks,
                "scores": match.scores if match.scores[0] is not None else None,
                "ended": match.ended,
                "course": " ".join(match.course),
                "final": match.final,
                "timed": match.timed,
                "forfeits": [{"seat": seat, "cause": cause, "ply": ply} for seat, (cause, ply) in match.falls.items()],
                "notes": match.notes,
            }
            yield json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n"
