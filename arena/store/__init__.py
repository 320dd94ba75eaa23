"""The match log: one SQLite file, written by one driver, read by anybody."""

from arena.match.result import MatchRow, SeatRow
from arena.match.stored import SecretKey, StoredMatch
from arena.store.digests import MatchRows, match_rows
from arena.store.locking import Writer, read_writer
from arena.store.merging import check_rows, first_start, merge_logs
from arena.store.reading import readable
from arena.store.rows import MAX_MOVES_BYTES, BotRow, EventRow, FinishedMatch, estimates_of_columns, read_moves
from arena.store.schema import SCHEMA_VERSION
from arena.store.writing import MIN_COMPRESSED_MOVES_CHARS, Store, move_into_place, set_aside

__all__ = [
    "MAX_MOVES_BYTES",
    "MIN_COMPRESSED_MOVES_CHARS",
    "SCHEMA_VERSION",
    "BotRow",
    "EventRow",
    "FinishedMatch",
    "MatchRow",
    "MatchRows",
    "SeatRow",
    "SecretKey",
    "Store",
    "StoredMatch",
    "Writer",
    "check_rows",
    "estimates_of_columns",
    "first_start",
    "match_rows",
    "merge_logs",
    "move_into_place",
    "read_moves",
    "read_writer",
    "readable",
    "set_aside",
]
