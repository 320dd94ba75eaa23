"""The match log: what goes in comes out, one writer, many readers, nothing twice."""

import gc
import os
import sqlite3
import stat
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.core.errors import NoRunError, StoreError
from arena.match.estimates import Estimate, pack_estimates
from arena.store import (
    MAX_MOVES_BYTES,
    MIN_COMPRESSED_MOVES_CHARS,
    SCHEMA_VERSION,
    MatchRow,
    SeatRow,
    Store,
    read_moves,
    set_aside,
)
from arena.store.locking import lock_log
from tests.support.rows import change_rows, rows_of
from tests.support.samples import all_matches, begin, fill, finished, row, schedule

PLAN = schedule(["alice", "bob", "carol"], players=(2, 3), blocks=4)
MATCHES = all_matches(PLAN)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "sample" / "matches.db"


def written(path, *made, plan=PLAN):
    """A log with these matches in it."""
    with Store.create(path) as store:
        store.add(plan, made, begin(store, plan))


def read(path, spec):
    with Store.open(path) as store:
        return store.match(spec.block.identity, spec.lineup)


WORDS = st.text("abcSML+-/0123", min_size=1, max_size=6)
PLIES = st.integers(-1, 10_000)


@st.composite
def rows(draw, players):
    forfeits = draw(st.dictionaries(st.integers(0, players - 1), st.tuples(WORDS, PLIES)))
    scored = draw(st.booleans())
    return MatchRow(
        lineup=0,
        ended=draw(WORDS),
        plies=draw(st.integers(0, 10_000)),
        timed=draw(st.booleans()),
        final=draw(st.binary(min_size=8, max_size=8)).hex(),
        moves=" ".join(draw(st.lists(WORDS, max_size=200))),
        notes=draw(st.lists(st.tuples(st.integers(0, 999), st.text(max_size=20)), max_size=5)),
        seats=[
            SeatRow(
                draw(st.integers(0, players - 1)),
                draw(st.integers(-(2**62), 2**62)) if scored else None,
                *forfeits.get(seat, (None, None)),
            )
            for seat in range(players)
        ],
        details={seat: draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=50)) for seat in forfeits},
        seconds=draw(st.floats(0, 1000)),
        clocks="0,-1,100000,90000,70000",
        retried=False,
    )


def test_only_matches_with_estimates_have_a_row_of_them_and_wrong_ones_are_counted_by_bot(tmp_path):
    plan = schedule(["alice", "bob"])
    specs = all_matches(plan)
    packed = pack_estimates([(0, [500, -500], [3, 4], []), (2, [], [5], [5, 9])])
    results = [
        finished(specs[0], row(0, [0, 1], estimates=packed, dropped={0: 2})),
        finished(specs[1], row(1, [0, 1], dropped={0: 5, 1: 1})),
        *(finished(spec, row(spec.lineup, [0, 1])) for spec in specs[2:]),
    ]
    with Store.create(tmp_path / "matches.db") as store:
        store.add(plan, results, begin(store, plan))
        match = store.match(specs[0].block.identity, 0)
        assert match.estimates == {0: Estimate((0.5, -0.5), (3, 4)), 2: Estimate(None, (5,), {5: 9})}
        assert store.match(specs[2].block.identity, specs[2].lineup).estimates == {}
        names = [plan.entries[entry].identity for entry in specs[0].seats]
        assert store.bots.wrong_estimates() == {names[0]: 2 + 1, names[1]: 5}
        assert list(store.damaged()) == []
    assert rows_of(tmp_path / "matches.db", "SELECT count(*) FROM estimates") == [(2,)]
    change_rows(tmp_path / "matches.db", "UPDATE estimates SET moves = x'00'")
    with (
        Store.open(tmp_path / "matches.db") as store,
        pytest.raises(StoreError, match="evaluations cannot be read"),
    ):
        _ = store.match(specs[0].block.identity, 0).estimates


@settings(max_examples=40)
@given(st.data())
def test_matches_come_out_as_they_went_in(tmp_path_factory, data):
    log = tmp_path_factory.mktemp("log") / "matches.db"
    made = {}
    for number in data.draw(st.lists(st.integers(0, len(MATCHES) - 1), unique=True, min_size=1, max_size=4)):
        spec = MATCHES[number]
        result = data.draw(rows(len(spec.seats)))._replace(lineup=spec.lineup)
        made[number] = finished(spec, result)
    written(log, *made.values())
    for spec, result, *_ in made.values():
        match = read(log, spec)
        board = PLAN.boards[spec.block.board]
        assert (match.identity, match.block_id, match.lineup) == (spec.block.identity, spec.block.id, spec.lineup)
        assert (match.game, match.players, match.round) == (board.game, board.players, spec.block.round)
        assert (match.opening, match.seed) == (board.opening, PLAN.seed)
        assert (match.ended, match.final, match.timed) == (result.ended, result.final, result.timed)
        assert match.moves == result.moves.split()
        assert match.notes == result.notes
        assert match.bots == [PLAN.entries[place].spec for place in spec.seats]
        assert match.ranks == [seat.rank for seat in result.seats]
        assert match.scores == [seat.score for seat in result.seats]
        assert match.forfeits == {seat: who.forfeit for seat, who in enumerate(result.seats) if who.forfeit is not None}
        assert match.details == result.details


def test_line_ups_that_are_there_are_told_by_block(log):
    first, second, third = MATCHES[0], MATCHES[1], MATCHES[4]
    written(log, *(finished(spec, row(spec.lineup, [0, 1])) for spec in (first, second, third)))
    identities = [block.identity for block in PLAN.blocks()]
    with Store.open(log) as store:
        assert store.finished(identities) == {first.block.identity: {0, 1}, third.block.identity: {third.lineup}}
        assert store.finished([]) == {}
        assert store.finished(identities[:1] * 2000 + [bytes(16)]) == {first.block.identity: {0, 1}}
        assert store.totals() == (3, 0)


def test_the_matches_of_many_blocks_are_those_that_are_read_one_by_one(log):
    fill(log, PLAN, leave_out=[1, 5, 6])
    identities = [block.identity for block in PLAN.blocks()]
    with Store.open(log) as store:
        found = store.matches([*identities, *map(bytes, range(17, 1500)), bytes(16)])
        there = store.finished(identities)
        assert found.keys() == there.keys()
        for identity, lineups in there.items():
            assert found[identity] == [store.match(identity, lineup) for lineup in sorted(lineups)]


def test_what_is_written_in_one_transaction_is_there_as_a_whole_or_not_at_all(log):
    first, second = (finished(spec, row(spec.lineup, [0, 1])) for spec in MATCHES[:2])
    written(log, first)

    def interrupted(store):
        with store.transaction():
            store.add(PLAN, [second], begin(store, PLAN))
            assert store.totals() == (2, 0)
            raise KeyboardInterrupt

    with Store.create(log) as store, pytest.raises(KeyboardInterrupt):
        interrupted(store)
    with Store.create(log) as store:
        assert store.totals() == (1, 0)
        with store.transaction():
            store.add(PLAN, [second], begin(store, PLAN))
    with Store.open(log) as store:
        assert store.totals() == (2, 0)


def test_matches_may_come_in_any_order_and_in_many_runs(tmp_path):
    made = [finished(spec, row(spec.lineup, list(range(len(spec.seats))))) for spec in MATCHES]
    written(tmp_path / "a.db", *made)
    for each in reversed(made):
        written(tmp_path / "b.db", each)
    for spec in MATCHES:
        assert read(tmp_path / "a.db", spec) == read(tmp_path / "b.db", spec)


@pytest.mark.parametrize("length", [1, MIN_COMPRESSED_MOVES_CHARS - 1, MIN_COMPRESSED_MOVES_CHARS, 100_000])
def test_long_moves_are_compressed_and_come_out_whole(log, length):
    moves = ("S- L+ " * length)[:length].strip()
    spec = MATCHES[0]
    written(log, finished(spec, row(spec.lineup, [0, 1], moves=moves)))
    assert " ".join(read(log, spec).moves) == moves
    connection = sqlite3.connect(log)
    (kept,) = connection.execute("SELECT moves FROM matches").fetchone()
    connection.close()
    assert isinstance(kept, bytes) == (len(moves) >= MIN_COMPRESSED_MOVES_CHARS)
    assert len(kept) <= max(MIN_COMPRESSED_MOVES_CHARS, length // 100)


def test_moves_that_swell_beyond_all_bounds_are_refused():
    with pytest.raises(StoreError, match="more than 64 MiB"):
        read_moves(zlib.compress(b" " * (MAX_MOVES_BYTES + 1)))


def test_a_second_writer_is_refused_until_the_first_is_done(log):
    with Store.create(log), pytest.raises(StoreError, match="another run is writing to this log"):
        Store.create(log)
    Store.create(log).close()


def test_a_writer_that_failed_to_open_leaves_no_lock(log):
    log.parent.mkdir()
    log.write_text("no database " * 100)
    with pytest.raises(StoreError, match="cannot be used as a match log"):
        Store.create(log)
    log.unlink()
    Store.create(log).close()


def test_readers_are_welcome_while_a_run_writes(log):
    first, second = (finished(spec, row(spec.lineup, [0, 1])) for spec in MATCHES[:2])
    with Store.create(log) as store:
        run = begin(store, PLAN)
        store.add(PLAN, [first], run)
        with Store.open(log) as reader:
            assert reader.totals()[0] == 1
            store.add(PLAN, [second], run)
            assert reader.totals()[0] == 1, "a reader sees the log at one moment"
        with Store.open(log) as reader:
            assert reader.totals()[0] == 2
            assert reader.match(second.spec.block.identity, second.spec.lineup).ranks == [0, 1]


def test_a_reader_cannot_write(log):
    written(log)
    with Store.open(log) as reader, pytest.raises(sqlite3.OperationalError, match="readonly"):
        begin(reader, PLAN)


def test_a_log_in_a_folder_that_cannot_be_written_to_can_be_read(log):
    written(log, finished(MATCHES[0], row(0, [0, 1])))
    os.chmod(log.parent, stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert read(log, MATCHES[0]).ranks == [0, 1]
    finally:
        os.chmod(log.parent, stat.S_IRWXU)


def test_a_match_that_is_there_is_refused_and_nothing_of_its_batch_is_kept(log):
    there, other, later = MATCHES[0], MATCHES[2], MATCHES[4]
    assert len({spec.block.identity for spec in (there, other, later)}) == 3
    with Store.create(log) as store:
        run = begin(store, PLAN)
        store.add(PLAN, [finished(there, row(there.lineup, [0, 1]))], run)
        batch = [finished(spec, row(spec.lineup, [1, 0])) for spec in (other, there)]
        with pytest.raises(StoreError, match="another program has written to it"):
            store.add(PLAN, batch, run)
        assert store.totals() == (1, 0)
        assert store.match(there.block.identity, there.lineup).ranks == [0, 1]
        store.add(PLAN, [finished(spec, row(spec.lineup, [1, 0])) for spec in (later, other)], run)
        assert store.match(other.block.identity, other.lineup).block_id == other.block.id
        assert store.match(later.block.identity, later.lineup).block_id == later.block.id


def test_one_match_twice_in_a_batch_is_refused(log):
    made = finished(MATCHES[0], row(0, [0, 1]))
    with Store.create(log) as store:
        run = begin(store, PLAN)
        with pytest.raises(StoreError, match="another program has written to it"):
            store.add(PLAN, [made, made], run)
        assert store.totals() == (0, 0)


def test_the_latest_run_tells_plan_and_versions(log):
    with Store.create(log) as store:
        with pytest.raises(StoreError, match="holds no run"):
            store.runs.last_plan()
        assert store.runs.last_versions() == {}
        runs = [store.begin_run(f'"plan {n}"', f'{{"python": "3.{n}"}}', "2026", [], {}) for n in (11, 12)]
    assert runs == [1, 2]
    with Store.open(log) as store:
        assert (store.runs.last_plan(), store.runs.last_versions()) == ('"plan 12"', {"python": "3.12"})


def test_a_plan_was_started_by_the_first_of_the_runs_that_have_it_in_a_row(log):
    with Store.create(log) as store:
        for year, plan in enumerate("abaa", 2020):
            store.begin_run(f'"{plan}"', "{}", str(year), [], {})
        assert store.runs.plan_starts()[-1] == "2022"


def test_a_log_keeps_its_bots_and_their_source_once(log):
    for _ in range(2):
        written(log)
    connection = sqlite3.connect(log)
    kept = connection.execute("SELECT identity, spec, module, class, bundle FROM bots ORDER BY bot").fetchall()
    assert kept == [(each.identity, each.spec, "module", "Class", "bundle") for each in PLAN.entries]
    assert [zlib.decompress(files) for (files,) in connection.execute("SELECT files FROM bundles")] == [b"{}"]
    connection.close()


def test_a_match_is_found_by_the_beginning_of_its_id(log):
    fill(log, PLAN)
    spec = MATCHES[5]
    stem = spec.block.identity.hex()
    with Store.open(log) as store:
        for prefix in (spec.id, f"{stem[:12]}-{spec.lineup}"):
            assert store.find_matches(prefix) == [(spec.block.identity, spec.lineup)]
        assert store.find_matches(stem) == [(spec.block.identity, lineup) for lineup in (0, 1)]
        assert len(store.find_matches(stem[0])) == 2
        assert store.find_matches(f"{stem}-9") == []
        assert store.find_matches("0" * 32 + "-0") == []


@pytest.mark.parametrize(
    "prefix", ["", "-", "-1", "xyz", "ABC", "3f-", "3f-x", "3f-1-2", "0" * 33, "3f-" + "9" * 30, "3f-²", " 3f"]
)
def test_what_cannot_begin_an_id_is_refused(log, prefix):
    written(log)
    with Store.open(log) as store, pytest.raises(StoreError, match="no match id"):
        store.find_matches(prefix)


def test_a_match_that_is_not_there_is_told(log):
    written(log, finished(MATCHES[0], row(0, [0, 1])))
    with pytest.raises(StoreError, match=r"has no match .*-1"):
        read(log, MATCHES[1])


def test_a_log_that_is_not_there_is_told(log):
    with pytest.raises(StoreError, match="no such match log"):
        Store.open(log)
    assert not log.parent.exists()


NOT_LOGS = {
    "text": b"no database " * 100,
    "nothing": b"",
    "cut short": b"SQLite format 3\0" + bytes(20),
}


@pytest.mark.parametrize("case", NOT_LOGS)
def test_a_file_that_is_no_log_is_told_and_left_alone(log, case):
    log.parent.mkdir()
    log.write_bytes(NOT_LOGS[case])
    with pytest.raises(StoreError, match=r"matches\.db"):
        Store.open(log)
    gc.collect()  # a connection left open would be complained of here
    assert log.read_bytes() == NOT_LOGS[case]


def other_database(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


@pytest.mark.parametrize("opened", [Store.open, Store.create], ids=["read", "write"])
@pytest.mark.parametrize("version", [0, SCHEMA_VERSION])
def test_a_database_of_something_else_is_refused(log, opened, version):
    other_database(log, f"CREATE TABLE songs (name TEXT); PRAGMA user_version = {version}")
    before = log.read_bytes()
    with pytest.raises(StoreError, match="its tables are not those of a match log"):
        opened(log)
    gc.collect()
    assert log.read_bytes() == before


def test_a_log_that_is_no_database_can_be_set_aside_too(log):
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"no log at all")
    kept = set_aside(log)
    assert kept == log.with_name("matches.1.db")
    assert kept.read_bytes() == b"no log at all"
    assert set_aside(log) is None


def test_a_log_that_is_set_aside_can_be_read_under_its_new_name(log):
    fill(log, PLAN)
    kept = set_aside(log)
    assert kept == log.with_name("matches.1.db")
    assert not log.exists()
    with Store.open(kept) as store:
        assert store.totals()[0] == len(MATCHES)


def test_nothing_but_the_log_and_its_lock_is_left_in_the_folder(log):
    fill(log, PLAN)
    assert {path.name for path in log.parent.iterdir()} == {"matches.db", "matches.lock"}


@pytest.mark.parametrize("has_header", [False, True])
def test_a_log_that_a_run_is_just_creating_has_no_run_yet_and_is_not_called_damaged(tmp_path, has_header):
    path = tmp_path / "matches.db"
    if has_header:
        db = sqlite3.connect(path)
        db.execute("PRAGMA journal_mode = WAL")
        db.close()
    else:
        path.touch()
    lock = lock_log(path)
    try:
        with pytest.raises(NoRunError, match="is being created by a run that starts just now"):
            Store.open(path)
    finally:
        os.close(lock)
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert not isinstance(caught.value, NoRunError)
