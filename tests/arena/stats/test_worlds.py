"""Ratings recover the truth of simulated worlds; in full by `make stats`."""

import itertools

import numpy as np
import pandas as pd
import pytest

from tests.support import worlds
from tests.support.worlds import MARGINS, PLAYERS, World, broken, judge, mixture, ranks_of, summary

ERRORS = 4
"""Monte-Carlo standard errors that the bounds allow for."""


@pytest.fixture(scope="module")
def judged():
    settings = itertools.product(PLAYERS, (8, 25), MARGINS)
    return pd.DataFrame([judge(World(seed, *each, 0.15)) for seed, each in enumerate(settings)])


@pytest.mark.parametrize(("what", "low", "high"), [("interval", 93, 97), ("range", 93, 100)])
def test_intervals_and_ranges_of_ranks_hold_the_truth_as_often_as_they_say(judged, what, low, high):
    found = summary(judged)
    slack = ERRORS * found[f"{what} +-"]
    assert slack < 10
    assert low - slack <= found[what] <= high + slack


def test_gaps_and_order_are_recovered(judged):
    found = summary(judged)
    error = found["slope +-"]
    assert error < 0.05
    assert found["slope"] == pytest.approx(1, abs=0.05 + ERRORS * error)
    assert found["order"] > 0.8 - ERRORS * judged["order"].std() / len(judged) ** 0.5
    assert found["width"] < 90


def test_the_mixture_has_every_setting_once():
    assert len({(world.players, world.blocks, world.margin, world.seat) for world in mixture()}) == 400
    assert len({world.seed for world in mixture()}) == 400


def test_seats_are_worth_what_random_play_shows_and_more():
    """Midgard's first seat has a mean return of 0.144 under random play, Epicycle's of three one of -0.153."""
    rng = np.random.default_rng(1)
    for players, measured in ((2, 0.144), (3, 0.153)):
        worth = np.linspace(worlds.SEATS[-1], -worlds.SEATS[-1], players)
        ranks = ranks_of(rng.normal(worth, 1, (40_000, players)), 0)
        assert 1 - 2 * ranks[:, 0].mean() / (players - 1) > measured


def test_neighbours_within_the_margin_tie_along_a_chain():
    performance = np.array([[0.0, 0.9, 1.8, 5.0], [3.0, 2.0, 1.0, 0.0]])
    assert ranks_of(performance, 1.0).tolist() == [[1, 1, 1, 0], [0, 0, 0, 0]]
    assert ranks_of(performance, 0.95).tolist() == [[1, 1, 1, 0], [0, 1, 2, 3]]
    assert ranks_of(performance, 0.5).tolist() == [[3, 2, 1, 0], [0, 1, 2, 3]]


def test_a_broken_promise_is_told(monkeypatch, capsys):
    good = {
        "players": 2,
        "blocks": 150,
        "order": 1.0,
        "along": 1.0,
        "square": 1.0,
        "interval": 0.95,
        "range": 0.99,
        "margin": 0.1,
    }
    frame = pd.DataFrame([{**good, "ranks": 0.5}] * 4)
    assert broken(frame) == []
    for column, value in (("interval", 0.92), ("interval", 0.98), ("range", 0.9), ("along", 0.9), ("order", 0.9)):
        assert len(broken(frame.assign(**{column: value}))) == 1
    monkeypatch.setattr(worlds, "mixture", lambda: [World(1, 2, 5, 0.1, 0.1)] * 2)
    monkeypatch.setattr(worlds, "judge", lambda world: {**good, "ranks": 0.5, "interval": 0.5})
    assert worlds.main() == 1
    assert "BROKEN: 95 % intervals cover 93 to 97 %" in capsys.readouterr().out
