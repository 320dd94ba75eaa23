"""Rows of results in CSV, JSON Lines and Parquet files that anybody may have written, read a few at a time."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import IO, Any, NamedTuple

from arena.core.errors import ConfigError, RecordError
from arena.core.files import open_regular
from arena.core.machine import bounded_memory
from engine.errors import did_you_mean

COLUMNS = {
    "match": "id of the match, the same in the rows of all its bots",
    "block": "id of what matches share, such as a round or an event",
    "game": "name of the game",
    "bot": "name of the bot, player or team",
    "seat": "number of the seat, from 0 or from 1",
    "place": "place in the match, 1 is best",
    "score": "score in the match, higher is better",
}
"""Meanings that columns may have."""
FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
"""Formats by the ending of a file's name."""
MAX_LINE_BYTES = 2**20
"""Bytes of a line."""
MAX_COLUMNS = 1_000
MAX_NAME_CHARS = 200
"""Characters of a name or an id."""
MAX_ROW_GROUP_BYTES = 2**30
"""Bytes of a row group of a Parquet file, unpacked, as it says itself."""
MAX_MEMORY_BYTES = 2**31
"""Bytes of memory for reading a Parquet file, whatever it says."""
MAX_DIGITS = 400
MAX_CELL_BYTES = 2**12
"""Bytes of a text in a Parquet file, of which a few can stand for any number."""
MAX_NUMBER = 2.0**51
"""Bound of scores and places: whole numbers below are exact."""
NUMBER_TEXT = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?", re.ASCII)
DELIMITERS = (",", "\t", ";")
ROWS_PER_BATCH = 4096
"""Rows of a Parquet file read at a time."""


class ResultRow(NamedTuple):
    """One bot in one match; None where the file has no such column or an optional cell is empty."""

    line: int
    """In the file, from 1; of Parquet the number of the row."""
    match: str
    block: str | None
    game: str | None
    bot: str
    seat: int | None
    place: float | None
    score: float | None


Cells = tuple[int, Mapping[str, Any]]
"""Line, and the wanted cells by their meaning."""


class ResultTable(NamedTuple):
    """An open table."""

    header: list[str]
    """Names of all columns, as far as they are known before the rows are read."""
    rows: Callable[[Mapping[str, str]], Iterator[Cells]]
    """Reads the rows, given the columns of the file by what they are taken for."""


def format_of_file(path: Path) -> str:
    """Return the format of a file by its name; raises `RecordError` for another one."""
    if path.suffix.lower() not in FORMATS:
        raise RecordError(f"{path}: is no {', '.join(FORMATS)} file; results are read from CSV, JSON Lines and Parquet")
    return FORMATS[path.suffix.lower()]


def chosen_columns(header: list[str], asked: Mapping[str, str], where: str) -> dict[str, str]:
    """Return the columns of a file by what they are taken for; `asked` are those that do not have our names.

    Raises `RecordError` for a column that is missing or given twice.
    """
    twice = sorted(name for name, count in Counter(header).items() if name and count > 1)
    if twice:
        raise RecordError(f"{where}: two columns are called '{printable(twice[0])}'; rename one")
    for what, name in asked.items():
        if name not in header:
            raise RecordError(f"{where}: has no column '{printable(name)}' for {what}{did_you_mean(name, header)}")
    taken = set(asked.values())
    found = {what: asked.get(what, what) for what in COLUMNS if what in asked or (what in header and what not in taken)}
    for what in ("match", "bot"):
        if what not in found:
            raise RecordError(f"{where}: has no column '{what}' ({COLUMNS[what]}); --columns {what}=NAME names it")
    if not found.keys() & {"place", "score"}:
        raise RecordError(
            f"{where}: has no column 'place' (1 is best) nor 'score' (higher is better); --columns place=NAME names it"
        )
    return found


@contextmanager
def open_table(path: Path, kind: str, where: str) -> Iterator[ResultTable]:
    """Open a table; errors name `where`."""
    with _missing_file_reported(where), open_regular(path) as file, contextlib.ExitStack() as bounds:
        if kind == "parquet":
            bounds.enter_context(bounded_memory(MAX_MEMORY_BYTES))
        yield {"csv": _csv, "jsonl": _json_lines, "parquet": _parquet}[kind](file, where)


def _check_header(header: Sequence[str], where: str) -> None:
    if len(header) > MAX_COLUMNS:
        raise RecordError(f"{where}: has {len(header):,} columns; up to {MAX_COLUMNS:,} are read")


def read_rows(table: ResultTable, columns: Mapping[str, str], where: str) -> Iterator[ResultRow]:
    """Yield the rows of a table, each cell checked; raises `RecordError` that names line and column."""
    for line, cells in table.rows(columns):
        values: dict[str, Any] = {}
        for what, name in columns.items():
            try:
                values[what] = PARSERS[what](cells.get(what))
            except ValueError as error:
                raise RecordError(f"{where}, line {line:,}, column '{printable(name)}': {error}") from None
        yield ResultRow(line, *map(values.get, ResultRow._fields[1:]))  # type: ignore[arg-type]  # the readers check it


def _csv(file: IO[bytes], where: str) -> ResultTable:
    lines = _Lines(file, where)
    first = next(iter(lines), "").removeprefix("\ufeff")
    delimiter = max(DELIMITERS, key=first.count)

    def pieces() -> Iterator[str]:
        yield first
        yield from lines

    reader = csv.reader(pieces(), delimiter=delimiter, strict=True)

    def read(line: int) -> list[str] | None:
        try:
            return next(reader, None)
        except csv.Error as error:
            why = str(error).partition(" - do you")[0]  # what follows is for programmers
            raise RecordError(f"{where}, line {line:,}: is no CSV: {why}") from None

    header = [name.strip() for name in read(1) or []]
    _check_header(header, where)

    def rows(columns: Mapping[str, str]) -> Iterator[Cells]:
        places = {what: header.index(name) for what, name in columns.items()}
        while True:
            begins = lines.number + 1
            cells = read(begins)
            if cells is None:
                return
            if not cells:
                continue
            if len(cells) != len(header):
                raise RecordError(
                    f"{where}, line {begins:,}: has {len(cells)} cells, and the header {len(header)} columns; put "
                    "quotes around a cell that holds the delimiter"
                )
            yield begins, {what: cells[place] for what, place in places.items()}

    return ResultTable(header, rows)


def _json_lines(file: IO[bytes], where: str) -> ResultTable:
    lines = _Lines(file, where)

    def read(line: str) -> dict[str, Any]:
        try:
            found = json.loads(
                line, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant, parse_int=_parse_int
            )
        except (ValueError, RecursionError) as error:
            why = "nested too deep" if isinstance(error, RecursionError) else error
            raise RecordError(f"{where}, line {lines.number:,}: is no JSON: {why}") from None
        if not isinstance(found, dict):
            raise RecordError(f"{where}, line {lines.number:,}: is no JSON object of one bot in one match")
        return found

    texts = (line.removeprefix("\ufeff") for line in lines if line.strip())
    first = next(texts, None)
    start = [] if first is None else [(lines.number, read(first))]
    header = [name for _, data in start for name in data]
    _check_header(header, where)

    def rows(columns: Mapping[str, str]) -> Iterator[Cells]:
        for line, data in start:
            yield line, {what: data.get(name) for what, name in columns.items()}
        for text in texts:
            data = read(text)
            yield lines.number, {what: data.get(name) for what, name in columns.items()}

    return ResultTable(header, rows)


def _parquet(file: IO[bytes], where: str) -> ResultTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.ParquetFile(file).schema_arrow
        header = list(schema.names)
        _check_header(header, where)
        packed = [each.name for each in schema if not pa.types.is_nested(each.type)]  # until they are measured
        table = pq.ParquetFile(file, read_dictionary=packed)
        groups = [table.metadata.row_group(number).total_byte_size for number in range(table.num_row_groups)]
    except RecordError:
        raise
    except Exception as error:  # the library may raise anything for a damaged file
        raise RecordError(f"{where}: is no Parquet file: {_one_line(error)}") from None
    if max(groups, default=0) > MAX_ROW_GROUP_BYTES:
        raise RecordError(
            f"{where}: has a row group of more than {MAX_ROW_GROUP_BYTES >> 30} GiB; write it with smaller ones"
        )

    def rows(columns: Mapping[str, str]) -> Iterator[Cells]:
        number = 0
        try:
            for batch in table.iter_batches(ROWS_PER_BATCH, columns=sorted(set(columns.values()))):
                values = {what: _cells(batch.column(name), name, where) for what, name in columns.items()}
                for row in zip(*values.values(), strict=True):
                    number += 1
                    yield number, dict(zip(values, row, strict=True))
        except RecordError:
            raise
        except MemoryError:
            raise RecordError(
                f"{where}, after row {number:,}: unpacks to more than {MAX_MEMORY_BYTES >> 30} GiB; write it with "
                "smaller row groups"
            ) from None
        except Exception as error:  # the same
            raise RecordError(f"{where}, after row {number:,}: cannot be read: {_one_line(error)}") from None

    return ResultTable(header, rows)


def _cells(column: Any, name: str, where: str) -> list[Any]:
    """Return the cells of an Arrow array; raises `RecordError` where a text would take much memory."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(column.type):
        raise RecordError(f"{where}, column '{printable(name)}': holds lists or records; texts and numbers are read")
    if not pa.types.is_dictionary(column.type):
        return list(column.to_pylist())
    texts = column.dictionary
    longest = 0 if pa.types.is_primitive(texts.type) else pc.max(pc.binary_length(texts)).as_py() or 0
    if longest > MAX_CELL_BYTES:
        raise RecordError(
            f"{where}, column '{printable(name)}': has a cell of {longest:,} bytes; up to {MAX_CELL_BYTES:,} are read"
        )
    return list(column.dictionary_decode().to_pylist())


class _Lines:
    """Lines of a file of UTF-8 text, counted, none of which takes much memory."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        self._file, self._where = file, where
        self.number = 0
        """Of the latest line, from 1."""

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(MAX_LINE_BYTES + 1):
            self.number += 1
            if len(line) > MAX_LINE_BYTES:
                raise RecordError(f"{self._where}, line {self.number:,}: has more than {MAX_LINE_BYTES >> 20} MiB")
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise RecordError(
                    f"{self._where}, line {self.number:,}: is not UTF-8 text (byte {error.start}); save it as UTF-8"
                ) from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _parse_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits, more than {MAX_DIGITS}")
    return int(digits)


@contextmanager
def _missing_file_reported(where: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise ConfigError(f"{where}: no such file") from None


def printable(value: object) -> str:
    """Return a value of a file in an error: on one line, without what would steer a terminal, and not long."""
    text = ascii(value)[1:-1] if isinstance(value, str) and not value.isprintable() else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _one_line(error: BaseException) -> str:
    return printable(" ".join(str(error).split())[:200])


def name(value: Any) -> str:
    """Return a name or an id; raises `ValueError` unless it is printable, neither empty nor long.

    Canonically equivalent texts are the same one (Unicode's form NFC); white space at the ends does not count.
    """
    if isinstance(value, date):
        value = value.isoformat()
    if value is None or isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("is empty; give a text" if value is None else f"{printable(repr(value))} is no text")
    text = unicodedata.normalize("NFC", str(value).strip())
    if not text:
        raise ValueError("is empty; give a text")
    if len(text) > MAX_NAME_CHARS:
        raise ValueError(f"has {len(text):,} characters; up to {MAX_NAME_CHARS} are read")
    if not text.isprintable():
        letter = next(letter for letter in text if not letter.isprintable())
        raise ValueError(f"'{printable(text)}' holds U+{ord(letter):04X}, which cannot be printed; remove it")
    return text


def number(value: Any) -> float | None:
    """Return a number, None for an empty cell; raises `ValueError` for anything else."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str) and NUMBER_TEXT.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        try:
            value = float(value) if type(value).__name__ == "Decimal" else None
        except (OverflowError, ValueError):
            value = None
    if value is None:
        raise ValueError("is no number")
    found = float(value) if abs(value) < MAX_NUMBER else math.nan
    if not math.isfinite(found):
        raise ValueError(f"{printable(value)} is no finite number, or too large")
    return found


def _parse_number(value: Any) -> float | None:
    try:
        return number(value)
    except ValueError as error:
        text = str(error)
        raise ValueError(f"'{printable(value)}' is no number" if text == "is no number" else text) from None


def _parse_seat(value: Any) -> int:
    found = _parse_number(value)
    if found is None or found != int(found) or not 0 <= found <= 10_000:
        raise ValueError(f"'{printable(value)}' is no number of a seat: 0, 1, ... or 1, 2, ...")
    return int(found)


def _parse_place(value: Any) -> float | None:
    found = _parse_number(value)
    if found is not None and found < 1:
        raise ValueError(f"{printable(value)} is no place; the best one is 1")
    return found


PARSERS: dict[str, Callable[[Any], Any]] = {
    "match": name,
    "block": name,
    "game": name,
    "bot": name,
    "seat": _parse_seat,
    "place": _parse_place,
    "score": _parse_number,
}


def columns_of(given: Iterable[str]) -> dict[str, str]:
    """Return what `--columns` says, `match=id,bot=player`; raises `ConfigError` for an invalid value."""
    found: dict[str, str] = {}
    for text in given:
        what, equals, column = (part.strip() for part in text.partition("="))
        if not equals or not column:
            raise ConfigError(f"--columns: '{printable(text)}' is not of the form match=NAME")
        if what not in COLUMNS:
            raise ConfigError(f"--columns: nothing is called '{printable(what)}'{did_you_mean(what, list(COLUMNS))}")
        if what in found:
            raise ConfigError(f"--columns: {what} is given twice")
        found[what] = column
    return found
