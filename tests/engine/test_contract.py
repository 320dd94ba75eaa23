"""Every game of the registry keeps the contract, with every number of players and with its options changed."""

import functools
import re
from pathlib import Path

import pytest

import engine
from engine import Game
from engine.conformance import CHECKS
from tests.engine.contract import COUNTING, GameContract, KernelContract
from tests.engine.matches import option_sets, tables


def label(table: tuple) -> str:
    """Return how a table is called in test reports."""
    name, players, options = table
    return "-".join([name, *(f"{key}={value}" for key, value in options.items()), f"{players}p"])


def _params(tables: list[tuple]) -> list:
    """Return the tables as parameters; changed options with the fewest players are for the long lane."""
    return [
        pytest.param(table, marks=pytest.mark.system)
        if table[2] and table[1] < engine.game_type(table[0]).max_players
        else table
        for table in tables
    ]


@functools.cache
def _load(name: str, players: int, options: tuple) -> Game:
    return engine.load_game(name, players, **dict(options))


@pytest.fixture(params=_params(tables()), ids=label, scope="module")
def game(request: pytest.FixtureRequest) -> Game:
    """Loaded when the first test asks for it, so that a broken game fails its own tests only."""
    name, players, options = request.param
    return _load(name, players, tuple(options.items()))


@pytest.fixture(
    params=_params([table for table in tables() if engine.game_type(table[0]).package]), ids=label, scope="module"
)
def kernel_game(request: pytest.FixtureRequest) -> Game:
    """The same for games with kernels."""
    name, players, options = request.param
    return _load(name, players, tuple(options.items()))


class TestEveryGame(GameContract):
    pass


class TestEveryGameWithKernels(KernelContract):
    @pytest.fixture
    def game(self, kernel_game: Game) -> Game:
        return kernel_game


def test_the_checks_that_the_long_lane_runs_at_length_are_there():
    assert {*COUNTING} <= {check.name for check in CHECKS}


@pytest.mark.parametrize("name", sorted({*engine.game_names()} - {"pig"}))
def test_a_game_of_the_registry_tells_how_far_its_matches_can_go_unless_they_can_go_on_for_ever(name):
    kind = engine.game_type(name)
    for options in option_sets(kind):
        assert engine.load_game(name, kind.max_players, **options).bounds.max_game_length > 0


@pytest.mark.parametrize("name", engine.game_names())
def test_a_rulebook_names_the_designer_and_has_every_section_that_the_rules_refer_to(name):
    kind = engine.game_type(name)
    if not kind.package:
        assert kind.factory is not None
        return
    folder = Path(kind.module("rules").__file__).parent
    rules, book = (folder / "rules.py").read_text(encoding="utf-8"), (folder / "RULES.md").read_text(encoding="utf-8")
    sections = [int(number) for number in re.findall(r"^## §(\d+) ", book, re.MULTILINE)]
    assert sections == list(range(1, len(sections) + 1))
    assert kind.credit.designer in book
    marks = [int(number) for number in re.findall(r"^# §(\d+)", rules, re.MULTILINE)]
    assert marks and marks == sorted(marks)
    assert {int(number) for number in re.findall(r"§(\d+)", rules)} <= set(sections)
