"""The match log: one SQLite file, written by one driver, read by anybody."""

from arena.match.stored import SecretKey, StoredMatch
from arena.store.rows import MAX_COURSE, BotRow, Finished, MatchRow, read_clocks, read_course
from arena.store.schema import SCHEMA_VERSION
from arena.store.writing import LONG_COURSE, Store, set_aside

__all__ = [
    "LONG_COURSE",
    "MAX_COURSE",
    "SCHEMA_VERSION",
    "BotRow",
    "Finished",
    "MatchRow",
    "SecretKey",
    "Store",
    "StoredMatch",
    "read_clocks",
    "read_course",
    "set_aside",
]
