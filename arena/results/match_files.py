"""Matches of a log as files: JSON Lines, or a table with a row for each seat, written in pages.

Every file holds all matches of the plan that are in the log, in canonical order, those of incomplete blocks too.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from arena.core.errors import ConfigError
from arena.core.files import atomic_file, write_file
from arena.match.json_lines import LINE_KEYS, match_as_line, with_entries
from arena.match.stored import StoredMatch
from arena.results.columns import ANY_PARAMETER, DECIMALS, MATCHES, check_columns
from arena.results.costs import SeatCost, match_seat_costs
from arena.results.parameters import calibrated_parameters, entries_on, parameter_columns
from arena.results.tables import as_csv, render_frame, select_columns
from arena.schedule.blocks import Block, Schedule
from arena.schedule.foreign import ForeignSchedule
from arena.tournament.tournament import Tournament
from engine import returns_from_ranks

MIN_ROW_GROUP_ROWS = 50_000
"""Least number of rows in a row group of a Parquet file."""
MAX_DOCUMENT_ROWS = 10_000
"""Rows of a table for people (Markdown, HTML, LaTeX)."""


def exported_matches(tournament: Tournament) -> Iterator[StoredMatch]:
    """Yield every match with what its line says of the plan, in canonical order."""
    schedule = tournament.schedule
    for page in tournament.matches():
        for block, match in page:
            entries = [schedule.entries[entry] for entry in schedule.seats(block, match.lineup)]
            yield with_entries(match, entries, schedule.boards[block.board].rules_version)


def match_lines(tournament: Tournament, columns: Sequence[str] = ()) -> Iterator[str]:
    """Yield every match as a line of JSON, with the wanted keys."""
    return (match_as_line(match, columns) for match in exported_matches(tournament))


def seat_rows(
    schedule: Schedule, columns: Sequence[Sequence[Any]], block: Block, match: StoredMatch
) -> Iterator[tuple[Any, ...]]:
    """Yield a match as rows of the table, one for each seat; `columns` are those of parameters, by entry."""
    name = match.id
    costs = match_seat_costs(match)
    has_seats = not isinstance(schedule, ForeignSchedule) or schedule.has_seats
    where = (name, match.game, match.players, match.block_id.hex(), match.round, match.lineup)
    returns = [round(value, DECIMALS) for value in returns_from_ranks(match.ranks)]
    total = sum(score or 0 for score in match.scores)
    lines = _as_json([[ply, line] for ply, (_, line, *_) in match.estimates.items() if line])
    for seat, entry in enumerate(schedule.seats(block, match.lineup)):
        bot, score = schedule.entries[entry], match.scores[seat]
        margin = None if score is None else round(score - (total - score) / (match.players - 1), DECIMALS)
        cause, _ = match.forfeits.get(seat, (None, None))
        result = (
            match.ranks[seat] + 1,
            returns[seat],
            score,
            margin,
            cause,
            match.timed,
            match.ended,
            len(match.moves),
            _as_json([[ply, values[seat]] for ply, (values, *_) in match.estimates.items() if values]),
            lines,
        )
        parameters = [column[entry] for column in columns]
        yield (*where, seat if has_seats else None, bot.label, bot.identity, *result, *parameters, *costs[seat])


def _as_json(items: list[list[Any]]) -> str | None:
    """Return a list as compact JSON; None for an empty one."""
    return json.dumps(items, separators=(",", ":")) if items else None


def seat_frames(tournament: Tournament) -> Iterator[pd.DataFrame]:
    """Yield the table of matches (`arena.results.columns.MATCHES`) in pages."""
    schedule = tournament.schedule
    also = calibrated_parameters(schedule)
    parameters = [
        [column.tolist() for column in parameter_columns(entries_on(schedule, index), also).values()]
        for index in range(len(schedule.boards))
    ]
    for page in tournament.matches():
        rows = (row for block, match in page for row in seat_rows(schedule, parameters[block.board], block, match))
        yield _typed(schedule, list(zip(*rows, strict=True)))


def table_columns(schedule: Schedule) -> dict[str, str]:
    """Return the types of the columns of the table of matches, by name, in their order."""
    dtypes: dict[str, str] = {}
    for column in MATCHES.columns:
        if column.name == ANY_PARAMETER:
            columns = parameter_columns(schedule.entries, calibrated_parameters(schedule))
            dtypes |= {name: str(each.dtype) for name, each in columns.items()}
        else:
            dtypes[column.name] = column.dtype
    return dtypes


def _typed(schedule: Schedule, cells: Sequence[Sequence[Any]] | None) -> pd.DataFrame:
    """Return cells by column as a frame; None for no rows."""
    dtypes = table_columns(schedule)
    other = {"score": "Float64"} if any(board.utilities for board in schedule.boards) else {}
    if isinstance(schedule, ForeignSchedule) and not schedule.has_seats:
        other["seat"] = "Int64"
    columns = zip(dtypes, [[]] * len(dtypes) if cells is None else cells, strict=True)
    return pd.DataFrame({name: pd.Series(values, dtype=other.get(name, dtypes[name])) for name, values in columns})


def check_match_columns(schedule: Schedule, kinds: Sequence[str], columns: Sequence[str]) -> None:
    """Raise `ConfigError` for a column that the matches do not have in one of the formats."""
    if set(kinds) - {"jsonl"}:
        check_columns(columns, [*table_columns(schedule)], "matches")
    if "jsonl" in kinds:
        check_columns(columns, LINE_KEYS, "matches in JSON Lines")


def write_matches(
    folder: Path, tournament: Tournament, kinds: Sequence[str], columns: Sequence[str] = ()
) -> list[Path]:
    """Write the matches in every format and return the paths; what moves cost is in tables only if it is named."""
    check_match_columns(tournament.schedule, kinds, columns)
    in_tables = columns or [name for name in table_columns(tournament.schedule) if name not in SeatCost._fields]
    paths = []
    for kind in kinds:
        path = folder / f"matches.{kind}"
        if kind == "jsonl":
            write_file(path, (line.encode() for line in match_lines(tournament, columns)))
        else:
            frames = (select_columns(frame, in_tables) for frame in seat_frames(tournament))
            {"csv": _write_csv, "json": _write_json, "parquet": _write_parquet}.get(kind, _write_for_people)(
                path, frames, select_columns(_typed(tournament.schedule, None), in_tables)
            )
        paths.append(path)
    return paths


def _write_csv(path: Path, frames: Iterator[pd.DataFrame], empty: pd.DataFrame) -> None:
    pages = itertools.chain([as_csv(empty)], (as_csv(frame, header=False) for frame in frames))
    write_file(path, (text.encode() for text in pages))


def _write_json(path: Path, frames: Iterator[pd.DataFrame], empty: pd.DataFrame) -> None:
    lines = (line for frame in frames for line in frame.to_json(orient="records", lines=True).splitlines())
    first = next(lines, None)
    pieces = itertools.chain(["[\n", first] if first else ["["], (f",\n{line}" for line in lines), ["\n]\n"])
    write_file(path, (piece.encode() for piece in pieces))


def _write_parquet(path: Path, frames: Iterator[pd.DataFrame], empty: pd.DataFrame) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.Schema.from_pandas(empty, preserve_index=False)
    with atomic_file(path) as file, pq.ParquetWriter(file, schema) as writer:
        for group in _grouped(frames):
            writer.write_table(pa.Table.from_pandas(group, schema, preserve_index=False))


def _grouped(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield frames joined until they have `MIN_ROW_GROUP_ROWS` rows."""
    held: list[pd.DataFrame] = []
    for frame in frames:
        held.append(frame)
        if sum(map(len, held)) >= MIN_ROW_GROUP_ROWS:
            yield pd.concat(held, ignore_index=True)
            held = []
    if held:
        yield pd.concat(held, ignore_index=True)


def _write_for_people(path: Path, frames: Iterator[pd.DataFrame], empty: pd.DataFrame) -> None:
    whole = [empty]
    for frame in frames:
        whole.append(frame)
        if sum(map(len, whole)) > MAX_DOCUMENT_ROWS:
            kind = path.suffix[1:]
            raise ConfigError(
                f"the matches have more than {MAX_DOCUMENT_ROWS:,} rows, too many for {kind}; "
                "csv, json, jsonl and parquet take any number"
            )
    write_file(path, [render_frame(pd.concat(whole, ignore_index=True), path.suffix[1:], "Matches")])
