"""Nothing is lost and nothing is played twice, whatever dies, is full or is locked, and whenever.

A few times in `make test`, hundreds of times in `make chaos`. Every test ends with the tournament played to its end and
everything that it leaves compared, byte for byte, with what an undisturbed run leaves.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from arena.core import process_trees as trees
from arena.core.exit_codes import EXTERNAL_SIGNALS
from arena.isolation.bubblewrap import missing_requirements
from arena.match.referee import MAX_KILL_REPLAYS
from arena.store import Store
from arena.store.digests import row_digest
from arena.tournament.tournament import Tournament
from engine.cache import cache_root
from tests.support import chaos, tournaments
from tests.support.chaos import BOTS, CONFIGS, FULL, KILL, POWER, TEAR, dump, undisturbed
from tests.support.tournaments import count, home_of, log_of, rows, wait_until, write

NAMES = [name for name in CONFIGS if name != "sandbox" or not missing_requirements()]


@pytest.fixture(scope="module")
def drivers(tmp_path_factory):
    with chaos.drivers(tmp_path_factory.mktemp("drivers")) as made:
        yield made


@pytest.fixture(scope="module")
def expected(drivers, tmp_path_factory):
    """By configuration, what an undisturbed run leaves; where the key is secret that is asked for each log."""
    known: dict[str, dict[str, bytes]] = {}

    def of(config: Path) -> dict[str, bytes]:
        text = config.read_text() + (config.parent / "b.py").read_text()
        if text not in known or chaos.is_secret(config):
            known[text] = undisturbed(drivers, config, tmp_path_factory.mktemp("undisturbed"))
        return known[text]

    return of


@pytest.fixture
def config(tmp_path):
    """The plain tournament, of which nothing has been played."""
    return write(tmp_path / "tournament", CONFIGS["plain"], BOTS)


def finish(drivers, config, expected, **options) -> None:
    """Let a tournament be played to its end; it is what it would be, and nothing is left behind."""
    ended = drivers.run(config, **options)
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
    if "meanwhile" in options:  # it reads the log, and a reader that closes it last leaves the files beside it
        with contextlib.closing(sqlite3.connect(log_of(config))) as log:
            log.execute("SELECT count(*) FROM matches")
    wait_until(lambda: not chaos.left_behind(config), "files that were left behind are gone")
    left = dump(config)
    assert left == expected(config)
    twice = "SELECT count(*), count(DISTINCT hex(identity) || lineup) FROM matches JOIN blocks USING (block)"
    (found,) = rows(config, twice)
    assert found[0] == found[1] >= left["exported matches.jsonl"].count(b"\n")
    assert not processes_of(config)
    connection = sqlite3.connect(log_of(config))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def processes_of(config: Path) -> list[str]:
    """The command lines of all that is still there of a tournament's runs."""
    return [told for _, told in tournaments.processes().values() if str(config.parent) in told]


# The driver dies


def kill_time_and_again(drivers, config, rng, most: int) -> int:
    """Start a tournament again and again, and kill its driver, until it is complete all the same; how often."""
    saved = 0
    for killed in range(most):
        mode = rng.choice([KILL, TEAR, POWER, None])
        span = rng.choice([40, 100, 200])
        if mode is None:
            ended = drivers.run(config, workers=2, meanwhile=chaos.killed_after(rng.uniform(0.0, 0.01 * span)))
        else:
            ended = drivers.run(config, mode, rng.randint(1, span), rng.randrange(2**31), workers=rng.choice([1, 2]))
        if ended.code == 0:
            return killed
        assert (ended.code, ended.err.count("error")) == (-signal.SIGKILL, 0), ended.err
        before, saved = saved, count(config)
        assert saved >= before, "what was saved is saved for good"
    return most


def test_a_driver_killed_at_any_moment_and_started_again_plays_the_same_and_leaves_nothing_behind(
    drivers, expected, tmp_path, chaos_in_full
):
    rng = random.Random(1)
    wanted, each = (200, 30) if chaos_in_full else (4, 2)
    killed = 0
    for number, name in enumerate(itertools.cycle(NAMES if chaos_in_full else NAMES[:2])):
        config = write(tmp_path / f"{number}", CONFIGS[name], BOTS)
        killed += kill_time_and_again(drivers, config, rng, min(each, wanted - killed))
        finish(drivers, config, expected)
        shutil.rmtree(config.parent)
        if killed >= wanted:
            break


@pytest.mark.chaos
@pytest.mark.parametrize("mode", [KILL, TEAR, POWER])
def test_a_driver_that_dies_at_the_first_changes_of_all_begins_anew(drivers, expected, config, mode):
    """While the tables are made and the run, its bots and their sources are noted."""
    for moment in range(1, 60):
        shutil.rmtree(home_of(config), ignore_errors=True)
        assert drivers.run(config, mode, moment, seed=moment).code == -signal.SIGKILL
    finish(drivers, config, expected)


@pytest.mark.parametrize("name", ["processes", pytest.param("plain", marks=pytest.mark.chaos)])
def test_a_driver_that_dies_while_it_ends_its_workers_leaves_none_of_them(
    drivers, expected, tmp_path, chaos_in_full, name
):
    config = write(tmp_path / "tournament", CONFIGS[name], BOTS)
    for moment in range(1, 9) if chaos_in_full else [1]:
        shutil.rmtree(home_of(config), ignore_errors=True)
        assert drivers.run(config, workers=2, signals=moment).code == -signal.SIGKILL
        wait_until(lambda: not processes_of(config), "nobody is left")
    finish(drivers, config, expected)


# The log is taken away


def remove(log: Path) -> None:
    log.unlink()


def remove_folder(log: Path) -> None:
    """As `rm -r` does while somebody writes."""
    while log.parent.exists():
        shutil.rmtree(log.parent, ignore_errors=True)


def replace_log(log: Path) -> None:
    other = log.parent.with_name("other.db")
    Store.create(other).close()
    other.rename(log)


def copy_over(log: Path) -> None:
    other = log.parent.with_name("other.db")
    Store.create(other).close()
    shutil.copyfile(other, log)


def remove_lock(log: Path) -> None:
    log.with_suffix(".lock").unlink(missing_ok=True)


def remove_wal(log: Path) -> None:
    Path(f"{log}-wal").unlink(missing_ok=True)


DEEDS = [replace_log, *(pytest.param(deed, marks=pytest.mark.chaos) for deed in (remove, remove_folder, copy_over))]
HARMLESS = [remove_lock, pytest.param(remove_wal, marks=pytest.mark.chaos)]


@pytest.mark.parametrize("deed", [*DEEDS, *HARMLESS])
def test_a_log_that_is_taken_away_is_saved_and_played_on_to_the_same_end(
    drivers, expected, tmp_path, chaos_in_full, deed
):
    rng = random.Random(5)

    def harm_soon(driver: int) -> None:
        wait_until(lambda: count(config), "it plays")
        time.sleep(rng.uniform(0.0, 0.1))
        with contextlib.suppress(FileNotFoundError):
            deed(log)

    for number in range(5 if chaos_in_full else 1):
        config = write(tmp_path / f"{number}", CONFIGS["plain"].replace("blocks = 8", "blocks = 40"), BOTS)
        log = log_of(config)
        ended = drivers.run(config, workers=rng.choice([1, 2]), meanwhile=harm_soon, checkpoint=1000)
        assert ended.code == (0 if deed is remove_lock else 1), ended.err
        assert ended.err.count("error: ") == ended.code and "Traceback" not in ended.err
        if saved := re.search(r"what it held is in (\S+): rename", ended.err):
            Path(saved[1]).rename(log)
        assert bool(saved) == (deed not in (remove_lock, remove_wal))
        finish(drivers, config, expected)


# Signals, and nobody who listens


def test_a_run_that_is_told_to_stop_and_started_again_plays_the_same(drivers, expected, config, chaos_in_full):
    rng = random.Random(2)
    signals = [signal.SIGHUP, signal.SIGTERM, signal.SIGINT] * (20 if chaos_in_full else 1)
    config.write_text(config.read_text().replace("blocks = 8", "blocks = 100" if chaos_in_full else "blocks = 8"))

    def send(number, twice):
        def send_soon(driver):
            begun = count(config)
            wait_until(lambda: count(config) > begun or not Path(f"/proc/{driver}").exists(), "it plays")
            time.sleep(rng.uniform(0.0, 0.1))
            for _ in range(1 + twice):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(driver, number)

        return send_soon

    for number in signals:
        ended = drivers.run(config, meanwhile=send(number, rng.random() < 0.3))
        assert ended.code in (130, 0, -number), ended.err  # -number: everything was played, and it was rating
        assert "Traceback" not in ended.err
    finish(drivers, config, expected, unheard=True)


# A full disk


def stopped_for_want_of_room(ended, config) -> str:
    """The one line of a run that had to stop, checked."""
    *said, line = ended.err.splitlines()
    assert ended.code == 1, ended.err
    assert line.startswith("error: ") and not [other for other in said if "error" in other.lower()], ended.err
    assert re.search(r"(; all [a-z ]+ are saved)?\. Make room(, or [a-z ]+)?, then go on: arena run ", line)
    assert str(config) in line
    return line


def test_a_full_disk_stops_a_run_in_one_line_and_with_room_it_goes_on(drivers, expected, config, chaos_in_full):
    """While the tables are made, while matches are written, and while leaderboards are."""
    rng = random.Random(3)
    moments = [1, 2, 4, 9, 20, *(rng.randint(1, 150) for _ in range(60))] if chaos_in_full else [2, 60]
    for moment in moments:
        ended = drivers.run(config, FULL, moment)
        if ended.code:
            stopped_for_want_of_room(ended, config)
    finish(drivers, config, expected)
    again = drivers.run(config)
    for moment in range(1, again.changes + 1) if chaos_in_full else [again.changes - 8]:
        ended = drivers.run(config, FULL, moment)
        if ended.code or moment <= again.changes - 8:  # at the very end nothing is written that is not there already
            line = stopped_for_want_of_room(ended, config)
            assert re.search("No space left on device|the disk is full|does not take it|cannot be opened", line)
    finish(drivers, config, expected)


def test_a_full_temporary_folder_or_cache_stops_a_run_in_one_line_and_is_no_bots_fault(
    drivers, expected, config, tmp_path
):
    temporary = config.parent / "temporary"
    ended = drivers.run(config, FULL, 4, below=temporary)  # Python has found by then that it can write there
    assert str(temporary) in stopped_for_want_of_room(ended, config)
    cache = tmp_path / "cache"
    full = {"LD_PRELOAD": str(drivers.library), "CHAOS_FULL": str(cache / "bundles"), "ARENA_CACHE": str(cache)}
    stopped_for_want_of_room(drivers.run(config, environment=full), config)
    finish(drivers, config, expected)


NAMESPACE = ["unshare", "--mount", "--map-root-user"]
ON_A_SMALL_DISK = """
mount -t tmpfs -o size=600k tmpfs "$1" && head -c 380k /dev/zero > "$1/ballast" || exit 9
"$2" -m arena run "$3" --home "$1" --backend local --workers 1
code=$?
rm "$1/ballast"
mount -o remount,size=100m "$1"
"$2" -m arena run "$3" --home "$1" --backend local --workers 1 > again.txt 2>&1
echo $? >> again.txt
cp -r "$1/small" played
exit $code
"""


@pytest.mark.chaos
def test_a_disk_that_is_small_indeed_stops_a_run_in_one_line_and_with_room_it_goes_on(config, expected):
    home = home_of(config)
    home.mkdir()
    big = config.read_text().replace("blocks = 8", "blocks = 150")
    config.write_text(big)
    run = subprocess.run(
        [*NAMESPACE, "sh", "-c", ON_A_SMALL_DISK, "sh", home, sys.executable, config],
        cwd=config.parent,
        capture_output=True,
        text=True,
    )
    line = run.stderr.splitlines()[-1]
    assert (run.returncode, line.startswith("error: ")) == (1, True), run.stderr
    assert "Make room, then go on: arena run " in line
    assert (config.parent / "again.txt").read_text().endswith("\n0\n")
    shutil.rmtree(home)
    home.mkdir()
    (config.parent / "played").rename(home / "small")
    (home / "small" / "ballast").unlink(missing_ok=True)
    assert dump(config) == expected(config)


# A locked log


def test_a_run_waits_for_a_program_that_locks_the_log_says_so_and_gives_up_at_last(drivers, expected, config):
    """While another one reads all the time, so that nothing can be brought into the database."""

    def lock(seconds):
        def while_it_runs(driver):
            wait_until(lambda: count(config) > begun, "matches are in the log")
            connection = sqlite3.connect(log_of(config), timeout=60, isolation_level=None)
            connection.execute("BEGIN EXCLUSIVE")
            held.append(count(config))
            time.sleep(seconds)
            connection.execute("ROLLBACK")
            connection.close()

        return while_it_runs

    held: list[int] = []
    quick = {"arena__store__writing__LOCK_POLL_MILLISECONDS": 20, "arena__cli__progress__LINE_SECONDS": 0.0}
    slow = {"TEST_NAP": "0.01"}  # else all may be played before the log is locked
    begun = 0
    ended = drivers.run(
        config, meanwhile=lock(1.5), environment=slow, arena__store__writing__RUN_LOCK_TIMEOUT_SECONDS=0.3, **quick
    )
    assert ended.code == 1, ended.err
    assert "matches.db: another program keeps it locked; all matches written before are saved." in ended.err
    assert ended.err.splitlines()[-1].startswith("error: ")
    begun = count(config)
    assert begun == held[0]
    with Store.open(log_of(config)) as reader:
        assert reader.totals()[0] == begun
        ended = drivers.run(config, meanwhile=lock(0.5), environment=slow, **quick)
        assert (ended.code, reader.totals()[0]) == (0, begun), ended.err
    assert "waiting for the log, which another program has locked" in ended.err
    finish(drivers, config, expected)


# Halves are merged, and clocks are wrong


def half_of(log: Path, half: int, to: Path, started: str, blocks: int) -> None:
    """A log with some of the matches, of every third block none, whose machine's clock and plan were others."""
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(log, to)
    with contextlib.closing(sqlite3.connect(to)) as connection, connection:
        for table in ("matches", "seats", "timings", "faults", "estimates"):
            connection.execute(f"DELETE FROM {table} WHERE block % 3 IN (2, {half})")
        connection.execute("DELETE FROM blocks WHERE block NOT IN (SELECT block FROM matches)")
        run, plan, versions, *_ = connection.execute("SELECT * FROM runs").fetchone()
        plan = json.loads(plan)
        for board in plan["boards"]:
            board["blocks"] = blocks
        row = (run, json.dumps(plan, indent=None, sort_keys=True), versions, started, None)
        connection.execute("DELETE FROM runs")
        connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", (*row, row_digest("runs", row)))


def test_a_merge_that_dies_at_any_moment_with_clocks_ahead_or_behind_leaves_the_log_as_it_was_or_merged(
    drivers, expected, config, chaos_in_full
):
    """And the plan that counts stays that of the log, whatever was said of when others played."""
    rng = random.Random(7)
    assert drivers.run(config).code == 0
    whole = Path(shutil.copy(log_of(config), config.parent / "whole.db"))
    for clock in ("1970-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"):
        shutil.rmtree(home_of(config))
        log, other = log_of(config), config.parent / "other.db"
        half_of(whole, 0, log, "2026-01-01T00:00:00+00:00", 8)
        half_of(whole, 1, other, clock, 2)
        command = ["merge", other, "--into", "small", "--home", home_of(config)]
        states = {count(config)}
        for mode in [KILL, TEAR, POWER] * (30 if chaos_in_full else 1):
            ended = drivers.run(config, mode, rng.randint(1, 40), rng.randrange(2**31), command=command)
            assert ended.code in (0, -signal.SIGKILL) and "error" not in ended.err, ended.err
            states.add(count(config))
        assert drivers.run(config, command=command).code == 0
        assert drivers.run(config, command=command).out.startswith("0 matches merged")
        assert len(states | {count(config)}) == 2, "all of a merge, or nothing"
        with Store.open(log) as store:
            assert {board.blocks for board in Tournament(store).plan.boards} == {8}
        assert not list(home_of(config).rglob(".merge-*"))
        finish(drivers, config, expected)


# The power is cut


FRAME = 24 + 4096
HEADER = 32


def rows_of(log: Path) -> list[tuple]:
    """The matches of a log that can be opened and is sound."""
    Store.create(log).close()
    connection = sqlite3.connect(log)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    found = connection.execute("SELECT * FROM matches ORDER BY block, lineup").fetchall()
    connection.close()
    return found


def cut_off(folder: Path, log: Path, length: int, rubbish: bytes = b"") -> Path:
    """A copy of a log whose write-ahead log ends after so many bytes, with rubbish behind it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = folder / log.name
    shutil.copy(log, copy)
    Path(f"{copy}-wal").write_bytes(Path(f"{log}-wal").read_bytes()[:length] + rubbish)
    return copy


def commits(wal: bytes) -> list[int]:
    """Lengths of a write-ahead log after each of its transactions: where a frame tells the size of the database."""
    ends = range(HEADER + FRAME, len(wal) + 1, FRAME)
    return [end for end in ends if struct.unpack(">I", wal[end - FRAME + 4 : end - FRAME + 8])[0]]


def test_a_log_whose_last_writes_were_lost_or_torn_holds_what_was_committed_before(
    drivers, expected, config, tmp_path, chaos_in_full
):
    rng = random.Random(4)
    drivers.run(config, KILL, 350, checkpoint=100_000)
    log = log_of(config)
    wal = Path(f"{log}-wal").read_bytes()
    ends = commits(wal)
    known = {end: rows_of(cut_off(tmp_path / "copy", log, end)) for end in ends}
    assert len(ends) > 10 and len(known[ends[-1]]) > 20
    for before, after in itertools.pairwise(known.values()):
        assert set(before) <= set(after), "nothing that was there changes or goes"

    def last_commit(length: int) -> list[tuple]:
        return known[max(end for end in ends if end <= length)]

    boundaries = range(ends[0], len(wal) + 1, FRAME)
    cuts = [*boundaries] if chaos_in_full else rng.sample(boundaries, 10)
    stale = wal[HEADER : HEADER + 3 * FRAME]
    for cut in [*cuts, *(rng.randrange(ends[0], len(wal)) for _ in range(500 if chaos_in_full else 10))]:
        sectors = max(ends[0], (cut - HEADER) // 512 * 512 + HEADER)
        for length, rubbish in ((cut, b""), (sectors, rng.randbytes(5000)), (sectors, stale)):
            assert rows_of(cut_off(tmp_path / "copy", log, length, rubbish)) == last_commit(length)
    for cut in rng.sample([end - rng.randrange(1, FRAME) for end in ends[1:]], 10 if chaos_in_full else 1):
        resumed = write(tmp_path / f"cut at {cut}", config.read_text(), BOTS)
        home_of(resumed).mkdir()
        cut_off(home_of(resumed) / "small", log, cut)
        finish(drivers, resumed, expected)


# Workers die


DEADLY = """

class Deadly(Bot):
    '''End the whole process in some positions.'''

    def choose(self, state):
        deed = zlib.crc32(state.position.encode()) % 90
        if deed == 0:
            os._exit(1)
        if deed == 1:
            ctypes.string_at(0)
        if deed == 2:
            self.eaten = bytearray(2**22)
            os.kill(os.getpid(), 9)
        return self.rng.choice(state.legal_actions())
"""
WITH_DEADLY = """
name = "small"
seed = 14
blocks = 10
forfeit_limit = 0
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "b.py:Low" }, { bot = "b.py:Any" }, { bot = "b.py:Deadly" }]
"""
ENDS = ("it ended with code 1", "killed by SIGSEGV", "killed by SIGKILL, perhaps for want of memory")


def harm_workers(config: Path, seed: int, times: int):
    """Kill, or stop for a while, workers of a driver now and then, as matches come in."""
    rng = random.Random(seed)

    def harm(driver: int) -> None:
        for _ in range(times):
            saved = count(config)
            wait_until(lambda: count(config) > saved or not Path(f"/proc/{driver}").exists(), "it goes on")  # noqa: B023
            time.sleep(rng.uniform(0.0, 0.2))
            for worker in sorted(tournaments.workers_of(driver))[:1]:
                deed = rng.choice([signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP])
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, deed)
                    time.sleep(rng.uniform(0.0, 0.5) if deed == signal.SIGSTOP else 0.0)
                    os.kill(worker, signal.SIGCONT)

    return harm


def stop_workers(config: Path, times: int):
    """Stop a worker of a driver for good, now and then, as matches come in."""

    def harm(driver: int) -> None:
        for _ in range(times):
            saved = count(config)
            wait_until(lambda: count(config) > saved or not Path(f"/proc/{driver}").exists(), "it goes on")  # noqa: B023
            for worker in sorted(tournaments.workers_of(driver))[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGSTOP)

    return harm


@pytest.mark.parametrize("name", ["plain", pytest.param("processes", marks=pytest.mark.chaos)])
def test_workers_that_are_stopped_are_replaced_and_the_results_are_the_same(
    drivers, expected, tmp_path, chaos_in_full, name
):
    config = write(tmp_path / "tournament", CONFIGS[name], BOTS)
    harm = stop_workers(config, 6 if chaos_in_full else 1)
    finish(drivers, config, expected, workers=2, meanwhile=harm, arena__workers__process__STALL_SECONDS=2.0)


WORKERS = 3


def is_forked(process: int) -> bool:
    """Whether a process is an isolated Python bot's, or in the sandbox the fork server of one."""
    with contextlib.suppress(OSError):
        parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
        return all(b"forkserver.py" in Path(f"/proc/{each}/cmdline").read_bytes() for each in (process, parent))
    return False


def end_bots(config: Path, seed: int, hits: Counter[int]):
    """Send signals to isolated bots' own processes now and then, as matches come in: so many to each worker's."""
    rng = random.Random(seed)

    def harm(driver: int) -> None:
        saved = -1
        while Path(f"/proc/{driver}").exists() and (len(hits) < WORKERS or min(hits.values()) < MAX_KILL_REPLAYS):
            wait_until(lambda: count(config) > saved or not Path(f"/proc/{driver}").exists(), "it goes on")  # noqa: B023
            saved = count(config)
            time.sleep(rng.uniform(0.0, 0.05))
            for worker in tournaments.workers_of(driver):
                bots = list(filter(is_forked, trees.descendants(worker)))
                if bots and hits[worker] < MAX_KILL_REPLAYS:
                    hits[worker] += 1
                    trees.send_signal(rng.choice(bots), rng.choice(EXTERNAL_SIGNALS))

    return harm


@pytest.mark.chaos
@pytest.mark.parametrize("name", [name for name in ("processes", "sandbox") if name in NAMES])
def test_bots_that_are_ended_from_outside_are_not_charged_and_the_results_are_the_same(
    drivers, expected, tmp_path, name
):
    """A worker's bots get no more signals than a match has further tries, as all may hit the same one."""
    sent = 0
    for seed in range(2):
        config = write(tmp_path / f"{seed}", CONFIGS[name].replace("blocks = 6", "blocks = 20"), BOTS)
        hits: Counter[int] = Counter()
        finish(drivers, config, expected, workers=WORKERS, meanwhile=end_bots(config, seed, hits))
        sent += hits.total()
    assert sent, "bots were there"


@pytest.mark.chaos
def test_workers_that_die_of_a_bot_or_are_killed_cost_nobody_else_anything(drivers, tmp_path):
    bots = BOTS.replace("import os", "import ctypes\nimport os\nimport zlib", 1) + DEADLY
    alone = write(tmp_path / "alone", WITH_DEADLY, bots)
    assert drivers.run(alone).code == 0
    fallen = rows(alone, "SELECT DISTINCT spec, cause FROM seats JOIN bots USING (bot) WHERE cause IS NOT NULL")
    assert fallen == [("Deadly", "crash")]
    tries = rows(alone, "SELECT DISTINCT attempts FROM timings WHERE attempts > 1")
    assert tries == [(4,)], "three deaths, and the try with the charge"
    details = {detail.partition(": ")[2] for (detail,) in rows(alone, "SELECT detail FROM faults")}
    assert details and details <= set(ENDS)
    left = dump(alone)
    for seed in range(10):
        other = write(tmp_path / f"{seed}", WITH_DEADLY, bots)
        ended = drivers.run(other, workers=2, meanwhile=harm_workers(other, seed, 6))
        if ended.code == 3:  # the harm came on top of a bot's three times: nobody is charged
            assert "its worker process ended 3 times (" in ended.err
            ended = drivers.run(other)
        assert ended.code == 0, ended.err
        assert dump(other) == left


# A build is under way


BUILDS = """
import pathlib, time
pathlib.Path({here!r}).touch()
while pathlib.Path({wait!r}).exists():
    time.sleep(0.01)
"""
WITH_PROGRAM = """
name = "small"
seed = 15
blocks = 2
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "program/bot.toml", isolation = "process" }, { bot = "b.py:Low" }]
"""


@pytest.mark.chaos
def test_a_driver_killed_while_a_program_is_built_leaves_nothing_of_it_to_the_next_run(drivers, tmp_path):
    config = write(tmp_path / "tournament", WITH_PROGRAM, BOTS)
    here, wait = tmp_path / "here", tmp_path / "wait"
    wait.touch()
    program = config.parent / "program"
    shutil.copytree(chaos.ROOT / "examples" / "python_program", program)
    manifest = (program / "bot.toml").read_text()
    (program / "bot.toml").write_text(manifest.replace("resettable", 'build = ["python3", "build.py"]\nresettable', 1))
    (program / "build.py").write_text(BUILDS.format(here=str(here), wait=str(wait)))

    def kill(driver: int) -> None:
        wait_until(here.exists, "the program is being built")
        os.kill(driver, signal.SIGKILL)

    def desks() -> list[Path]:
        return [path for path in cache_root().glob("programs/build-*/bot/build.py") if str(here) in path.read_text()]

    assert drivers.run(config, meanwhile=kill).code == -signal.SIGKILL
    wait_until(lambda: not [told for _, told in tournaments.processes().values() if "build.py" in told], "it ended")
    wait.unlink()
    assert drivers.run(config).code == 0
    wait_until(lambda: not chaos.left_behind(config), "files that were left behind are gone")
    assert (count(config), desks()) == (4, [])
