"""Pairs tested at once: equal bots are rarely called different, whatever the number of pairs."""

import numpy as np
import pytest

from arena.results.crosstable import crosstable, of_bot
from arena.stats.multiple import holm, p_value_digits
from tests.support.family_worlds import EQUAL, LEAST_POWER, judge
from tests.support.misfit_worlds import World


@pytest.mark.parametrize("name", ["8 bots, 40 blocks, 4 of them better", "8 bots, 10 blocks, blocks alike"])
def test_equal_bots_are_called_different_on_few_boards_though_pairs_alone_often_are(name):
    judged = [judge(EQUAL[name], seed) for seed in range(60)]
    assert np.mean([each.together for each in judged]) <= 0.15
    assert np.mean([each.of_one for each in judged]) <= 0.15
    assert np.mean([each.alone for each in judged]) > 0.25
    if EQUAL[name].better:
        assert np.mean([each.power for each in judged]) >= LEAST_POWER


def test_a_crosstable_adjusts_for_all_pairs_and_that_of_a_bot_for_its_own():
    found = crosstable(World(5, 2, 20, 0.5).matches(4), 2)
    p = found.pairs["p_value"].to_numpy()
    assert found.pairs["p_adjusted"].tolist() == pytest.approx(holm(p).tolist(), rel=1e-3)
    assert found.apart == (found.pairs["p_adjusted"] <= 0.05).sum() > 0
    mine = of_bot(found, found.bots[2]).pairs
    assert len(mine) == 4
    assert mine["p_adjusted"].tolist() == pytest.approx(holm(mine["p_value"].to_numpy()).tolist(), rel=1e-3)
    assert (mine["p_adjusted"] <= 1).all() and (mine["p_adjusted"] >= mine["p_value"]).all()


def test_small_p_values_keep_their_digits():
    assert p_value_digits(np.array([1.23456e-9, 0.5, 1.0])).tolist() == [1.235e-9, 0.5, 1.0]
