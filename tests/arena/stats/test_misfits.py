"""Pairs that ratings do not explain: as rare as chance has it where ratings hold, found where they do not."""

import numpy as np
import pandas as pd
import pytest

from arena.results.crosstable import crosstable
from arena.stats.misfits import MIN_RELEVANT_DIFFERENCE, ahead_and_behind
from arena.stats.online_trueskill import margin_of
from tests.support.misfit_worlds import CIRCLES, HELD, RARE, World, in_circle


def test_chances_to_be_ahead_are_the_shares_of_performances_drawn_from_the_model():
    rng = np.random.default_rng(1)
    gap = 3.0 + rng.normal(0, 25 / 6, 400_000) - rng.normal(0, 25 / 6, 400_000)
    ahead, behind = ahead_and_behind(3.0, 1.5)
    assert (ahead, behind) == pytest.approx(((gap > 1.5).mean(), (gap < -1.5).mean()), abs=0.005)
    assert ahead_and_behind(-3.0, 1.5) == pytest.approx((behind, ahead))


def test_the_draw_margin_lets_equal_bots_tie_as_often_as_told():
    gap = np.random.default_rng(1).normal(0, np.sqrt(2) * 25 / 6, 400_000)
    assert (np.abs(gap) < margin_of(0.3)).mean() == pytest.approx(0.3, abs=0.004)


@pytest.mark.parametrize(
    "name", ["few blocks", "fewer still", "many won always", "seats that take turns in luck", "three players"]
)
def test_where_ratings_hold_surprising_pairs_are_as_rare_as_due_and_boards_with_a_misfit_too(name):
    world = HELD[name]
    boards = [crosstable(world.matches(seed), world.players) for seed in range(30)]
    z = pd.concat([board.pairs for board in boards])["z"]
    assert (z.abs() > RARE).mean() < 0.08
    assert 0.5 < z.std() < 1.15
    assert sum(len(board.misfits) > 0 for board in boards) <= 4


@pytest.mark.parametrize("name", ["three bots, 20 blocks", "three bots in circles among eight, 40 blocks"])
def test_bots_that_beat_each_other_in_a_circle_are_found(name):
    found = [crosstable(CIRCLES[name].matches(seed), 2).misfits for seed in range(4)]
    assert np.mean([in_circle(misfits).sum() for misfits in found]) >= 2
    assert all((misfits["p_value"] <= 0.05).all() for misfits in found)


def always_won(bots, blocks):
    """The earlier bot wins every match, but for the last two, who are even."""
    frame = World(bots, 2, blocks, 1.0).matches(0)
    entries = frame["entry"].to_numpy().reshape(-1, 2)
    ranks = (entries > entries[:, ::-1]).astype(int)
    even = entries.min(axis=1) == bots - 2
    ranks[even] = np.arange(even.sum())[:, None] // 2 % 2 ^ [0, 1]
    return frame.assign(rank=ranks.ravel(), return_=1.0 - 2 * ranks.ravel())


@pytest.mark.parametrize("blocks", [3, 57, 500])
def test_matches_that_were_all_won_as_predicted_are_no_misfits_however_many(blocks):
    found = crosstable(always_won(5, blocks), 2)
    sure = found.pairs[found.pairs["predicted"] > 0.95]
    assert len(sure) >= 5
    assert (sure["lead"] == 1).all()
    assert (sure["z"].abs() < RARE).all()
    assert found.misfits.empty


def test_losses_of_one_who_should_always_win_surprise_by_their_chance():
    frame = always_won(5, 20)
    entries = frame["entry"].to_numpy().reshape(-1, 2)
    of_pair = np.flatnonzero((np.sort(entries, axis=1) == [0, 4]).all(axis=1))
    z = []
    for losses in (1, 12):
        ranks = frame["rank"].to_numpy().reshape(-1, 2).copy()
        ranks[of_pair[:losses]] = 1 - ranks[of_pair[:losses]]
        found = crosstable(frame.assign(rank=ranks.ravel(), return_=1.0 - 2 * ranks.ravel()), 2)
        pair = found.pairs[(found.pairs["bot"] == "bot 0") & (found.pairs["opponent"] == "bot 4")]
        z.append(pair["z"].item())
    assert -6 < z[0] < -1 > z[1] + 3
    assert ["bot 0", "bot 4"] in found.misfits[["bot", "opponent"]].to_numpy().tolist()


def test_what_hardly_differs_from_the_prediction_is_no_misfit_however_sure():
    found = crosstable(World(4, 2, 4000, 1.0, seat=1.0).matches(1), 2)
    apart = (found.pairs["lead"] - found.pairs["predicted"]).abs()
    assert apart.max() < MIN_RELEVANT_DIFFERENCE
    assert found.misfits.empty


def test_bots_that_met_once_or_never_varied_or_are_alone_with_one_other_are_no_misfits():
    for world in (World(3, 2, 1, 1.0), World(2, 2, 8, 3.0), World(2, 2, 8, 0.0)):
        found = crosstable(world.matches(3), 2)
        assert found.pairs["z"].notna().all()
        assert (found.pairs["z"].abs() < RARE).all()
        assert found.misfits.empty
