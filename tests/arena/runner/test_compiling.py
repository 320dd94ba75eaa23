"""Before a run plays, its code is compiled: each piece once, rules before bots, boards playing as they become ready."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena import api
from arena.core.paths import ROOT
from arena.plan.resolve import Plan
from arena.runner.compiling import CompileStage
from arena.workers.compile_once import CompiledCode, compile_once
from arena.workers.messages import RATINGS, RULES
from tests.support.tournaments import PATIENCE, wait_until

CONFIG = {
    "name": "cold",
    "games": [{"game": "epicycle", "players": [2, 3]}, {"game": "midgard"}],
    "bots": [{"bot": "random"}, {"bot": "greedy"}, {"bot": "uct:simulations=10"}, {"bot": "uct:simulations=20"}],
}


@pytest.fixture(scope="module")
def plan():
    return api.plan_of(CONFIG)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path / "warm"


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
    assert plan.schedule.boards[midgard].game == "midgard"
    chunks = []
    while not stage.is_ready(midgard):
        chunk = stage.next((0, 0))
        assert chunk is not None and chunk.unit is not None and chunk.unit.game == "midgard"
        chunks.append(chunk)
        stage.done(chunk)
    assert len(chunks) == 3 and not stage.is_ready(epicycle)
    assert chunks[0].unit.code == [(midgard, RULES)]
    stage.drop()
    assert stage.is_ready(epicycle) and not stage.active


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
    plan = api.plan_of({"name": "plain", "games": [{"game": "epicycle", "players": [2]}], "bots": bots})
    stage = stage_of(plan)
    assert [unit.title for unit in stage._waiting] == ["the rules of epicycle"]


def test_ctrl_c_while_code_is_compiled_ends_a_command_at_once(tmp_path):
    environment = os.environ | {"ARENA_CACHE": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-m", "arena", "warm", "pyramid_punch", "--bot", "uct", "--workers", "1"]
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: bool(list(Path(tmp_path).rglob("warm/*.lock"))), "it compiles")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and said.endswith("error: interrupted\n")


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


def test_no_code_of_a_bot_of_ones_own_runs_before_its_matches(tmp_path):
    log = tmp_path / "prepared"
    (tmp_path / "counts.py").write_text(COUNTS.replace("{log!r}", repr(str(log))))
    bots = [{"bot": str(tmp_path / "counts.py")}, {"bot": "random"}]
    games = [{"game": "epicycle", "players": 2}]
    api.run({"name": "counted", "blocks": 2, "games": games, "bots": bots}, home=tmp_path, workers=1)
    assert len(log.read_text().split()) == 4


def test_what_fails_to_compile_is_tried_again(tmp_path):
    for _ in range(2):
        with pytest.raises(OSError, match="no room"), compile_once("piece", lambda: None):
            raise OSError("no room")
    tried = []
    for _ in range(2):
        with compile_once("piece", lambda: tried.append("waited")):
            tried.append("compiled")
    assert tried == ["compiled", "compiled"] and (tmp_path / "warm" / "piece").exists()
