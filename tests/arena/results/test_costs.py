"""Parameters of bots and what their moves cost, as columns of tables."""

from dataclasses import replace

import pandas as pd
import pytest

from arena import api
from arena.core.errors import ConfigError
from arena.match.estimates import pack_estimates
from arena.results.leaderboards import leaderboards
from arena.results.parameters import parameter_columns
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support.samples import all_matches, begin, entry, finished, row, schedule

UCT = {f"uct:simulations={count}": {"simulations": count, "solve": False, "rollout": "random"} for count in (100, 400)}
CLOCKS = "0,-1,5000000,4000000,0 0,0,1000000,500000,0 1,1,2000000,1000000,0 0,2,3000000,1500000,0"
TOLD = [(0, (), (), (1, 60, 2, 40), 90), (2, (), (), (1, 20), 30)]


def entries():
    grid = [replace(entry(spec), spec=spec, params=params) for spec, params in UCT.items()]
    return [*grid, replace(entry("greedy"), params={})]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Every match took the same time, the bot in seat 0 chose twice and told of its search, that in seat 1 once."""
    path, plan = tmp_path_factory.mktemp("log") / "matches.db", schedule(entries(), blocks=2)
    told = pack_estimates(TOLD)
    results = [finished(spec, row(spec.lineup, [0, 1], clocks=CLOCKS, estimates=told)) for spec in all_matches(plan)]
    with Store.create(path) as store:
        store.add(plan, results, begin(store, plan))
    return path


def test_a_parameter_that_a_spec_names_is_a_column_with_the_values_of_all_bots_that_have_it():
    bots = [*entries(), replace(entry("flat"), spec="flat:playouts=2.5", params={"playouts": 2.5, "solve": True})]
    found = pd.DataFrame(parameter_columns(bots))
    assert list(found) == ["param_playouts", "param_simulations"]
    assert found["param_simulations"].dtype == "Int64" and found["param_playouts"].dtype == "Float64"
    assert found["param_simulations"].fillna(-1).tolist() == [100, 400, -1, -1]


def test_values_of_different_kinds_are_a_column_of_texts():
    one, other = (
        replace(entry(f"b:x={text}"), spec=f"b:x={text}", params={"x": value})
        for text, value in (("true", True), ("3", 3))
    )
    assert parameter_columns([one, other])["param_x"].tolist() == ["true", "3"]
    assert parameter_columns([one])["param_x"].dtype == "boolean"


@pytest.mark.parametrize("value", [2**63, 2**64 - 1, -(2**63) - 1])
def test_a_whole_number_that_takes_more_than_64_bits_leaves_its_column_readable(value):
    one = replace(entry("uct:simulations=100"), spec="uct:simulations=100", params={"simulations": 100})
    other = replace(entry("mallory"), params={"simulations": value})
    assert parameter_columns([one, other])["param_simulations"].tolist() == ["100", str(value)]


def test_leaderboards_have_the_parameters_of_their_bots(log):
    with Tournament.open(log) as tournament:
        board = leaderboards(tournament)[0]
    assert board.attrs["ratings"] is not None
    found = board.set_index("bot")["param_simulations"]
    assert found["uct:simulations=400"] == 400 and pd.isna(found["greedy"])


def test_costs_are_means_over_the_moves_that_a_bot_chose(log):
    frame = api.costs(log)["epicycle", 2].set_index("bot")
    assert frame["moves"].tolist() == [12, 12, 12]  # in 4 matches in each seat
    assert frame["seconds_per_move"].tolist() == [2.0] * 3  # 1 and 3 in seat 0, 2 in seat 1
    assert frame["cpu_seconds_per_move"].tolist() == [1.0] * 3
    assert frame["seconds_per_move_p95"].tolist() == [3.0] * 3
    assert frame["visits_per_move"].tolist() == [60.0] * 3  # 100 and 20
    assert frame["search_steps_per_move"].tolist() == [60.0] * 3  # 90 and 30
    assert frame["param_simulations"].fillna(0).tolist() == [100, 400, 0]


def test_matches_have_the_costs_of_their_seats_where_they_are_asked_for(log):
    plain, frame = api.matches(log, "epicycle", 2), api.matches(log, "epicycle", 2, costs=True)
    assert [*frame] == [*plain, "moves", "seconds", "cpu_seconds", "search_steps", "visits"]
    first, second = (frame[frame["seat"] == seat] for seat in (0, 1))
    assert set(first["moves"]) == {2} and set(first["seconds"]) == {4.0} and set(first["visits"]) == {60.0}
    assert set(first["search_steps"]) == {60.0} and second["search_steps"].isna().all()
    assert set(second["cpu_seconds"]) == {1.0} and second["visits"].isna().all()
    simulations = dict(zip(frame["bot"], frame["param_simulations"], strict=True))
    assert simulations["uct:simulations=100"] == 100 and pd.isna(simulations["greedy"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_exported_matches_hold_times_only_if_they_are_named(log, tmp_path, kind):
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[kind]
    (path, *_) = api.export(log, out=tmp_path, what=["matches"], formats=[kind])
    assert "param_simulations" in read(path) and "seconds" not in read(path)
    columns = ["bot", "param_simulations", "moves", "seconds", "search_steps", "visits"]
    (path, *_) = api.export(log, out=tmp_path, what=["matches"], formats=[kind], columns=columns)
    frame = read(path)
    assert [*frame] == columns and set(frame["seconds"]) == {2.0, 4.0}
    with pytest.raises(ConfigError, match="matches have no column 'param_depth'"):
        api.export(log, out=tmp_path, what=["matches"], formats=[kind], columns=["param_depth"])


def test_a_match_without_times_has_no_costs(tmp_path):
    path, plan = tmp_path / "matches.db", schedule(["alice", "bob"], blocks=1)
    with Store.create(path) as store:
        store.add(
            plan,
            [finished(each, row(each.lineup, [0, 1], clocks="")) for each in all_matches(plan)],
            begin(store, plan),
        )
    assert api.matches(path, "epicycle", 2, costs=True)["seconds"].isna().all()
    frame = api.costs(path)["epicycle", 2]
    assert frame["moves"].tolist() == [0, 0] and frame["seconds_per_move"].isna().all()
