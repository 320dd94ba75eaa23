"""Plug-in games whose rules were edited under one version: refused before play, unless said to be the same."""

import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from arena.cli.app import run_command
from arena.registry.game_rules import RulesRecord
from arena.tournament.same_rules import differing_rules

PIG = """
from engine import TERMINAL, Credit, Game, GameType, NotationError, State
from {package} import drawing
from {package}.steps import STEPS{more}


class CountUp(Game):
    position = True

    def new_initial_state(self):
        return Count(self, [])


class Count(State):
    __slots__ = ()

    def __init__(self, game, history):
        self.game, self._history = game, history

    def current_player(self):
        return TERMINAL if sum(self._history) >= 12 else len(self._history) % 2

    def legal_actions(self):
        return [*STEPS]

    def chance_outcomes(self):
        return []

    def apply_action(self, action):
        self._history.append(self.checked(action))

    def action_to_string(self, action):
        return f"+{{action}}"

    def string_to_action(self, text):
        return int(text)

    def ranks(self):
        return [int(seat != (len(self._history) - 1) % 2) for seat in range(2)]

    def scores(self):
        return None

    @property
    def ended(self):
        return "normal" if self.current_player() == TERMINAL else ""

    def clone(self):
        return Count(self.game, self.history())

    @property
    def position(self):
        return f"total {{sum(self._history)}}"


GAME = GameType(
    name="count_it", title="Count", summary="Count.", min_players=2, max_players=2, num_distinct_actions=6,
    rules_version={version}, credit=Credit("nobody", "none", "none"),
    factory=lambda kind, players, params: CountUp(kind, players, params),
)
"""
ANOTHER_PLAN = "Another plan counts in the log than before"
CONFIG = """
name = "small"
seed = 3
blocks = {blocks}
games = [{{ game = "count_it", players = 2 }}]
bots = [{{ bot = "random" }}, {{ bot = "random", label = "other" }}]
"""


class PlugIn:
    """A game in a package of its own, which can be edited, and commands that find it installed."""

    def __init__(self, folder):
        self.folder, self.site = folder, folder / "site"
        info = self.site / "count_it-0.1.dist-info"
        info.mkdir(parents=True)
        (self.site / "counting").mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: count-it\nVersion: 0.1\n")
        (info / "entry_points.txt").write_text("[arena.games]\ncount_it = counting.rules:GAME\n")
        self.write(__init__="", drawing="", steps="STEPS = (1, 2, 3)\n")
        self.edit()

    def write(self, **modules):
        for name, text in modules.items():
            (self.site / "counting" / f"{name}.py").write_text(text)

    def edit(self, version=1, more=""):
        self.write(rules=PIG.format(package="counting", version=version, more=more))

    def config(self, blocks):
        config = self.folder / "small.toml"
        config.write_text(CONFIG.format(blocks=blocks))
        return config

    def arena(self, *words, installed=True):
        environment = {**os.environ, "PYTHONPATH": str(self.site) if installed else ""}
        return subprocess.run(
            [sys.executable, "-m", "arena", *map(str, words), "--home", "reports"],
            cwd=self.folder, env=environment, capture_output=True, text=True,
        )  # fmt: skip

    def run(self, blocks, *options):
        return self.arena("run", self.config(blocks), "--workers", "1", "--no-report", "--quiet", *options)

    def compare(self, blocks, *options):
        words = ("compare", "random", "greedy", "--game", "count_it", "--fixed", blocks, "--workers", "1")
        return self.arena(*words, *options)

    def plan(self):
        return json.loads((self.folder / "reports" / "small" / "plan.json").read_text())


@pytest.fixture
def plug_in(tmp_path):
    return PlugIn(tmp_path)


def test_edited_rules_of_one_version_are_refused(plug_in):
    assert plug_in.run(2).returncode == 0
    plug_in.write(steps="STEPS = (1, 2, 4)\n")
    refused = plug_in.run(3)
    assert refused.returncode == 2 and "rules_version is still 1; raise that" in refused.stderr


@pytest.mark.system
def test_edited_rules_of_one_version_are_refused_until_it_is_raised_or_they_are_said_to_be_the_same(
    plug_in,
):
    assert plug_in.run(2).returncode == 0
    first = plug_in.plan()["rules"]["count_it"]
    assert (first["package"], first["version"], first["same_as"]) == ("count-it", "0.1", [])
    versions = json.loads((plug_in.folder / "reports" / "small" / "versions.json").read_text())
    assert versions["game count_it"] == f"count-it 0.1, rules {first['digest']}"

    plug_in.write(drawing="SIZE = 3\n", words="SAID = 'anything'\n", text="")
    assert plug_in.run(3).returncode == 0, "none of these decides a match"
    assert plug_in.plan()["rules"]["count_it"] == first

    log = plug_in.folder / "reports" / "small" / "matches.db"
    plug_in.write(steps="STEPS = (1, 2, 4)\n")
    before = log.read_bytes()
    refused = plug_in.run(4)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused.stderr
    assert "rules_version is still 1; raise that" in refused.stderr and "--same-rules" in refused.stderr
    assert log.read_bytes() == before

    shutil.copy(log, plug_in.folder / "before.db")
    same = plug_in.arena("run", plug_in.config(3), "--workers", "1", "--no-report", "--same-rules")
    assert same.returncode == 0 and ANOTHER_PLAN not in same.stderr, (
        "it is the plan of before, by sources said to be equal"
    )
    second = plug_in.plan()["rules"]["count_it"]
    assert second["digest"] != first["digest"] and second["same_as"] == [first["digest"]]
    assert plug_in.run(5).returncode == 0, "what was said once is in the log"
    assert plug_in.arena("merge", "before.db", "--into", "small").returncode == 0

    plug_in.write(steps="STEPS = (1, 2, 5)\n")
    assert plug_in.run(5).returncode == 2
    plug_in.edit(version=2)
    assert plug_in.run(1).returncode == 0
    assert plug_in.plan()["boards"][0]["rules_version"] == 2


@pytest.mark.system
def test_a_comparison_goes_on_under_edited_rules_only_if_they_are_said_to_be_the_same(plug_in):
    assert plug_in.compare(2).returncode == 0
    (log,) = plug_in.folder.glob("reports/**/matches.db")
    before = log.read_bytes()
    plug_in.write(steps="STEPS = (1, 2, 4)\n")
    refused = plug_in.compare(3)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused.stderr
    assert "rules_version is still 1; raise that" in refused.stderr and "--same-rules" in refused.stderr
    assert log.read_bytes() == before
    said = plug_in.compare(3, "--same-rules")
    assert said.returncode == 0, said.stderr
    assert plug_in.compare(4).returncode == 0, "what was said once is in the log"
    (rules,) = json.loads(log.with_name("plan.json").read_text())["rules"].values()
    assert len(rules["same_as"]) == 1


def test_a_run_says_when_its_configuration_makes_another_plan_count(tmp_path, capsys):
    def said(blocks, *options):
        config = tmp_path / "small.toml"
        config.write_text(CONFIG.format(blocks=blocks).replace("count_it", "epicycle"))
        words = ("run", str(config), "--home", str(tmp_path / "reports"), "--workers", "1", "--no-report", *options)
        assert run_command([*words]) == 0
        return capsys.readouterr().err.count(ANOTHER_PLAN)

    assert [said(blocks) for blocks in (2, 2, 3, 3)] == [0, 0, 1, 0]
    assert said(4, "--fresh") == 0
    assert said(2, "--quiet") == 0


@pytest.mark.system
def test_logs_by_different_rules_under_one_version_are_not_merged(plug_in):
    for name in ("one", "two"):
        assert plug_in.run(1).returncode == 0
        (plug_in.folder / "reports" / "small").rename(plug_in.folder / "reports" / name)
        plug_in.write(steps="STEPS = (1, 2, 4)\n")
    for into in ("new", "one"):
        refused = plug_in.arena("merge", "one", "two", "--into", into)
        assert refused.returncode == 1 and refused.stderr.count("\n") == 1
        assert "count_it was played by other sources" in refused.stderr and "nothing is merged" in refused.stderr
    assert not (plug_in.folder / "reports" / "new").exists()


@pytest.mark.system
def test_what_cannot_be_checked_is_told_apart_from_what_is_not_sound(plug_in):
    assert plug_in.run(1).returncode == 0
    sound = plug_in.arena("verify", "small", "--json")
    assert (sound.returncode, json.loads(sound.stdout)["sound"]) == (0, True)
    assert plug_in.arena("archive", "small", "--out", "small.zip").returncode == 0
    with zipfile.ZipFile(plug_in.folder / "small.zip") as archive:
        assert json.loads(archive.read("plan.json"))["rules"] == plug_in.plan()["rules"]

    absent = plug_in.arena("verify", "small", "--json", installed=False)
    told = json.loads(absent.stdout)
    assert absent.returncode == 1 and told["sound"] is None and told["findings"] == []
    assert told["not_checked"] == {"count-it 0.1 is not installed here": told["matches"]}
    said = plug_in.arena("verify", "small", installed=False).stdout
    assert "could not be replayed: count-it 0.1 is not installed here." in said
    assert "NOT CHECKED" in said and "SOUND" not in said and "other rules" not in said

    plug_in.write(steps="STEPS = (1, 2, 4)\n")
    other = json.loads(plug_in.arena("verify", "small", "--json").stdout)
    assert other["sound"] is False
    assert any("the sources of count_it here (count-it 0.1" in remark for remark in other["remarks"])


def test_sources_are_the_same_by_way_of_others_too():
    a, b, c, d = ("abcd"[number] * 32 for number in range(4))
    records = [
        RulesRecord(package="p", version="1", digest=at, same_as=same)
        for at, same in ((a, []), (b, [a]), (c, [b]), (d, []))
    ]
    for digest in (a, b, c):
        assert [record.digest for record in differing_rules(digest, records)] == [d]
    assert [record.digest for record in differing_rules(d, records)] == [a, b, c]
