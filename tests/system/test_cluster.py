"""A Ray cluster of several nodes: the same log as from one local worker, whatever becomes of the nodes."""

from __future__ import annotations

import os
import queue
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ClusterError
from arena.core.paths import ROOT
from arena.core.versions import differences, versions
from arena.registry.plugin_games import folders_for, snapshot
from arena.runner import play_order
from arena.store import Store
from arena.workers.pools import Chunk
from arena.workers.ray import pool as ray_pool
from tests.support import tournaments
from tests.support.tournaments import MATCHES, arena, home_of, results, rows, wait_until, write

RESULTS = (
    "SELECT hex(blocks.identity) AS id, lineup, ended, plies, timed, final, moves, notes, seat, spec, rank, cause "
    "FROM matches JOIN blocks USING (block) JOIN seats USING (block, lineup) JOIN bots USING (bot) "
    "ORDER BY id, lineup, seat"
)
PLUG_IN = """
name = "small"
seed = 3
blocks = 2
games = [{ game = "nim(rolled=true)", players = 2 }]
bots = [
  { bot = "greedy" }, { bot = "random", isolation = "process", label = "apart" },
  { bot = "b.py:First", isolation = "sandbox" },
]
"""
FIRST = """
from bots import Bot


class First(Bot):
    def choose(self, state):
        return state.legal_actions()[0]
"""


class Nodes:
    """A cluster with a head that plays and a second node, in the folder that RAY_TMPDIR names."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self.cluster = Cluster()
        self.head = self.add()
        self.second = self.add()

    def add(self, **arguments):
        more = {"include_dashboard": False} if self.cluster.head_node is None else {}
        return self.cluster.add_node(num_cpus=1, **more, **arguments)

    @property
    def address(self) -> str:
        return self.cluster.address

    def remove(self, node) -> None:
        self.cluster.remove_node(node, allow_graceful=False)

    def end(self, node) -> None:
        node.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)

    def close(self) -> None:
        for node in self.cluster.list_all_nodes():
            self.end(node)


@pytest.fixture(scope="module")
def rays_folder():
    """A folder for everything of Ray's: Ray makes none for the file that tells a cluster's address."""
    with (
        tempfile.TemporaryDirectory(prefix="arena-", dir="/tmp", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("RAY_TMPDIR", folder)
        yield


@pytest.fixture(scope="module")
def nodes(rays_folder):
    cluster = Nodes()
    yield cluster
    cluster.close()
    wait_until(lambda: not tournaments.bots_children(), "what the bots started has ended")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What one local worker makes of the tournament."""
    config = write(tmp_path_factory.mktemp("expected"))
    api.run(config, home_of(config), workers=1, backend="local")
    return results(config)


@pytest.fixture
def plug_in(tmp_path):
    """A folder with a game installed in it that nobody else has."""
    folder = tmp_path / "plug-in"
    rules = (ROOT / "tests/engine/test_plain_game.py").read_text().partition("@pytest.fixture")[0]
    for line in ("import pytest\n", "from tests.engine.contract import GameContract\n"):
        rules = rules.replace(line, "")
    (folder / "nim").mkdir(parents=True)
    (folder / "nim" / "__init__.py").write_text("from nim.rules import NIM as GAME\n")
    (folder / "nim" / "rules.py").write_text(rules)
    entries = "[arena.games]\nnim = nim:GAME\n"
    installed = folder / "nim-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: nim\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(entries)
    return folder


def found_in(config: Path) -> list[tuple]:
    with sqlite3.connect(home_of(config) / "small" / api.LOG_FILE) as log:
        return log.execute(RESULTS).fetchall()


def test_a_plug_in_game_that_no_node_has_is_played_at_every_isolation_as_it_is_played_here(tmp_path, plug_in, nodes):
    path = os.pathsep.join([str(plug_in), os.environ.get("PYTHONPATH", "")])
    logs = []
    for backend in (["local", "--workers", 1], ["ray", "--address", nodes.address]):
        config = write(tmp_path / backend[0], PLUG_IN, FIRST)
        with Store.create(home_of(config) / "small" / api.LOG_FILE) as store:
            store.keep_key(bytes(32), "2027")
        options = ("--backend", *backend, "--home", home_of(config))
        done = arena("run", config, *options, folder=tmp_path, PYTHONPATH=path)
        assert done.returncode == 0, done.stderr
        logs.append(found_in(config))
    assert len(logs[0]) == 2 * 3 * 2 * 2
    assert logs[0] == logs[1]


def test_a_worker_with_another_version_of_a_plug_in_game_uses_the_plans(tmp_path, plug_in, monkeypatch):
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(plug_in))
    files = snapshot(["nim", "epicycle"])
    installed = {path.relative_to(plug_in).as_posix() for path in plug_in.rglob("*") if path.is_file()}
    assert set(files) == installed  # nothing of ours
    assert folders_for(["nim"], files) == ()
    game = plug_in / "nim" / "rules.py"
    game.write_text(game.read_text().replace("Take the last stone", "Leave the last stone"))
    (folder,) = folders_for(["nim"], files)
    ask = "import engine; print(engine.game_type('nim').summary)"
    told = subprocess.run(
        [sys.executable, "-c", ask],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([folder, str(plug_in)])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.startswith("Take the last stone")


def test_python_numpy_and_the_compiler_must_be_the_same_and_other_packages_are_told_of():
    here = versions()
    assert differences(here, here) == ([], [])
    assert differences({**here, "python": "3.11.1"}, {**here, "python": "3.11.9"}) == ([], [])
    refused, noted = differences(
        {**here, "python": "3.12.1", "numba": "0.1", "scipy": "1.0"}, {**here, "python": "3.11.9"}
    )
    assert refused == ["python is 3.12.1, not 3.11.9", f"numba is 0.1, not {here['numba']}"]
    assert noted == [f"scipy is 1.0, not {here['scipy']}"]


def other_code(folder: Path) -> Path:
    """The arena with a comment more."""
    for package in ("arena", "engine"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "arena" / "home.py").open("a") as file:
        file.write("# another version\n")
    return folder


def test_nodes_lost_and_added_in_mid_run_give_the_same_and_one_with_other_code_is_refused_by_name(
    tmp_path, nodes, expected, monkeypatch
):
    pools = []
    make = ray_pool.RayPool.__init__

    def note(pool, *arguments):
        make(pool, *arguments)
        pools.append(pool)

    def disturb(progress):
        if len(done) == 0:
            done.append("began")
            wait_until(lambda: pools and pools[0].size == 2, "both nodes play")
        elif progress.played > MATCHES // 6 and len(done) == 1:
            done.append("lost")
            nodes.remove(nodes.second)
            wait_until(lambda: pools[0].size == 1, "the lost node is noticed")
        elif progress.played > MATCHES // 3 and len(done) == 2:
            done.append("added")
            nodes.second = nodes.add()
            with monkeypatch.context() as patch:
                patch.setenv("PYTHONPATH", str(other_code(tmp_path / "other")))
                nodes.other = nodes.add(node_name="stranger")
            wait_until(lambda: pools[0].size == 2 and progress.remarks, "one joins and the other is refused")

    done: list[str] = []
    monkeypatch.setattr(ray_pool.RayPool, "__init__", note)
    monkeypatch.setattr(play_order, "MAX_CHUNK_MATCHES", 10)
    config = write(tmp_path / "run")
    outcome = api.run(config, home_of(config), backend="ray", address=nodes.address, show=disturb).outcome
    assert done == ["began", "lost", "added"]
    assert (outcome.progress.played, outcome.not_played) == (MATCHES, [])
    assert results(config) == expected
    (remark,) = outcome.progress.remarks
    assert "(stranger) is left out: it has another version of engine or arena than this command" in remark
    assert len(rows(config, "SELECT DISTINCT worker FROM timings")) == 3
    nodes.remove(nodes.other)


def test_a_run_whose_head_is_killed_says_how_to_go_on_and_resumed_gives_the_same(
    tmp_path, nodes, expected, monkeypatch, capsys
):
    submit = ray_pool.RayPool.submit

    def kill_at_last(pool, worker, chunk):
        sent.append(chunk)
        if len(sent) == 12:
            nodes.end(nodes.head)
        if len(sent) < 12:  # what goes out later is not played: a living worker would finish without a head
            submit(pool, worker, chunk)

    sent: list[Chunk] = []
    monkeypatch.setattr(ray_pool.RayPool, "submit", kill_at_last)
    monkeypatch.setattr(ray_pool, "SILENCE_SECONDS", 5.0)
    monkeypatch.setattr(play_order, "MAX_CHUNK_MATCHES", 10)
    config = write(tmp_path / "run")
    options = ["--backend", "ray", "--address", nodes.address, "--home", str(home_of(config))]
    assert run_command(["run", str(config), *options]) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith(f"error: the Ray cluster at {nodes.address} ")
    assert "Every match that was finished is saved." in error
    assert error.rpartition(": ")[2].split() == ["arena", "run", str(config), *options]
    saved = tournaments.count(config)
    assert 0 < saved < MATCHES
    outcome = api.run(config, home_of(config), workers=1, backend="local").outcome
    assert (outcome.progress.found, outcome.progress.played) == (saved, MATCHES - saved)
    assert results(config) == expected


def test_a_cluster_that_is_not_there_is_an_error_of_one_line(tmp_path):
    with pytest.raises(ClusterError) as error:
        ray_pool.RayPool(1, b"{}", queue.SimpleQueue(), "127.0.0.1:9").join()
    assert str(error.value).startswith("the Ray cluster at 127.0.0.1:9 cannot play: nothing answers at 127.0.0.1:9 (")
