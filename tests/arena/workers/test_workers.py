"""Workers: what a bot can do to its process, and what that costs (its own match, and nothing else)."""

from __future__ import annotations

import gc
import mmap
import os
import queue
import tempfile
import weakref
from contextlib import closing
from multiprocessing.connection import Connection

import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import WorkerError
from arena.match.heartbeat import HEARTBEAT_BYTES, Heartbeat
from arena.runner import retries
from arena.workers import process
from arena.workers.messages import MatchOrder, PlanReply, SearchReport, StartSearch, WorkerDeath
from arena.workers.pools import Chunk, LocalPool
from arena.workers.process import WorkerProcess
from arena.workers.worker import Worker
from tests.support import tournaments
from tests.support.tournaments import count, home_of, rows, write

BOTS = """
import ctypes
import os
import signal

from bots import Bot


class Low(Bot):
    def choose(self, state):
        return state.legal_actions()[0]


class Misbehaves(Low):
    '''Once in a block: in the first line-up, where it has seat 1.'''

    def choose(self, state):
        if self.seat == 1:
            self.misbehave()
        return super().choose(state)


class Exits(Misbehaves):
    def misbehave(self):
        os._exit(0)


class Faults(Misbehaves):
    def misbehave(self):
        ctypes.string_at(0)


class Kills(Misbehaves):
    def misbehave(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Loops(Misbehaves):
    def misbehave(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


class EndsEarly(Low):
    def prepare(self):
        if self.seat == 0:
            os._exit(3)
"""


def config_of(bots, players=2, more=""):
    listed = ", ".join(f'{{ bot = "{bot}" }}' for bot in bots)
    return f"""
name = "small"
seed = 5
blocks = 1
opening = "none"
games = [{{ game = "epicycle", players = {players} }}]
bots = [{listed}]
{more}
"""


def play(config, **options):
    return api.run(config, home_of(config), workers=1, backend="local", **options).outcome


def faults(config):
    """(bot, seat, cause, tries) of every forfeit in the log."""
    query = (
        "SELECT spec, seat, cause, attempts FROM seats JOIN bots USING (bot) JOIN timings USING (block, lineup) "
        "WHERE cause IS NOT NULL ORDER BY spec, seat"
    )
    return rows(config, query)


@pytest.mark.system
def test_a_bot_that_ends_or_hangs_its_process_is_charged_and_its_neighbours_in_the_chunk_lose_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(process, "STARVED_CPU_SHARE", 0.0)  # none is starved, however busy the machine
    bots = ["b.py:Low", "b.py:Faults", "b.py:Kills", "b.py:Loops"]
    config = write(tmp_path, config_of(bots, more='schedule = "gauntlet"\nlimits = { seconds_per_move = 0.5 }'), BOTS)
    outcome = play(config)
    assert (outcome.progress.played, outcome.not_played) == (6, [])
    assert faults(config) == [
        ("Faults", 1, "crash", 4),
        ("Kills", 1, "crash", 4),
        ("Loops", 1, "timeout", 2),
    ]
    assert rows(
        config, "SELECT count(*), sum(timed), max(attempts) FROM matches JOIN timings USING (block, lineup)"
    ) == [(6, 1, 4)]
    assert rows(config, "SELECT count(*) FROM timings WHERE attempts = 1") == [(3,)]
    (frame,) = api.leaderboard(config, home_of(config)).values()
    assert dict(zip(frame["bot"], frame["forfeits"])) == {"Low": 0, "Faults": 1, "Kills": 1, "Loops": 1}


@pytest.mark.system
def test_a_bot_that_hangs_a_starved_worker_is_charged_only_when_every_try_ends_so(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(process, "processor_time", lambda number: 0)
    monkeypatch.setattr(retries, "MAX_TRIES", 2)
    config = write(tmp_path, config_of(["b.py:Low", "b.py:Loops"], more="limits = { seconds_per_move = 0.5 }"), BOTS)
    outcome = play(config)
    assert (outcome.progress.played, outcome.not_played) == (2, [])
    assert faults(config) == [("Loops", 1, "timeout", 3)]


@pytest.mark.parametrize(("deed", "starved"), [("pass", False), ("time.sleep(1)", True)])
def test_a_death_tells_whether_the_worker_had_the_processor(tmp_path, monkeypatch, deed, starved):
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(process, "STARVED_CPU_SHARE", 0.02)  # even a busy machine gives more to who wants it
    text = BOTS.replace("                    pass\n", f"                    {deed}\n")
    config = write(
        tmp_path, config_of(["b.py:Low", "b.py:Loops"], more="limits = { seconds_per_move = 1 }"), f"import time{text}"
    )
    worker = WorkerProcess()
    try:
        plan = api.load_plan(config, worker)
        worker.give_plan(plan.message())
        matches = plan.schedule.matches(next(plan.schedule.blocks()))
        spec = next(spec for spec in matches if plan.bots[spec.seats[1]].spec == "Loops")
        death = worker.play(Chunk([MatchOrder(spec)], 0).message())
    finally:
        worker.stop()
    assert (death.seat, death.cause, death.starved) == (1, "timeout", starved)


@pytest.mark.system
def test_two_bots_that_end_the_process_in_one_match_are_both_charged(tmp_path, monkeypatch):
    monkeypatch.setattr(retries, "MAX_TRIES", 2)
    config = write(tmp_path, config_of(["b.py:Low", "b.py:EndsEarly", "b.py:Exits"], players=3), BOTS)
    outcome = play(config)
    assert (outcome.progress.played, outcome.not_played) == (3, [])
    assert faults(config) == [("EndsEarly", 0, "init", 5), ("Exits", 1, "crash", 5)]


@pytest.mark.system
def test_a_match_is_given_up_when_no_single_bot_is_to_blame_and_the_others_are_played(tmp_path, monkeypatch, capsys):
    """The process dies outside of any bot's turn."""
    text = """
import os

import engine.state
from bots import Bot


class Ghost(Bot):
    def choose(self, state):
        if self.seat == 0:
            engine.state.KernelState.apply_action = lambda *_: os._exit(1)
        return state.legal_actions()[0]
"""
    config = write(tmp_path, config_of(["random", "b.py:Ghost"]), text)
    assert run_command(["run", str(config), "--home", str(home_of(config)), "--workers", "1"]) == 3
    said = capsys.readouterr()
    assert "its worker process ended 3 times" in said.err
    assert "1 match played" in said.out
    assert count(config) == 1


@pytest.mark.parametrize("deed", ["os._exit(1)", pytest.param("time.sleep(3600)", marks=pytest.mark.chaos)])
def test_what_a_bot_does_when_it_is_thrown_away_neither_stops_the_run_nor_changes_a_result(tmp_path, deed):
    text = f"""
import os
import time
from bots import Bot


class Ghost(Bot):
    def choose(self, state):
        return state.legal_actions()[0]

    def __del__(self):
        if self.seat == 0:
            try:
                {deed}
            except BaseException:
                {deed}
"""
    config = write(tmp_path, config_of(["random", "b.py:Ghost"]), text)
    config.write_text(config.read_text() + "\n[limits]\nseconds_per_move = 0.5\n")
    assert run_command(["run", str(config), "--home", str(home_of(config)), "--workers", "1"]) == 0
    assert count(config) == 2
    assert faults(config) == []


def test_what_a_bot_started_ends_with_its_worker_and_the_temporary_folder_is_empty(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    text = tournaments.BOTS.replace("class Nap(Bot):", 'open("left behind", "w").close()\n\n\nclass Nap(Bot):')
    config = write(tmp_path, config_of(["b.py:Nap", "b.py:Hash"]), text)
    seen = []

    def look(progress):
        seen.append((len(tournaments.bots_children()), len(list(temporary.glob("arena-*/left behind")))))

    play(config, show=look)
    assert (1, 1) in seen
    assert tournaments.bots_children() == set()
    assert os.listdir(temporary) == []


def test_editing_a_bots_file_during_a_run_changes_nothing_in_it(tmp_path):
    config = write(tmp_path, config_of(["random", "b.py:Low"]), BOTS)
    (identity,) = [bot.identity for bot in api.load_plan(config).bots if bot.spec == "Low"]

    def edit(plan, kept):
        (tmp_path / "b.py").write_text(BOTS.replace("legal_actions()[0]", "nonsense"))

    outcome = api.run(config, home_of(config), workers=2, backend="local", planned=edit).outcome
    assert (outcome.progress.played, outcome.progress.forfeits) == (2, 0)
    assert rows(config, "SELECT identity FROM bots WHERE spec = 'Low'") == [(identity,)]
    again = play(config)
    assert (again.progress.played, again.progress.forfeits) == (2, 2)


def test_a_worker_that_runs_other_code_is_refused(monkeypatch):
    monkeypatch.setattr(process, "code_hash", lambda: "another")
    worker = WorkerProcess()
    with pytest.raises(WorkerError, match=r"^a worker process runs another version of the arena than this command"):
        worker.start()
    worker.stop()


def test_a_worker_that_does_not_come_up_says_why(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "numpy.py").write_text("raise ImportError('numpy is broken')")
    with pytest.raises(WorkerError, match=r"^a worker process did not start: ImportError: numpy is broken$"):
        WorkerProcess().start()


def test_a_pool_that_is_closed_ends_its_workers_also_while_they_start_or_play(tmp_path, monkeypatch):
    config = write(
        tmp_path, config_of(["b.py:Nap", "b.py:Hash"]), tournaments.BOTS.replace(tournaments.NAP, "time.sleep(30)")
    )
    made = []
    init = WorkerProcess.__init__

    def note(worker, *arguments):
        init(worker, *arguments)
        made.append(worker)

    before = tournaments.workers_of(os.getpid())
    monkeypatch.setattr(WorkerProcess, "__init__", note)
    plan = api.load_plan(config)
    replies = queue.SimpleQueue()
    pool = LocalPool(2, plan.message(), replies)
    block = next(plan.schedule.blocks())
    for worker in (0, 0, 1):
        pool.submit(worker, Chunk([MatchOrder(spec) for spec in plan.schedule.matches(block)], 0))
    tournaments.wait_until(lambda: any(worker.name for worker in made[1:]), "a worker is up")
    pool.close()
    assert not any(thread.is_alive() for thread in pool.threads)
    assert tournaments.workers_of(os.getpid()) <= before


def test_a_worker_that_another_thread_ends_while_it_is_asked_has_died(monkeypatch):
    worker = WorkerProcess()
    worker.start()

    def ends(self, between_moves):
        worker.stop()
        return False

    monkeypatch.setattr(process, "POLL_SECONDS", 0.0)  # no reply is there yet
    monkeypatch.setattr(process.StallDetector, "has_stopped", ends)
    reply = worker.call(StartSearch(None, ()), SearchReport, 60.0)
    assert isinstance(reply, WorkerDeath) and reply.cause == "crash"
    worker.stop()


def test_a_worker_forgets_a_plan_with_the_next_one():
    bots = [{"bot": "random"}, {"bot": "random", "label": "other"}]
    config = {"name": "small", "blocks": 1, "games": [{"game": "epicycle", "players": 2}], "bots": bots}
    message = api.load_plan(config).message()
    loaded = []
    with closing(mmap.mmap(-1, HEARTBEAT_BYTES)) as memory:
        worker = Worker(Heartbeat(memory), Connection(os.open(os.devnull, os.O_RDONLY)))
        for _ in range(3):
            assert worker.answer(message) == PlanReply("")
            assert worker.plan is not None
            worker.plan.game(0)
            worker.plan.contestant(0, 0)
            loaded.append(weakref.ref(worker.plan))
        gc.unfreeze()
        worker.heartbeat.close()
    assert [each() is None for each in loaded] == [True, True, False]
