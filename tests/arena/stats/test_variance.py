"""Seats and luck: simulated worlds whose components are known, and cases that can be worked out by hand."""

import statistics

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from arena.core.errors import StoreError
from arena.stats.means import interval
from arena.stats.variance import VARIANCE_SOURCES, seat_advantage, variance_shares, variance_table
from tests.support.variance_worlds import KINDS, judge, true_shares, world


@pytest.mark.parametrize(
    ("players", "permutations", "spread"),
    [
        (2, False, (0.5, 0.2, 0.0, 0.4, 0.6)),
        (2, False, (0.5, 0.2, 0.3, 0.0, 0.2)),
        (3, False, (0.4, 0.3, 0.3, 0.4, 0.6)),
        (3, True, (0.4, 0.3, 0.3, 0.4, 0.6)),
        (4, False, (0.0, 0.2, 0.5, 0.0, 0.5)),
        (5, False, (0.6, 0.0, 0.2, 0.5, 0.8)),
    ],
)
def test_shares_of_a_known_world_are_recovered(players, permutations, spread):
    truth = true_shares(players, spread)
    worlds = [variance_shares(world(players, 120, spread, seed, permutations), players) for seed in range(12)]
    means = np.mean([found["value"] for found in worlds], axis=0)
    assert means == pytest.approx(truth, abs=0.01)
    assert all(found["value"].sum() == pytest.approx(1) for found in worlds)


def test_intervals_of_shares_cover_a_known_world_about_as_often_as_they_say():
    spread = (0.4, 0.3, 0.3, 0.4, 0.6)
    truth = true_shares(3, spread)
    covered = []
    for seed in range(80):
        found = variance_shares(world(3, 20, spread, seed), 3)
        covered.append((found["value_ci_low"] <= truth) & (truth <= found["value_ci_high"]))
    shares = np.mean(covered, axis=0)[[0, 1, 3, 4]]
    assert shares.min() > 0.88
    assert 0.92 < shares.mean() < 0.985


def test_intervals_of_seats_cover_the_truth():
    spread = (0.4, 0.3, 0.0, 0.4, 0.6)
    truth = 0.3 * np.linspace(-1, 1, 3)
    found = [seat_advantage(world(3, 2, spread, seed), 3) for seed in range(300)]
    covered = np.mean([(frame["value_ci_low"] <= truth) & (truth <= frame["value_ci_high"]) for frame in found])
    assert 0.92 < covered < 0.98


def test_a_seats_return_is_its_mean_over_blocks_with_students_interval():
    frame = world(2, 3, (0.4, 0.3, 0.0, 0.4, 0.6), 1)
    first = frame[frame["seat"] == 0].groupby("block")["return_"].mean().tolist()
    low, high = stats.t.interval(0.95, len(first) - 1, statistics.fmean(first), stats.sem(first))
    row = seat_advantage(frame, 2).loc[0]
    assert row[["value", "value_ci_low", "value_ci_high"]].tolist() == pytest.approx(
        [statistics.fmean(first), low, high]
    )


def test_a_seat_that_returned_the_same_in_every_block_is_not_certain_to_and_copies_of_blocks_tell_nothing():
    frame = world(2, 4, (0.4, 0.3, 0.0, 0.4, 0.6), 1)
    blocks = frame["block"].nunique()
    won = seat_advantage(frame.assign(return_=np.where(frame["seat"] == 0, 1.0, -1.0)), 2).set_index("part")
    low, high = interval(np.array([1.0]), np.array([0.0]), np.array([blocks]), 1.0)
    assert won.loc["seat 0", ["value_ci_low", "value_ci_high"]].tolist() == [low[0], high[0]] and low[0] < 1 == high[0]
    copied = pd.concat([frame, frame.assign(block=frame["block"] + blocks)], ignore_index=True)
    once, twice = (
        seat_advantage(each.assign(distinct_share=share), 2) for each, share in ((frame, 1.0), (copied, 0.5))
    )
    assert twice["value"].tolist() == pytest.approx(once["value"].tolist())
    spread = np.sqrt((blocks - 1) / (blocks - 0.5))  # the deviation, as of twice as many
    assert (twice["value_ci_high"] - twice["value"]).tolist() == pytest.approx(
        (spread * (once["value_ci_high"] - once["value"])).tolist()
    )


@pytest.mark.parametrize("players", [2, 3])
def test_what_bots_do_alike_in_every_block_is_no_luck(players):
    one = world(players, 1, (0.4, 0.3, 0.0, 0.0, 0.6), 2)
    count = one["block"].max() + 1
    frame = pd.concat([one.assign(block=one["block"] + count * number) for number in range(4)])
    found = variance_table(frame, players).set_index("part")["value"]
    assert found["dice and opening"] == found["rest"] == 0
    assert found[["bots", "seats", "bots by seat"]].sum() == pytest.approx(1, abs=1e-4)
    assert found["bots by seat"] > 0.05


def test_dice_alone_that_decide_for_a_seat_are_all_luck():
    rng = np.random.default_rng(3)
    frame = world(2, 40, (0.0, 0.0, 0.0, 0.0, 0.0), 0)
    lucky = rng.integers(0, 2, frame["block"].max() + 1)
    frame["return_"] = np.where(lucky[frame["block"]] == frame["seat"], 1.0, -1.0)
    found = variance_table(frame, 2).set_index("part")
    assert found.loc["dice and opening", "value"] > 0.97
    assert found.loc["rest", "value"] == 0


def test_the_order_of_matches_changes_nothing():
    frame = world(3, 6, (0.4, 0.3, 0.3, 0.4, 0.6), 4)
    matches = np.random.default_rng(5).permutation(len(frame) // 3)
    rows = (matches[:, None] * 3 + np.arange(3)).ravel()
    pd.testing.assert_frame_equal(variance_table(frame, 3), variance_table(frame.iloc[rows], 3))


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[1], KINDS[5]])
def test_small_shares_are_unbiased_and_their_intervals_hold_the_truth(kind):
    errors, held, _ = (np.array(each) for each in zip(*(judge(kind, seed) for seed in range(40)), strict=True))
    assert (np.abs(errors.mean(axis=0)) <= 4 * errors.std(axis=0) / 40**0.5 + 1e-9).all()
    assert errors.min(axis=0)[:4].max() < 0
    assert held.mean(axis=0).min() > 0.82


def test_intervals_of_shares_have_a_width_also_where_the_estimate_is_below_0():
    for kind in (KINDS[0], KINDS[5]):
        bots, players, rounds, spread = kind
        found = pd.concat(
            [variance_shares(world(players, rounds, spread, seed, bots=bots), players) for seed in range(20)]
        )
        below = found[found["value"] < 0]
        assert len(below) > 10
        assert (below["value_ci_low"] == 0).all()
        assert (below["value_ci_high"] > 0.005).all()


def test_two_seats_stand_out_exactly_when_the_seats_have_a_share():
    for kind in KINDS[1:3]:
        assert not any(judge(kind, seed)[2] for seed in range(60))


def test_without_two_blocks_of_the_same_bots_nothing_is_told_of_shares():
    frame = world(2, 1, (0.4, 0.3, 0.0, 0.4, 0.6), 5)
    assert variance_shares(frame, 2)["value"].isna().all()
    assert seat_advantage(frame, 2)["value_ci_low"].notna().all()
    empty = variance_table(frame[:0], 2)
    assert empty["part"].tolist() == ["seat 0", "seat 1", *VARIANCE_SOURCES]
    assert empty["value"].isna().all()
    level = frame.assign(return_=0.0)
    assert variance_shares(pd.concat([level, level.assign(block=level["block"] + 99)]), 2)["value"].isna().all()


def test_blocks_that_are_not_balanced_over_seats_are_refused():
    frame = world(2, 2, (0.4, 0.3, 0.0, 0.4, 0.6), 6)
    with pytest.raises(StoreError, match="equally often"):
        variance_table(frame[2:], 2)
    with pytest.raises(StoreError, match="equally often"):
        variance_table(frame.assign(bot=frame["bot"].to_numpy()[::-1], block=frame["block"] // 2), 2)
