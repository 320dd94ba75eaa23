"""Imports point one way, arena -> bots -> engine, and heavy packages stay where they belong."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED = {"engine": {"engine"}, "bots": {"engine", "bots"}, "arena": {"engine", "bots", "arena"}}
ARENA_ONLY = {"ray", "trueskill", "pandas", "pyarrow", "tabulate", "pydantic", "typer", "rich", "sqlite3"}


def sources(package: str) -> list[Path]:
    """Return the package's Python files."""
    return sorted((ROOT / package).rglob("*.py"))


def imported(text: str) -> Iterator[str]:
    """Return the top-level name of everything that a source imports, in functions too; `.` for a relative import."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." if node.level else str(node.module).partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("importlib.import_module", "__import__"):
            argument = ast.unparse(node.args[0]).strip("f'\"") if node.args else ""
            yield argument.partition(".")[0]


def importers(name: str) -> list[str]:
    """Return the files of the three packages that import a package."""
    return [
        str(path.relative_to(ROOT))
        for package in ALLOWED
        for path in sources(package)
        if name in imported(path.read_text(encoding="utf-8"))
    ]


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter holds after a statement."""
    code = f"{statement}; import sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(run.stdout.split())


def test_the_finder_sees_every_way_to_import():
    text = """
import arena.one, os
from arena import two
from . import three
def late():
    import numba
    importlib.import_module("ray.util")
    importlib.import_module(f"{package}.rules")
"""
    assert list(imported(text)) == ["arena", "os", "arena", ".", "numba", "ray", "{package}"]


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_what_lies_below_it(package):
    assert sources(package)
    others = {"engine", "bots", "arena", "tests", "configs", "."} - ALLOWED[package]
    for path in sources(package):
        assert not others.intersection(imported(path.read_text(encoding="utf-8"))), path.relative_to(ROOT)


@pytest.mark.parametrize("package", ["engine", "bots"])
def test_what_belongs_to_the_arena_is_imported_by_the_arena_alone(package):
    for path in sources(package):
        assert not ARENA_ONLY.intersection(imported(path.read_text(encoding="utf-8"))), path.relative_to(ROOT)


@pytest.mark.parametrize("name", ["ray", "trueskill"])
def test_ray_and_trueskill_are_imported_in_one_file_each(name):
    assert len(importers(name)) == 1, importers(name)


def test_numba_is_imported_where_kernels_are_compiled_and_where_its_cache_is_told_of():
    assert sorted(importers("numba")) == ["arena/isolation/numba_locator.py", "engine/kernel.py"]


def test_naming_and_listing_games_does_not_import_numba():
    listing = "import engine; [engine.game_type(name) for name in engine.game_names()]"
    assert "numpy" not in modules_after("import engine")
    for statement in (listing, "import engine; engine.load_game('epicycle', 2).spec", "import bots"):
        assert not {"numba", "ray", "pandas"} & modules_after(statement), statement
    playing = "import engine; engine.load_game('epicycle', 2).new_initial_state()"
    assert "numba" in modules_after(playing)


def test_a_worker_and_a_match_load_nothing_that_they_have_no_use_for():
    """A worker's imports are most of what a single match costs."""
    code = "from arena.workers import supervisor; import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(run.stdout.split())
    assert {"arena.workers.worker", "arena.schedule.blocks"} <= loaded
    assert not {"pydantic", "tomllib", "pandas", "scipy", "typer", "rich", "engine.svg"} & loaded
    code = "import arena.cli.matches, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(run.stdout.split())
    assert "arena.runner.single" in loaded
    assert not {"pandas", "scipy", "rich.markdown", "arena.sessions", "engine.svg"} & loaded
