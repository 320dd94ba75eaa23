"""Tournaments whose logs are verified, and what tests do with them."""

import contextlib
import itertools
import sqlite3
from pathlib import Path
from typing import Any

from arena import api
from arena.store.digests import DIGESTED_TABLES, block_keys, match_rows, row_digest
from arena.verify.verification import verify
from tests.support.tournaments import home_of, write

BOTS = '''
import time

from bots import Bot


class Fragile(Bot):
    """Raise now and then, and say what it thinks."""

    def choose(self, state):
        if self.rng.random() < 0.05:
            raise RuntimeError("broken on purpose")
        self.note = f"at {state.position}"
        self.evaluation = [0.5 for _ in range(self.game.players)]
        return self.rng.choice(state.legal_actions())


class Moody(Bot):
    """Take what the clock says."""

    def choose(self, state):
        actions = state.legal_actions()
        return actions[time.time_ns() // 1000 % len(actions)]
'''
CONFIG = """
name = "sample"
seed = 7
blocks = 3
games = [{ game = "epicycle", players = [2, 3] }, { game = "magic_mids", players = 2, blocks = 1 }]
bots = [{ bot = "random" }, { bot = "random", label = "another" }, { bot = "b.py:Fragile" }]
forfeit_limit = 0
"""
SECRET = f'dice = "secret"\n{CONFIG}'
ADAPTIVE = 'schedule = "adaptive"\nfirst_blocks = 2\n' + CONFIG.replace(", blocks = 1", "")


def played(folder: Path, config: str) -> Path:
    """The log of a tournament."""
    path = write(folder, config, BOTS)
    return api.run(path, home_of(path), workers=1, backend="local").folder / api.LOG_FILE


def checked(log: Path, **how):
    return verify(log, workers=1, **how)


def texts(report) -> str:
    return "\n".join(map(str, report.findings))


@contextlib.contextmanager
def changing(log: Path, digests: bool = True):
    """A connection to spoil a log with; by default by somebody who mends its digests."""
    with contextlib.closing(sqlite3.connect(log)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        with db:
            yield db
        with contextlib.suppress(sqlite3.Error, TypeError), db:
            if digests:
                set_digests(db)


def set_digests(db) -> None:
    """Compute all digests anew, whatever they are."""
    for table in DIGESTED_TABLES:
        key = columns(db, table)[0]
        for *row, _ in db.execute(f"SELECT * FROM {table}").fetchall():
            db.execute(f"UPDATE {table} SET digest = ? WHERE {key} = ?", (row_digest(table, row), row[0]))
    for whole in itertools.chain.from_iterable(match_rows(db, keys) for keys in block_keys(db)):
        for table, digest in zip(("matches", "timings"), whole.digests(), strict=True):
            query = f"UPDATE {table} SET digest = ? WHERE block = ? AND lineup = ?"
            db.execute(query, (digest, whole.key, whole.lineup))


def tables(db) -> list[Any]:
    """Names as text, or as bytes where the connection reads all text so."""
    return [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]


def columns(db, table: str) -> list[Any]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
