"""Power, and what common dice save: formulas against simulation and recomputation."""

import json
import math
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import arena
from arena import api
from arena.cli.app import run_command
from arena.core.errors import ArenaError
from arena.results.power import PowerOptions, power
from arena.stats.means import interval
from arena.stats.paired import dice_saving
from arena.stats.power import blocks_needed, fewest_blocks, open_ranks, pilot
from arena.store import Store
from tests.support import samples

NAMES = ("alice", "bob", "carol")


@pytest.mark.parametrize(("difference", "deviation"), [(0.5, 1.0), (0.2, 0.4), (1.0, 0.9)])
def test_so_many_blocks_find_a_difference_as_often_as_asked_for(difference, deviation):
    count = blocks_needed(difference, deviation, 0.95, 0.8)
    freedom, shift = count - 1, difference * math.sqrt(count) / deviation
    found = 1 - stats.nct.cdf(stats.t.ppf(0.975, freedom), freedom, shift)
    assert found == pytest.approx(0.8, abs=0.04)


@settings(max_examples=60)
@given(st.floats(0.01, 2), st.floats(0.05, 2), st.floats(0.5, 0.99), st.floats(0.5, 0.99))
def test_the_number_of_blocks_is_the_smallest_that_is_enough(difference, deviation, confidence, power_):
    count = blocks_needed(difference, deviation, confidence, power_)

    def needed(blocks):
        quantiles = stats.t.ppf((1 + confidence) / 2, blocks - 1) + stats.t.ppf(power_, blocks - 1)
        return (quantiles * deviation / difference) ** 2

    assert count >= needed(count) * (1 - 1e-9)
    assert count == 2 or count - 1 < needed(count - 1) * (1 + 1e-9)


def test_what_cannot_be_found_is_out_of_reach():
    assert blocks_needed(0.0, 1.0) is None
    assert blocks_needed(1e-9, 1.0) is None
    assert blocks_needed(1e-300, 1.0) is None
    assert blocks_needed(0.5, 0.0) == 2


def test_a_pilots_interval_and_probability_are_students():
    differences = np.random.default_rng(4).normal(0.2, 0.7, 40)
    told, expected = pilot(differences), stats.ttest_1samp(differences, 0.0)
    limits = expected.confidence_interval(0.95)
    assert (told.low, told.high) == pytest.approx((limits.low, limits.high))
    assert told.p == pytest.approx(expected.pvalue)
    assert told.apart == (expected.pvalue < 0.05)


def test_fewer_than_two_blocks_tell_nothing():
    assert math.isnan(pilot(np.array([0.5])).low) and not pilot(np.array([0.5])).apart
    assert pilot(np.zeros(0)).blocks == 0


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_a_few_equal_blocks_are_not_certain(confidence):
    least = fewest_blocks(confidence)
    assert pilot(np.ones(least), confidence).apart
    assert least == 2 or not pilot(np.ones(least - 1), confidence).apart
    assert not pilot(np.zeros(50), confidence).apart


@pytest.mark.parametrize("count", [2, 6, 57])
def test_blocks_that_are_all_equal_leave_room_for_others_as_pairs_do(count):
    told = pilot(np.full(count, 2.0))
    low, high = interval(np.array(2.0), np.array(0.0), np.array(count), 2.0)
    assert (told.low, told.high) == (low, high) == (pytest.approx(2 - 4 * (1 - 0.025 ** (1 / count))), 2.0)
    assert told.likely_deviation > 0 == told.deviation
    assert blocks_needed(0.1, told.likely_deviation) > fewest_blocks(0.95)


def test_copies_of_blocks_neither_narrow_the_interval_nor_add_certainty():
    differences = np.random.default_rng(6).normal(0.5, 1.0, 12)
    once, often = pilot(differences), pilot(np.repeat(differences, 30), blocks=12)
    assert (often.blocks, often.mean) == (12, pytest.approx(once.mean))
    assert often.high - often.low == pytest.approx(once.high - once.low, rel=0.05)
    assert often.p == pytest.approx(once.p, rel=0.2)


def test_one_game_played_again_and_again_tells_nothing_of_two_bots(tmp_path):
    plan, path = samples.schedule(NAMES[:2], (2,), 40), tmp_path / "small" / api.LOG_FILE
    path.parent.mkdir()
    same = [
        samples.finished(spec, samples.row(spec.lineup, [spec.seats[0], 1 - spec.seats[0]], moves="S- L+"))
        for spec in samples.all_matches(plan)
    ]
    with Store.create(path) as store:
        store.add(plan, same, samples.begin(store, plan))
    (told,) = power(path, *NAMES[:2])
    assert told.pilot.blocks <= 1
    assert (told.pilot.apart, told.blocks) == (False, None)


def test_common_dice_save_what_the_correlation_says():
    rng = np.random.default_rng(8)
    luck = rng.normal(size=4000)
    a, b = (luck + rng.normal(size=4000) for _ in range(2))
    saving = dice_saving(a, b, np.zeros(4000))
    assert saving.low < 2.0 < saving.high  # correlation 1/2 halves the variance
    assert saving.share == pytest.approx(0.5, abs=0.05)
    alone = dice_saving(a, rng.permutation(b), np.zeros(4000))
    assert alone.low < 1.0 < alone.high


def test_what_a_seat_is_worth_is_no_saving_of_the_dice():
    rng = np.random.default_rng(9)
    seats = np.arange(3000) % 3
    a, b = (seats + rng.normal(size=3000) for _ in range(2))
    saving = dice_saving(a, b, seats)
    assert saving.low < 1.0 < saving.high


def test_the_interval_of_a_saving_is_the_jackknifes_recomputed_block_by_block():
    rng = np.random.default_rng(10)
    seats, luck = np.arange(30) % 2, rng.normal(size=30)
    a, b = luck + rng.normal(size=30), luck + rng.normal(size=30)

    def log_ratio(kept):
        def within(values):
            return sum(
                ((part := values[kept & (seats == seat)]) - part.mean()) @ (part - part.mean()) for seat in (0, 1)
            )

        return math.log((within(a) + within(b)) / within(a - b))

    each = np.array([log_ratio(np.arange(30) != left_out) for left_out in range(30)])
    spread = math.sqrt(29 / 30 * ((each - each.mean()) ** 2).sum())
    saving = dice_saving(a, b, seats)
    assert math.log(saving.factor) == pytest.approx(log_ratio(np.full(30, True)))
    assert math.log(saving.high / saving.factor) == pytest.approx(stats.t.ppf(0.975, 29) * spread)


def test_too_few_or_equal_blocks_tell_nothing_of_a_saving():
    assert math.isnan(dice_saving(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2)).factor)
    assert math.isnan(dice_saving(np.ones(9), np.ones(9), np.zeros(9)).factor)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """The log of a round robin of three bots with two and three players."""
    path = tmp_path_factory.mktemp("log") / "small" / api.LOG_FILE
    path.parent.mkdir()
    samples.fill(path, samples.schedule(NAMES, (2, 3), 12))
    return path


def test_pilot_data_are_differences_block_by_block(log):
    for told in power(log, "alice", "carol"):
        matches = api.matches(log, "epicycle", told.players)
        means = matches.groupby(["block", "bot"])["return_"].mean().unstack()[["alice", "carol"]].dropna()
        assert told.pilot.blocks == len(means) == 12
        assert told.pilot.mean == pytest.approx((means["alice"] - means["carol"]).mean())
        assert told.difference == pytest.approx(abs(told.pilot.mean))
        assert told.matches_per_block == told.players
        assert told.seconds == pytest.approx(told.more * told.players * 0.25)
    assert [told.players for told in power(log, "alice", "bob", players=3)] == [3]


@pytest.mark.system
def test_copies_of_a_block_are_no_more_evidence_here_than_for_pairs(tmp_path):
    config = {"name": "copies", "blocks": 30, "games": [{"game": "epicycle", "players": [2], "opening": "random:1"}]}
    api.run({**config, "bots": [{"bot": "alphabeta:depth=1"}, {"bot": "alphabeta:depth=2"}]}, tmp_path, workers=1)
    (told,) = power("copies", "alphabeta:depth=1", "alphabeta:depth=2", home=tmp_path)
    row = api.crosstable("copies", home=tmp_path)["epicycle", 2].iloc[0]
    assert told.pilot.blocks == row["blocks"] < 30
    assert abs(told.pilot.mean) == pytest.approx(abs(row["difference"]), abs=1e-4)
    limits = sorted([row["difference_ci_low"], row["difference_ci_high"]], reverse=row["bot"] != "alphabeta:depth=1")
    sign = 1 if row["bot"] == "alphabeta:depth=1" else -1
    assert [told.pilot.low, told.pilot.high] == pytest.approx([sign * limit for limit in limits], abs=1e-4)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (dict(b="carl"), "no bot 'carl'; did you mean 'carol'"),
        (dict(b="alice"), "are the same bot"),
        (dict(players=4), "no such board on which both alice and carol play"),
    ],
)
def test_bots_or_boards_that_are_not_there_are_refused(log, options, told):
    with pytest.raises(ArenaError, match=told):
        power(log, **({"a": "alice", "b": "carol"} | options))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (dict(difference=0.0), "difference = 0"),
        (dict(confidence=1.0), "confidence = 1"),
        (dict(confidence=1 - 1e-12), "must be from 0.5 to 0.9999"),
    ],
)
def test_options_out_of_range_are_refused(options, told):
    with pytest.raises(ArenaError, match=told):
        PowerOptions(**options)


def test_csv_json_and_markdown_have_the_columns_of_the_frame(log, capsys):
    expected = arena.power(log, "alice", "carol")
    command = ["power", str(log), "alice", "carol", "--format"]
    assert run_command([*command, "csv"]) == 0
    assert list(pd.read_csv(StringIO(capsys.readouterr().out))) == list(expected)
    assert run_command([*command, "json"]) == 0
    assert [row["blocks"] for row in json.loads(capsys.readouterr().out)] == expected["blocks"].tolist()
    assert run_command([*command, "md"]) == 0
    assert capsys.readouterr().out.count("\n") == 2 + len(expected)


def test_the_command_tells_blocks_matches_and_time(log, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command(["power", str(log), "alice", "carol", "--players", "2", "--difference", "0.05"]) == 0
    said = capsys.readouterr().out
    (told,) = power(log, "alice", "carol", players=2, options=PowerOptions(difference=0.05))
    assert max(map(len, said.splitlines())) <= 80
    words = " ".join(said.split())
    assert f"takes {told.blocks:,} blocks: {told.more:,} more, {2 * told.more:,} matches" in words


def test_open_ranks_are_neighbours_less_than_two_standard_errors_apart_with_what_they_would_take():
    board = pd.DataFrame(
        {"rank": [1, 2, 3, 4, 5], "bot": list("abcde"), "lead_over_next": [3.0, 1.4, 0.0, math.nan, math.nan]}
    )
    found = open_ranks(board)
    assert found[["rank", "upper", "lower"]].to_numpy().tolist() == [[2, "b", "c"], [3, "c", "d"]]
    assert found["times"].tolist() == [pytest.approx(((1.959964 + 0.841621) / 1.4) ** 2, rel=1e-5), math.inf]


def test_so_many_times_the_blocks_tell_a_pair_apart_with_the_power_that_was_asked_for():
    """A lead of 1.4 standard errors becomes, with so many times the blocks, one that exceeds 1.96 in 4 of 5 cases."""
    board = pd.DataFrame({"rank": [1, 2], "bot": ["a", "b"], "lead_over_next": [1.4, math.nan]})
    times = open_ranks(board)["times"].iloc[0]
    leads = np.random.default_rng(1).normal(1.4 * times**0.5, 1.0, 100_000)
    assert (leads > 1.959964).mean() == pytest.approx(0.8, abs=0.006)
