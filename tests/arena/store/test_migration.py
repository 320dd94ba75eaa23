"""Logs of older versions: read, upgraded with a backup, whole or not at all, and gone on with."""

import contextlib
import csv
import gc
import io
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from arena import api
from arena.core.errors import StoreError
from arena.match.replay import check_draws, replay
from arena.plan.adaptive import with_stages
from arena.plan.files import logged_plan
from arena.plan.resolve import ResolvedBot
from arena.store import SCHEMA_VERSION, Store, upgrading
from arena.store.schema import OLDER, SCHEMA
from arena.verify.archive import make_archive
from arena.verify.verification import verify
from tests.support.recorded import bounded
from tests.support.samples import begin, fill, schedule
from tests.support.tournaments import PATIENCE, write

DATA = Path(__file__).parents[2] / "data" / "logs"
SAMPLES = ("v3_public", "v3_secret", "v4_public", "v4_secret", "v5_public", "v5_secret")
"""Logs of older versions: of finished tournaments, but for two, of which 18 and 3 results wait for earlier ones."""
MATCHES = {"v3_public": 18, "v3_secret": 18, "v4_public": 32, "v4_secret": 11, "v5_public": 32, "v5_secret": 5}
FORMER = {"moves": "course", "forfeit_ply": "fell", "retried": "again", "created": "drawn"}
"""Columns of this version by their names before."""
CONTENT = (
    "SELECT identity, id, game, players, round, opening, seed FROM blocks JOIN boards USING (board) ORDER BY identity",
    "SELECT identity, lineup, ended, plies, timed, final, moves, notes FROM matches JOIN blocks USING (block) "
    "ORDER BY identity, lineup",
    "SELECT s.block, lineup, seat, identity, rank, score, cause, forfeit_ply FROM seats s JOIN bots USING (bot) "
    "ORDER BY 1, 2, 3",
    "SELECT block, lineup, run, worker, seconds, clocks, retried, attempts FROM timings ORDER BY 1, 2",
    "SELECT * FROM faults ORDER BY 1, 2, 3",
    "SELECT identity, spec, module, class, bundle FROM bots ORDER BY 1",
    "SELECT bundle, files FROM bundles ORDER BY 1",
    "SELECT run, versions, started FROM runs",
    "SELECT number, key, hash, created, disclosed FROM keys",
)
"""What every version keeps."""


def rows(log, query):
    with contextlib.closing(sqlite3.connect(log)) as connection:
        return connection.execute(query).fetchall()


def content(log):
    """What the log holds, its columns by their names in its version."""
    former = FORMER if rows(log, "PRAGMA user_version") < [(5,)] else {}
    queries = (re.sub(r"\w+", lambda word: former.get(word[0], word[0]), query) for query in CONTENT)
    return [rows(log, query) for query in queries]


@pytest.fixture(params=SAMPLES)
def sample(request):
    return request.param


@pytest.fixture
def version(sample):
    return int(sample[1])


@pytest.fixture
def log(sample, tmp_path):
    """A log as an arena of its time wrote it."""
    (tmp_path / "old").mkdir()
    log = tmp_path / "old" / "matches.db"
    with contextlib.closing(sqlite3.connect(log)) as connection:
        connection.executescript((DATA / f"log_{sample}.sql").read_text())
        connection.execute("PRAGMA journal_mode = WAL")
    return log


def test_an_old_log_is_brought_to_this_version_with_all_it_held_and_the_old_one_is_kept(log, version):
    before, bytes_before = content(log), log.read_bytes()
    with Store.create(log) as store:
        assert len(store.remarks) == 1 and f"matches.v{version}.db" in store.remarks[0]
        assert list(store.damaged()) == []
    assert content(log) == before
    kept = log.with_name(f"matches.v{version}.db")
    assert rows(kept, "PRAGMA user_version") == [(version,)]
    assert content(kept) == before
    assert {path.name for path in log.parent.iterdir()} == {"matches.db", "matches.lock", kept.name}
    with contextlib.closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(SCHEMA)
        wanted = fresh.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    assert rows(log, "SELECT name, sql FROM sqlite_master ORDER BY name") == wanted
    assert rows(log, "PRAGMA journal_mode") == [("wal",)]
    with Store.create(log) as store:
        assert store.remarks == (), "it is upgraded once"
    assert bytes_before != log.read_bytes()


def exported(log):
    """The leaderboards and matches of a log as files."""
    api.export(log, out=log.parent / "out", what=("leaderboards", "matches"))
    return {path.name: path.read_text() for path in (log.parent / "out").iterdir() if path.suffix in (".csv", ".jsonl")}


def test_boards_matches_and_replays_are_the_same_before_and_after(log, sample, version):

    as_old = exported(log)
    assert rows(log, "PRAGMA user_version") == [(version,)], "reading changes nothing"
    Store.create(log).close()
    assert exported(log) == as_old
    name = "epicycle-setup.random_2p.csv" if sample == "v5_secret" else "pyramid_punch_3p.csv"
    board = pd.read_csv(io.StringIO(as_old[name])).set_index("bot")
    then = pd.read_csv(DATA / f"log_{sample}_{name}").set_index("bot").loc[board.index]
    same = ["matches", "wins", "ties", "mean_rank", "mean_return", "forfeits"]
    assert board[same].equals(then[same])
    with Store.open(log) as store:
        for identity, lineup in rows(log, "SELECT identity, lineup FROM blocks JOIN matches USING (block)"):
            match = store.match(identity, lineup)
            assert check_draws(replay(match, match.keys)) > 0


@pytest.mark.parametrize("sample", ["v4_public", "v4_secret", "v5_public", "v5_secret"], indirect=True)
def test_but_for_names_new_keys_and_ends_of_intervals_the_exports_are_those_of_older_versions_byte_for_byte(
    log, sample
):
    now = exported(log)
    then = {path.name.removeprefix(f"log_{sample}_"): path.read_text() for path in DATA.glob(f"log_{sample}_*.csv")}
    assert {name: text.partition("\n")[2] for name, text in now.items() if name in then} == {
        name: "".join(",".join(bounded(row).values()) + "\n" for row in csv.DictReader(io.StringIO(text)))
        for name, text in then.items()
    }
    lines = (DATA / f"log_{sample}.jsonl").read_text().replace('"course":', '"moves":')
    assert now["matches.jsonl"] == lines.replace("}\n", ',"evaluations":[]}\n')


@pytest.mark.parametrize("sample", ["v3_public", "v3_secret"], indirect=True)
def test_a_plan_of_an_old_log_is_complete_there_so_that_nothing_is_played_again(log, sample):
    Store.create(log).close()
    with Store.open(log) as store:
        plan = with_stages(store, logged_plan(store).schedule())
        assert plan.total_matches == store.totals()[0] == MATCHES[sample]
        assert all(len(store.finished([block.identity])[block.identity]) > 1 for block in plan.blocks())


def test_an_old_log_can_be_read_where_nothing_can_be_written(log):
    os.chmod(log.parent, stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert len(api.leaderboard(log)) == 2
    finally:
        os.chmod(log.parent, stat.S_IRWXU)


def test_a_large_old_log_is_not_copied_to_be_read_but_the_command_that_upgrades_it_is_named(log, version, monkeypatch):
    monkeypatch.setattr(upgrading, "SMALL", 1000)
    with pytest.raises(StoreError, match=rf"log version {version}, .*`arena upgrade .*matches\.db`"):
        Store.open(log)
    before = content(log)
    Store.create(log).close()
    assert content(log) == before
    assert {path.name for path in log.parent.iterdir()} == {"matches.db", "matches.lock", f"matches.v{version}.db"}
    Store.open(log).close()
    gc.collect()


def test_a_backup_takes_a_name_that_is_free(log, version):
    for name in (f"matches.v{version}.db", f"matches.v{version}.1.db"):
        log.with_name(name).write_text("kept")
    with Store.create(log) as store:
        assert f"matches.v{version}.2.db" in store.remarks[0]
    assert log.with_name(f"matches.v{version}.db").read_text() == "kept"


def test_a_match_of_the_plan_is_refused_by_an_upgraded_log_that_has_it(log):
    with Store.create(log) as store, store.transaction(), pytest.raises(sqlite3.IntegrityError):
        store._db.execute("INSERT INTO blocks SELECT 999, identity, id, 1, 0, 0, 0, 0, NULL FROM blocks LIMIT 1")


def test_an_upgraded_log_is_sound(log, sample):
    Store.create(log).close()
    report = verify(log, workers=1)
    finished = sample not in ("v4_secret", "v5_secret")
    assert (report.sound, report.finished, report.totals.matches) == (True, finished, MATCHES[sample]), report.findings
    assert report.totals.draws >= 2 * MATCHES[sample]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE matches SET plies = plies + 1 WHERE (block, lineup) = (1, 0)",
        "UPDATE timings SET seconds = 9.0 WHERE (block, lineup) = (1, 0)",
        "UPDATE keys SET drawn = 'then'",
    ],
)
@pytest.mark.parametrize("sample", ["v3_secret", "v4_secret"], indirect=True)
def test_what_was_damaged_in_an_old_log_is_so_in_the_upgraded_one_and_nothing_else(log, damage):
    with contextlib.closing(sqlite3.connect(log)) as connection, connection:
        connection.execute(damage)
    Store.create(log).close()
    with Store.open(log) as store:
        (name,) = store.damaged()
        identity, lineup = rows(log, "SELECT hex(identity), 0 FROM blocks WHERE block = 1")[0]
    assert name == ("keys 1" if "keys" in damage else f"{identity.lower()}-{lineup}")


POWER_CUT = """
import os, random, signal, sys
from pathlib import Path
from arena.store import Store
log, delays = Path(sys.argv[1]), [float(text) for text in sys.argv[2:]]
for delay in delays:
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_REAL, delay)
        Store.create(log).close()
        os._exit(0)
    ended = os.waitpid(child, 0)[1]
    print(int(ended == signal.SIGALRM), flush=True)
    if not ended:
        break
"""


def test_killed_at_any_moment_of_an_upgrade_the_log_is_the_old_one_or_the_new_one(tmp_path):
    log = tmp_path / "matches.db"
    fill(log, schedule(["alice", "bob", "carol", "dave"], blocks=250))
    with Store.create(log) as store:
        begin(store, schedule(["alice"]))
    with contextlib.closing(sqlite3.connect(log)) as connection:  # as version 3 had it
        connection.executescript(
            f"CREATE TEMP TABLE kept AS SELECT * FROM blocks; {OLDER[3]} INSERT INTO blocks SELECT block, identity, "
            "id, board, round, opening, seed, dice FROM temp.kept; PRAGMA user_version = 3;"
        )
    before = content(log)
    delays = [*(0.0005 * 1.35**n for n in range(30)), PATIENCE]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", POWER_CUT, str(log), *map(str, delays)],
        capture_output=True,
        text=True,
        check=True,
    )
    killed = done.stdout.split()
    assert killed.count("1") > 3 and killed[-1] == "0"
    assert content(log) == before
    with Store.open(log) as store:
        assert list(store.damaged()) == []
    assert not list(log.parent.glob(".*")), "what a killed one left is removed by the next"
    for backup in log.parent.glob("matches.v3*.db"):
        assert content(backup) == before


def test_a_newer_log_is_refused_with_what_it_needs(log):
    with contextlib.closing(sqlite3.connect(log)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    for opened in (Store.open, Store.create):
        with pytest.raises(StoreError, match=rf"has log version {SCHEMA_VERSION + 1}; .* update it"):
            opened(log)
    assert not list(log.parent.glob("matches.v*.db"))
    gc.collect()


def test_verify_and_archive_say_how_an_older_log_is_brought_to_this_version(log, version):
    told = f"has log version {version}; `arena upgrade {log}` brings it to version {SCHEMA_VERSION}"
    for what in (verify, make_archive):
        with pytest.raises(StoreError) as refused:
            what(log)
        assert told in str(refused.value)


CONFIG = """
name = "{name}"
seed = 11
dice = "{dice}"
{more}
opening = "random:1"
games = [{{ game = "epicycle(setup=random)", players = 2 }}, {{ game = "pyramid_punch", players = 3 }}]
bots = [{{ bot = "b.py:Plain" }}, {{ bot = "b.py:Noting" }}, {{ bot = "b.py:Last" }}]
"""
"""With which the logs were played; `log_bots.py` was b.py."""
MORE = {3: "blocks = 2", 4: "blocks = 4\nforfeit_limit = 2", 5: "blocks = 4\nforfeit_limit = 2"}


def continued(log, sample):
    """Go on with the tournament of the log by its configuration."""
    dice = "secret" if "secret" in sample else "auto"
    text = CONFIG.format(name=sample, dice=dice, more=MORE[int(sample[1])])
    config = write(log.parent, text, (DATA / "log_bots.py").read_text())
    home = log.parent / "home"
    (home / sample).mkdir(parents=True)
    shutil.copy(log, home / sample / "matches.db")
    return api.run(config, home, workers=1, backend="local"), home / sample / "matches.db"


@pytest.fixture
def same_identities(log, monkeypatch):
    """The bots have the identities that they have in the log, as if nothing had changed that they import."""
    known = dict(rows(log, "SELECT class, identity FROM bots"))
    monkeypatch.setattr(ResolvedBot, "identity", property(lambda bot: known[bot.source.class_name]))


@pytest.mark.parametrize(
    ("sample", "found", "played"),
    [("v4_public", 32, 0), ("v4_secret", 17, 1), ("v5_public", 32, 0), ("v5_secret", 8, 28)],
    indirect=["sample"],
)
def test_an_upgraded_tournament_goes_on_with_what_it_has_and_what_waits(log, sample, found, played, same_identities):
    result, upgraded = continued(log, sample)
    assert (result.outcome.progress.found, result.outcome.progress.played) == (found, played)
    report = verify(upgraded, workers=1)
    assert (report.sound, report.finished, report.totals.matches) == (True, True, found + played), report.findings


@pytest.mark.parametrize("sample", ["v3_public"], indirect=True)
def test_no_match_with_public_dice_is_played_again_when_an_upgraded_tournament_goes_on(log, sample, same_identities):
    result, upgraded = continued(log, sample)
    assert (result.outcome.progress.found, result.outcome.progress.played) == (18, 0)
    entries = tuple(replace(each, trusted=each.label != "Last") for each in result.plan.schedule.entries)
    guarded = replace(result.plan.schedule, entries=entries)
    last = next(number for number, each in enumerate(entries) if each.label == "Last")
    with Store.open(upgraded) as store:
        for block in guarded.blocks():
            assert bool(store.finished([block.identity])) == (last not in block.table)


@pytest.mark.parametrize("sample", ["v3_secret"], indirect=True)
def test_secret_dice_are_drawn_anew_when_an_upgraded_tournament_goes_on_and_the_old_matches_stay_sound(log, sample):
    result, upgraded = continued(log, sample)
    assert (result.outcome.progress.found, result.outcome.progress.played) == (0, 18)
    assert "what the log holds with others (secret, version 1) does not count any more" in result.plan.remarks[1]
    report = verify(upgraded, workers=1)
    assert (report.sound, report.totals.matches) == (True, 36), report.findings
    with Store.open(upgraded) as store:
        assert [bool(key.disclosed) for key in store.secret_keys()] == [True, True]
