"""Before a run plays, its code is compiled: each piece once, rules before bots, boards playing as they become ready."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.paths import ROOT
from arena.plan.resolve import Plan
from arena.runner.compiling import CompileChunk, CompileStage
from arena.runner.progress import Progress
from arena.workers.compile_once import CompiledCode
from arena.workers.messages import RATINGS, RULES
from engine.cache import cache_root
from tests.support.tournaments import PATIENCE, wait_until

CONFIG = {
    "name": "cold",
    "games": [{"game": "epicycle", "players": [2, 3]}, {"game": "midgard"}],
    "bots": [{"bot": "random"}, {"bot": "greedy"}, {"bot": "uct:simulations=10"}, {"bot": "uct:simulations=20"}],
}


@pytest.fixture(scope="module")
def plan():
    return api.load_plan(CONFIG)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache of compiled code."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def stage_of(plan: Plan, rated: bool = False) -> CompileStage:
    return CompileStage(plan.message(), [(n, board.entries) for n, board in enumerate(plan.schedule.boards)], rated)


def test_rules_come_before_bots_and_each_piece_of_code_is_handed_out_once(plan):
    stage = stage_of(plan, rated=True)
    assert stage.total == 2 * 3 + 1
    handed = []
    while (chunk := stage.next((0, 0))) is not None:
        assert chunk.unit is not None
        handed.append(chunk.unit)
        stage.done(chunk)
    code = [piece for unit in handed for piece in unit.code]
    assert len(code) == len(set(code)) == 3 + 3 * 3 + 1 and not stage.active
    for game in ("epicycle", "midgard"):
        assert [unit.code[0][1] == RULES for unit in handed if unit.game == game] == [True, False, False]


def test_a_board_waits_for_its_own_code_alone(plan):
    stage = stage_of(plan)
    epicycle, midgard = 0, 2
    assert [plan.schedule.boards[number].game for number in (epicycle, midgard)] == ["epicycle", "midgard"]
    chunks = []
    while not stage.is_ready(epicycle):
        chunk = stage.next((0, 0))
        assert chunk is not None and chunk.unit is not None and chunk.unit.game == "epicycle"
        chunks.append(chunk)
        stage.done(chunk)
    assert len(chunks) == 3 and not stage.is_ready(midgard)
    assert chunks[0].unit.code == [(epicycle, RULES), (epicycle + 1, RULES)]
    stage.drop()
    assert stage.is_ready(midgard) and not stage.active


def test_what_the_first_board_and_its_rating_need_comes_before_the_game_that_takes_longest():
    games = [{"game": name, "players": [2]} for name in ("midgard", "pyramid_punch", "epicycle", "magic_mids")]
    stage = stage_of(api.load_plan({"name": "four", "games": games, "bots": CONFIG["bots"][:3]}), rated=True)
    handed = []
    while (chunk := stage.next((0, 0))) is not None:
        handed.append(chunk.unit.game)
        stage.done(chunk)
        if "" in handed and handed.count("epicycle") == 3 and stage.is_ready(RATINGS):
            break
    assert sorted(handed) == ["", "epicycle", "epicycle", "epicycle"]
    assert stage.next((0, 0)).unit.title == "the rules of pyramid_punch"


def test_bots_wait_until_the_rules_of_their_game_are_compiled(plan):
    stage = stage_of(plan)
    first, second = stage.next((0, 0)), stage.next((0, 1))
    assert first and second and stage.next((0, 2)) is None
    assert second.unit and stage.line == f"compiling {second.unit.title}, 2 of 6, first run only"
    stage.done(second)
    third = stage.next((0, 1))
    assert third and third.unit and second.unit and third.unit.game == second.unit.game


def test_what_is_marked_as_compiled_is_not_compiled_again(plan):
    code = CompiledCode(plan.message())
    boards = [(n, board.entries) for n, board in enumerate(plan.schedule.boards)]
    for board, entries in [*boards, (RATINGS, ())]:
        for entry in (RULES, *entries):
            with code.compiling(board, entry, lambda: None):
                pass
    assert not stage_of(plan, rated=True).active
    assert stage_of(plan, rated=True).line == ""


def test_bots_without_kernels_need_nothing_but_the_rules():
    bots = [{"bot": "random"}, {"bot": "random", "label": "another"}]
    plan = api.load_plan({"name": "plain", "games": [{"game": "epicycle", "players": [2]}], "bots": bots})
    stage = stage_of(plan)
    assert [unit.title for unit in stage.waiting] == ["the rules of epicycle"]


def test_ctrl_c_while_code_is_compiled_ends_a_command_at_once(tmp_path):
    environment = os.environ | {"ARENA_CACHE": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-m", "arena", "warm", "pyramid_punch", "--bot", "uct", "--workers", "1"]
    # glob, not rglob: the command removes folders while they are listed
    locks = str(tmp_path / "**/warm/*.lock")
    with subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: glob.glob(locks, recursive=True), "it compiles")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and said.endswith("error: interrupted\n")
    marks = [path for path in Path(tmp_path).rglob("warm/*") if path.suffix != ".lock"]
    assert marks == [], "it ends before the first piece of code is compiled"


@pytest.fixture
def compiled(cache):
    """Compiled code of this machine, which the cache has without the marks that say so."""
    real = cache_root() / "numba"
    for path in real.glob("*/*/*.nb[ci]"):
        (cache / path.parent.name).mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # it has just been written anew
            shutil.copy(path, cache / path.parent.name)


COUNTS = """
from pathlib import Path

from bots import Bot
from engine.kernel import kernel


class Counts(Bot):
    def prepare(self):
        with Path({log!r}).open("a") as log:
            log.write(f"{self.seed}\\n")

    def choose(self, state):
        return state.legal_actions()[0]
"""


def test_no_code_of_a_bot_of_ones_own_runs_before_its_matches(compiled, tmp_path):
    log = tmp_path / "prepared"
    (tmp_path / "counts.py").write_text(COUNTS.replace("{log!r}", repr(str(log))))
    bots = [{"bot": str(tmp_path / "counts.py")}, {"bot": "random"}]
    games = [{"game": "epicycle", "players": 2}]
    api.run({"name": "counted", "blocks": 2, "games": games, "bots": bots}, home=tmp_path, workers=1)
    assert len(log.read_text().split()) == 4


class Watched(CompileStage):
    """A stage that tells what has been compiled by now."""

    compiled: ClassVar[list[str]] = []

    def done(self, chunk: CompileChunk) -> None:
        assert chunk.unit is not None
        Watched.compiled.append(chunk.unit.title)
        super().done(chunk)


def played(name: str, home: Path) -> tuple[set[str], list[list[str]]]:
    """Play a small tournament; what had been compiled for it when its first results were there, and its moves."""
    Watched.compiled, before = [], set[str]()

    def show(progress: Progress) -> None:
        assert not progress.phase or re.fullmatch("compiling .*, [1-3] of 3, first run only|rating.*", progress.phase)
        if progress.played and not before:
            before.update(Watched.compiled)

    bots = [{"bot": "random"}, {"bot": "greedy"}]
    config = {"name": name, "blocks": 2, "games": [{"game": "epicycle", "players": 2}], "bots": bots}
    api.run(config, home, workers=2, backend="local", show=show)
    api.export(name, home, what=["matches"])
    return before, [json.loads(line)["moves"] for line in (home / name / "matches.jsonl").read_text().splitlines()]


def test_a_run_compiles_what_a_board_needs_then_plays_what_it_plays_when_all_is_compiled(
    compiled, tmp_path, monkeypatch
):
    monkeypatch.setattr("arena.runner.run.CompileStage", Watched)
    before, moves = played("first", tmp_path)
    assert before >= {"the rules of epicycle", "greedy for epicycle"}
    assert sorted(Watched.compiled) == ["greedy for epicycle", "the rules of epicycle", "what rates results"]
    assert len(moves) == 4 and played("second", tmp_path) == (set(), moves)


def test_arena_warm_compiles_what_is_named_for_every_number_of_players_once(compiled, tmp_path, capsys):
    words = ["warm", "epicycle", "--bot", "greedy", "--workers", "1", "--home", str(tmp_path)]
    assert run_command(words) == 0
    assert "compiling" in "".join(capsys.readouterr())
    assert api.warm(["epicycle"], ["greedy"], 1, tmp_path) == 0
