"""Disqualified bots on boards, in exports and in a run's summary; whole runs with bots that fail."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import api
from arena.cli import running
from arena.cli.app import run_command
from arena.results.leaderboard_files import render_board
from arena.results.leaderboards import disqualified_lines, faults, leaderboards
from arena.results.match_files import match_lines
from arena.results.matches import board_matches
from arena.runner import play_order
from arena.runner import run as runner
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support import tournaments
from tests.support.faulty import fill_winning, fill_with, random_falls, random_plan, rule, sample
from tests.support.rows import change_rows
from tests.support.samples import all_matches, schedule
from tests.support.tournaments import home_of, results, write

LONG = "with a name of very nearly forty letters"
BOTS = '''
from bots import Bot


class Low(Bot):
    def choose(self, state):
        return state.legal_actions()[0]


class Fragile(Low):
    """Raise in one match out of two."""

    def choose(self, state):
        if self.seed % 2 == 0:
            raise RuntimeError("broken on purpose")
        return super().choose(state)


class Wrong(Low):
    """Answer nonsense in one match out of five."""

    def choose(self, state):
        return 99 if self.seed % 5 == 0 else super().choose(state)
'''
CONFIG = f"""
name = "small"
seed = 11
blocks = 30
games = [{{ game = "epicycle", players = [2, 3] }}]
bots = [{{ bot = "random" }}, {{ bot = "b.py:Low" }}, {{ bot = "b.py:Fragile" }},
  {{ bot = "b.py:Wrong", label = "{LONG}" }}]
"""


def board_of(log, plan):
    with Store.open(log) as store:
        return leaderboards(Tournament(store, plan))[0]


def test_a_disqualified_bot_is_below_all_others_and_its_matches_before_count_for_everybody(tmp_path):
    plan, forfeits = sample(after=5, blocks=10)
    forfeits = {id: lost if number < 24 else {} for number, (id, lost) in enumerate(forfeits.items())}  # it wins later
    fill_winning(tmp_path / "m.db", plan, forfeits)
    frame = board_of(tmp_path / "m.db", plan).set_index("bot")
    assert frame["disqualified"].fillna(0).to_dict() == {"alice": 0, "Bob": 0, "winner": 3}
    assert frame["matches"].to_dict() == {"alice": 3 * 4 + 7 * 2, "Bob": 3 * 4 + 7 * 2, "winner": 3 * 4}
    assert frame["forfeits"].to_dict() == {"alice": 0, "Bob": 0, "winner": 8}
    assert (frame.index[-1], frame["rank"].to_list()) == ("winner", [1, 2, 3])


def test_a_disqualified_bot_is_below_all_others_also_with_the_highest_rating(tmp_path):
    plan, forfeits = sample(after=4, blocks=9)
    forfeits = {spec.id: forfeits[spec.id] if spec.block.round == 8 else {} for spec in all_matches(plan)}
    fill_winning(tmp_path / "m.db", plan, forfeits)
    frame = board_of(tmp_path / "m.db", plan).set_index("bot")
    assert frame["disqualified"].fillna(0).to_dict() == {"alice": 0, "Bob": 0, "winner": 9}
    assert frame["rating"].idxmax() == frame.index[-1] == "winner"


def test_matches_that_left_the_plan_are_neither_on_the_board_nor_exported(tmp_path):
    plan, forfeits = sample(after=3)
    fill_winning(tmp_path / "m.db", plan, forfeits)
    stay, out = rule(plan, forfeits)
    assert (out, len(stay)) == ([{2: 0}], 6 + 5 * 2)
    with Store.open(tmp_path / "m.db") as store:
        lines = [json.loads(line)["match"] for line in match_lines(Tournament(store, plan))]
        seats = board_matches(Tournament(store, plan), 0)
    assert lines == [spec.id for spec in stay]
    assert len(seats) == 2 * len(stay)
    assert seats["block"].max() == len(stay) // 2 - 1


def test_more_blocks_change_nothing_that_was_before(tmp_path):
    frames = []
    for blocks in (3, 6):
        plan, forfeits = sample(after=6, blocks=blocks)
        fill_winning(tmp_path / f"{blocks}.db", plan, forfeits)
        with Store.open(tmp_path / f"{blocks}.db") as store:
            matches = board_matches(Tournament(store, plan), 0)
            assert Tournament(store, plan).disqualified(0) == {2: 2}
        frames.append(matches[matches["round"] < 3].drop(columns="distinct_share"))  # which later blocks may change
    pd.testing.assert_frame_equal(*frames)


def test_nobody_is_disqualified_after_a_round_that_is_not_complete(tmp_path):
    plan, forfeits = sample(after=5)
    for missing, out in ((10**6, {2: 2}), (13, {}), (7, {}), (18, {2: 2})):  # a round has 6 matches
        path = tmp_path / f"{missing}.db"
        fill_with(path, plan, forfeits, [spec for number, spec in enumerate(all_matches(plan)) if number != missing])
        with Store.open(path) as store:
            assert Tournament(store, plan).disqualified(0) == out


def test_a_tournament_without_faults_is_as_it_was_and_with_a_zero_nobody_is_disqualified(tmp_path):
    plan, forfeits = sample(after=0)
    fill_winning(tmp_path / "never.db", plan, forfeits)
    assert "disqualified" not in board_of(tmp_path / "never.db", plan)
    with Store.open(tmp_path / "never.db") as store:
        assert len(list(match_lines(Tournament(store, plan)))) == len(all_matches(plan))
    fill_winning(tmp_path / "fine.db", plan, {id: {} for id in forfeits})
    frames = [board_of(tmp_path / "fine.db", schedule(plan.entries, blocks=6, forfeit_limit=n)) for n in (0, 1)]
    pd.testing.assert_frame_equal(*frames)


def test_the_round_is_in_every_format_and_empty_for_others(tmp_path):
    plan, forfeits = sample(after=3)
    fill_winning(tmp_path / "m.db", plan, forfeits)
    frame = board_of(tmp_path / "m.db", plan)
    made = {kind: render_board(plan.boards[0], frame, kind) for kind in ("csv", "json", "md", "parquet")}
    (tmp_path / "b.parquet").write_bytes(made["parquet"])
    assert pd.read_parquet(tmp_path / "b.parquet")["disqualified"].isna().to_list() == [True, True, False]
    assert [each["disqualified"] for each in json.loads(made["json"])["leaderboard"]] == [None, None, 1]
    for kind, comma in (("csv", ","), ("md", "|")):
        lines = [line.strip("|").split(comma) for line in made[kind].decode().splitlines() if comma in line]
        place = [cell.strip() for cell in lines[0]].index("disqualified")
        assert [line[place].strip() for line in lines[-3:]] == ["", "", "1"]


@settings(max_examples=40)
@given(st.randoms(use_true_random=False))
def test_every_fault_of_the_plan_is_listed_once_in_the_order_of_the_first(rng):
    plan = random_plan(rng)
    forfeits = random_falls(plan, rng)
    stay, _ = rule(plan, forfeits)
    expected = {}
    for spec in sorted(stay, key=lambda spec: (spec.block.round, spec.block.board)):
        for seat, cause in forfeits[spec.id].items():
            shape = plan.boards[spec.block.board]
            key = (plan.entries[spec.seats[seat]].label, shape.game, shape.players, cause)
            count, first = expected.get(key, (0, spec.id))
            expected[key] = (count + 1, first)
    with tempfile.TemporaryDirectory() as folder:
        fill_with(Path(folder) / "m.db", plan, forfeits, all_matches(plan))
        with Store.open(Path(folder) / "m.db") as store:
            found = faults(Tournament(store, plan))
    shortened = [(*key, count, first[:12] + first[32:]) for key, (count, first) in expected.items()]
    assert list(found.itertuples(index=False, name=None)) == shortened


def test_a_short_id_is_as_long_as_it_takes(tmp_path):
    plan, forfeits = sample(after=0)
    fill_with(tmp_path / "m.db", plan, forfeits, all_matches(plan))
    first, other = (spec.block.identity for spec in all_matches(plan)[:4:2])
    with Store.open(tmp_path / "m.db") as store:
        assert store.short_id(first, 1) == f"{first.hex()[:12]}-1"
    like_first = first[:8] + bytes(byte ^ 255 for byte in first[8:])
    change_rows(tmp_path / "m.db", "UPDATE blocks SET identity = ? WHERE identity = ?", like_first, other)
    with Store.open(tmp_path / "m.db") as store:
        assert store.short_id(first, 1) == f"{first.hex()[:17]}-1"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament in which two bots are disqualified on both boards, played by one worker."""
    config = write(tmp_path_factory.mktemp("played"), CONFIG, BOTS)
    outcome = api.run(config, home_of(config), workers=1, backend="local").outcome
    assert (outcome.interrupted, outcome.not_played, outcome.progress.left) == (False, [], 0)
    assert outcome.progress.played == outcome.progress.total < 30 * (12 + 12)
    return config


@pytest.mark.chaos
def test_two_workers_interrupted_time_and_again_leave_the_same_log_and_boards(played, tmp_path, monkeypatch):
    config = write(tmp_path, CONFIG, BOTS)
    rng = random.Random(4)
    monkeypatch.setattr(play_order, "MAX_CHUNK_MATCHES", 3)
    monkeypatch.setattr(runner, "WRITE_SECONDS", 0.0)
    interrupted, runs = True, 0
    while interrupted:
        stop = rng.randint(20, 120) if runs < 4 else 10**9

        def show(progress, stop=stop):
            if progress.played >= stop and not progress.stopping:
                os.kill(os.getpid(), signal.SIGINT)

        outcome = api.run(config, home_of(config), workers=2, backend="local", show=show).outcome
        interrupted, runs = outcome.interrupted, runs + 1
    assert runs > 2
    assert results(config) == results(played)


def test_a_run_that_ends_because_of_benching_is_complete_and_tells_who_failed(played, monkeypatch, capsys):
    """At 80 columns, and when nothing is left to be played."""
    monkeypatch.chdir(played.parent)
    monkeypatch.setenv("ARENA_HOME", "reports")
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command(["run", "t.toml"]) == 0
    said = capsys.readouterr().out
    counted = results(played)["matches.jsonl"].count(b"\n")
    assert counted <= tournaments.count(played)
    assert f"Nothing to play: all {counted:,} matches were in the log already." in said
    assert max(map(len, said.splitlines())) <= 80
    told = said[said.index("Matches forfeited") :].splitlines()
    assert told[1].startswith("  Fragile: crash ")
    assert told[2].startswith(f"  {LONG}: illegal_action ")
    typed = [line[line.index("arena replay") :] for line in told if "arena replay" in line]
    assert typed == [
        f"arena replay {match} --in reports/small/matches.db"
        for match in api.faults("t.toml").groupby("bot", sort=False)["first_match"].first()
    ]
    for command, label, cause in zip(typed, ("Fragile", LONG), ("crash", "illegal_action"), strict=True):
        assert run_command([*shlex.split(command)[1:], "--no-show"]) == 0
        shown = capsys.readouterr().out
        (seat,) = [number for number in range(3) if f"seat {number}: {label}" in shown]
        assert f"seat {seat} forfeited at ply" in shown
        assert cause in shown


def test_a_bot_whose_folder_has_a_space_gets_a_command_that_can_be_typed(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    found = pd.DataFrame(
        [("bad", "epicycle", 2, "crash", 1200, "3f9a0c27d1aa-0"), ("bad", "epicycle", 3, "init", 1, "aa9a0c27d1aa-0")],
        columns=["bot", "game", "players", "cause", "count", "first_match"],
    )
    running.print_faults(found, Path("my reports/mine/matches.db"))
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  bad: crash 1,200, init 1; arena replay 3f9a0c27d1aa-0 --in 'my reports/mine/matches.db'"
    ]


def test_leaderboards_from_the_log_alone_tell_the_same(played, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "120")
    assert run_command(["leaderboard", str(played), "--home", str(home_of(played))]) == 0
    said = capsys.readouterr().out
    for frame in api.leaderboard(played, home_of(played)).values():
        assert frame["disqualified"].notna().to_list() == [False, False, True, True]
        for line in disqualified_lines(frame):
            assert line in said
        last = frame.iloc[-1]
        assert (
            f"disqualified after round {last['disqualified']}: {last['bot']} "
            f"({last['forfeits']} of {last['matches']} matches forfeited)"
        ) in said
