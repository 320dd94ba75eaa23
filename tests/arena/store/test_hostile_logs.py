"""Logs from strangers: what is no log of ours, or holds what the arena never writes, ends every command in one line."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sqlite3
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import api
from arena.cli.app import run_command
from arena.core.database_shape import SUPER_JOURNAL_MAGIC
from arena.core.errors import LogVersionError, StoreError
from arena.store import Store
from arena.store.schema import SCHEMA, SCHEMA_VERSION
from arena.store.writing import set_aside
from tests.support.tournaments import home_of, log_of, write

CONFIG = """
name = "small"
seed = 3
blocks = 2
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "random" }, { bot = "random", label = "other" }]
"""
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i"
ATTACKS = {
    "a view that never ends": "ALTER TABLE matches RENAME TO kept; "
    f"CREATE VIEW matches AS {ENDLESS} AS block, 0 AS lineup, '' AS ended, 1 AS plies, 0 AS timed, x'' AS final, "
    "'' AS moves, NULL AS notes, x'' AS digest FROM n;",
    "a view that turns ranks round": "ALTER TABLE seats RENAME TO kept; CREATE VIEW seats AS SELECT block, lineup, "
    "seat, bot, 1 - rank AS rank, score, cause, forfeit_ply FROM kept;",
    "a trigger that turns ranks round": "CREATE TRIGGER rig AFTER INSERT ON seats BEGIN UPDATE seats SET rank = 1 - "
    "rank WHERE block = new.block AND lineup = new.lineup AND seat = new.seat; END;",
    "a trigger on another table": "CREATE TRIGGER rig AFTER INSERT ON runs BEGIN DELETE FROM matches; END;",
    "a table of its own": "CREATE TABLE more (x);",
    "a virtual table": "CREATE VIRTUAL TABLE more USING fts5(x);",
    "statistics that mislead": "ANALYZE;",
    "an index on an expression": "CREATE INDEX odd ON matches (abs(lineup));",
    "a unique index": "CREATE UNIQUE INDEX odd ON timings (lineup, block);",
    "a column more": "ALTER TABLE boards ADD COLUMN more TEXT;",
    "a column that is computed": "ALTER TABLE boards ADD COLUMN more AS (players + 1);",
    "a column of another name": "ALTER TABLE matches RENAME COLUMN ended TO final2;",
    "a table that is missing": "DROP TABLE faults;",
    "an index that is missing": "DROP INDEX forfeits;",
    "a collation": "DROP TABLE bundles; CREATE TABLE bundles (bundle TEXT PRIMARY KEY COLLATE NOCASE, files BLOB NOT "
    "NULL, digest BLOB NOT NULL);",
    "a constraint": "DROP TABLE bundles; CREATE TABLE bundles (bundle TEXT PRIMARY KEY, files BLOB NOT NULL CHECK "
    "(length(files) > 0), digest BLOB NOT NULL);",
    "words in a comment": "DROP TABLE bundles; CREATE TABLE bundles (bundle TEXT PRIMARY KEY, files BLOB NOT NULL, "
    "/* -- */ digest BLOB NOT NULL DEFAULT '--\n');",
}


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """The log of a tournament that has been played."""
    config = write(tmp_path_factory.mktemp("played"), CONFIG, "")
    api.run(config, home_of(config), workers=1, backend="local")
    return log_of(config)


def copied(played: Path, folder: Path, script: str, *parameters: object) -> Path:
    """A copy of the log in a home of its own, changed."""
    log = folder / "home" / "small" / "matches.db"
    shutil.rmtree(folder / "home", ignore_errors=True)
    log.parent.mkdir(parents=True)
    shutil.copy(played, log)
    with contextlib.closing(sqlite3.connect(log)) as db, db:
        db.execute(script, parameters) if parameters else db.executescript(script)
    return log


COMMANDS = (
    "leaderboard LOG",
    "status LOG",
    "crosstable LOG",
    "variance LOG",
    "power LOG random other --difference 0.1",
    "verify LOG",
    "archive LOG --out OUT/packed.zip",
    "export LOG --what leaderboards,crosstable --out OUT/out --format csv,md,html,tex",
    "export LOG --what matches --out OUT/out",
    "merge SOUND --into LOG",
    "merge LOG --into OUT/merged.db",
    "replay MATCH --in LOG",
    "diff LOG SOUND",
)
"""Every command that opens a log."""


def words(command: str, log: Path, sound: Path) -> list[str]:
    """A command's arguments, for a log in a home of its own."""
    with contextlib.closing(sqlite3.connect(sound)) as db:
        match = db.execute("SELECT lower(hex(identity)) FROM blocks").fetchone()[0]
    places = {"LOG": log, "OUT": log.parents[2], "SOUND": sound, "MATCH": match}
    return re.sub("[A-Z]{3,}", lambda place: str(places[place[0]]), command).split()


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_log_with_other_tables_is_refused_in_one_line_by_every_command(played, tmp_path, capsys, attack):
    log = copied(played, tmp_path, ATTACKS[attack])
    before = log.read_bytes()
    for command in COMMANDS:
        assert run_command(words(command, log, played)) in (1, 2), command
        said = capsys.readouterr()
        told = said.err + (said.out if command.startswith("verify") else "")
        assert "its tables are not those of a match log" in told, command
        assert "Traceback" not in told
        assert said.err.count("\n") <= 1, command
    with pytest.raises(StoreError, match="its tables are not those of a match log"):
        Store.create(log)
    assert log.read_bytes() == before
    assert not (tmp_path / "merged.db").exists()


@pytest.mark.parametrize("version", [0, 1, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_a_log_of_another_version_is_refused_in_one_line_by_every_command(played, tmp_path, capsys, version):
    log = copied(played, tmp_path, f"PRAGMA user_version = {version};")
    before = log.read_bytes()
    told = f"has log version {version}, and this arena reads version {SCHEMA_VERSION} alone; use the arena that wrote"
    for command in COMMANDS:
        assert run_command(words(command, log, played)) == 1, command
        said = capsys.readouterr()
        assert told in said.err and said.err.count("\n") == 1 and not said.out, command
    for opened in (Store.open, Store.create):
        with pytest.raises(LogVersionError, match=told):
            opened(log)
    assert log.read_bytes() == before
    assert not (tmp_path / "merged.db").exists()


def test_a_run_goes_on_with_no_log_that_has_a_trigger(played, tmp_path, capsys):
    log = copied(played, tmp_path, ATTACKS["a trigger that turns ranks round"])
    config = write(tmp_path, CONFIG.replace("blocks = 2", "blocks = 3"), "")
    assert run_command(["run", str(config), "--home", str(log.parents[1]), "--workers", "1"]) == 1
    said = capsys.readouterr().err
    assert re.search(r"error: .*its tables are not those of a match log: another trigger 'rig'\n\Z", said)


def test_a_lock_file_that_is_a_link_is_not_followed(played, tmp_path):
    log = copied(played, tmp_path, "")
    precious = tmp_path / "precious"
    precious.write_text("precious")
    log.with_suffix(".lock").unlink(missing_ok=True)
    log.with_suffix(".lock").symlink_to(precious)
    with pytest.raises(StoreError, match="is a link; remove it"):
        Store.create(log)
    assert precious.read_text() == "precious"
    log.with_suffix(".lock").unlink()
    os.mkfifo(log.with_suffix(".lock"))
    with contextlib.suppress(StoreError, OSError), Store.create(log):
        pass


def beside(log: Path, kind: str, victim: Path) -> None:
    """Put something beside a log that SQLite would take for its own: a pipe, a link, a journal that names a file."""
    victim.write_text("precious")
    suffix = kind.split()[0]
    if "pipe" in kind:
        os.mkfifo(f"{log}{suffix}")
    elif "link" in kind:
        Path(f"{log}{suffix}").symlink_to(victim)
    else:
        name, page = str(victim).encode(), 4096
        header = SUPER_JOURNAL_MAGIC + struct.pack(">IIIII", 0, 0, log.stat().st_size // page, 512, page)
        named = struct.pack(">I", 2**30 // page + 1) + name + struct.pack(">II", len(name), sum(name))
        Path(f"{log}{suffix}").write_bytes(header.ljust(512, b"\0") + named + SUPER_JOURNAL_MAGIC)


@pytest.mark.parametrize(
    "kind", ["-journal pipe", "-wal pipe", "-shm pipe", "-journal link", "-wal link", "-journal that names a file"]
)
def test_what_lies_beside_a_log_is_neither_waited_for_nor_followed_and_deletes_nothing(played, tmp_path, capsys, kind):
    log = copied(played, tmp_path, "")
    beside(log, kind, tmp_path / "victim")
    for command in ("status LOG", "leaderboard LOG", "verify LOG", "merge SOUND --into LOG"):
        assert run_command(words(command, log, played)) == 1, command
        said = capsys.readouterr()
        words_said = (said.out + said.err).replace("\n", "")  # a long path may be broken at the width of the terminal
        assert f"{log}{kind.split()[0]}:" in words_said, command
    config = write(tmp_path, CONFIG.replace("blocks = 2", "blocks = 3"), "")
    assert run_command(["run", str(config), "--home", str(log.parents[1]), "--workers", "1"]) == 1
    assert set_aside(log) is not None
    assert (tmp_path / "victim").read_text() == "precious"


COLUMNS = [
    (table, column)
    for table, text in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", SCHEMA, re.DOTALL)
    for column in re.findall(r"^    ([a-z]\w*)", text, re.MULTILINE)
]
VALUES = (
    st.integers(-(2**63), 2**63 - 1)
    | st.integers(-3, 30)
    | st.floats(allow_nan=False)
    | st.binary(max_size=20)
    | st.text(max_size=20).filter(lambda text: text.isprintable())
    | st.sampled_from(
        ["[" * 10_000, "[[0, 1]]", '[[0, "\\ud800"]]', "{}", "\x1b[2J", "1e999", "", " ", "=cmd|' /C calc'!A0"]
    )
    | st.none()
)
NEVER_SAID = ("Traceback", "Warning", "\x1b[2J")
OF_MATCHES = ("matches", "seats", "timings", "faults")


def told_by(command: list[str]) -> tuple[int, str, str]:
    """Exit code, output, errors."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run_command(command)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("command", COMMANDS[:5])
def test_words_where_scores_are_end_a_command_in_one_line(played, tmp_path, command):
    log = copied(played, tmp_path, "UPDATE seats SET score = 'two'")
    code, out, err = told_by(words(command, log, played))
    assert code == 1 or command.startswith(("status", "power"))  # which need no scores
    assert not any(word in out + err for word in NEVER_SAID)
    assert err.count("\n") == code


@settings(max_examples=30, deadline=None)
@given(command=st.sampled_from(COMMANDS), place=st.sampled_from(COLUMNS), value=VALUES, every=st.booleans())
def test_whatever_stands_in_a_log_no_command_fails_otherwise_than_in_one_line(
    played, tmp_path_factory, command, place, value, every
):
    table, column = place
    keyed = "(block, lineup) = (1, 0)" if table in OF_MATCHES else f"rowid = (SELECT max(rowid) FROM {table})"
    query = f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {'TRUE' if every or table == 'uncounted' else keyed}"
    try:
        log = copied(played, tmp_path_factory.getbasetemp() / "fuzzed", query, value)
    except (sqlite3.Error, UnicodeError):
        return  # the database itself does not take it
    code, out, err = told_by(words(command, log, played))
    assert code in (0, 1, 2)
    assert not any(word in out + err for word in NEVER_SAID)
    assert code == 0 or err.count("\n") <= 1 or command.startswith("verify")
