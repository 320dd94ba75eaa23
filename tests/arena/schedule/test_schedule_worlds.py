"""The comparison of kinds of schedules in simulated worlds, which `make stats` plays in full."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.support.schedule_worlds import SIZES, at_matches, broken, judge, matches_until, summary, trials


def test_matches_are_told_between_two_sizes_on_a_logarithmic_scale():
    matches, share = np.array([100.0, 400.0, 1600.0]), np.array([0.5, 0.9, 1.0])
    assert matches_until(matches, share, 0.7) == pytest.approx(200)
    assert matches_until(matches, share, 0.4) == 100
    assert matches_until(matches, share - 0.2, 0.95) == np.inf
    assert at_matches(matches, share, 800) == pytest.approx(0.95)


@pytest.mark.parametrize("players", [2, 5])
def test_every_kind_plays_a_world_again_in_the_same_way(players):
    for trial in trials(players):
        first, again = (judge(trial, players, trial.blocks, 3) for _ in range(2))
        assert first == again
        assert first["matches"] > 50
        assert 0 <= first["wrong"] < 0.7


def test_a_knockout_that_orders_bots_better_than_a_round_robin_breaks_what_the_page_says():
    def found(wrong):
        rows = [
            {"players": 2, "schedule": name, "blocks": size, "matches": 100 * 3**size, "best": 0.97, "wrong": each}
            for name, each in wrong.items()
            for size in range(SIZES)
        ]
        return summary(pd.DataFrame(rows))

    assert broken(found({"round robin": 0.05, "swiss": 0.04, "knockout": 0.08})) == []
    assert broken(found({"round robin": 0.05, "knockout": 0.04})) == ["knockout: orders bots better than a round robin"]
