"""`arena crosstable` and `arena variance`: output agrees with the frames and fits the terminal."""

import contextlib
import csv
import io
import json
import re
import sqlite3

import numpy as np
import pandas as pd
import pytest

import arena
from arena.cli.app import run_command
from arena.cli.crosstable import findings
from arena.cli.variance import seats_in_words, share_columns, shares_in_words
from arena.results.crosstable import crosstable, of_bot
from arena.results.matches import choose_boards
from arena.stats.multiple import holm
from tests.arena.stats.test_head_to_head import cyclic_board
from tests.support.tournaments import home_of, log_of, write

LONG = "a bot with a name of all forty letters.."
CONFIG = f"""
name = "small"
seed = 5
blocks = 4
games = [{{ game = "epicycle", players = [2, 3] }}]
bots = [{{ bot = "random" }}, {{ bot = "greedy" }}, {{ bot = "random", label = "{LONG}" }}, {{ bot = "cautious" }}]
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    config = write(tmp_path_factory.mktemp("played"), CONFIG)
    arena.run(config, home_of(config), workers=1, backend="local")
    return config


@pytest.fixture
def here(played, monkeypatch):
    monkeypatch.chdir(played.parent)
    monkeypatch.setenv("ARENA_HOME", "reports")
    monkeypatch.setenv("COLUMNS", "100")
    return played


def say(capsys, line):
    code = run_command(line.split())
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    return said.out


def rows_of(text):
    return pd.DataFrame(list(csv.DictReader(io.StringIO(text))))


def test_pairs_are_printed_as_table_csv_json_and_markdown_and_agree(here, capsys):
    frames = arena.crosstable("t.toml", home="reports")
    assert list(frames) == [("epicycle", 2), ("epicycle", 3)]
    table, markdown = say(capsys, "crosstable t.toml"), say(capsys, "crosstable t.toml --format md")
    printed = rows_of(say(capsys, "crosstable t.toml --format csv"))
    boards = json.loads(say(capsys, "crosstable t.toml --format json"))
    for (game, players), board in zip(frames, boards, strict=True):
        frame = frames[game, players]
        assert len(frame) == 6
        assert pd.DataFrame(board["crosstable"])["difference"].tolist() == frame["difference"].tolist()
        assert printed[printed["players"] == str(players)]["wins"].astype(int).tolist() == frame["wins"].tolist()
        assert f"## {game}, {players} players" in markdown
        for row in frame.itertuples():
            half = (row.difference_ci_high - row.difference_ci_low) / 2
            shown = rf" {row.wins} +{row.ties} +{row.losses} +\{row.difference:+.3f} (± {half:.3f}|\[)"
            assert re.search(shown, table)
            assert f"{row.difference:+.3f} |" in markdown


def test_the_pairs_of_one_bot_are_those_of_all_seen_from_its_side(here, capsys):
    whole = rows_of(say(capsys, "crosstable t.toml --players 2 --format csv"))
    mine = rows_of(say(capsys, "crosstable t.toml --players 2 --bot greedy --format csv"))
    assert set(mine["bot"]) == {"greedy"}
    assert len(mine) == 3
    for row in mine.itertuples():
        same = whole[whole["bot"].isin(["greedy", row.opponent]) & whole["opponent"].isin(["greedy", row.opponent])]
        other = same.iloc[0]
        turned = other["bot"] != "greedy"
        ends = [row.difference_ci_low, row.difference_ci_high]
        if turned:
            ends = [-float(end) for end in reversed(ends)]
        assert [float(end) for end in ends] == [float(other["difference_ci_low"]), float(other["difference_ci_high"])]
        assert (row.wins, row.losses) == (
            (other["losses"], other["wins"]) if turned else (other["wins"], other["losses"])
        )
        assert float(row.z) == (-1 if turned else 1) * float(other["z"])


def test_one_bot_is_compared_with_all_others_by_the_matches_of_a_log(here, capsys):
    mine = json.loads(say(capsys, "compare greedy --from t.toml --players 3 --json"))[0]["crosstable"]
    assert mine == json.loads(say(capsys, "crosstable t.toml --players 3 --bot greedy --format json"))[0]["crosstable"]
    p, adjusted = ([row[name] for row in mine] for name in ("p_value", "p_adjusted"))
    assert adjusted == pytest.approx(holm(np.array(p)).tolist(), rel=1e-3)
    table = say(capsys, "compare greedy --from t.toml --players 3")
    apart = sum(each <= 0.05 for each in adjusted)
    assert "p (Holm)" in table
    assert f"{apart} of 3 pairs differ significantly when all are tested at once (Holm, 5 %)" in table


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("compare greedy --game epicycle", "is missing: another bot; only with --from it may be left out"),
        ("compare greedy --from t.toml --elo1 10", "is about two bots, and B is missing"),
    ],
)
def test_the_second_bot_of_a_comparison_may_be_left_out_only_for_matches_of_a_log(here, capsys, line, reason):
    assert run_command(line.split()) == 2
    assert reason in " ".join(capsys.readouterr().err.split())


def test_the_matrix_has_every_pair_twice(here, capsys):
    frame = arena.crosstable("t.toml", "epicycle", 3, "reports")["epicycle", 3]
    view = rows_of(say(capsys, "crosstable t.toml --players 3 --matrix --format csv")).set_index("bot")
    data = json.loads(say(capsys, "crosstable t.toml --players 3 --matrix --format json"))[0]
    matches = pd.DataFrame(data["matches"]).set_index("bot")
    for row in frame.itertuples():
        assert float(view.loc[row.bot, row.opponent]) == row.difference
        assert float(view.loc[row.opponent, row.bot]) == 0 - row.difference
        assert matches.loc[row.opponent, row.bot] == row.matches
    assert "24 matches a pair" in say(capsys, "crosstable t.toml --players 3 --matrix")
    assert "| greedy " in say(capsys, "crosstable t.toml --players 3 --matrix --format md --bot greedy")


def test_alpha_rank_comes_on_request_and_sums_to_one(here, capsys):
    assert "alpha_rank" not in say(capsys, "crosstable t.toml --format json")
    boards = json.loads(say(capsys, "crosstable t.toml --format json --alpha-rank"))
    assert all(sum(board["alpha_rank"].values()) == pytest.approx(1, abs=1e-3) for board in boards)
    column = rows_of(say(capsys, "crosstable t.toml --format csv --alpha-rank"))
    first = boards[0]["alpha_rank"]
    assert float(column.loc[0, "alpha_rank"]) == first[column.loc[0, "bot"]]
    assert "alpha-rank" in say(capsys, "crosstable t.toml --alpha-rank")


def test_seats_and_shares_are_printed_as_table_csv_json_and_markdown_and_agree(here, capsys):
    frames = arena.variance("t.toml", home="reports")
    table, markdown = say(capsys, "variance t.toml"), say(capsys, "variance t.toml --format md")
    printed = rows_of(say(capsys, "variance t.toml --format csv"))
    boards = json.loads(say(capsys, "variance t.toml --format json"))
    for (game, players), board in zip(frames, boards, strict=True):
        frame = frames[game, players]
        assert [row["value"] for row in board["variance"]] == frame["value"].tolist()
        assert printed[printed["players"] == str(players)]["part"].tolist() == frame["part"].tolist()
        assert f"## {game}, {players} players" in markdown
        shares = frame[frame["statistic"] == "share"].set_index("part")["value"]
        assert shares.sum() == pytest.approx(1, abs=1e-3)
        assert f"{100 * shares['bots']:.1f} %" in table


@pytest.mark.parametrize("columns", [60, 80])
def test_what_is_printed_fits_the_terminal(here, monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for line in (
        "crosstable t.toml",
        "crosstable t.toml --matrix --alpha-rank",
        "crosstable t.toml --bot greedy",
        "variance t.toml",
    ):
        assert max(map(len, say(capsys, line).splitlines())) <= columns, line


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("crosstable t.toml --bot greddy", "no bot 'greddy' on the board; did you mean 'greedy'?"),
        ("crosstable t.toml --format xml", "--format xml: not a choice; known: table, csv, json, md"),
        ("variance t.toml --format xml", "--format xml: not a choice; known: table, csv, json, md"),
        ("variance t.toml --game chess", "has no such board; it has epicycle, 2 players; epicycle, 3 players"),
        ("crosstable nothing", "nothing: no tournament of that name under /"),
    ],
)
def test_a_user_error_is_told_in_one_line(here, capsys, line, told):
    code = run_command(line.split())
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert said.err.startswith("error: ") and said.err.count("\n") == 1
    assert told in said.err


def test_a_tournament_without_a_complete_block_is_told_so(tmp_path, played, monkeypatch, capsys):
    config = write(tmp_path, CONFIG)
    log = log_of(config)
    log.parent.mkdir(parents=True)
    with (
        contextlib.closing(sqlite3.connect(log_of(played))) as source,
        contextlib.closing(sqlite3.connect(log)) as copy,
    ):
        source.backup(copy)
        with copy:
            copy.execute("DELETE FROM matches")
            copy.execute("DELETE FROM seats")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", "reports")
    for line in ("crosstable t.toml --matrix --alpha-rank", "variance t.toml"):
        assert say(capsys, line).count("no complete block yet") == 2
        for format in ("csv", "json", "md"):
            assert say(capsys, f"{line} --format {format}")


def board_of(share, seed):
    """A board of test_head_to_head's cyclic world, with the columns of `board_matches`."""
    frame = cyclic_board(share, 60, np.random.default_rng(seed))
    return frame.assign(entry=frame["bot"].map(ord) - ord("a"), round=0, score=np.nan, margin=np.nan, cause=None)


def test_a_cycle_is_told_in_words_with_what_the_ratings_cannot_explain():
    found = crosstable(board_of(0.85, 1), 2)
    assert list(findings(found))[-1].startswith("cycle: ")
    assert len(found.cycles) == 1
    cycle = found.cycles.loc[0, ["first", "second", "third"]].tolist()
    assert "".join(cycle * 2).find("abc") >= 0
    assert {frozenset(pair) for pair in zip(found.misfits["bot"], found.misfits["opponent"], strict=True)} >= {
        frozenset("ab"),
        frozenset("bc"),
        frozenset("ca"),
    }
    assert of_bot(found, "d").cycles.empty
    assert len(of_bot(found, "c").cycles) == 1


def test_without_differences_no_cycle_and_no_misfit_is_told():
    assert list(findings(crosstable(board_of(0.5, 1), 2))) == [
        "every lead is as the ratings predict, but for chance",
        "no significant cycle",
    ]


def test_seats_that_stand_out_are_named():
    seats = pd.DataFrame(
        {"part": ["seat 0", "seat 1", "seat 2"], "value_ci_low": [0.1, 0.2, -0.4], "value_ci_high": [0.3, 0.3, -0.1]}
    )
    shares = pd.DataFrame(
        {"part": ["bots", "seats"], "value": [0.4, 0.02], "value_ci_low": [0.3, 0.01], "value_ci_high": [0.5, 0.03]}
    )
    assert seats_in_words(seats, shares) == "seats 0 and 1 gain; seat 2 loses"
    assert seats_in_words(seats, shares.assign(value_ci_low=np.nan)) == "seats 0 and 1 gain; seat 2 loses"
    assert seats_in_words(seats.assign(value_ci_low=-1.0, value_ci_high=1.0), shares) == "no seat stands out"
    assert seats_in_words(seats, shares.assign(value_ci_low=0.0)) == "no seat stands out"


def test_a_share_that_may_be_nothing_is_told_by_what_it_is_at_most():
    shares = pd.DataFrame(
        {"part": ["bots", "seats"], "value": [0.4, -0.01], "value_ci_low": [0.3, 0.0], "value_ci_high": [0.5, 0.021]}
    )
    assert share_columns(shares)["share"] == ["40.0 %", "-1.0 %"]
    assert share_columns(shares)["95 %"] == ["30.0 % to 50.0 %", "at most 2.1 %"]
    assert shares_in_words(shares) == "Returns differ: 40 % because of who plays, at most 2 % because of the seats."


def test_boards_are_chosen_by_spec_name_and_number():
    boards = [("midgard", 2), ("midgard(variant=odin)", 2), ("epicycle", 3)]
    assert choose_boards("t", boards, "midgard", None) == boards[:2]
    assert choose_boards("t", boards, "midgard(variant=odin)", 2) == boards[1:2]
    assert choose_boards("t", boards, None, 3) == boards[2:]
