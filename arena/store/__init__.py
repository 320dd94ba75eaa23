"""The match log: one SQLite file, written by one driver, read by anybody."""

from arena.match.result import MatchRow, SeatRow
from arena.match.stored import SecretKey, StoredMatch
from arena.store.digests import WholeMatch, whole_matches
from arena.store.locking import Writer, read_writer
from arena.store.merging import check_rows, first_start, merge_logs
from arena.store.reading import readable
from arena.store.rows import MAX_MOVES, BotRow, Finished, read_estimates, read_moves
from arena.store.schema import SCHEMA_VERSION
from arena.store.writing import LONG_MOVES, Store, move_into_place, set_aside

__all__ = [
    "LONG_MOVES",
    "MAX_MOVES",
    "SCHEMA_VERSION",
    "BotRow",
    "Finished",
    "MatchRow",
    "SeatRow",
    "SecretKey",
    "Store",
    "StoredMatch",
    "WholeMatch",
    "Writer",
    "check_rows",
    "first_start",
    "merge_logs",
    "move_into_place",
    "read_estimates",
    "read_moves",
    "read_writer",
    "readable",
    "set_aside",
    "whole_matches",
]
