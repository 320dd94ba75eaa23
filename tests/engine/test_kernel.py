"""Compiling: `bind` keeps games apart, in memory and on disk, and the cache finds a folder that can be written."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import engine
from engine.cache import cache_root, kernel_cache, shared_sources
from engine.kernel import COMPILED, bind, kernel

ROOT = Path(__file__).parents[2]
DTYPE = np.dtype((np.record, [("stones", np.int64)]))

TEMPLATE = """
RULES = ("take",)
OPTIONAL = ("bonus",)

def bonus(state):
    return 0

def play(words, times):
    state = words.view(STATE)[0]
    for _ in range(times):
        take(state)
    return state.stones + bonus(state)
"""
RULES = """
from engine.kernel import kernel

@kernel
def take(state):
    state.stones -= {amount}
"""
BONUS = """
@kernel
def bonus(state):
    return 1000
"""


def module(folder: Path, name: str, source: str) -> ModuleType:
    """Return a module made of that source."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def template(tmp_path):
    return module(tmp_path, "template", TEMPLATE)


def stones_left(bound, times: int = 3) -> int:
    return int(bound.play(np.array([100], np.uint64), times))


def identity(bound) -> str:
    """Return the name that keeps a bound function's cache files apart from others."""
    return getattr(bound.play, "py_func", bound.play).__qualname__


def test_bound_copies_run_their_own_games_rules(tmp_path, template):
    ones = bind(template, module(tmp_path, "ones", RULES.format(amount=1)), DTYPE)
    tens = bind(template, module(tmp_path, "tens", RULES.format(amount=10)), DTYPE)
    assert (stones_left(ones), stones_left(tens), stones_left(ones)) == (97, 70, 97)
    assert identity(ones) != identity(tens)


def test_the_template_itself_stays_unbound(tmp_path, template):
    bind(template, module(tmp_path, "ones", RULES.format(amount=1)), DTYPE)
    with pytest.raises(NameError):
        template.play(np.array([100], np.uint64), 1)


def test_optional_kernels_replace_the_templates_own(tmp_path, template):
    plain = bind(template, module(tmp_path, "plain", RULES.format(amount=1)), DTYPE)
    richer = bind(template, module(tmp_path, "richer", RULES.format(amount=1) + BONUS), DTYPE)
    assert (stones_left(plain), stones_left(richer)) == (97, 1097)


def test_a_rule_that_is_missing_is_named(tmp_path, template):
    with pytest.raises(AttributeError, match="take"):
        bind(template, module(tmp_path, "empty", ""), DTYPE)


def test_the_same_game_edited_gets_another_name(tmp_path, template):
    before = bind(template, module(tmp_path, "ones", RULES.format(amount=1)), DTYPE)
    edited = RULES.format(amount=2) + "# of another size: two files may be written at one time of a coarse clock\n"
    after = bind(template, module(tmp_path, "ones", edited), DTYPE)
    assert identity(before) != identity(after)
    assert (stones_left(before), stones_left(after)) == (97, 94)


def test_a_kernel_whose_file_has_moved_gets_another_name_because_compiled_code_names_its_module(tmp_path, template):
    rules = module(tmp_path, "ones", RULES.format(amount=1))
    source = f"from engine.kernel import kernel\n{BONUS}"
    before, after = (
        bind(template, rules, DTYPE, bonus=module(tmp_path, name, source).bonus) for name in ("old", "new")
    )
    assert identity(before) != identity(after)


def test_the_size_of_the_record_and_further_names_are_part_of_the_name(tmp_path, template):
    rules = module(tmp_path, "ones", RULES.format(amount=1))
    larger = np.dtype((np.record, [("stones", np.int64), ("more", np.int64)]))
    names = {
        identity(bind(template, rules, dtype, **also))
        for dtype in (DTYPE, larger)
        for also in ({}, {"depth": 1}, {"depth": 2})
    }
    assert len(names) == 6


def test_every_game_of_the_registry_has_its_own_names():
    games = [engine.load_game(name, engine.game_type(name).max_players) for name in engine.game_names()]
    games.append(engine.load_game("epicycle", 2, max_turns=10_000))
    names = [getattr(game.compiled.step, "py_func", game.compiled.step).__qualname__ for game in games]
    assert len(set(names)) == len(names)


def test_two_sizes_of_one_games_record_live_side_by_side():
    short, long = engine.load_game("epicycle", 2), engine.load_game("epicycle", 2, max_turns=10_000)
    assert short.dtype.itemsize < long.dtype.itemsize
    results = [engine.random_playouts(game, 200, seed=3) for game in (short, long, short)]
    assert results[0].ended == results[1].ended == results[2].ended
    assert results[0].rank_sums.tolist() == results[1].rank_sums.tolist()


CACHED = """
import sys
import engine
compiled = engine.load_game("epicycle", 2).compiled
engine.random_playouts(engine.load_game("epicycle", 2), 10, seed=1)
print(sum(compiled.playouts.stats.cache_hits.values()), sum(compiled.playouts.stats.cache_misses.values()))
print("numba.np.arraymath" in sys.modules)
"""


def test_a_second_process_takes_compiled_code_from_the_cache_without_loading_the_compiler(tmp_path):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment["ARENA_CACHE"] = str(tmp_path / "cache")
    command = [sys.executable, "-c", CACHED]
    runs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT) for _ in range(2)
    ]
    assert [run.stdout.split() for run in runs] == [["0", "1", "True"], ["1", "0", "False"]]
    assert list((tmp_path / "cache" / "numba").iterdir())


SPARED = """
import sys
import engine
state = engine.load_game("epicycle", 2).new_initial_state()
print("scipy.linalg" in sys.modules)
import numba, numpy
square = numba.njit(lambda matrix: matrix @ matrix)
print(square(numpy.array([[1.0, 2.0], [3.0, 4.0]])).tolist(), "scipy.linalg" in sys.modules)
"""


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_linear_algebra_is_loaded_when_a_kernel_wants_it_and_not_before():
    run = subprocess.run([sys.executable, "-c", SPARED], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.splitlines() == ["False", "[[7.0, 10.0], [15.0, 22.0]] True"]


def test_the_cache_lies_where_it_was_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "deep" / "cache"))
    assert cache_root() == tmp_path / "deep" / "cache"
    assert cache_root().is_dir()


def test_the_cache_lies_in_the_users_cache_folder_by_default(tmp_path, monkeypatch):
    monkeypatch.delenv("ARENA_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "pyramid-arena"


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A chosen cache folder that cannot be made, and a temporary folder to fall back on."""
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("ARENA_CACHE", str(blocked / "cache"))
    fallback = tmp_path / "tmp"
    fallback.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(fallback))
    return fallback / f"pyramid-arena-{os.getuid()}"


def test_the_cache_falls_back_to_a_private_folder_when_it_cannot_be_written(nowhere):
    assert cache_root() == nowhere
    assert nowhere.stat().st_mode & 0o077 == 0


def test_a_fallback_folder_that_somebody_else_laid_out_is_refused(nowhere, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    nowhere.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match="set ARENA_CACHE to a folder of yours"):
        cache_root()


def test_the_numba_folder_depends_on_numbas_flags(monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    plain = kernel_cache()
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert kernel_cache() == plain
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert kernel_cache() != plain


def test_kernels_are_compiled_unless_numba_is_told_otherwise():
    assert (os.environ.get("NUMBA_DISABLE_JIT", "0") == "0") == COMPILED
    assert hasattr(engine.load_game("epicycle", 2).compiled.step, "py_func") == COMPILED


PARTS = ("rules", "observation")


def test_the_cache_watches_every_file_of_kernels_that_others_call_also_a_plug_ins():
    folder = Path(engine.__file__).parent
    called = {path for path in folder.rglob("*.py") if "\n@kernel\n" in path.read_text(encoding="utf-8")}
    games = [engine.game_type(name) for name in engine.game_names()]
    parts = [Path(game.module("rules").__file__).with_name(f"{part}.py") for game in games for part in PARTS]
    plugged = {part for part in parts if part.exists()}
    assert called | plugged <= set(shared_sources())


TUPLE = """
import numpy as np
from typing import NamedTuple
from engine.kernel import routine

class {name}(NamedTuple):
    numbers: np.ndarray

@routine
def first(given):
    return given.numbers[0]

print(first({name}(np.array([{value}]))))
"""


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_kernel_is_compiled_again_after_the_tuple_it_takes_was_renamed(tmp_path):
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths, "ARENA_CACHE": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    for name, value in (("Numbers", 7), ("Values", 8)):
        (tmp_path / "renamed.py").write_text(TUPLE.format(name=name, value=value))
        command = [sys.executable, "-B", "-c", "import renamed"]
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert told.stdout == f"{value}\n"
    assert list((tmp_path / "cache").rglob("renamed.first*.nbi"))


def test_a_cache_folder_that_is_named_from_here_is_the_same_one_for_a_process_started_elsewhere(tmp_path):
    ask = "import engine.cache, os, subprocess; subprocess.run(['printenv', 'ARENA_CACHE'], cwd='/')"
    environment = {**os.environ, "PYTHONPATH": str(Path(engine.__file__).parents[1]), "ARENA_CACHE": "kept"}
    command = [sys.executable, "-c", ask]
    told = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == str(tmp_path / "kept")


@pytest.mark.skipif(not COMPILED, reason="interpreted")
def test_a_kernel_that_others_call_is_not_made_executable_by_itself_and_raises_and_prints_through_them(
    capfd: pytest.CaptureFixture[str],
) -> None:
    @kernel
    def inner(x):
        if x > 2:
            print("large:", x)
        if x > 3:
            raise ValueError("too large")
        return x + 1

    @kernel
    def item(things, i):
        return things[i]

    @kernel
    def outer(x):
        return inner(x) + inner(0) + item((1, 2.5), 1)

    assert outer(1) == 5.5
    assert not inner.overloads
    assert len(inner.merged.overloads) == 1
    assert outer(3) == 7.5
    assert inner(1) == 2
    with pytest.raises(ValueError, match="too large"):
        outer(4)
    assert capfd.readouterr().out == "large: 3\nlarge: 4\n"
