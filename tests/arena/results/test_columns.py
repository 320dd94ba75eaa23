"""The table of columns: every frame has columns of its table alone, and every column of a table occurs."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena.cli.crosstable import view_of
from arena.results import power
from arena.results.adjudication import BoardAdjudication, adjudication_frame
from arena.results.columns import LEADERBOARD, TABLES, as_text, format_of
from arena.results.costs import board_costs, with_costs
from arena.results.crosstable import crosstable
from arena.results.diff import diff
from arena.results.leaderboards import faults, leaderboard
from arena.results.match_files import seat_frames
from arena.results.matches import board_matches
from arena.results.paper import paper_table
from arena.results.parameters import with_parameters
from arena.stats.variance import variance_table
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support.samples import entry, fill, schedule

PLAYERS = 3


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """A frame of every table, from a log with scores, forfeits and a disqualified bot."""
    path = tmp_path_factory.mktemp("log") / "matches.db"
    of_alice = replace(entry("alice"), spec="alice:boldness=0.5", params={"boldness": 0.5, "depth": 2})
    plan = schedule([of_alice, "bob", "carol"], players=(PLAYERS,), blocks=12)
    fill(path, plan)
    with Store.open(path) as store:
        matches = board_matches(Tournament(store, plan), 0)
        met = crosstable(matches, PLAYERS)
        return {
            "leaderboard": with_parameters(
                leaderboard(Tournament(store, plan).counted(0), {0: 5}, plackett_luce=True), plan, 0
            ),
            "utilities": leaderboard(Tournament(store, plan).counted(0)._replace(utilities=True)),
            "crosstable": view_of(met, None, False, True).frame,
            "misfits": met.misfits,
            "cycles": met.cycles,
            "variance": variance_table(matches, PLAYERS),
            "power": power.power_frame(power.power(path, "alice", "bob")),
            "diff": diff(path, path)[0].frame,
            "faults": faults(Tournament(store, plan)),
            "matches": next(seat_frames(Tournament(store, plan))),
            "board_matches": with_costs(matches, Tournament(store, plan), 0),
            "costs": board_costs(Tournament(store, plan), 0),
            "adjudication": adjudication_frame({("epicycle", 2): BoardAdjudication(blocks=[(4, 1), (2, 0)])}),
            "paper": paper_table(Tournament(store, plan)),
        }


@pytest.mark.parametrize("name", TABLES)
def test_a_frame_has_the_columns_of_its_table_in_their_order(frames, name):
    found = ["param_*" if column.startswith("param_") else column for column in frames[name]]
    if name == "leaderboard":
        assert [column for column in found if column.startswith("return_seat_")] == [
            f"return_seat_{seat}" for seat in range(PLAYERS)
        ]
        found = [column for column in found if column not in ("return_seat_1", "return_seat_2")]
        found.insert(found.index("mean_margin") + 1, "mean_utility")  # a board has one of the two
    assert found == TABLES[name].names


def test_scores_that_are_utilities_are_averaged_as_they_are(frames):
    board = frames["utilities"].set_index("bot")
    means = frames["board_matches"].groupby("bot")["score"].mean()
    assert "mean_margin" not in board
    assert board["mean_utility"].to_dict() == pytest.approx(means.to_dict(), abs=1e-4)


def test_a_column_has_one_format_in_all_tables():
    columns = sorted((column for table in TABLES.values() for column in table.columns), key=lambda each: each.name)
    for name, same in itertools.groupby(columns, key=lambda each: each.name):
        assert len({column.format for column in same}) == 1, name


def test_every_column_is_described_and_its_interval_is_named_after_it():
    for table in TABLES.values():
        for column in table.columns:
            assert column.description
            for end in ("_ci_low", "_ci_high"):
                if column.name.endswith(end):
                    assert column.name.removesuffix(end) in table.names
        assert len(set(table.names)) == len(table.names)


def test_columns_described_alike_share_a_row_of_the_documentation():
    lines = LEADERBOARD.documentation().splitlines()
    assert lines[0] == "| column | unit | meaning |"
    assert any(
        line.startswith("| `rating_ci_low`, `rating_ci_high` | TrueSkill points | 95 % interval") for line in lines
    )
    assert any(line.startswith("| `return_seat_0`, ... | -1 to 1 |") for line in lines)


def test_a_column_that_is_in_no_table_is_refused(frames):
    with pytest.raises(KeyError, match="luck"):
        LEADERBOARD.arrange(frames["leaderboard"].assign(luck=1))


def test_cells_are_shown_in_the_format_of_their_column():
    assert as_text(1234, format_of("matches")) == "1,234"
    assert as_text(0.5, format_of("return_seat_3")) == "+0.500"
    assert as_text(np.nan, "+.3f") == as_text(None) == as_text(pd.NA, ",") == ""
    assert (as_text(True), as_text("a b", "+.3f"), as_text(1.23456)) == ("True", "a b", "1.235")


@pytest.mark.parametrize(
    ("value", "form", "text"), [(-0.001, "+.2f", "+0.00"), (-0.0004, "", "0.000"), (-0.2, "+.1f", "-0.2")]
)
def test_what_is_rounded_to_zero_has_no_minus_sign(value, form, text):
    assert as_text(value, form) == as_text(np.float64(value), form) == text


def test_an_interval_is_shown_by_its_half_or_by_its_ends_where_it_is_lopsided():
    frame = pd.DataFrame({"mean_return": [0.5, 0.5, -0.98, 0.1]})
    frame["mean_return_ci_low"], frame["mean_return_ci_high"] = [0.4, -1.0, -1.0, None], [0.6, 1.0, -0.9, None]
    assert LEADERBOARD.cells(frame)["return ± 95 %"] == [
        "+0.500 ± 0.100",
        "+0.500 [-1.00, +1.00]",
        "-0.980 [-1.00, -0.90]",
        "+0.100 ± ?",
    ]


def test_exported_matches_have_places_from_1_where_logs_have_ranks_from_0(frames):
    told, logged = frames["matches"], frames["board_matches"]
    assert set(told["place"]) == set(range(1, PLAYERS + 1))
    key = ["round", "lineup", "seat", "bot"]
    both = told.merge(logged, on=key, how="inner")
    assert len(both) == len(logged) and (both["place"] == both["rank"] + 1).all()
