"""Response curves: every parameter with numbers that varies among bots of one kind is a curve of ratings."""

from dataclasses import replace

import altair
import pytest

from arena import api
from arena.core.errors import ConfigError
from arena.results.pages.figures import figure
from arena.results.pages.figures.responses import grid_points
from arena.results.pages.report import board_results
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support.samples import entry, fill, schedule


def bot(name, **params):
    spec = f"{name}:" + ",".join(f"{key}={value}" for key, value in params.items())
    return replace(entry(spec), spec=spec, params={"depth": 1, "rollout": "random"} | params)


GRID = [bot("uct", exploration=c, simulations=count) for count in (1000, 100, 10) for c in (0.7, 1.4)]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "matches.db"
    fill(path, schedule([*GRID, entry("greedy"), bot("flat", depth=1), bot("flat", depth=3)], blocks=3))
    return path


def test_a_grid_has_a_curve_for_each_number_and_a_series_for_each_value_of_the_others():
    points = [*grid_points(GRID)]
    assert {(kind, name) for kind, name, *_ in points} == {("uct", "simulations"), ("uct", "exploration")}
    curve = [(value, others) for _, name, value, others, _ in points if name == "simulations"]
    assert sorted(curve) == [(n, f"exploration={c}") for n in (10.0, 100.0, 1000.0) for c in (0.7, 1.4)]
    assert [value for value, others in curve if others == "exploration=0.7"] == [10.0, 100.0, 1000.0]


def test_texts_and_truth_values_are_no_curves_but_tell_series_apart():
    points = [*grid_points([bot("a", rollout=r, depth=d) for r in ("random", "heuristic") for d in (1, 2)])]
    assert {(name, others) for _, name, _, others, _ in points} == {
        ("depth", "rollout=random"),
        ("depth", "rollout=heuristic"),
    }
    assert not [*grid_points([bot("a", solve=solve) for solve in (True, False)])]


def test_the_figure_has_the_ratings_of_the_leaderboard_and_quotes_the_ends(log):
    with Store.open(log) as store:
        results = board_results(Tournament(store), 0)
        found = figure(results, "responses")
    altair.Chart.from_dict(found.spec, validate=True)
    rated = results.leaderboard.set_index("bot")
    for row in found.table.itertuples():
        assert (row.rating, row.rating_ci_low) == tuple(rated.loc[row.bot, ["rating", "rating_ci_low"]])
    assert set(found.table["kind"]) == {"uct", "flat"}
    least = rated.loc["uct:exploration=0.7,simulations=10"]
    assert f"uct over simulations, with exploration=0.7: rating {least['rating']:.2f}" in found.sentence
    assert " at 10, rating " in found.sentence and " at 1000." in found.sentence


def test_bots_that_differ_in_two_parameters_at_once_are_no_curve(tmp_path):
    bots = [bot("uct", exploration=1.5, simulations=100), bot("uct", exploration=2.5, simulations=200)]
    fill(tmp_path / "matches.db", schedule(bots))
    with pytest.raises(ConfigError, match="responses: there is nothing to draw"):
        api.plot(tmp_path / "matches.db", "responses", out=tmp_path)


def test_curves_are_plotted_where_bots_form_a_grid_and_nowhere_else(log, tmp_path):
    (path,) = api.plot(log, "responses", out=tmp_path)
    assert path.name == "epicycle_2p_responses.svg" and b"simulations of uct, logarithmic" in path.read_bytes()
    fill(tmp_path / "other.db", schedule(["alice", "bob"]))
    with pytest.raises(ConfigError, match="responses: there is nothing to draw on this board"):
        api.plot(tmp_path / "other.db", "responses", out=tmp_path)
