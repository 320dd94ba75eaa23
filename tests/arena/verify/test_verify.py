"""`arena verify`: a sound log is sound, and whatever is changed in one is found, or changes nothing."""

import contextlib
import itertools
import json
import os
import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ArenaError, ConfigError
from arena.match.replay import replay
from arena.match.result import final_hash
from arena.results.pages.report import Agreement
from arena.runner.compare import compare
from arena.runner.options import Matchup, StopRule
from arena.store import Store
from arena.store.digests import TABLES, block_keys, row_digest, whole_matches
from arena.store.locking import lock_log
from arena.verify import blocks
from arena.verify.exports import _compare
from arena.verify.findings import Findings
from arena.verify.plans import read_contents
from arena.verify.reruns import chosen_blocks, rerun_plan
from arena.verify.verification import verify
from engine import load_game
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
MOODY = CONFIG.replace("b.py:Fragile", "b.py:Moody").replace(
    '[2, 3] }, { game = "magic_mids", players = 2, blocks = 1', "2"
)
LATER = {
    **{"matches": ("timed", "notes", "digest"), "seats": ("cause",), "faults": ("block", "lineup", "seat", "detail")},
    "timings": ("run", "worker", "seconds", "clocks", "retried", "attempts", "digest"),
    **{"runs": ("versions", "started", "finished", "digest"), "keys": ("created", "disclosed", "digest")},
    **{"bots": ("module", "digest"), "bundles": ("digest",), "estimates": ("block", "lineup", "moves", "dropped")},
}
"""Columns of which nothing but the digests says what they were, and the digests."""


def played(folder: Path, config: str) -> Path:
    """The log of a tournament."""
    path = write(folder, config, BOTS)
    return api.run(path, home_of(path), workers=1, backend="local").folder / api.LOG


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Tournaments: in rounds with secret dice, the same each time; adaptive with public ones; a comparison in duels."""
    folder = tmp_path_factory.mktemp("logs")
    duel = compare(Matchup("random", "greedy", "epicycle", 3), StopRule.fixed(4), workers=1, home=folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.plan.dice_keys.secrets.token_bytes", lambda size: bytes(range(size)))
        rounds = played(folder / "rounds", SECRET)
    return {
        "rounds": rounds,
        "adaptive": played(folder / "adaptive", ADAPTIVE),
        "duel": duel.folder / api.LOG,
    }


@pytest.fixture
def copy(logs, tmp_path):
    """A copy of one of them, without what was exported."""

    def made(name: str) -> Path:
        return shutil.copy(logs[name], tmp_path / "copy.db")

    return made


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
    for table in TABLES:
        key = columns(db, table)[0]
        for *row, _ in db.execute(f"SELECT * FROM {table}").fetchall():
            db.execute(f"UPDATE {table} SET digest = ? WHERE {key} = ?", (row_digest(table, row), row[0]))
    for whole in itertools.chain.from_iterable(whole_matches(db, keys) for keys in block_keys(db)):
        for table, digest in zip(("matches", "timings"), whole.digests(), strict=True):
            query = f"UPDATE {table} SET digest = ? WHERE block = ? AND lineup = ?"
            db.execute(query, (digest, whole.key, whole.lineup))


def tables(db) -> list[Any]:
    """Names as text, or as bytes where the connection reads all text so."""
    return [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]


def columns(db, table: str) -> list[Any]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


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


def name_of(log: Path, table: str, where: str = "") -> str:
    """The id of the first match that a condition on a table is true of."""
    with Store.open(log) as store, contextlib.closing(sqlite3.connect(log)) as db:
        query = f"SELECT identity, lineup FROM {table} JOIN blocks USING (block) {where} LIMIT 1"
        return store.short_id(*db.execute(query).fetchone())


# Sound logs


@pytest.mark.parametrize("name", ["rounds", "adaptive", "duel"])
def test_a_log_is_sound_and_all_of_it_was_looked_at(logs, name):
    report = checked(logs[name])
    with contextlib.closing(sqlite3.connect(logs[name])) as db:
        matches, blocks = (db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("matches", "blocks"))
        rolls = sum(
            ply.expected is not None
            for (identity,) in db.execute("SELECT identity FROM blocks").fetchall()
            for match in Store.open(logs[name]).matches([identity])[identity]
            for ply in replay(match, match.keys)
        )
    assert report.sound, texts(report)
    assert (report.totals.matches, report.totals.blocks, report.totals.draws) == (matches, blocks, rolls)
    assert report.finished
    assert "plan.json" in report.compared
    assert name == "duel" or {"versions.json", "epicycle_3p.csv", "magic_mids_2p.parquet"} <= {*report.compared}


def test_the_tournaments_hold_what_is_to_be_checked(logs):
    with contextlib.closing(sqlite3.connect(logs["rounds"])) as db:
        assert db.execute("SELECT count(*) FROM seats WHERE cause = 'crash'").fetchone()[0] > 1
        assert db.execute("SELECT count(*) FROM matches WHERE typeof(moves) = 'blob'").fetchone()[0] > 0
        assert db.execute("SELECT min(dice), count(DISTINCT board) FROM blocks").fetchone() == (2, 3)


@pytest.mark.system
def test_several_processes_find_what_one_finds_in_the_same_order(copy, monkeypatch):
    log = copy("rounds")
    with changing(log) as db:
        db.execute("UPDATE seats SET rank = 7 WHERE seat = 1")
    alone = checked(log)
    monkeypatch.setattr(blocks, "FEW", 0)
    monkeypatch.setattr(blocks, "BATCH", 2)
    assert verify(log, workers=2).as_dict() == alone.as_dict()
    assert alone.count > 20 == len(alone.findings)


def test_it_says_that_a_run_is_writing_and_never_writes_itself(logs, tmp_path):
    log = Path(shutil.copy(logs["rounds"], tmp_path / api.LOG))
    before = log.read_bytes()
    lock = lock_log(log)
    assert checked(log).running
    os.close(lock)
    assert not checked(log).running
    assert log.read_bytes() == before


def test_matches_of_an_earlier_plan_belong_to_it_and_an_unfinished_plan_may_lack_matches(logs, tmp_path):
    shutil.copytree(logs["rounds"].parents[2], tmp_path, dirs_exist_ok=True)
    seeded = SECRET.replace("seed = 7", "seed = 8").replace("[2, 3]", "2")
    log = played(tmp_path, seeded)
    report = checked(log)
    assert (report.sound, report.totals.other, report.runs) == (True, 3 * (3 + 1) + 3, 2)
    with changing(log) as db:
        db.execute("UPDATE runs SET finished = NULL WHERE run = 2")
        last = db.execute("SELECT max(block) FROM blocks").fetchone()[0]
        for table in tables(db):
            if "block" in columns(db, table):
                db.execute(f"DELETE FROM {table} WHERE block = ?", (last,))
    report = checked(log)
    assert report.sound, texts(report)
    assert not report.finished
    assert report.totals.planned - report.totals.present == 2


# Changed logs


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
    "another version": "PRAGMA user_version = 99",
}


@pytest.mark.parametrize("case", STATEMENTS)
def test_a_database_that_is_laid_out_otherwise_is_no_log(copy, case):
    log = copy("rounds")
    with changing(log) as db:
        db.executescript(STATEMENTS[case])
    report = checked(log)
    assert report.count == 1
    assert report.totals.matches == 0


# Exports


def test_a_table_of_another_size_is_not_unpacked(tmp_path, monkeypatch):
    ours, theirs, again = (tmp_path / f"{n}.parquet" for n in range(3))
    pd.DataFrame({"mu": [0.0] * 9}).to_parquet(ours)
    pd.DataFrame({"mu": [0.0] * 9}).to_parquet(again, compression=None)
    pd.DataFrame({"mu": [0.0] * 10**6}).to_parquet(theirs)
    assert _compare(again, ours) is Agreement.ALL
    monkeypatch.setattr(pd, "read_parquet", lambda file: pytest.fail("was unpacked"))
    assert _compare(theirs, ours) is Agreement.NONE


def test_every_exported_file_that_differs_is_named(logs, tmp_path):
    log = Path(shutil.copy(logs["rounds"], tmp_path / api.LOG))
    api.export(log, out=tmp_path, what=("leaderboards", "crosstable", "matches"), formats=("csv", "json", "html"))
    assert checked(log).sound
    edited = sorted(tmp_path.glob("*.*"), key=lambda path: path.name)
    edited = [path for path in edited if path.suffix in (".csv", ".json", ".html")]
    for path in edited:
        text = path.read_text()
        digit = re.search("[1-8]", text[len(text) // 2 :])
        at = len(text) // 2 + digit.start()
        path.write_text(text[:at] + str(int(text[at]) + 1) + text[at + 1 :])
    report = checked(log)
    assert [finding.file for finding in report.findings] == [path.name for path in edited[:20]]
    assert report.count == len(edited) == 3 * (2 * 3) + 3 + 2
    with changing(log) as db:
        db.execute("UPDATE runs SET finished = NULL")
    report = checked(log)
    assert edited[0].name in report.remarks[0]


def test_an_exported_file_of_any_size_or_kind_is_not_waited_for_or_read_whole(tmp_path):
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    ours.write_text("a,b\n")
    with theirs.open("wb") as sparse:
        sparse.truncate(20 * 2**30)
    assert _compare(theirs, ours) is Agreement.NONE
    theirs.unlink()
    os.mkfifo(theirs)
    assert _compare(theirs, ours) is Agreement.NONE


# Playing again


def forge(log: Path) -> tuple[str, int]:
    """Replace the end of a match by moves that are as legal; its id, and the first ply that is another one."""
    with Store.open(log) as store, contextlib.closing(sqlite3.connect(log)) as db:
        query = (
            "SELECT identity FROM blocks JOIN boards USING (board) WHERE game = 'epicycle' AND block NOT IN "
            "(SELECT block FROM seats WHERE cause NOT NULL UNION SELECT block FROM matches WHERE notes NOT NULL)"
        )
        matches = [store.match(identity, 0) for (identity,) in db.execute(query).fetchall()]
        match = max(matches, key=lambda match: [ply.by for ply in replay(match)].count("bot"))
        name = store.short_id(match.identity, 0)
    plies = list(replay(match))
    ply = [ply.number for ply in plies if ply.by == "bot"][-2]
    state, told = plies[ply - 1].state, match.moves[ply]
    state.apply_action(next(action for action in state.legal_actions() if state.action_to_string(action) != told))
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    moves, start = [], load_game(match.game, match.players).new_initial_state()
    for action in state.history():
        moves.append(start.action_to_string(action))
        start.apply_action(action)
    with changing(log) as db:
        at = (match.identity,)
        block = "block = (SELECT block FROM blocks WHERE identity = ?) AND lineup = 0"
        new = (state.ended, len(moves), bytes.fromhex(final_hash(state)), " ".join(moves))
        db.execute(
            f"UPDATE matches SET ended = ?, plies = ?, final = ?, moves = ?, notes = NULL WHERE {block}", new + at
        )
        for seat, rank in enumerate(state.ranks()):
            db.execute(f"UPDATE seats SET rank = ? WHERE {block} AND seat = ?", (rank, *at, seat))
    return name, ply


def test_a_match_that_its_bots_did_not_play_is_found_when_it_is_played_again(copy):
    log = copy("rounds")
    name, ply = forge(log)
    assert checked(log).sound
    report = checked(log, rerun="all")
    assert [(finding.match, finding.text) for finding in report.findings] == [
        (name, f"goes another way from ply {ply + 1} on when it is played again")
    ]
    assert report.rerun == report.totals.matches


def test_other_evaluations_of_the_same_moves_are_no_difference(copy):
    log = copy("rounds")
    with changing(log) as db:
        found = db.execute("SELECT block, lineup, moves FROM estimates").fetchall()
        assert found
        for block, lineup, moves in found:
            text = re.sub(b"500", b"-7", zlib.decompress(moves))
            where = "WHERE (block, lineup) = (?, ?)"
            db.execute(f"UPDATE estimates SET moves = ? {where}", (zlib.compress(text), block, lineup))
    report = checked(log, rerun="all")
    assert report.sound and report.rerun == report.totals.matches, texts(report)


@pytest.mark.parametrize(
    ("moves", "dropped"),
    [(zlib.compress(b"999:1,-1:"), ""), (b"?", ""), ("text", ""), (b"", ""), (b"", "2:1"), (b"", "0:1,"), (b"", 5)],
)
def test_a_row_of_estimates_that_the_arena_does_not_write_is_named(copy, moves, dropped):
    log = copy("rounds")
    with changing(log) as db:
        at = db.execute("SELECT block, lineup FROM estimates").fetchone()
        db.execute("UPDATE estimates SET moves = ?, dropped = ? WHERE (block, lineup) = (?, ?)", (moves, dropped, *at))
        ((identity,),) = db.execute("SELECT hex(identity) FROM blocks WHERE block = ?", at[:1])
    found = {str(finding.match).partition("-")[0] for finding in checked(log).findings}
    assert found == {identity.lower()[:12]}


def test_a_bot_that_plays_otherwise_each_time_is_named_and_the_others_are_not_to_blame(tmp_path):
    report = checked(played(tmp_path, MOODY), rerun="all")
    assert report.sound, texts(report)
    verdicts = {bot.bot: bot for bot in report.bots}
    assert [verdicts[bot].deterministic for bot in ("random", "another", "Moody")] == [True, True, False]
    moody = verdicts["Moody"]
    stored, _ = api.find_match(None, moody.differing, home_of(tmp_path / "t.toml"))
    assert stored.bots[list(replay(stored))[moody.ply - 1].seat] == "Moody"


@pytest.mark.system
def test_a_match_in_which_a_process_was_killed_is_not_compared(tmp_path):
    """Outside the sandbox nothing tells whether the bot did it; here the log has it, and the second try has not."""
    bot = f"""
import os, signal
from pathlib import Path
from bots import Bot

class Shot(Bot):
    def choose(self, state):
        if not Path({str(tmp_path / "shot")!r}).exists():
            Path({str(tmp_path / "shot")!r}).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return state.legal_actions()[0]
"""
    config = """
name = "rounds"
blocks = 2
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "random" }, { bot = "b.py:Shot", isolation = "process" }]
"""
    path = write(tmp_path, config, bot)
    report = checked(api.run(path, home_of(path), workers=1, backend="local").folder / api.LOG, rerun="all")
    assert report.sound, texts(report)
    assert [remark for remark in report.remarks if remark.startswith("1 of the matches played again depended on")]


def test_bots_for_another_version_of_the_base_api_are_not_played_again(logs, monkeypatch):
    monkeypatch.setattr("arena.registry.bundles.API_VERSION", 2)
    assert checked(logs["rounds"]).sound
    with pytest.raises(ConfigError, match="bot 'random' is for version 1 of the bot API, and installed is 2"):
        checked(logs["rounds"], rerun=1)


def test_a_sample_is_the_same_each_time_and_spread_over_boards_and_bots(logs):
    with Store.open(logs["rounds"]) as store:
        contents = read_contents(store._db, Findings())
        (logged,) = contents.plans
        plan = rerun_plan(logged, contents, None)
        samples = [chosen_blocks(store, logged.schedule, plan, 6, seed) for seed in (1, *range(1, 9))]
        whole = chosen_blocks(store, logged.schedule, plan, "all", 1)
    assert samples[0] == samples[1]
    assert any(sample != samples[0] for sample in samples)
    assert sum(logged.schedule.boards[block.board].players for block in samples[0]) == 7
    assert {block.board for block in samples[0]} == {0, 1, 2}
    assert {entry for block in samples[0] for entry in block.table} == {0, 1, 2}
    assert len(whole) == 15


# The command


def test_the_command_tells_what_it_found_in_80_columns(copy, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    log = copy("rounds")
    assert run_command(["verify", str(log), "--workers", "1"]) == 0
    assert "Sound." in capsys.readouterr().out.splitlines()
    with changing(log) as db:
        db.execute("UPDATE matches SET ended = 'won'")
    assert run_command(["verify", str(log), "--workers", "1"]) == 1
    out = capsys.readouterr().out
    assert "NOT SOUND: 33 findings." in out
    assert "... and 13 more." in out
    assert max(len(line) for line in out.splitlines() if line != f"{log}:") <= 80  # a path stays in one piece
    assert run_command(["verify", str(log), "--workers", "1", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["sound"], told["count"], told["matches"], len(told["findings"])) == (False, 33, 33, 20)
    assert told["findings"][0]["match"] == name_of(log, "matches", "ORDER BY block, lineup")


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"rerun": 0}, "rerun = 0: must be all, or at least 1"),
        ({"workers": 0}, "workers = 0: at least 1 is needed"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(copy, how, told):
    with pytest.raises(ConfigError, match=told):
        verify(copy("rounds"), **how)


def test_where_there_is_no_log_there_is_nothing_to_verify(tmp_path):
    with pytest.raises(ArenaError, match="no such match log"):
        verify(tmp_path / "none.db")


def test_what_bots_print_makes_no_difference_between_a_match_and_its_rerun(tmp_path):
    source = "import sys\nfrom bots import Bot\n\n\nclass Loud(Bot):\n    def choose(self, state):\n"
    (tmp_path / "loud.py").write_text(
        source + "        print('hello', file=sys.stderr)\n        return self.pick(state.legal_actions())\n"
    )
    loud = {"bot": f"{tmp_path / 'loud.py'}", "isolation": "process"}
    plan = {
        "name": "loud",
        "blocks": 1,
        "games": [{"game": "epicycle", "players": 2}],
        "bots": [loud, {"bot": "random"}],
    }
    api.run(plan, tmp_path, workers=1, backend="local")
    report = verify("loud", tmp_path, workers=1, rerun="all")
    assert report.sound, report.findings
    assert report.rerun == 2
