"""Bots' processes that end by a signal that anybody may have sent: the match is played again, a few times."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import engine
from arena import api
from arena.core.errors import ConfigError, WorkerError
from arena.core.limits import Limits
from arena.core.process_trees import descendants, kill_tree
from arena.isolation import bubblewrap, fork_client
from arena.isolation.bot_process import BotProcess
from arena.isolation.launched import LaunchedBot, trusted_modules
from arena.isolation.process_pool import ProcessPool, RemoteContestant
from arena.match.dice import Streams
from arena.match.player import LocalBot
from arena.match.referee import MAX_KILL_REPLAYS, play_match
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.registry.bundles import bundle_file
from arena.registry.manifest import bundle_program
from arena.runner import retries
from arena.runner.queue import MatchQueue
from arena.runner.single import play_specs
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.verify.verification import verify
from arena.workers.messages import Describe, Played, WorkerDeath, decode, encode, is_kind
from arena.workers.process import WorkerProcess
from bots.random_bot import Random
from tests.support.samples import begin, row, schedule
from tests.support.tournaments import home_of, rows, wait_until, write

FIRST = """
from bots import Bot


class First(Bot):
    def choose(self, state):
        return state.legal_actions()[0]
"""
PROGRAM = """
import json, os, signal, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] in ("hello", "newgame"):
        print('{"type":"ready"}', flush=True)
    if message["type"] == "move":
        DEED
        print(json.dumps({"type": "action", "action": message["legal"][0]}), flush=True)
"""
DEEDS = {
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "terminate": "os.kill(os.getpid(), signal.SIGTERM)",
    "hang up": "os.kill(os.getpid(), signal.SIGHUP)",
    "processor time": "resource.setrlimit(resource.RLIMIT_CPU, (0, 1)); [None for _ in iter(int, 1)]",
    "strict mode": "ctypes.CDLL(None).prctl(22, 1, 0, 0, 0); os.listdir('/')",
    "exit as if killed": "os._exit(137)",
    "exit as if terminated": "os._exit(143)",
    "exit": "os._exit(3)",
    "abort": "os.abort()",
}
MODULES = "import ctypes, os, resource, signal"


def streams(number=0):
    return Streams(bytes(32), bytes(32), bytes([number]) * 16)


class Hit:
    """Sends the process of a bot one signal after the other in the midst of its moves."""

    def __init__(self, monkeypatch, *numbers):
        left, exchange = [*numbers], BotProcess.exchange

        def hit(each, line, limit, slack):
            if left and b'"type":"move"' in line:
                os.kill(each.pid, left.pop(0))
            return exchange(each, line, limit, slack)

        monkeypatch.setattr(BotProcess, "exchange", hit)


def python_bot(folder, level, deed="pass"):
    done = f"try: {deed}\n        except OSError: pass\n        return"
    path = folder / "b.py"
    path.write_text(f"{MODULES}\n{FIRST.replace('return', done)}")
    return LaunchedBot("first", bundle_file(path), "First", {}, level)


def program(folder, level, deed="pass"):
    deed = f"try: {deed}\n        except OSError: pass"
    (folder / "bot.py").write_text(f"{MODULES}\n{PROGRAM.replace('DEED', deed)}")
    (folder / "bot.toml").write_text('name = "first"\ncommand = ["python3", "bot.py"]\n')
    return LaunchedBot("first", bundle_program(folder / "bot.toml"), "", {}, level)


PROCESS = pytest.param("process", marks=pytest.mark.system)
"""For the long lane where the sandbox, with one process more, shows the same."""
KINDS = {"python": python_bot, "program": program}


def play(bot, spent=(), **limits):
    game = engine.load_game("epicycle", 2)
    with contextlib.closing(ProcessPool()) as pool:
        seats = [RemoteContestant(bot, pool), LocalBot(Random, {})]
        return play_match(game, seats, streams(), limits=Limits(**limits), no_replay_seats=spent)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("kind", "level", "numbers"),
    [
        ("python", "process", (signal.SIGKILL, signal.SIGTERM)),
        pytest.param("python", "process", (signal.SIGINT, signal.SIGHUP), marks=pytest.mark.system),
        ("program", "process", (signal.SIGQUIT, signal.SIGINT)),
        ("python", "sandbox", (signal.SIGTERM, signal.SIGINT)),
        ("program", "sandbox", (signal.SIGKILL, signal.SIGKILL)),  # its first process gets no other from outside
    ],
)
def test_a_match_whose_bot_is_killed_is_played_again_as_if_nothing_had_been(
    tmp_path, monkeypatch, kind, level, numbers
):
    assert len(numbers) == MAX_KILL_REPLAYS
    bot = KINDS[kind](tmp_path, level)
    undisturbed = play(bot)
    Hit(monkeypatch, *numbers)
    result = play(bot)
    assert (undisturbed.killed, result.killed) == ((), (0,) * MAX_KILL_REPLAYS)
    assert (result.forfeits, result.moves, result.final_hash) == ({}, undisturbed.moves, undisturbed.final_hash)
    assert not result.timed


@pytest.mark.parametrize(("times", "spent"), [(MAX_KILL_REPLAYS + 1, ()), (1, (0,))])
@pytest.mark.parametrize(("level", "number"), [("process", signal.SIGTERM), ("sandbox", signal.SIGKILL)])
def test_the_third_time_it_forfeits_and_so_does_a_bot_that_was_killed_too_often(
    tmp_path, monkeypatch, times, spent, level, number
):
    """The match is marked: another run of it may go otherwise."""
    Hit(monkeypatch, *[number] * times)
    result = play(python_bot(tmp_path, level), spent)
    assert (result.forfeits[0].cause, result.timed, len(result.killed)) == ("crash", True, times - 1)
    assert result.forfeits[0].detail.startswith(f"its process ended (killed by {number.name}")


@pytest.mark.parametrize("level", [PROCESS, "sandbox"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_bot_that_is_stopped_from_outside_goes_on(tmp_path, monkeypatch, kind, level):
    bot = KINDS[kind](tmp_path, level)
    undisturbed = play(bot)
    Hit(monkeypatch, *[signal.SIGSTOP] * 3)
    result = play(bot)
    assert (result.forfeits, result.killed, result.retried) == ({}, (), False)
    assert result.moves == undisturbed.moves


@pytest.mark.parametrize("level", ["process", "sandbox"])
def test_a_parent_of_bots_that_is_stopped_goes_on(tmp_path, monkeypatch, level):
    wait, stopped = fork_client.ForkClient.wait, []

    def stop(server):
        os.kill(server.number, signal.SIGSTOP)
        stopped.append(server.number)
        return wait(server)

    monkeypatch.setattr(fork_client.ForkClient, "wait", stop)
    result = play(python_bot(tmp_path, level))
    assert (result.forfeits, result.killed) == ({}, ())
    assert len(stopped) > 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("times", "forfeits"), [(MAX_KILL_REPLAYS, []), (MAX_KILL_REPLAYS + 1, ["init"])])
def test_a_sandbox_that_is_killed_as_it_starts_is_no_bots_fault(tmp_path, monkeypatch, kind, times, forfeits):
    """It is started again; a program that never gets to start forfeits, and without a parent nobody is to blame."""
    child, killed = bubblewrap.child_of, []

    def kill(status, process):
        if len(killed) < times:
            killed.append(process.pid)
            kill_tree(process.pid)  # what it has begun would outlive it
            with open(os.devnull) as nothing:  # it may have said all before it was killed
                return child(nothing.fileno(), process)
        return child(status, process)

    bot = KINDS[kind](tmp_path, "sandbox")
    monkeypatch.setattr(bubblewrap, "child_of", kill)
    if kind == "python" and forfeits:
        with pytest.raises(WorkerError, match=r"did not start: bubblewrap was killed by SIGKILL"):
            play(bot)
    else:
        assert [forfeit.cause for forfeit in play(bot).forfeits.values()] == forfeits
    assert len(killed) == times


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGUSR1])
@pytest.mark.parametrize("level", [PROCESS, "sandbox"])
def test_other_signals_are_the_bots_own(tmp_path, monkeypatch, level, number):
    Hit(monkeypatch, number)
    result = play(python_bot(tmp_path, level))
    assert (result.forfeits[0].cause, result.killed) == ("crash", ())
    assert f"killed by {number.name}" in result.forfeits[0].detail


@pytest.mark.system
@pytest.mark.parametrize("level", ["process", "sandbox"])
@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bot_that_ends_itself_is_charged_after_a_few_tries(tmp_path, kind, deed, level):
    """The sandbox may refuse it, and its first process gets none of its own signals; then the bot plays on."""
    result = play(KINDS[kind](tmp_path, level, DEEDS[deed]), seconds_per_move=3)
    causes = [forfeit.cause for forfeit in result.forfeits.values()]
    assert len(result.killed) in (0, MAX_KILL_REPLAYS)
    assert causes == ["crash"] if result.killed or deed in ("exit", "abort") else causes in ([], ["crash"], ["timeout"])
    if level == "process" and deed in ("kill", "terminate"):
        assert (result.killed, causes) == ((0,) * MAX_KILL_REPLAYS, ["crash"])


@pytest.mark.parametrize(
    ("level", "number"),
    [
        pytest.param("process", signal.SIGKILL, marks=pytest.mark.system),
        pytest.param("process", signal.SIGTERM, marks=pytest.mark.system),
        ("sandbox", signal.SIGKILL),
    ],
)
def test_a_parent_of_bots_that_is_killed_while_one_plays_is_no_bots_fault(tmp_path, monkeypatch, level, number):
    """The kernel ends the bot with it."""
    request, killed = BotProcess.request, []

    def kill(each, message, limit, slack=0.0):
        if message["type"] == "move" and len(killed) < MAX_KILL_REPLAYS:
            (server,) = pool.servers
            killed.append(server.number)
            os.kill(server.number, number)
            wait_until(lambda: select.select([each.pidfd], [], [], 0)[0], "the kernel has ended it")
        return request(each, message, limit, slack)

    monkeypatch.setattr(BotProcess, "request", kill)
    with contextlib.closing(ProcessPool()) as pool:
        seats = [RemoteContestant(python_bot(tmp_path, level), pool), LocalBot(Random, {})]
        result = play_match(engine.load_game("epicycle", 2), seats, streams())
    assert (result.forfeits, result.killed, len(set(killed))) == ({}, (0,) * MAX_KILL_REPLAYS, MAX_KILL_REPLAYS)


@pytest.mark.system
@pytest.mark.parametrize("level", ["process", "sandbox"])
def test_a_bot_that_used_up_its_processor_time_was_killed_for_that(tmp_path, monkeypatch, level):
    """It can bring that about, so it is charged."""
    monkeypatch.setattr(fork_client, "processor_seconds", lambda limits: 1)
    result = play(python_bot(tmp_path, level, "[None for _ in iter(int, 1)]"))
    assert (result.forfeits[0].cause, result.killed) == ("crash", ())
    assert "SIGKILL" in result.forfeits[0].detail


def is_choosing(number):
    """Whether a process is a `SLOW` bot's in the midst of a move: before its match and after it a kill costs no try."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{number}/comm").read_text() == "choosing\n"
    return False


def shoot(times, stopping, hits):
    """Kill so many bots' processes."""
    while len(hits) < times and not stopping.wait(0.01):
        for number in [each for each in descendants(os.getpid()) if each not in hits and is_choosing(each)][:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
                hits.append(number)


@pytest.mark.system
def test_a_tournament_whose_bots_are_killed_from_outside_has_the_results_of_one_left_alone(tmp_path):
    """Playing its matches again finds nothing, and the log says how many tries they took."""
    config = write(tmp_path / "run", CONFIG, SLOW)
    stopping, hits = threading.Event(), []
    sniper = threading.Thread(target=shoot, args=(MAX_KILL_REPLAYS, stopping, hits))
    try:
        outcome = api.run(
            config, home_of(config), workers=1, backend="local", planned=lambda plan, kept: sniper.start()
        ).outcome
    finally:
        stopping.set()
        sniper.join()
    assert (outcome.not_played, outcome.progress.played) == ([], 2) and hits
    assert rows(config, "SELECT sum(attempts) > 2 FROM timings") == [(1,)]
    assert rows(config, "SELECT count(*) FROM seats WHERE cause IS NOT NULL") == [(0,)]
    assert verify(config, home_of(config), rerun="all").findings == []


def test_a_bot_is_given_further_tries_a_bounded_number_of_times_in_a_run(tmp_path, monkeypatch):
    """The driver counts: what it hands out next says whose tries are spent."""
    monkeypatch.setattr(retries, "MAX_REPLAYS_AFTER_KILLS", 3)
    plan = schedule("ab", blocks=4)
    with Store.create(tmp_path / "m.db") as store:
        begin(store, plan)
        todo = MatchQueue(Tournament(store, plan))
        for killed, spent in [((0, 0), ()), ((1,), ()), ((0,), ()), ((), (0,))]:
            chunk = todo.next_chunk(1)
            assert chunk.out_of_replays == spent
            todo.take(chunk, [row(spec.lineup, [0, 1]) for spec, _ in chunk.matches], {0: killed})
        assert [each.attempts for each in todo.unwritten if each.attempts > 1] == [3, 2, 2]


CONFIG = """
name = "small"
seed = 3
blocks = 1
opening = "none"
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "random" }, { bot = "b.py:First", isolation = "sandbox" }]
"""
SLOW = """
import ctypes
import time

from bots import Bot


class First(Bot):
    def named(self, name):
        assert ctypes.CDLL(None).prctl(15, name, 0, 0, 0) == 0  # PR_SET_NAME

    def choose(self, state):
        self.named(b"choosing")
        time.sleep(0.1)
        self.named(b"waiting")
        return state.legal_actions()[0]
"""


# Planning


@contextlib.contextmanager
def killed_worker(times, number=signal.SIGKILL):
    """A worker that gets a signal whenever it is asked what a bot declares, so many times."""
    worker = WorkerProcess()
    exchange = worker.exchange_frame

    def hit(message, limit):
        nonlocal times
        if times and is_kind(message, Describe):
            times -= 1
            os.kill(worker.process, number)
        return exchange(message, limit)

    worker.exchange_frame = hit  # type: ignore[method-assign]  # of this worker alone
    try:
        yield worker
    finally:
        worker.stop()


@pytest.mark.parametrize("level", ["none", "process"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed_while_it_plans_is_replaced_and_no_bot_is_blamed(tmp_path, level, number):
    (tmp_path / "b.py").write_text(FIRST)
    with killed_worker(2, number) as worker:
        (bot,) = resolve_bots([BotEntry(bot="b.py:First", isolation=level)], [], worker=worker)
    assert bot.spec == "First"


@pytest.mark.parametrize(("times", "causes"), [(2, []), (3, ["crash"])])
def test_a_worker_that_is_killed_while_it_plays_outside_any_log_is_started_again_too(times, causes):
    """In single matches, checks and `arena verify --rerun`."""
    plan = schedule("ab", blocks=1)
    specs = plan.matches(next(plan.blocks()))
    hit, sent = WorkerDeath(1, 0, 3, "crash", how="killed by SIGKILL", killed=True), []

    class Shot:
        def play(self, chunk):
            sent.append([match.charges for match in decode(chunk).matches])
            rows = [row(spec.lineup, [0, 1]) for spec in specs]
            return hit if len(sent) <= times else encode(Played(rows, {}, {}))

    made = SimpleNamespace(schedule=plan, secret_keys=())
    assert [match.lineup for match in play_specs(made, specs, Shot())] == [0, 1]
    assert [charge.cause for charge in sent[-1][1]] == causes and sent[-1][0] == []


@pytest.mark.parametrize(
    ("level", "error", "told"),
    [
        ("none", ConfigError, r"bot 'First' ended its process 3 times \(killed by SIGKILL.* while it was loaded"),
        ("process", WorkerError, r"a worker process ended 3 times while bot 'First' was asked \(killed by SIGKILL"),
    ],
)
def test_after_three_times_the_bot_is_to_blame_if_it_ran_there(tmp_path, level, error, told):
    (tmp_path / "b.py").write_text(FIRST)
    with killed_worker(3) as worker, pytest.raises(error, match=told):
        resolve_bots([BotEntry(bot="b.py:First", isolation=level)], [], worker=worker)


@pytest.mark.parametrize(
    ("killed", "lacks"), [(2, ""), (3, "bubblewrap could not be tried (it was killed); try again")]
)
def test_a_trial_of_the_sandbox_that_is_killed_says_nothing_of_the_machine(monkeypatch, killed, lacks):
    """Nor is it remembered."""
    honest, calls = bubblewrap.try_out, []

    def trial():
        calls.append(1)
        monkeypatch.setattr(bubblewrap, "TRIAL", ["sh", "-c", "exit 137"] if len(calls) <= killed else ["true"])
        return honest()

    monkeypatch.setattr(bubblewrap, "try_out", trial)
    bubblewrap.find_missing_requirements.cache_clear()
    assert bubblewrap.missing_requirements() == lacks
    assert (bubblewrap.missing_requirements(), len(calls)) == ("", max(3, killed + 1))


# Bringing bots to the table


ODD = f"if False:\n    import numpy.f2py.__main__, numpy.linalg, numba.tests.support\n{FIRST}"
"""`numpy.f2py.__main__` ends whoever imports it."""
DIGS = """
    def prepare(self):
        import os
        os.chdir(os.environ["TMPDIR"])
        for _ in range(1100):
            os.mkdir("d")
            os.chdir("d")
"""


def test_what_a_bot_imports_is_loaded_for_others_only_where_it_is_harmless(tmp_path):
    (tmp_path / "b.py").write_text(ODD)
    bundle = bundle_file(tmp_path / "b.py")
    modules = [name for name in trusted_modules(bundle) if not name.startswith("bots")]
    assert modules == ["numba", "numpy", "numpy.linalg", "scipy.linalg"]
    assert play(LaunchedBot("first", bundle, "First", {}, "sandbox")).forfeits == {}


@pytest.mark.system
def test_folders_as_deep_as_nobody_removes_cost_no_one_else_a_match(tmp_path):
    """At level `process` a bot's folder is an ordinary one."""
    (tmp_path / "b.py").write_text(FIRST + DIGS)
    deep, game = (
        LaunchedBot("deep", bundle_file(tmp_path / "b.py"), "First", {}, "process"),
        engine.load_game("epicycle", 2),
    )
    with contextlib.closing(ProcessPool()) as pool:
        seats = [RemoteContestant(deep, pool), LocalBot(Random, {})]
        for number in range(2):
            assert play_match(game, seats, streams(number)).forfeits == {}
        assert [server.is_alive for server in pool.servers] == [True]
    assert list(tmp_path.glob("bots-*")) == []


def test_a_worker_leaves_no_folder_behind_however_deep(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    worker = WorkerProcess()
    worker.start()
    (folder,) = tmp_path.glob("arena-worker-*")
    place = os.open(folder, os.O_DIRECTORY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_DIRECTORY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    os.kill(worker.process, signal.SIGKILL)
    wait_until(lambda: not folder.exists(), "its supervisor has removed it")
    worker.stop()


# Builds
