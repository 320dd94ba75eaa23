"""Figures say what the log says: tables are found again by other ways, sentences quote them, labels fit."""

import re
from dataclasses import replace

import altair
import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from arena.core.limits import Limits
from arena.results.leaderboards import leaderboards
from arena.results.matches import board_matches
from arena.results.pages import figures
from arena.results.pages.figures.matches import clocks
from arena.results.pages.figures.ratings import crosstable
from arena.results.pages.figures.returns import ALL_BOTS
from arena.results.pages.report import board_results, report_page
from arena.results.pages.templates import MAX_TABLE_ROWS, table
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support.faulty import fill_winning
from tests.support.faulty import sample as falling
from tests.support.samples import all_matches, begin, entry, fill, finished, resolved, row, schedule

BOTS = 80
HOSTILE = "</script><svg onload=alert(1)>' && x" + "y" * 300
NAMES = ["alice", "bob", "carol", entry("dave", label="Dave & Sons, formerly of the long road")]


def page_of(log, plan) -> str:
    with Store.open(log) as store:
        return report_page(Tournament(store, plan=resolved(plan))).decode()


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return a plan, its board's results and its figures, on a board of three players with all kinds of results."""
    plan, log = schedule(NAMES, (3,), blocks=9), tmp_path_factory.mktemp("log") / "matches.db"
    fill(log, plan)
    with Store.open(log) as store:
        board = board_results(Tournament(store, plan), 0)
        return plan, board, figures.figures(board), board_matches(Tournament(store, plan), 0)


def test_every_figure_is_drawn_and_is_valid_vega_lite(drawn):
    _, _, found, _ = drawn
    # made-up bots are no grid and are not tuned, and made-up matches have no clocks
    without = {"responses", "clocks", "tuning", "tuning_lead"}
    assert list(found) == [name for name in figures.FIGURES if name not in without]
    for figure in found.values():
        assert figure.sentence.endswith(".") and not figure.table.empty
        altair.Chart.from_dict(figure.spec, validate=True)


def test_returns_by_seat_are_means_over_blocks_with_students_interval(drawn):
    _, _, found, matches = drawn
    table = found["seats"].table
    for bot, seat in (("alice", 0), ("carol", 2), (ALL_BOTS, 1)):
        rows = matches[matches["seat"] == seat]
        rows = rows if bot == ALL_BOTS else rows[rows["bot"] == bot]
        means = rows.groupby("block")["return_"].mean()
        (shown,) = table[(table["bot"] == bot) & (table["seat"] == f"seat {seat}")].to_dict("records")
        half = t.ppf(0.975, len(means) - 1) * means.std() / np.sqrt(len(means))
        assert shown["return"] == pytest.approx(means.mean(), abs=1e-4)
        assert shown["return_ci_high"] == pytest.approx(min(means.mean() + half, 1), abs=1e-4)


def test_lengths_and_endings_count_the_matches_of_complete_blocks(drawn):
    _, _, found, matches = drawn
    played = matches[matches["seat"] == 0]
    assert dict(found["endings"].table.to_numpy().tolist()) == played["ended"].value_counts().to_dict()
    assert found["lengths"].table.to_numpy().tolist() == [[3, len(played)]]
    assert "Half of 108 matches took 3 plies or fewer" in found["lengths"].sentence


def test_forfeits_are_counted_by_bot_and_cause(drawn):
    _, _, found, matches = drawn
    expected = matches.dropna(subset="cause").groupby(["bot", "cause"]).size().to_dict()
    assert found["forfeits"].table.set_index(["bot", "cause"])["matches"].to_dict() == expected
    assert found["forfeits"].sentence.startswith(f"{sum(expected.values())} forfeits by 4 bots; most by ")


def test_convergence_ends_with_the_leaderboard_and_begins_with_fewer_blocks(drawn):
    _, board, found, _ = drawn
    table = found["convergence"].table
    last = table[table["blocks"] == 36].set_index("bot")
    shown = board.leaderboard.set_index("bot")[["rating", "rating_ci_low", "rating_ci_high"]]
    pd.testing.assert_frame_equal(last[shown.columns].sort_index(), shown.sort_index())
    assert sorted(set(table["blocks"])) == [8, 16, 36]


def test_the_ratings_of_the_first_blocks_are_those_of_a_log_that_ends_there(tmp_path):
    long, short = (schedule(["alice", "bob"], blocks=count) for count in (4, 2))
    fill(tmp_path / "long.db", long)
    with Store.open(tmp_path / "long.db") as store:
        table = figures.figures(board_results(Tournament(store, long), 0))["convergence"].table
        first = leaderboards(Tournament(store, short))[0].set_index("bot")["rating"]
    assert table[table["blocks"] == 2].set_index("bot")["rating"].to_dict() == first.to_dict()


def test_sentences_name_the_first_bot_and_quote_its_interval(drawn):
    _, board, found, _ = drawn
    first = board.leaderboard.iloc[0]
    assert found["ratings"].sentence.startswith(f"{first['bot']} is first with {first['rating']:.1f} points")
    assert f"{first['rating_ci_low']:.1f} to {first['rating_ci_high']:.1f}" in found["ratings"].sentence


def test_a_long_label_is_cut_in_a_figure_with_the_whole_on_hover(drawn, tmp_path):
    plan, *_ = drawn
    fill(tmp_path / "log.db", plan)
    page = page_of(tmp_path / "log.db", plan)
    whole, cut = "Dave &amp; Sons, formerly of the long road", "Dave &amp; Sons,…long road"
    assert f"<title>{whole}</title>{cut}</text>" in page and f">{cut}</text>" not in page.replace("</title>", "")


def test_strangers_names_are_text_wherever_they_stand(tmp_path):
    plan = schedule([entry("alice", label=HOSTILE), "bob", "carol"], blocks=4)
    fill(tmp_path / "log.db", plan)
    page = page_of(tmp_path / "log.db", plan)
    assert "onload=alert" not in re.sub(r"&lt;[^<>]*", "", page) and page.count("<script") == 1


def test_a_log_without_matches_has_a_page(tmp_path):
    plan = schedule(["alice", "bob"], (2, 3))
    fill(tmp_path / "log.db", plan, leave_out=range(100))
    page = page_of(tmp_path / "log.db", plan)
    assert page.count("No complete block yet.") == 2 and "<figure" not in page


def test_one_block_is_shown_without_intervals(tmp_path):
    plan = schedule(["alice", "bob"], blocks=1)
    fill(tmp_path / "log.db", plan)
    page = page_of(tmp_path / "log.db", plan)
    assert "below two blocks there are no intervals" in page and "1 complete block," in page and "NaN" not in page


def test_many_bots_have_a_heat_map_without_numbers_and_lines_of_the_best(tmp_path):
    plan = schedule([f"bot {number:02}" for number in range(20)], blocks=2)
    fill(tmp_path / "log.db", plan)
    with Store.open(tmp_path / "log.db") as store:
        board = board_results(Tournament(store, plan), 0)
    heat = crosstable(board)
    assert "text" not in str(heat.spec["encoding"]) and heat.is_wide is False
    assert len(heat.table) == 190
    plan = schedule([f"bot {number:02}" for number in range(30)], blocks=1)
    fill(tmp_path / "more.db", plan)
    with Store.open(tmp_path / "more.db") as store:
        assert crosstable(board_results(Tournament(store, plan), 0)).is_wide


def test_long_tables_are_cut_and_say_so():
    shown = table(pd.DataFrame({"bot": ["a"] * (MAX_TABLE_ROWS + 7), "matches": 1}))
    assert shown.count("<tr>") == MAX_TABLE_ROWS + 1 and "7 more rows" in shown


def test_a_disqualified_bot_is_called_so(tmp_path):
    plan, forfeits = falling(2)
    fill_winning(tmp_path / "log.db", plan, forfeits)
    page = page_of(tmp_path / "log.db", plan)
    assert ">disqualified</text>" in page and "disqualified after round" in page


def test_the_clock_of_a_match_is_a_share_of_what_it_allows(drawn):
    _, board, _, _ = drawn
    calls = pd.DataFrame(
        [(0, 0, "alice", 1.0), (0, 0, "alice", 3.0), (0, 1, "bob", 0.5), (1, 1, "alice", 1.0)],
        columns=["match", "seat", "bot", "seconds"],
    )
    limits = Limits(seconds_per_move=6.0, seconds_per_match=7.0, increment=0.5)
    figure = clocks(replace(board, calls=calls, limits=limits))
    shown = figure.table.set_index("bot").loc["alice"]
    assert (shown["moves"], shown["ms_median"], shown["move_limit_used"]) == (3, 1000, 0.5)
    assert (shown["clock_used_most"], shown["clock_used"]) == (0.5, pytest.approx((4 / 8 + 1 / 7.5) / 2, abs=1e-4))
    assert "most of a match's clock was used by alice, 50 %" in figure.sentence


def test_contestants_that_are_the_same_bot_have_their_own_times(tmp_path):
    plan = schedule([entry("a", "same@1"), entry("b", "same@1"), "c"], blocks=2)
    with Store.create(tmp_path / "log.db") as store:
        rows = [finished(spec, row(spec.lineup, [0, 1], clocks="0,1,9,9,0 1,2,9,9,0")) for spec in all_matches(plan)]
        store.add(plan, rows, begin(store, plan))
        assert set(clocks(board_results(Tournament(store, plan), 0)).table["bot"]) == {"a", "b", "c"}


def test_a_board_of_eighty_bots_has_all_its_figures(tmp_path):
    plan = schedule([f"bot {number:02}" for number in range(BOTS)], blocks=1)
    rng = np.random.default_rng(1)
    with Store.create(tmp_path / "matches.db") as store:
        played = [finished(spec, row(spec.lineup, rng.permutation(2).tolist())) for spec in all_matches(plan)]
        store.add(plan, played, begin(store, plan))
        drawn = figures.figures(board_results(Tournament(store, plan), 0))
    cells = next(iter(drawn["crosstable"].spec["datasets"].values()))
    assert len(cells) == BOTS * (BOTS - 1) and len(drawn["ratings"].table) == BOTS
    assert "max_rows" not in altair.data_transformers.options


def test_numbers_on_axes_are_as_they_were_drawn(tmp_path):
    plan = schedule(["a", "b"], blocks=2)
    with Store.create(tmp_path / "log.db") as store:
        rows = [finished(spec, row(spec.lineup, [0, 1], clocks="0,1,1,1,0 1,2,900,9,0")) for spec in all_matches(plan)]
        store.add(plan, rows, begin(store, plan))
    assert ">0.001</text>" in page_of(tmp_path / "log.db", plan)
