"""Isolation changes no result: the same bots play the same matches in the worker, in processes and in sandboxes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from arena import api
from tests.arena.isolation.test_examples_programs import EXAMPLES, PROGRAMS, needed
from tests.support.tournaments import home_of, rows

LEVELS = ("none", "process", "sandbox")
BOTS = '''
import os
from typing import Annotated

from bots import Between, Bot

print("loaded")


class Hash(Bot):
    """Take the action that comes first in the order of hashes."""

    def choose(self, state):
        return min(state.legal_actions(), key=lambda action: hash(f"{action} {state.position}"))


class Chatty(Bot):
    """Print, note what it knows of the match so far, and draw."""

    def prepare(self):
        self.asked = 0

    def choose(self, state):
        self.asked += 1
        print("thinking", state)
        told = f"{self.asked} {self.seat} {self.seed} {len(state.history())} {state.position} {{}}\\x07é"
        self.note = f"{told} {os.environ['OMP_NUM_THREADS']}"
        return self.rng.choice(state.legal_actions())


class Fragile(Bot):
    """Fail in some matches, each time in another way."""

    def choose(self, state):
        if self.seed % 3 == 0:
            raise RuntimeError(f"broken in seat {self.seat}")
        if self.seed % 3 == 1:
            return "resign"
        return state.legal_actions()[-1]


class Nth(Bot):
    """Take the n-th legal action, counted around."""

    n: Annotated[int, Between(0, 99), "which"] = 0
    fallback: Annotated[str, "first or last when it is one of few"] = "first"

    def choose(self, state):
        legal = state.legal_actions()
        if len(legal) < 3:
            return legal[0 if self.fallback == "first" else -1]
        return legal[self.n % len(legal)]
'''
SPECS = [
    "random",
    "greedy",
    "uct:simulations=8",
    "b.py:Hash",
    "b.py:Chatty",
    "b.py:Fragile",
    "b.py:Nth:fallback=last,n=3",
]
BOARDS = """
games = [
    { game = "epicycle", players = 3 },
    { game = "magic_mids", players = 2 },
    { game = "midgard(variant=loki)", players = 2 },
    { game = "pyramid_punch", players = 4 },
]
max_tables = 5
"""
QUICK_BOARDS = """
games = [{ game = "epicycle", players = 3 }, { game = "magic_mids", players = 2 }]
max_tables = 5
"""
TWO_BOARDS = 'games = [{ game = "epicycle(setup=random)", players = 2 }, { game = "magic_mids", players = 3 }]'
RESULTS = (
    "SELECT hex(identity), lineup, ended, plies, timed, hex(final), hex(moves), notes FROM blocks JOIN matches "
    "USING (block) ORDER BY 1, 2"
)
SEATS = (
    "SELECT hex(b.identity), lineup, seat, spec, rank, score, cause, forfeit_ply FROM seats "
    "JOIN blocks b USING (block) JOIN bots USING (bot) ORDER BY 1, 2, 3"
)


def write(folder: Path, bots: list[tuple[str, str]], boards: str = BOARDS) -> Path:
    """A configuration of (spec, isolation) pairs beside their files."""
    folder.mkdir()
    (folder / "b.py").write_text(BOTS)
    listed = "\n".join(f'[[bots]]\nbot = "{bot}"\nisolation = "{isolation}"' for bot, isolation in bots)
    path = folder / "t.toml"
    path.write_text(f'name = "small"\nseed = 21\nblocks = 1\ndice = "secret"\n{boards}\n{listed}\n')
    return path


def play(config: Path, workers: int = 1) -> tuple[list[tuple], list[tuple]]:
    """What the log holds of a tournament's matches and seats; the key is always the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.tournament.dice_keys.secrets.token_bytes", lambda size: bytes(range(size)))
        outcome = api.run(config, home_of(config), workers=workers, backend="local").outcome
    assert outcome.not_played == []
    return logged(config)


def logged(config: Path) -> tuple[list[tuple], list[tuple]]:
    return rows(config, RESULTS), rows(config, SEATS)


def at(level: str) -> list[tuple[str, str]]:
    return [(spec, level) for spec in SPECS]


@pytest.fixture(
    scope="module",
    params=[pytest.param(QUICK_BOARDS, id="two games"), pytest.param(BOARDS, id="all games", marks=pytest.mark.system)],
)
def boards(request):
    return request.param


@pytest.fixture(scope="module")
def in_process(boards, tmp_path_factory):
    """The tournament with every bot in the worker's process."""
    config = write(tmp_path_factory.mktemp("none") / "run", at("none"), boards)
    return config, play(config)


def test_the_tournament_has_what_could_differ(in_process):
    _, (matches, seats) = in_process
    assert {cause for *_, cause, _ in seats} == {None, "crash", "illegal_action"}
    assert any("\\u00e9" in (notes or "") and "\\u0007" not in notes for *_, notes in matches)
    assert {spec for _, _, _, spec, *_ in seats} == {spec.removeprefix("b.py:") for spec in SPECS}
    assert not any(timed for _, _, _, _, timed, *_ in matches)


@pytest.mark.parametrize(("level", "workers"), [pytest.param("process", 1, marks=pytest.mark.chaos), ("sandbox", 2)])
def test_every_level_and_any_number_of_workers_play_the_same(in_process, boards, level, workers, tmp_path):
    assert play(write(tmp_path / "run", at(level), boards), workers) == in_process[1]


@pytest.mark.system
def test_levels_may_differ_within_a_match(in_process, boards, tmp_path):
    mixed = [(spec, LEVELS[number % 3]) for number, spec in enumerate(SPECS)]
    assert play(write(tmp_path / "run", mixed, boards)) == in_process[1]


def test_a_run_at_another_level_finds_all_matches_in_the_log(in_process, boards, tmp_path):
    config = write(tmp_path / "run", at("sandbox"), boards)
    shutil.copytree(home_of(in_process[0]), home_of(config))
    progress = api.run(config, home_of(config), workers=1, backend="local").outcome.progress
    assert (progress.played, progress.found) == (0, len(in_process[1][0]))
    assert logged(config) == in_process[1]


@pytest.fixture(scope="module")
def programs():
    for program in ("node", "cc"):
        needed(program)
    return [(f"{EXAMPLES / program / 'bot.toml'}:boldness=60", "process") for program in PROGRAMS]


@pytest.mark.system
def test_programs_play_the_same_in_processes_and_in_sandboxes(programs, tmp_path):
    expected = play(write(tmp_path / "process", programs, TWO_BOARDS))
    assert all(cause is None for *_, cause, _ in expected[1])
    for name, levels in (("sandbox", ["sandbox"] * 3), ("mixed", ["sandbox", "process", "sandbox"])):
        bots = [(spec, level) for (spec, _), level in zip(programs, levels, strict=True)]
        assert play(write(tmp_path / name, bots, TWO_BOARDS), workers=len(name) % 2 + 1) == expected
