"""Digests: a bit that has changed in a log is found, and what it changed is named."""

import contextlib
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.match.dice import key_hash
from arena.match.estimates import pack_estimates
from arena.match.result import SeatRow
from arena.store import Store
from arena.store.digests import DIGESTED_TABLES, MATCH_TABLES
from tests.support.samples import all_matches, begin, entry, fill, finished, row, schedule

KEY = bytes(32)
PLAN = schedule(["alice", "bob", entry("carol", trusted=False)], players=(2, 3), blocks=3, keys=(key_hash(KEY),))
MATCHES = all_matches(PLAN)
VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(max_size=9), st.binary(max_size=9))


def damage_of(log):
    with Store.open(log) as store:
        return list(store.damaged())


@contextlib.contextmanager
def loosened(log):
    """A log whose tables take any value meanwhile, as a disk does that writes another bit."""
    connection = sqlite3.connect(log, isolation_level=None)
    tables = connection.execute("SELECT sql, name FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table'")
    connection.close()
    connection = sqlite3.connect(log, isolation_level=None)
    yield connection
    connection.execute("PRAGMA writable_schema = ON")
    connection.executemany("UPDATE sqlite_master SET sql = ? WHERE name = ?", tables)
    connection.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A log with every match of the plan, forfeits, moves, notes, estimates, a key, two runs, an event."""
    log = tmp_path_factory.mktemp("sound") / "matches.db"
    with Store.create(log) as store:
        store.keep_key(KEY, "2026")
    fill(log, PLAN, leave_out=[0])
    with Store.create(log) as store:
        noted = row(0, [0, 1], moves="S- L+ " * 99)._replace(notes=[(0, "no surrogate \x00 é")])
        noted = noted._replace(estimates=pack_estimates([(0, [500, -500], [7], [7, 2])]), dropped={1: 3})
        store.add(PLAN, [finished(MATCHES[0], noted)], begin(store, PLAN))
        store.finish_run("2027", counted=[])
        with store.transaction():
            store.insert_new("events", 1, 1, "joined", "b1.1", "{}")
    return log


def test_a_log_that_nothing_happened_to_is_sound(sound):
    assert damage_of(sound) == []


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_other_value_anywhere_is_named(sound, tmp_path_factory, data):
    log = tmp_path_factory.mktemp("log") / "matches.db"
    log.write_bytes(sound.read_bytes())
    with loosened(log) as connection:
        table = data.draw(st.sampled_from([*DIGESTED_TABLES, "boards", "blocks", *MATCH_TABLES]))
        columns = [(name, key) for _, name, _, _, _, key in connection.execute(f"PRAGMA table_info({table})")]
        keys = [name for name, key in columns if key] or [columns[0][0]]
        at = data.draw(st.sampled_from(connection.execute(f"SELECT {', '.join(keys)} FROM {table}").fetchall()))
        name = data.draw(st.sampled_from([name for name, _ in columns]))
        where = " AND ".join(f"{key} IS ?" for key in keys)
        query = f"SELECT {name}, typeof({name}) FROM {table} WHERE {where}"
        before = connection.execute(query, at).fetchone()
        try:
            connection.execute(f"UPDATE {table} SET {name} = ? WHERE {where}", (data.draw(VALUES), *at))
        except sqlite3.Error:  # a key that is taken, or no integer where the file can only hold one
            return
        if connection.execute(query, at).fetchone() == before:
            return
    found = damage_of(log)
    if table in DIGESTED_TABLES:
        assert len(found) >= 1 and found[0].startswith(table)
    else:
        assert found
    if table in MATCH_TABLES and name not in keys:
        assert len(found) == 1
        with contextlib.closing(sqlite3.connect(log)) as connection:
            (identity,) = connection.execute("SELECT identity FROM blocks WHERE block = ?", at[:1]).fetchone()
        assert found == [f"{identity.hex()}-{at[1]}"]


def test_text_that_is_none_is_named_and_so_is_what_has_lost_its_block(sound, tmp_path):
    log = tmp_path / "matches.db"
    log.write_bytes(sound.read_bytes())
    with loosened(log) as connection:
        connection.execute("UPDATE matches SET ended = CAST(x'ff' AS TEXT) WHERE block = 2 AND lineup = 1")
        connection.execute("DELETE FROM blocks WHERE block = 5")
        connection.execute("DELETE FROM seats WHERE block = 7 AND lineup = 0 AND seat = 1")
        ids = [connection.execute("SELECT hex(identity) FROM blocks WHERE block = ?", (n,)).fetchone() for n in (2, 7)]
    found = damage_of(log)
    assert found[:2] == [f"{ids[0][0].lower()}-1", f"{ids[1][0].lower()}-0"]
    assert found[2:] and all("block is missing" in line and "key 5" in line for line in found[2:])


def test_what_follows_from_the_plan_has_one_digest_whatever_the_machine(tmp_path):
    def digests(name, **changes):
        log = tmp_path / name / "matches.db"
        with Store.create(log) as store:
            store.keep_key(KEY, "2026")
            begin(store, PLAN)
            result = row(0, [0, 1])._replace(**changes)
            store.add(PLAN, [finished(MATCHES[0], result)], begin(store, PLAN))
        with contextlib.closing(sqlite3.connect(log)) as connection:
            return [connection.execute(f"SELECT digest FROM {table}").fetchone() for table in ("matches", "timings")]

    first, later, other = digests("a", seconds=0.5), digests("b", seconds=0.7), digests("c", seconds=0.5, ended="cap")
    assert first[0] == later[0] and first[1] != later[1]
    assert first[0] != other[0]


def test_whole_scores_may_come_as_floats(tmp_path):
    log = tmp_path / "matches.db"
    with Store.create(log) as store:
        made = row(0, [0, 1])._replace(seats=[SeatRow(0, 3.0), SeatRow(1, -2.5)], seconds=1)
        store.keep_key(KEY, "2026")
        store.add(PLAN, [finished(MATCHES[0], made)], begin(store, PLAN))
        assert store.match(MATCHES[0].block.identity, 0).scores == [3, -2.5]
    assert damage_of(log) == []


def test_blocks_with_the_least_and_the_greatest_keys_are_checked_too(sound, tmp_path):
    log = tmp_path / "matches.db"
    log.write_bytes(sound.read_bytes())
    with sqlite3.connect(log) as connection:
        for key, now in enumerate((-(2**63), 2**63 - 1), 1):
            for table in ("blocks", *MATCH_TABLES):
                connection.execute(f"UPDATE {table} SET block = {now} WHERE block = {key}")
            connection.execute(f"UPDATE matches SET plies = plies + 1 WHERE block = {now} AND lineup = 1")
    assert len(damage_of(log)) == 2
