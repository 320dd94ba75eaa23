"""A sandboxed bot finds the same process in every match, whoever played before: nothing of others or of place."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from arena.core.limits import Limits
from arena.isolation.launched import LaunchedBot
from arena.isolation.preload import Preload
from arena.isolation.process_pool import ProcessPool, RemoteContestant, preload_of
from arena.isolation.remote_player import RemotePlayer
from arena.isolation.spawn import trusted_sources
from arena.match.dice import Streams
from arena.match.player import LocalBot
from arena.match.referee import play_match
from arena.registry.bundles import Bundle
from arena.registry.manifest import bundle_program
from arena.schedule.boards import Board
from arena.workers.bot_host import preload_of_plan
from arena.workers.messages import PlannedBot, WorkerPlan
from bots.random_bot import Random
from engine.cache import kernel_cache
from engine.kernel import numba_folder
from tests.support.memory import words_in_memory

PROBE = """
import sys
FOUND = [sys.getallocatedblocks(), id(object()), id(bytearray(600)), id(set())]
import gc, hashlib, os, random
from bots import Bot

def kernels():
    return sorted(f"{os.path.basename(at)}/{name}" for at, _, names in os.walk("/kernels") for name in names)

def short(thing):
    return hashlib.sha256(repr(thing).encode()).hexdigest()[:6]

class Probe(Bot):
    def choose(self, state):
        known = [FOUND]
        known += [sorted(sys.modules), gc.get_stats(), gc.get_freeze_count(), sorted(os.environ.items())]
        known += [os.getpid(), os.getcwd(), sys.argv, len(os.listdir("/tmp")), sys.getrecursionlimit()]
        self.note = f"{' '.join(map(short, known))} {short(kernels())} {'scipy.constants' in sys.modules}"
        return state.legal_actions()[0]
"""
RIVAL = """
import scipy.constants
from bots import Bot

class RivalOfSecretName(Bot):
    def choose(self, state):
        return state.legal_actions()[-1]
"""
GAME = "epicycle"


CRASHES = """
import os
from bots import Bot

class Crashes(Bot):
    def choose(self, state):
        os._exit(3)
"""


def remote(name: str, source: str) -> LaunchedBot:
    return LaunchedBot(name, Bundle(name.lower(), {f"{name.lower()}.py": source.encode()}), name, {}, "sandbox")


WORDS = (b"RivalOfSecretName", b"class Probe")
PROBED, RIVALS, CRASHED = remote("Probe", PROBE), remote("RivalOfSecretName", RIVAL), remote("Crashes", CRASHES)


def note_of(bot: LaunchedBot, pool: ProcessPool) -> str:
    """What a bot notes at its first choice."""
    seats = [RemoteContestant(bot, pool), LocalBot(Random, {})]
    result = play_match(engine.load_game(GAME, 2), seats, Streams(bytes(32), bytes(32), bytes(16)))
    assert len(result.forfeits) == (bot is CRASHED)
    return result.notes[0][1] if result.notes else ""


@pytest.fixture
def pool():
    """Of a plan in which both play."""
    with contextlib.closing(ProcessPool(preload_of([PROBED.bundle, RIVALS.bundle], [(GAME, 2)]))) as running:
        yield running


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A copy of the machine's compiled code, which no other test adds to, and what a rival of ours has compiled."""
    folder = tmp_path / "kernels"
    for path in (*kernel_cache().glob("*/*.nbi"), *kernel_cache().glob("*/*.nbc")):
        (folder / path.parent.name).mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # it has just been written anew
            shutil.copy(path, folder / path.parent.name)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    (folder / "rival_0").mkdir()
    (folder / "rival_0" / "zoo_kernel.nbi").touch()
    ours = {numba_folder(source) for source in trusted_sources()}
    return sorted(f"{path.parent.name}/{path.name}" for path in folder.glob("*/*") if path.parent.name in ours)


def short(thing: object) -> str:
    """As `PROBE` notes it."""
    return hashlib.sha256(repr(thing).encode()).hexdigest()[:6]


def test_a_bots_process_does_not_tell_who_was_there_before(kernels, pool, monkeypatch):
    close, seen = RemotePlayer.close, []

    def looked_at(player: RemotePlayer) -> None:
        if player.bot is PROBED:
            seen.append(words_in_memory(player.bot_process.pid, WORDS))
        close(player)

    monkeypatch.setattr(RemotePlayer, "close", looked_at)
    notes = [note_of(bot, pool) for bot in (PROBED, RIVALS, CRASHED, PROBED, PROBED)]
    assert len(pool.servers) == 1
    assert len({notes[0], notes[3], notes[4]}) == 1
    # What the plan's bots use is there, and our compiled code; others' compiled code is not.
    assert kernels and notes[0].endswith(f" {short(kernels)} True")
    assert seen == [{b"class Probe"}] * 3


def test_the_server_of_a_sandbox_serves_the_next_plan_too_and_bots_cannot_tell(kernels, pool):
    preload = preload_of([PROBED.bundle, RIVALS.bundle], [(GAME, 2)])
    notes, servers = [note_of(PROBED, pool)], [*pool.servers]
    for before in (RIVALS, CRASHED):
        note_of(before, pool)
        pool.expect(preload)
        assert "error" not in pool.describe(RIVALS, [(GAME, 2)])
        notes.append(note_of(PROBED, pool))
    assert {*servers} < {*pool.servers}
    assert [each.preload for each in pool.servers] == [preload, Preload()], "one for matches, one for what bots declare"
    assert len({*notes}) == 1
    pool.expect(preload_of([PROBED.bundle], [(GAME, 2)]))
    assert [each.preload for each in pool.servers] == [Preload()]


def test_the_server_of_bots_that_no_sandbox_holds_serves_one_plan(tmp_path):
    with contextlib.closing(ProcessPool(Preload())) as pool:
        note_of(replace(PROBED, isolation="process"), pool)
        assert len(pool.servers) == 1
        pool.expect(Preload())
        assert pool.servers == []


def test_without_a_plan_a_process_has_what_its_own_bot_uses_and_no_other():
    with contextlib.closing(ProcessPool()) as pool:
        note_of(RIVALS, pool)
        assert note_of(PROBED, pool).endswith(" False")


def test_what_is_loaded_for_a_plan_is_the_same_in_whatever_order_its_bots_come():
    bots = [PROBED.bundle, RIVALS.bundle, Bundle("broken", {"broken.py": b"def"})]
    boards = [("midgard", 2), (GAME, 2), (GAME, 2)]
    assert preload_of(bots, boards) == preload_of(bots[::-1], boards[::-1])
    assert preload_of(bots, boards).boards == ((GAME, 2), ("midgard", 2))
    assert "scipy.constants" in preload_of(bots, boards).modules


def test_a_worker_loads_what_all_python_bots_of_its_plan_use():
    bot = PlannedBot("rival", "rivalofsecretname", "Rival", "1", {}, "", "sandbox")
    bundles = {"0": PROBED.bundle.files, "1": RIVALS.bundle.files, "2": {"../a": b""}}
    plan = WorkerPlan({}, Limits(), [Board(GAME, "{}", 2, 1, (0,), 1, 0)], [bot], bundles, {})
    assert preload_of_plan(plan) == preload_of([RIVALS.bundle], [(GAME, 2)])
    assert preload_of_plan(plan._replace(bots=[bot._replace(bundle="2")], boards=[])) == ((), ())


@pytest.mark.parametrize(("level", "processes"), [("process", 1), ("sandbox", 3)])
def test_a_resettable_program_is_started_anew_for_every_match_in_the_sandbox(level, processes, tmp_path):
    program = bundle_program(Path(__file__).parents[3] / "examples" / "python_program" / "bot.toml")
    game, numbers = engine.load_game("midgard", 2), set()
    with contextlib.chdir(tmp_path), contextlib.closing(ProcessPool()) as pool:
        bot = LaunchedBot("program", program, "", {}, level)
        source = pool.acquire(bot, game)
        for block in (b"1", b"2", b"3"):
            source.begin(block, game)
            bot_process = source.open(bot, Limits())
            assert bot_process.request({"type": "hello", "protocol": 1}, 60)["type"] == "ready"
            numbers.add(bot_process.pid)
            source.release(bot_process, {"type": "gameover"})
    assert len(numbers) == processes


def test_what_a_bot_is_told_names_neither_place_nor_plan(monkeypatch):
    asked, ask = [], RemotePlayer.ask

    def heard(player: RemotePlayer, message: dict, *arguments: object) -> dict:
        asked.append(message)
        return ask(player, message, *arguments)

    monkeypatch.setattr(RemotePlayer, "ask", heard)
    with contextlib.closing(ProcessPool()) as pool:
        note_of(PROBED, pool)
    assert {message["type"]: sorted(message) for message in asked} == {
        "hello": ["protocol", "type"],
        "newgame": ["clock", "game", "options", "params", "players", "position", "seat", "seed", "spec", "type"],
        "move": ["clock", "legal", "plies", "position", "type"],
    }
    assert PROBED.name not in json.dumps(asked)
