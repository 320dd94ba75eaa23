"""Kinds of schedules: found by their files or as plug-ins, and nothing outside knows one by its name."""

from __future__ import annotations

import ast
import csv
import itertools
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from arena.core.errors import ConfigError
from arena.core.paths import ROOT
from arena.plan.config import config_from
from arena.schedule import kinds
from arena.schedule.kinds import BUILT_IN_KINDS, kind_named
from arena.schedule.kinds.adaptive import Adaptive
from arena.schedule.kinds.gauntlet import Gauntlet
from arena.schedule.kinds.round_robin import RoundRobin
from arena.schedule.scheduler import Scheduler
from arena.store import Store
from arena.tournament.stages import with_stages
from tests.support import tournaments
from tests.support.samples import fill, schedule

PAGE = ROOT / "docs/how-to/add-a-schedule.md"
CONFIG = """
name = "cup"
seed = 3
blocks = 2
schedule = "playoff"

[[games]]
game = "epicycle"
players = 2

[[bots]]
bot = "random"
[[bots]]
bot = "greedy"
[[bots]]
bot = "random"
label = "twin"
[[bots]]
bot = "flat_mc:playouts=20"
"""
GOOD = {"name": "x", "games": [{"game": "epicycle", "players": [2]}], "bots": [{"bot": "random"}, {"bot": "greedy"}]}


class Arena:
    """Runs commands in a folder where the plug-in of the page is installed."""

    def __init__(self, folder):
        self.folder = folder
        (source,) = re.findall(r"```python\n# playoff.py\n(.*?)```", PAGE.read_text(), re.DOTALL)
        (place,) = re.findall(r'^playoff = "(.*)"$', PAGE.read_text(), re.MULTILINE)
        assert len(source.splitlines()) < 100
        self.installed = folder / "plug-in" / "arena_playoff-1.0.dist-info"
        self.installed.mkdir(parents=True)
        (self.installed.parent / "playoff.py").write_text(source)
        (self.installed / "METADATA").write_text("Metadata-Version: 2.1\nName: arena-playoff\nVersion: 1.0\n")
        (self.installed / "entry_points.txt").write_text(f"[arena.schedules]\nplayoff = {place}\n")
        (folder / "cup.toml").write_text(CONFIG)
        self("run", "cup.toml", "--home", "home", "--workers", "1")

    def __call__(self, *command, code=0):
        environment = {**os.environ, "PYTHONPATH": str(self.installed.parent), "NO_COLOR": "1", "COLUMNS": "200"}
        whole = [sys.executable, "-m", "arena", *command]
        done = subprocess.run(whole, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert code in (None, done.returncode), done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    return Arena(tmp_path_factory.mktemp("playoff"))


def met(table):
    """How many matches each two bots played, by labels."""
    rows = [*csv.DictReader(table.decode().splitlines())]
    pairs = Counter()
    for _, of_match in itertools.groupby(rows, key=lambda row: row["match"]):
        pairs[frozenset(row["bot"] for row in of_match)] += 1
    return pairs


def export(arena, home):
    log = arena.folder / home / "cup" / "matches.db"
    out = log.parent / "exported"
    arena("export", str(log), "--what", "matches", "--format", "csv", "--out", str(out))
    return log, next(out.rglob("*.csv")).read_bytes()


def test_a_playoff_as_a_plug_in_plays_its_final_between_the_winners_and_its_plan_tells(arena):
    log, table = export(arena, "home")
    pairs = met(table)
    assert sorted(pairs.values()) == [4, 4, 4]
    plan = json.loads((log.parent / "plan.json").read_text())
    assert plan["scheduler"] == {"kind": "playoff", "version": 1, "fields": {}}
    assert sorted(plan["boards"][0]["counts"]) == [0, 0, 0, 2, 2, 2]
    arena("report", str(log))
    assert "<dd>playoff</dd>" in (log.parent / "index.html").read_text()
    assert "\nSound." in arena("verify", str(log), "--rerun", "all")


@pytest.mark.system
@pytest.mark.parametrize("keep", [1, 5, 9])
def test_a_playoff_that_lost_matches_plays_them_again_and_counts_the_same(arena, keep):
    home = arena.folder / f"cut {keep}"
    shutil.copytree(arena.folder / "home", home)
    log = home / "cup" / "matches.db"
    with sqlite3.connect(log) as database:
        rows = database.execute("SELECT block, lineup FROM matches ORDER BY block, lineup").fetchall()
        for table in ("seats", "timings", "faults", "estimates", "matches"):
            database.executemany(f"DELETE FROM {table} WHERE block = ? AND lineup = ?", rows[keep:])
    arena("run", "cup.toml", "--home", home.name, "--workers", "2")
    assert export(arena, home.name)[1] == export(arena, "home")[1]
    for name in ("epicycle_2p.csv", "plan.json"):
        assert (log.parent / name).read_bytes() == (arena.folder / "home/cup" / name).read_bytes()


@pytest.mark.system
def test_commands_learn_of_the_plug_in_and_a_plan_of_it_is_refused_where_it_is_not_installed(arena):
    asked = ("--game", "epicycle", "--bots", "random,greedy,uct", "--schedule", "playoff")
    arena("init", "new.toml", *asked, "--players", "2")
    assert 'schedule = "playoff"' in (arena.folder / "new.toml").read_text()
    told = arena("run", *asked, "--players", "3", code=2)
    assert "is for boards of two players" in told
    arena.installed.rename(arena.folder / "gone")
    try:
        for command in (("run", "cup.toml", "--home", "home"), ("leaderboard", "home/cup"), ("verify", "home/cup")):
            told = arena(*command, code=None)
            assert "schedule = 'playoff': " in told
            assert "Traceback" not in told
    finally:
        (arena.folder / "gone").rename(arena.installed)


# Kinds by name


class Offer:
    """An entry point as a plug-in may have it."""

    value = "strange:Thing"

    def __init__(self, name, found):
        self.name, self.found = name, found

    def load(self):
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([Offer("strange", ImportError("no such module"))], "cannot be loaded: .*no such module"),
        ([Offer("strange", SystemExit(3))], "cannot be loaded"),
        ([Offer("strange", dict)], "is no Scheduler of that kind"),
        ([Offer("strange", RoundRobin)], "is no Scheduler of that kind"),
        ([Offer("strange", None), Offer("strange", None)], "two plug-ins offer it"),
        ([], "no such kind is installed"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_refused_in_a_line(monkeypatch, found, told):
    monkeypatch.setattr(kinds, "offers", lambda group: found)
    kind_named.cache_clear()
    try:
        with pytest.raises(ValueError, match=told):
            kind_named("strange")
    finally:
        kind_named.cache_clear()


def test_every_file_is_a_kind_of_its_name_and_configurations_may_name_all_but_what_a_command_makes():
    assert [kind_named(name).kind for name in BUILT_IN_KINDS] == [*BUILT_IN_KINDS]
    assert {kind.kind for kind in kinds.kinds()} == {*BUILT_IN_KINDS} - {"duel", "ladder", "tuning"}


def test_the_help_of_a_run_names_every_kind_that_it_may_have(tmp_path):
    words = " ".join(tournaments.arena("run", "--help", folder=tmp_path).stdout.split())
    (told,) = re.findall(r"Who meets whom: (.*?) Default", words)
    assert {kind.kind for kind in kinds.kinds()} <= set(re.findall(r"\w+", told))


@pytest.mark.parametrize(
    ("data", "scheduler"),
    [
        ({}, RoundRobin()),
        ({"max_tables": 7}, RoundRobin(max_tables=7)),
        ({"schedule": "gauntlet"}, Gauntlet()),
        ({"schedule": "gauntlet", "challenger": "greedy"}, Gauntlet(challenger="greedy")),
        (
            {"schedule": "gauntlet:challenger=uct:simulations=3,exploration=1,max_tables=7"},
            Gauntlet(challenger="uct:simulations=3,exploration=1", max_tables=7),
        ),
        ({"schedule": "adaptive:first_blocks=4"}, Adaptive(first_blocks=4)),
        ({"schedule": "adaptive:first_blocks=4", "max_tables": 9}, Adaptive(first_blocks=4, max_tables=9)),
    ],
)
def test_a_kind_and_its_keys_are_read_from_keys_and_from_one_text(data, scheduler):
    assert config_from(GOOD | data).schedule == scheduler


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"schedule": "gauntlt"}, "schedule = 'gauntlt': not a choice; did you mean 'gauntlet'?"),
        ({"schedule": "duel"}, "schedule = 'duel': not a choice"),
        ({"schedule": 3}, "schedule = 3: must be a text such as 'round_robin'"),
        ({"schedule": "gauntlet:"}, None),
        ({"schedule": "gauntlet:chalenger=greedy"}, "must be gauntlet:key=value; did you mean 'challenger'?"),
        ({"schedule": "adaptive:first_blocks"}, "must be adaptive:key=value"),
        ({"schedule": "adaptive:first_blocks=two"}, "first_blocks = 'two': must be a whole number"),
        ({"challenger": "greedy"}, 'challenger: goes with schedule = "gauntlet" only'),
        ({"schedule": "adaptive", "challenger": "greedy"}, 'challenger: goes with schedule = "gauntlet" only'),
        ({"max_tables": 0}, "max_tables = 0: must be 1 or more"),
        ({"blockz": 3}, "blockz = 3: unknown key; did you mean 'blocks'?"),
    ],
)
def test_a_wrong_schedule_is_refused_in_a_line_that_says_what_would_be_right(data, told):
    if told is None:
        assert config_from(GOOD | data).schedule == Gauntlet()
        return
    with pytest.raises(ConfigError) as error:
        config_from(GOOD | data)
    assert told in str(error.value)


class Backwards(Scheduler):
    """Gives out one block, then takes it back."""

    kind = "backwards"

    def tables(self, board, entries):
        return (board.entries[:2],)

    def next(self, board, tables, results):
        return [0]


class Short(Backwards):
    kind = "short"

    def start(self, board, tables):
        return []


class Greedy(Backwards):
    kind = "greedy"

    def next(self, board, tables, results):
        return [count + 1 for count in results.counts]


@pytest.mark.parametrize("kind", [Backwards, Short, Greedy])
def test_a_plug_in_that_gives_what_no_kind_may_give_is_named(tmp_path, kind):
    fill(tmp_path / "m.db", schedule("ab", blocks=1))
    told = f"'{kind.kind}': the plug-in is wrong"
    with Store.open(tmp_path / "m.db") as store, pytest.raises(ConfigError, match=told):
        with_stages(store, schedule("ab", blocks=1, scheduler=kind()))


def test_no_code_outside_the_files_of_kinds_compares_the_name_of_one():
    found = []
    for path in (ROOT / "arena").rglob("*.py"):
        if path.parent == ROOT / "arena/schedule/kinds":
            continue
        nodes: list[Any] = [*ast.walk(ast.parse(path.read_text()))]
        for node in nodes:
            compared = getattr(node, "patterns", [])
            if isinstance(node, ast.Compare):
                compared = [node.left, *node.comparators]
            names = {each.value for part in compared for each in ast.walk(part) if isinstance(each, ast.Constant)}
            if names & {*BUILT_IN_KINDS}:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []
