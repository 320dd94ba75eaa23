"""Every game of the registry keeps the contract, with every number of players and with its options changed."""

import functools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import engine
from engine import Game
from engine.conformance import CHECKS, Check
from engine.conformance.checks import MATCHES, OBSERVATIONS, TEXTS
from tests.engine.contract import COUNTING, GameContract, KernelContract, holds, of_groups
from tests.engine.matches import option_sets, tables


def label(table: tuple) -> str:
    """Return how a table is called in test reports."""
    name, players, options = table
    return "-".join([name, *(f"{key}={value}" for key, value in options.items()), f"{players}p"])


def is_changed(table: tuple) -> bool:
    """Return whether a table has changed options and the most players, which the short lane plays with them."""
    return bool(table[2]) and table[1] == engine.game_type(table[0]).max_players


def _params(tables: list[tuple], is_long: Callable[[tuple], bool]) -> list:
    """Return the tables as parameters, some of them for the long lane."""
    return [pytest.param(table, marks=pytest.mark.system) if is_long(table) else table for table in tables]


@functools.cache
def _load(name: str, players: int, options: tuple) -> Game:
    return engine.load_game(name, players, **dict(options))


@pytest.fixture(params=_params(tables(), lambda table: bool(table[2])), ids=label, scope="module")
def game(request: pytest.FixtureRequest) -> Game:
    """Loaded when the first test asks for it, so that a broken game fails its own tests only."""
    name, players, options = request.param
    return _load(name, players, tuple(options.items()))


@pytest.fixture(params=[table for table in tables() if is_changed(table)], ids=label, scope="module")
def changed_game(request: pytest.FixtureRequest) -> Game:
    """Return a game with changed options, for the checks of what options change."""
    name, players, options = request.param
    return _load(name, players, tuple(options.items()))


@pytest.fixture(
    params=_params(
        [table for table in tables() if engine.game_type(table[0]).package],
        lambda table: bool(table[2]) and not is_changed(table),
    ),
    ids=label,
    scope="module",
)
def kernel_game(request: pytest.FixtureRequest) -> Game:
    """The same for games with kernels."""
    name, players, options = request.param
    return _load(name, players, tuple(options.items()))


class TestEveryGame(GameContract):
    """All checks, with the options as they are in the short lane, with each other choice too in the long one."""


class TestChangedOptions:
    """In the short lane, checks of what options change: rules, texts and sentences, neither copies nor drawings."""

    @of_groups(MATCHES, TEXTS, OBSERVATIONS, names=("replays", "sentences"))
    def test_a_check_holds(self, changed_game: Game, check: Check, matches: int) -> None:
        holds(check, changed_game, matches)


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
