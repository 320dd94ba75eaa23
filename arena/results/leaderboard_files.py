"""Files of a tournament: tables of its boards, with the resolved plan and versions beside them.

Files are a pure function of log and plan: written again they are the same, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from arena.core.errors import ConfigError
from arena.core.files import write_file
from arena.core.match_ids import DiceKind, list_dice_kinds
from arena.plan.files import write_plan_and_versions
from arena.results.columns import check_columns
from arena.results.tables import records, render_frame, select_columns
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board
from arena.tournament.tournament import Tournament


def about_board(board: Board, schedule: Schedule) -> dict[str, Any]:
    """Return a board and the versions of its game and bots, as fields of JSON."""
    entries = [schedule.entries[entry] for entry in board.entries]
    return {
        "game": board.game,
        "players": board.players,
        "rules_version": board.rules_version,
        "dice": list_dice_kinds(schedule.dice_kinds(schedule.boards.index(board))),
        "bots": {entry.label: {"identity": entry.identity, "spec": entry.spec} for entry in entries},
    }


def board_title(board: str, dice: str) -> str:
    """Return the title of a board, with its dice where any are secret."""
    return f"{board} (dice: {dice})" if dice not in ("", DiceKind.PUBLIC.words) else board


def render_board(
    board: Board, frame: pd.DataFrame, kind: str, about: Mapping[str, Any] | None = None, what: str = "leaderboard"
) -> bytes:
    """Return the table of a board in one of the formats of `arena.plan.config.FORMATS`; `about` is for JSON."""
    if kind == "json":
        about = about or {"game": board.game, "players": board.players}
        data = {**about, "ratings": frame.attrs.get("ratings"), what: records(frame)}
        return f"{json.dumps(data, indent=1, ensure_ascii=False)}\n".encode()
    title = board_title(board.title, (about or {}).get("dice", ""))
    return render_frame(frame, kind, title if what == "leaderboard" else f"{title}: {what}")


def render_tables(
    folder: Path,
    schedule: Schedule,
    boards: Mapping[int, pd.DataFrame],
    formats: Sequence[str],
    columns: Sequence[str] = (),
    what: str = "leaderboard",
) -> list[tuple[Path, bytes]]:
    """Return the table of every board in every format, with the wanted columns: paths and contents."""
    if columns:
        known = list(dict.fromkeys(str(name) for frame in boards.values() for name in frame))
        check_columns(columns, known, f"{what}s")
    files = []
    for index, frame in boards.items():
        board = schedule.boards[index]
        frame = select_columns(frame, columns)
        if columns and not len(frame.columns):
            raise ConfigError(f"--columns: the {what} of {board.title} has none of {', '.join(columns)}")
        about = about_board(board, schedule)
        for kind in formats:
            name = board.slug if what == "leaderboard" else f"{board.slug}_{what}"
            files.append((folder / f"{name}.{kind}", render_board(board, frame, kind, about, what)))
    return files


def write_leaderboards(
    folder: Path,
    tournament: Tournament,
    boards: dict[int, pd.DataFrame],
    formats: Sequence[str],
    columns: Sequence[str] = (),
) -> list[Path]:
    """Write every leaderboard in every format, plan.json and versions.json, and return the paths."""
    files = render_tables(folder, tournament.schedule, boards, formats, columns)
    paths = [write_file(path, [content]) for path, content in files]
    return [*paths, *write_plan_and_versions(folder, tournament.published(), tournament.store.runs.last_versions())]
