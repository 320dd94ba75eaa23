"""Tournaments with every bad bot of the zoo: each gets what is due to it, and nobody else notices."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import shutil
import signal
import socket
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import engine
from arena import api
from arena.core.limits import Limits
from arena.core.process_trees import PR_SET_CHILD_SUBREAPER, adopt_orphans, descendants
from arena.isolation import process_pool
from arena.isolation.bot_process import BotProcess
from arena.isolation.fork_client import ForkClient
from arena.isolation.launched import LaunchedBot
from arena.isolation.process_pool import ProcessPool, RemoteContestant
from arena.isolation.remote_player import RemotePlayer
from arena.match.dice import Streams, key_pair
from arena.match.player import LocalBot
from arena.match.referee import play_match
from arena.match.replay import replay
from arena.match.stored import StoredMatch
from arena.registry.bundles import bundle_file
from arena.registry.manifest import bundle_program
from arena.store import Store
from bots.random_bot import Random
from engine.cache import kernel_cache
from tests.support import zoo
from tests.support.memory import words_in_memory
from tests.support.tournaments import gone, parents_of, processes, wait_until
from tests.support.zoo import ANIMALS, PLAYS_ON, ZOO

SEED = 7
KEY = hashlib.blake2b(b"zoo", digest_size=32).digest()
SECRETS = key_pair(SEED, KEY)
"""The tournaments' keys of dice and of bots' seeds."""
SLEEP = f"85{os.getpid():07}"
"""How long a child would sleep that an animal leaves behind: a number that tells it from all other processes."""
VARIABLE = "ARENA_ZOO_SECRET"
PROCESS = pytest.param("process", marks=pytest.mark.system)
LEVELS = ("sandbox", "process", "none")
LIMITS = {"seconds_per_move": 4, "seconds_to_start": 10, "seconds_to_prepare": 3, "memory": 128}
SLOW = ("timeout", "init")
FEW = (
    "declares_anew",
    "exits",
    "garbage_program",
    "illegal_action",
    "infinite_loop",
    "leaves_a_child",
    "leaves_marks",
    "memory_hog",
    "raises",
    "reads_files",
    "remembers",
)
"""What the short lane plays in the sandbox: one for each cause, and some that look around or leave something behind."""
FIRST = """
from bots import Bot


class First(Bot):
    def choose(self, state):
        return state.legal_actions()[0]
"""


def residents(level: str) -> list[str]:
    """The animals of a tournament; what takes its time in the sandbox already, and programs, are left out elsewhere."""
    names = zoo.at(level)
    if level == "process":
        return [n for n in names if ANIMALS[n].expected[level] not in SLOW and not ANIMALS[n].path.is_dir()]
    return names


@dataclass(frozen=True)
class Played:
    """A tournament that is over."""

    level: str
    names: list[str]
    folder: Path
    labels: dict[str, str]
    matches: list[StoredMatch]
    retried: set[tuple[bytes, int]]
    left_over: set[int]
    mounts: set[str]
    files: set[str]
    """Beside the log, before anybody read it."""

    def of(self, name: str) -> list[tuple[StoredMatch, int]]:
        """The matches of a contestant, each with its seat."""
        return [
            (match, seat) for match in self.matches for seat, bot in enumerate(match.bots) if self.labels[bot] == name
        ]

    @property
    def log(self) -> Path:
        return self.folder / "reports" / "zoo" / api.LOG_FILE


def config(level: str, names: list[str], animals: Path) -> dict[str, object]:
    """Every animal against a good bot, and two good bots against each other."""
    bots = [
        {"bot": "random", "label": "good"},
        {"bot": f"{animals / 'first.py'}:First", "label": "better"},
        *({"bot": ANIMALS[name].spec(animals), "label": name} for name in names),
    ]
    return {
        "name": "zoo",
        "seed": SEED,
        "blocks": 1,
        "opening": "none",
        "dice": "secret",  # at every level, so that results can be compared
        "schedule": "gauntlet",
        "challenger": "good",
        "games": [{"game": "epicycle", "players": 2}],
        "bots": [{**bot, "isolation": level} for bot in bots],
        "limits": LIMITS,
    }


@contextlib.contextmanager
def settled(folder: Path) -> Iterator[Path]:
    """The zoo, with things to find: files, folders, a rival's compiled code, a variable, a port, secrets."""
    log = folder / "reports" / "zoo" / api.LOG_FILE
    home = folder / "zoo_home"
    home.mkdir()
    (home / "zoo_secret").write_text("secret")
    kernel = kernel_cache() / f"rival_{os.getpid()}" / "zoo_kernel.nbi"
    kernel.parent.mkdir(parents=True)
    kernel.touch()
    with socket.create_server(("127.0.0.1", 0)) as server:
        targets = {
            "files": [
                str(log),
                str(log.with_suffix(".lock")),
                str(home / "zoo_secret"),
                str(kernel),
                "/etc/passwd",
                "/etc/hostname",
            ],
            "folders": [str(home), str(log.parent), "/home", "/var", "/sys", "/mnt", "/run"],
            "names": ["zoo_home", "zoo_secret", kernel.name, api.LOG_FILE, ".ssh", ".git", ".bashrc"],
            "variables": [VARIABLE],
            "port": server.getsockname()[1],
            "sleep": SLEEP,
            "secrets": [zoo.told(form) for key in SECRETS for form in (key, key.hex().encode())],
        }
        animals = zoo.settle(folder, targets)
        (animals / "first.py").write_text(FIRST)
        try:
            yield animals
        finally:
            shutil.rmtree(kernel.parent)  # else every later zoo of this process stumbles over it


@contextlib.contextmanager
def orphans_come_here() -> Iterator[None]:
    """Whatever loses its parent meanwhile becomes a child of this process, instead of getting out of sight."""
    adopt_orphans()
    yield
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def mounts() -> set[str]:
    return {line.split(" ", 3)[3] for line in Path("/proc/self/mountinfo").read_text().splitlines()}


def play(level: str, names: list[str], folder: Path) -> Played:
    temporary = folder / "temporary"
    temporary.mkdir()
    known, mounted = set(descendants(os.getpid())), mounts()
    with pytest.MonkeyPatch.context() as patch, settled(folder) as animals, orphans_come_here():
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr(tempfile, "tempdir", str(temporary))
        patch.setenv(VARIABLE, "secret")
        patch.setattr("arena.tournament.dice_keys.secrets.token_bytes", lambda size: KEY)
        ran = api.run(config(level, names, animals), folder / "reports", workers=2, backend="local")
        left_over = set(descendants(os.getpid())) - known - parents_of(os.getpid())  # which is kept for the next run
    files = {path.suffix for path in ran.folder.glob("matches.*")}
    assert (ran.outcome.progress.played, list(ran.outcome.not_played)) == (2 * (len(names) + 1), [])
    labels = {entry.spec: entry.label for entry in ran.plan.schedule.entries}
    log = folder / "reports" / "zoo" / api.LOG_FILE
    with Store.open(log) as store:
        found = [store.match(*at) for at in rows(log, "SELECT identity, lineup FROM blocks JOIN matches USING (block)")]
    retried = rows(log, "SELECT identity, lineup FROM blocks JOIN timings USING (block) WHERE retried = 1")
    return Played(level, names, folder, labels, found, set(retried), left_over, mounts() - mounted, files)


def rows(log: Path, query: str) -> list[tuple]:
    with contextlib.closing(sqlite3.connect(f"{log.as_uri()}?mode=ro", uri=True)) as db:
        return db.execute(query).fetchall()


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return play("sandbox", [*FEW], tmp_path_factory.mktemp("few"))


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    return play("sandbox", residents("sandbox"), tmp_path_factory.mktemp("sandbox"))


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    return play("process", residents("process"), tmp_path_factory.mktemp("process"))


@pytest.fixture(scope="module")
def none(tmp_path_factory):
    return play("none", residents("none"), tmp_path_factory.mktemp("none"))


@pytest.fixture(params=["few", *(pytest.param(level, marks=pytest.mark.system) for level in LEVELS)])
def played(request):
    return request.getfixturevalue(request.param)


def check_outcome(played: Played, name: str) -> None:
    """An animal's matches, one in each seat, ended as its file says, and what it got is what its file says."""
    animal, expected = ANIMALS[name], ANIMALS[name].expected[played.level]
    matches = played.of(name)
    assert [seat for _, seat in sorted(matches, key=lambda found: found[1])] == [0, 1]
    for match, seat in matches:
        if expected == PLAYS_ON:
            assert (match.forfeits, match.timed) == ({}, False), match.details
        else:
            assert [cause for cause, _ in match.forfeits.values()] == [expected], match.details
            assert (list(match.forfeits), match.ranks[seat], match.ended) == ([seat], 1, "forfeit")
        check_notes(match, animal.note(played.level))
        if animal.is_played_again:
            assert (match.identity, match.lineup) in played.retried
        if expected in ("timeout", "memory"):
            assert match.timed


def check_notes(match: StoredMatch, expected: str | None) -> None:
    told = [text for _, text in match.notes]
    if expected is not None:
        assert told and all(text.startswith(expected) for text in told)


@pytest.mark.parametrize("name", FEW)
def test_in_the_sandbox_each_of_a_few_animals_gets_what_is_due_to_it(few, name):
    check_outcome(few, name)


def test_the_few_animals_show_every_cause_that_the_zoo_knows():
    causes = {animal.expected["sandbox"] for animal in ANIMALS.values()}
    assert {ANIMALS[name].expected["sandbox"] for name in FEW} == causes


@pytest.mark.system
@pytest.mark.parametrize("name", residents("sandbox"))
def test_in_the_sandbox_each_animal_gets_what_is_due_to_it(sandbox, name):
    check_outcome(sandbox, name)


@pytest.mark.system
@pytest.mark.parametrize("name", residents("process"))
def test_in_a_process_each_animal_gets_what_is_due_to_it(process, name):
    check_outcome(process, name)


@pytest.mark.system
@pytest.mark.parametrize("name", residents("none"))
def test_in_the_workers_process_each_animal_gets_what_is_due_to_it(none, name):
    check_outcome(none, name)


def test_the_good_bots_play_the_same_matches_as_without_the_zoo(played, tmp_path):
    alone = play("none", [], tmp_path)
    expected = {match.identity: [] for match in alone.matches}
    for tournament in (alone, played):
        for match in tournament.matches:
            if match.identity in expected:
                expected[match.identity].append((match.lineup, match.moves, match.ranks, match.final, match.forfeits))
    (found,) = expected.values()
    assert sorted(found[:2]) == sorted(found[2:])


def test_the_boards_show_the_faults_of_animals_and_none_of_others(played):
    (frame,) = api.leaderboard(played.log).values()
    forfeits = dict(zip(frame["bot"], frame["forfeits"], strict=True))
    assert forfeits == {
        name: 2 * (name in ANIMALS and ANIMALS[name].expected[played.level] != PLAYS_ON) for name in forfeits
    }
    assert len(forfeits) == len(played.names) + 2


def test_the_log_is_sound_and_every_match_replays_with_its_dice(played):
    assert rows(played.log, "PRAGMA integrity_check") == [("ok",)]
    for match in played.matches:
        assert all(ply.expected in (None, ply.text) for ply in replay(match, SECRETS))


def test_nothing_is_left_behind(played):
    wait_until(lambda: not played.left_over & set(processes()), "the processes of the tournament have ended")
    assert not [command for _, command in processes().values() if command == f"sleep {SLEEP}"]
    assert os.listdir(played.folder / "temporary") == []
    assert played.mounts == set()
    assert played.files == {".db", ".lock"}
    Store.create(played.log).close()  # nobody holds its lock


def remote(name: str, level: str, animals: Path, pool: ProcessPool) -> RemoteContestant:
    animal = ANIMALS[name]
    bundle = bundle_file(animals / animal.path.name)
    return RemoteContestant(LaunchedBot(name, bundle, animal.class_name, {}, level), pool)


def alone(name: str, level: str, folder: Path, **limits: float):
    """A match of an animal, outside of a tournament, against a bot in this process."""
    with settled(folder) as animals, contextlib.chdir(folder), contextlib.closing(ProcessPool()) as pool:
        players = [remote(name, level, animals, pool), LocalBot(Random, {})]
        streams = Streams(*SECRETS, bytes(16))
        return play_match(engine.load_game("epicycle", 2), players, streams, limits=Limits(**limits))


@pytest.mark.parametrize("level", [PROCESS, "sandbox"])
def test_a_bot_that_hangs_where_it_is_imported_forfeits_before_play(level, tmp_path):
    result = alone("loop_at_import", level, tmp_path, seconds_to_start=0.5)
    assert (result.forfeits[0].cause, result.forfeits[0].ply, result.ranks) == ("init", -1, [1, 0])


def test_a_bot_that_hangs_where_it_is_imported_cannot_be_entered(tmp_path, monkeypatch):
    monkeypatch.setattr(process_pool, "DESCRIBE_SECONDS", 0.5)
    animal = ANIMALS["loop_at_import"]
    with contextlib.closing(ProcessPool()) as pool:
        bot = LaunchedBot(animal.name, bundle_file(animal.path), animal.class_name, {}, "sandbox")
        assert "no answer within 0.5 s" in pool.describe(bot, [])["error"]


@pytest.mark.parametrize("level", ["process", "sandbox"])
def test_the_key_of_the_dice_is_nowhere_in_a_bots_process(level, tmp_path, monkeypatch):
    found, close = set(), RemotePlayer.close
    words = [b"ReadsTheKey", *(form for key in SECRETS for form in (key, key.hex().encode()))]

    def looked_through(player: RemotePlayer) -> None:
        if level == "sandbox":
            found.update(words_in_memory(player.bot_process.pid, words))
        close(player)

    monkeypatch.setattr(RemotePlayer, "close", looked_through)
    result = alone("reads_the_key", level, tmp_path)
    assert found == ({b"ReadsTheKey"} if level == "sandbox" else set())
    assert result.forfeits == {}
    assert {note for _, note in result.notes} == {"got nothing"}


def test_each_animal_says_what_is_expected_of_it():
    named = {path.stem for path in zoo.ZOO.iterdir()} - {"attempts", "talking", "__pycache__"}
    assert named == set(ANIMALS)
    assert all("sandbox" in animal.expected for animal in ANIMALS.values())


def test_nothing_gets_from_one_match_of_a_block_into_the_next_in_the_same_sandbox(tmp_path):
    with settled(tmp_path) as animals, contextlib.chdir(tmp_path), contextlib.closing(ProcessPool()) as pool:
        players = [remote("remembers", "sandbox", animals, pool), LocalBot(Random, {})]
        games = [engine.load_game("magic_mids", 2)] * 3
        played = [play_match(game, players, Streams(*SECRETS, bytes(16))) for game in games]
        assert len(pool.servers) == 1
    assert [match.forfeits for match in played] == [{}] * 3
    assert {text for match in played for _, text in match.notes} == {"got nothing"}


def gone_and_asked(server: ForkClient, bot: LaunchedBot, limits: Limits) -> BotProcess:
    """The parent of bots' processes ends, then is asked for one."""
    known = processes()
    parents = [number for number in descendants(os.getpid()) if "forkserver.py" in known.get(number, (0, ""))[1]]
    for parent in parents:
        os.kill(parent, signal.SIGKILL)
    wait_until(lambda: gone(parents), "they have ended")
    return ask(server, bot, limits)


ask = ForkClient.open


@pytest.mark.parametrize("level", [PROCESS, "sandbox"])
def test_a_parent_of_bots_that_is_killed_as_it_is_asked_for_one_is_started_again(tmp_path, monkeypatch, level):
    monkeypatch.setattr(ForkClient, "open", gone_and_asked)
    with settled(tmp_path) as animals, contextlib.chdir(tmp_path), contextlib.closing(ProcessPool()) as pool:
        game, streams = engine.load_game("epicycle", 2), Streams(*SECRETS, bytes(16))
        players = [remote("ignores_sigterm", level, animals, pool), LocalBot(Random, {})]
        for _ in range(3):
            assert play_match(game, players, streams).forfeits == {}


def test_a_process_that_has_seen_the_dice_of_a_block_never_plays_in_it_again(tmp_path):
    game = engine.load_game("magic_mids", 2)
    program = bundle_program(ZOO.parents[1] / "examples" / "python_program" / "bot.toml")
    numbers = []
    with contextlib.chdir(tmp_path), contextlib.closing(ProcessPool()) as pool:
        bot = LaunchedBot("program", program, "", {}, "process")
        source = pool.acquire(bot, game)
        for block in (b"1", b"2", b"3", b"1", b"2"):
            source.begin(block, game)
            bot_process = source.open(bot, Limits())
            assert bot_process.request({"type": "hello", "protocol": 1}, 60)["type"] == "ready"
            source.release(bot_process, {"type": "gameover"})
            numbers.append(bot_process.pid)
    assert numbers[0] == numbers[1] == numbers[2]
    assert numbers[3] == numbers[4] != numbers[0]
