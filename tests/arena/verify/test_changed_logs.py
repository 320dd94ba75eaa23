"""Whatever is changed in a sound log is found by `arena verify`, or changes nothing."""

import contextlib
import itertools
import json
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.store import Store
from tests.arena.verify.logs import changing, checked, columns, tables, texts

LATER = {
    **{"matches": ("timed", "notes", "digest"), "seats": ("cause",), "faults": ("block", "lineup", "seat", "detail")},
    "timings": ("run", "worker", "seconds", "clocks", "retried", "attempts", "digest"),
    **{"runs": ("versions", "started", "finished", "digest"), "keys": ("created", "disclosed", "digest")},
    **{"bots": ("module", "digest"), "bundles": ("digest",), "estimates": ("block", "lineup", "moves", "dropped")},
}
"""Columns of which nothing but the digests says what they were, and the digests."""


def content(log: Path, later: dict[str, tuple[str, ...]] = LATER) -> dict[str, list] | None:
    """All values of a log with their types, but for some columns; None when they cannot be read."""
    try:
        with contextlib.closing(sqlite3.connect(f"{log.as_uri()}?mode=ro", uri=True)) as db:
            db.text_factory = bytes
            found = {}
            for table in map(bytes.decode, tables(db)):
                names = [name.decode() for name in columns(db, table) if name.decode() not in later.get(table, ())]
                wanted = ", ".join(f"{name}, typeof({name})" for name in names) or "1"
                found[table] = sorted(db.execute(f"SELECT {wanted} FROM {table}").fetchall(), key=repr)
            return found
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def edits(log: Path, later: bool, in_full: bool) -> Iterator[tuple[str, str, str]]:
    """Changes of one value: to that of another row, to its neighbour, to nonsense; one of them by turns, or all."""
    turns = itertools.count()
    with contextlib.closing(sqlite3.connect(log)) as db:
        for table in tables(db):
            for column in columns(db, table):
                if (column in LATER.get(table, ())) is later:
                    other = f"(SELECT {column} FROM {table} WHERE {column} IS NOT t.{column} ORDER BY 1 LIMIT 1)"
                    for number, value in enumerate((other, f"{column} + 1", "'nonsense'")):
                        if in_full or next(turns) % 4 == number:
                            yield table, column, value


def spoil(log: Path, table: str, column: str, value: str, digests: bool = True) -> str | None:
    """Change one value in the last row; the id of its match, if it has one; None without a row, or where refused."""
    with changing(log, digests) as db:
        keys = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
        row = db.execute(f"SELECT {', '.join(keys)} FROM {table} ORDER BY 1 DESC, {len(keys)} DESC LIMIT 1").fetchone()
        if row is None:
            return None
        at = dict(zip(keys, row, strict=True))
        query = "SELECT identity FROM blocks WHERE block = ?"
        named = f"{db.execute(query, row[:1]).fetchone()[0].hex()[:12]}-{at['lineup']}" if "lineup" in at else ""
        try:
            where = " AND ".join(f"{key} = ?" for key in keys)
            db.execute(f"UPDATE {table} AS t SET {column} = {value} WHERE {where}", row)
        except sqlite3.IntegrityError:
            return None
    return named


def test_every_change_of_a_value_is_found_and_its_match_is_named(logs, tmp_path, chaos_in_full):
    log, before = tmp_path / "copy.db", content(logs["rounds"])
    found = 0
    for edit in edits(logs["rounds"], later=False, in_full=chaos_in_full):
        shutil.copy(logs["rounds"], log)
        named = spoil(log, *edit)
        if named is None or content(log) == before:
            continue
        report = checked(log)
        assert not report.sound, edit
        assert edit[1] in ("block", "lineup") or named in texts(report), (edit, texts(report))
        found += 1
    assert found > (60 if chaos_in_full else 15)


def test_what_only_digests_cover_cannot_be_changed_either(logs, tmp_path):
    log, before = tmp_path / "copy.db", content(logs["rounds"], {})
    for edit in edits(logs["rounds"], later=True, in_full=True):
        shutil.copy(logs["rounds"], log)
        named = spoil(log, *edit, digests=False)
        if named is not None and content(log, {}) != before:
            with Store.open(log) as store:
                names = list(store.damaged())
            assert names, edit
            assert edit[1] in ("block", "lineup") or any(named.partition("-")[0] in name for name in names), edit


def test_every_flipped_bit_is_found_or_changes_no_value(logs, tmp_path, chaos_in_full):
    log = Path(shutil.copy(logs["rounds"], tmp_path / "copy.db"))
    with contextlib.closing(sqlite3.connect(log)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA page_size = 512")  # with little between the rows
        db.execute("VACUUM")
    whole, before = log.read_bytes(), content(log, {})
    found = harmless = 0
    step = 97 if chaos_in_full else 997
    for place in range(0, len(whole), step):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place // step % 8
        log.write_bytes(flipped)
        if checked(log).sound:
            assert content(log, {}) == before, place
            harmless += 1
        else:
            found += 1
    assert min(found, harmless) > 10  # what is harmless lies between rows


def test_a_truncated_file_is_found_at_any_length(logs, tmp_path):
    whole, log = logs["rounds"].read_bytes(), tmp_path / "copy.db"
    for length in [*range(0, 120, 17), *range(4096, len(whole), 5 * 1024), len(whole) - 1]:
        log.write_bytes(whole[:length])
        assert not checked(log).sound, length


ROWS = {
    "a match": "DELETE FROM matches WHERE (block, lineup) = ({block}, 1)",
    "a seat": "DELETE FROM seats WHERE (block, lineup, seat) = ({block}, 1, 0)",
    "all seats": "DELETE FROM seats WHERE (block, lineup) = ({block}, 1)",
    "its times": "DELETE FROM timings WHERE (block, lineup) = ({block}, 1)",
    "another line-up": "INSERT INTO matches SELECT block, 2, ended, plies, timed, final, moves, notes, digest "
    "FROM matches WHERE (block, lineup) = ({block}, 1)",
    "another seat": "INSERT INTO seats SELECT block, lineup, 9, bot, rank, score, cause, forfeit_ply "
    "FROM seats WHERE (block, lineup, seat) = ({block}, 1, 1)",
    "seats of no match": "INSERT INTO seats SELECT block, 5, seat, bot, rank, score, cause, forfeit_ply "
    "FROM seats WHERE (block, lineup) = ({block}, 1)",
    "a fault of nobody": "INSERT INTO faults VALUES ({block}, 1, 0, 'made up')",
    "results exchanged": "UPDATE seats SET rank = 1 - rank WHERE (block, lineup) = ({block}, 1)",
    "bots exchanged": "UPDATE seats AS t SET bot = (SELECT bot FROM seats s WHERE (s.block, s.lineup, s.seat) = "
    "(t.block, t.lineup, 1 - t.seat)) WHERE (block, lineup) = ({block}, 1) AND seat < 2",
    "line-ups exchanged": "UPDATE seats SET lineup = 9 - lineup WHERE block = {block}",
}


@pytest.mark.parametrize("name", ["rounds", "adaptive", "duel"])
@pytest.mark.parametrize("change", ROWS)
def test_rows_that_are_gone_made_up_or_exchanged_are_found_with_their_match(copy, name, change):
    log = copy(name)
    with changing(log) as db:
        query = (
            "SELECT block, hex(identity) FROM blocks JOIN matches USING (block) JOIN seats USING (block, lineup) "
            "WHERE lineup = 1 GROUP BY block HAVING count(cause) = 0 AND min(rank) < max(rank)"
        )
        block, identity = db.execute(query).fetchone()
        assert db.execute(ROWS[change].format(block=block)).rowcount
    report = checked(log)
    assert not report.sound
    assert identity.lower()[:12] in texts(report)


@pytest.mark.parametrize("table", ["matches", "seats", "faults", "timings"])
def test_a_match_copied_over_another_one_is_found(copy, table):
    """Those of two blocks whose openings differ: what a bot might as well have done only playing again can tell."""
    log = copy("rounds")
    with changing(log) as db:
        query = (
            "SELECT a.block, b.block FROM matches a JOIN matches b ON substr(a.moves, 1, 5) < substr(b.moves, 1, 5) "
            "AND a.lineup = 0 AND b.lineup = 0 JOIN seats s ON s.block = a.block AND s.cause IS NOT NULL "
            "WHERE b.block NOT IN (SELECT block FROM seats WHERE cause IS NOT NULL)"
        )
        one, other = db.execute(query).fetchone()
        if table != "faults":
            db.execute(f"DELETE FROM {table} WHERE block = ?", (other,))
        db.execute(f"CREATE TEMP TABLE moved AS SELECT * FROM {table} WHERE block = ?", (one,))
        db.execute("UPDATE moved SET block = ?", (other,))
        db.execute(f"INSERT INTO {table} SELECT * FROM moved")
        if table == "timings":  # a match may take as long as another one
            db.execute("UPDATE timings SET run = 99 WHERE block = ?", (other,))
        identity = db.execute("SELECT hex(identity) FROM blocks WHERE block = ?", (other,)).fetchone()[0]
    assert identity.lower()[:12] in texts(checked(log))


def test_a_block_of_no_plan_is_found_and_its_matches_are_replayed_all_the_same(copy):
    log = copy("rounds")
    with changing(log) as db:
        plan = json.loads(db.execute("SELECT plan FROM runs").fetchone()[0])
        plan["boards"] = plan["boards"][:-1]
        db.execute("UPDATE runs SET plan = ?", (json.dumps(plan),))
        block = db.execute("SELECT max(block) FROM matches JOIN blocks USING (block) WHERE board = 3").fetchone()[0]
        db.execute("UPDATE seats SET score = score + 1 WHERE block = ? AND lineup = 1", (block,))
    report = checked(log)
    assert texts(report).count("its block belongs to no plan of the log") == 3
    assert texts(report).count("scores") == 1


HARD = {
    "moves that unpack to more than they may": ("matches", "moves", lambda: zlib.compress(bytes(2**27))),
    "moves that are no text": ("matches", "moves", zlib.compress(b"\xff\xfe" * 200)),
    "a plan of deep brackets": ("runs", "plan", "[" * 100_000),
    "a plan that is no plan": ("runs", "plan", '{"name": 1}'),
    "a bundle of a bomb": ("bundles", "files", lambda: zlib.compress(bytes(2**29))),
    "a key that is a number": ("keys", "key", 5),
    "a huge seed": ("blocks", "seed", 2**62),
    "a game that there is not": ("boards", "game", "chess"),
    "far too many players": ("boards", "players", 10**15),
    "notes of nothing": ("matches", "notes", "[[[]]]"),
    "an opening without an end": ("blocks", "opening", 2**60),
    "control characters": ("seats", "cause", "\x1b[31mred"),
}


@pytest.mark.parametrize("case", HARD)
def test_whatever_a_hostile_log_holds_is_a_finding_of_one_printable_line(copy, case):
    log = copy("rounds")
    table, column, value = HARD[case]
    value = value() if callable(value) else value
    with changing(log) as db:
        key = next(row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5])
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = (SELECT max({key}) FROM {table})", (value,))
    report = checked(log)
    assert not report.sound
    assert all(str(finding).isprintable() for finding in report.findings)


STATEMENTS = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM matches; END",
    "a view in a table's place": "ALTER TABLE faults RENAME TO f; CREATE VIEW faults AS SELECT * FROM f",
    "a further table": "CREATE TABLE more (a)",
    "a missing table": "DROP TABLE seats",
}


@pytest.mark.parametrize("case", STATEMENTS)
def test_a_database_that_is_laid_out_otherwise_is_no_log(copy, case):
    log = copy("rounds")
    with changing(log) as db:
        db.executescript(STATEMENTS[case])
    report = checked(log)
    assert report.count == 1
    assert report.totals.matches == 0
