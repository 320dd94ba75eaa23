"""The ladder: pairs recomputed by hand, steps found by their budgets, moves judged by the solved game."""

import random
import statistics
import subprocess
import sys

import pandas as pd
import pytest
from scipy import stats

import engine
from arena import api
from bots import make_bot
from bots.search.perfect import Perfect
from scripts.ladder import above_next, dominated_by, is_step, judged_moves, kept_values, pairs, steps

CONFIG = {
    "name": "small_ladder",
    "seed": 3,
    "blocks": 4,
    "games": [{"game": "epicycle", "players": [2, 3]}],
    "bots": [{"bot": bot} for bot in ("random", "uct:simulations=10", "uct:simulations=40", "perfect")],
}


def frame(returns):
    """Two-player matches as (block, lineup, bot of seat 0, bot of seat 1, return of seat 0)."""
    rows = [
        (block, lineup, seat, bot, value if seat == 0 else -value)
        for block, lineup, *bots, value in returns
        for seat, bot in enumerate(bots)
    ]
    return pd.DataFrame(rows, columns=["block", "lineup", "seat", "bot", "return_"])


def test_a_pair_is_compared_over_the_blocks_that_both_played():
    rng = random.Random(1)
    played = [
        (block, lineup, *(("a", "b") if lineup == 0 else ("b", "a")), rng.choice((-1.0, 0.0, 1.0)))
        for block in range(6)
        for lineup in range(2)
    ]
    noise = [(block, 0, "a", "c", 1.0) for block in range(6, 9)]
    row = pairs(frame(played + noise), 2, ["a", "b"]).iloc[0]
    means = [
        statistics.fmean(2 * value if lineup == 0 else -2 * value for b, lineup, _, _, value in played if b == block)
        for block in range(6)
    ]
    low, high = stats.t.interval(0.95, 5, statistics.fmean(means), stats.sem(means))
    assert row["matches"] == 12
    assert row["difference"] == pytest.approx(statistics.fmean(means))
    assert row["half_width"] == pytest.approx((high - low) / 2)
    assert row["apart"] == ("yes" if low > 0 else "reversed" if high < 0 else "no")


def test_rungs_are_apart_when_the_interval_leaves_zero_out():
    always = frame([(block, 0, "a", "b", 1.0 - 0.1 * (block % 2)) for block in range(6)])
    assert pairs(always, 2, ["a", "b"])["apart"].tolist() == ["yes"]
    assert pairs(always, 2, ["b", "a"])["apart"].tolist() == ["reversed"]
    even = frame([(block, 0, "a", "b", 1.0 - 2.0 * (block % 2)) for block in range(6)])
    compared = pairs(even, 2, ["a", "b"])
    assert compared["apart"].tolist() == ["no"]
    assert above_next(pd.DataFrame({"bot": ["a", "b"]}), compared).tolist() == ["no", ""]


@pytest.mark.parametrize(
    ("upper", "lower", "expected"),
    [
        ("uct:simulations=400", "uct:simulations=100", True),
        ("uct:simulations=100", "uct:simulations=400", False),
        ("uct:simulations=400", "uct:simulations=200", False),
        ("uct:rave=3,simulations=400", "uct:rave=3,simulations=100", True),
        ("uct:rave=4,simulations=400", "uct:rave=1,simulations=100", False),
        ("flat_mc:playouts=400", "uct:simulations=100", False),
        ("uct:simulations=400", "uct", False),
    ],
)
def test_a_step_is_the_same_bot_with_four_times_the_budget(upper, lower, expected):
    assert is_step(upper, lower) is expected


def test_steps_put_the_richer_bot_first_also_where_it_came_out_lower():
    names = ["uct:simulations=100", "uct:simulations=400"]
    compared = pairs(frame([(block, 0, *names, 1.0 - 0.1 * (block % 2)) for block in range(6)]), 2, names)
    step = steps(compared).iloc[0]
    assert (step["upper"], step["lower"], step["apart"]) == (names[1], names[0], "reversed")
    assert step["difference"] == -compared["difference"].iloc[0]


def test_steps_turned_around_keep_their_verdict():
    names = ["uct:simulations=100", "uct:simulations=400"]
    lost = frame([(block, 0, *names, -1.0 + 0.1 * (block % 2)) for block in range(6)])
    assert steps(pairs(lost, 2, names))["apart"].tolist() == ["yes"]  # the poorer may lead a board with others on it
    assert steps(pairs(lost, 2, names[::-1]))["apart"].tolist() == ["yes"]


def test_a_bot_is_dominated_by_the_best_that_is_apart_above_it_for_no_more_time():
    apart = [("a", "b", "no"), ("a", "c", "yes"), ("a", "d", "yes"), ("b", "c", "yes"), ("b", "d", "no")]
    compared = pd.DataFrame([*apart, ("d", "c", "reversed")], columns=["upper", "lower", "apart"])
    ladder = pd.DataFrame({"bot": list("abcd"), "cpu_seconds_per_move": [3.0, 2.0, 2.0, 2.5]})
    assert dominated_by(ladder, compared).tolist() == ["", "", "b", "c"]


def test_perfect_moves_keep_the_value_and_moves_that_lose_at_once_do_not():
    game = engine.load_game("epicycle", 2)
    rng = random.Random(5)
    state, moves = game.new_initial_state(), []
    while not state.is_terminal() and len(moves) < 60:
        seat = state.current_player()
        choice = make_bot(Perfect, game, seat, 1).choose(state) if seat == 0 else rng.choice(state.legal_actions())
        moves.append(state.action_to_string(choice))
        state.apply_action(choice)
    judged = list(judged_moves(moves, opening=0))
    assert all(kept for seat, kept, _ in judged if seat == 0)
    assert any(not kept for seat, kept, _ in judged if seat == 1)
    assert all(critical for _, kept, critical in judged if not kept)


def test_the_command_writes_every_table_of_a_played_ladder(tmp_path):
    api.run(CONFIG, tmp_path, workers=1, backend="local")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "scripts.ladder", str(tmp_path / CONFIG["name"]), str(out)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    names = {f"epicycle_{players}p_{what}.csv" for players in (2, 3) for what in ("rungs", "pairs")}
    assert {path.name for path in out.iterdir()} == {*names, "results.md", "strength.svg"}
    matches = api.matches(tmp_path / CONFIG["name"], "epicycle", 3)
    ladder = pd.read_csv(out / "epicycle_3p_rungs.csv")
    means = matches.groupby("bot")["return_"].mean().round(4)
    assert ladder["bot"].tolist() == sorted(means.index, key=lambda bot: (-means[bot], bot))
    costs = api.costs(tmp_path / CONFIG["name"])["epicycle", 3].set_index("bot")["cpu_seconds_per_move"]
    assert ladder["cpu_seconds_per_move"].tolist() == pytest.approx(costs[ladder["bot"]].tolist(), abs=1e-6)
    figure = (out / "strength.svg").read_text()
    assert "epicycle, 2 players" in figure and "epicycle, 3 players" in figure
    text = (out / "results.md").read_text()
    assert "| epicycle, 3 players | uct:simulations=40 | uct:simulations=10 |" in text
    assert text.count("\n## ") == 4


def test_a_tournament_that_is_not_there_is_one_line_without_a_trace(tmp_path):
    command = [sys.executable, "-m", "scripts.ladder", str(tmp_path / "nothing"), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1 and run.stderr.startswith("error: ")


def test_without_matches_no_move_is_judged():
    assert kept_values([]).empty
