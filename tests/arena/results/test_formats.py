"""Exports: all formats tell the same, whatever the labels; columns can be chosen; logs are read in pages."""

import csv
import json
import random
import re
from html.parser import HTMLParser
from io import StringIO

import pandas as pd
import pyarrow.parquet
import pytest

from arena import api
from arena.cli.app import run_command
from arena.cli.output import print_detail, print_json
from arena.core.errors import ConfigError
from arena.core.names import shown_name
from arena.match.estimates import pack_estimates
from arena.plan.config import FORMATS, config_from
from arena.results import match_files
from arena.results.matches import board_matches
from arena.results.tables import as_csv, from_csv, html_page, latex, latex_text, markdown, render_frame
from arena.store import Store
from arena.tournament.tournament import Tournament
from engine.errors import one_line
from tests.support.documents import described
from tests.support.samples import all_matches, begin, entry, fill, finished, row, schedule

LABEL = '<b>&"5_%$#~^{\\'
TABULAR = ("csv", "json", "parquet", "md", "html", "tex")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log of made-up matches with two boards, one match missing."""
    folder = tmp_path_factory.mktemp("log")
    plan = schedule([entry("alice", label=LABEL), "bob", entry("carol", label="1e5")], players=(2, 3), blocks=3)
    fill(folder / "matches.db", plan, leave_out=[5])
    return folder / "matches.db", plan


class Cells(HTMLParser):
    """The texts of a page's tables, by row."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open = [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.open = True

    def handle_endtag(self, tag):
        self.open &= tag not in ("td", "th")

    def handle_data(self, data):
        if self.open:
            self.rows[-1][-1] += data


def rows_of(text):
    return [[cell.strip() for cell in line] for line in Cells(text).rows]


def test_a_page_shows_every_label_as_it_is_and_nothing_of_it_is_markup():
    frame = pd.DataFrame({"bot": [LABEL, "1e5", "two\nlines"], "value": [1.5, None, 2.0], "count": [1, 2, 3]})
    text = html_page(f"{LABEL}, 2 players", frame)
    assert rows_of(text) == [
        ["bot", "value", "count"],
        [LABEL, "+1.500", "1"],
        ["1e5", "", "2"],
        ["two\\nlines", "+2.000", "3"],
    ]
    assert "<b>" not in text
    assert not re.search(r"""(src|href)\s*=""", text)


def test_latex_escapes_what_it_would_read_as_a_command():
    text = latex("title\nof two lines", pd.DataFrame({"my_bot": [LABEL], "x": [1.0]}))
    assert text.splitlines()[0] == r"% title\nof two lines; needs \usepackage{booktabs}"
    body = text.partition("\\midrule")[2]
    for written in (r"\&", r"\_", r"\%", r"\$", r"\#", r"\{", r"\^{}", r"\textbackslash{}", r"\textasciitilde{}"):
        assert written in body
    assert "my\\_bot" in text


def test_latex_prints_letters_as_they_are_with_minus_signs_and_breaks_in_hashes():
    text = latex("title", pd.DataFrame({"bot": ['a|b "c" --d x-1'], "range": ["-0.5 [-1.0, +2.0]"]}))
    assert r'a\ensuremath{|}b \texttt{"}c\texttt{"} -{}-d x-1' in text and "$-$0.5 [$-$1.0, +2.0]" in text
    assert latex_text(f"hash {'0a' * 20}.") == "hash " + r"\allowbreak{}".join(["0a0a0a0a"] * 5) + "."


def test_latex_takes_no_label_for_an_option_of_the_line_break_before_it():
    text = latex("title", pd.DataFrame({"bot": ["[9cm]", "*", "a"], "x": ["[b]", "*", "c"]}))
    assert not re.search(r"(\\\\|rule)\s*[\[*]", text)
    assert text.count("{}") == 2


def test_markdown_takes_nothing_in_a_label_for_markup():
    frame = pd.DataFrame(
        {"bot": ["<img src=x onerror=a()>", "*_`~[a](b)", "a|b", "my_bot:k=1"], "mean_return": [1.0] * 4}
    )
    lines = markdown(frame).splitlines()
    assert [re.sub(r"\s*\|[^|]*\|$", "", line[2:]) for line in lines[2:]] == [
        r"\<img src=x onerror=a()\>",
        r"\*\_\`\~\[a\](b)",
        r"a\|b",
        "my_bot:k=1",
    ]
    assert "mean_return" in lines[0]


def test_html_and_latex_are_formats_of_a_configuration_but_not_by_default():
    plain = {"name": "a", "games": [{"game": "epicycle"}], "bots": [{"bot": "random"}]}
    assert config_from(plain).output.formats == ("csv", "json", "md", "parquet")
    assert config_from({**plain, "output": {"formats": list(FORMATS)}}).output.formats == FORMATS
    assert set(FORMATS) == set(TABULAR)


def test_the_json_of_a_board_tells_the_versions_of_its_game_and_bots(log, tmp_path):
    path, plan = log
    api.export(path, out=tmp_path, formats=["json"])
    data = json.loads((tmp_path / "epicycle_3p.json").read_text())
    assert (data["game"], data["players"], data["rules_version"]) == ("epicycle", 3, 1)
    assert data["bots"] == {each.label: {"identity": each.identity, "spec": each.spec} for each in plan.entries}


# Matches as a table


def tables(folder):
    """The exported table of matches, by format, as pandas reads it."""
    return {
        "csv": pd.read_csv(folder / "matches.csv", dtype={"bot": str, "score": "Int64", "cause": object}),
        "json": pd.DataFrame(json.loads((folder / "matches.json").read_text())),
        "parquet": pd.read_parquet(folder / "matches.parquet"),
    }


def test_matches_are_the_same_in_every_format_and_those_of_the_boards(log, tmp_path, monkeypatch):
    path, plan = log
    monkeypatch.setattr("arena.tournament.tournament.PAGE_BLOCKS", 2)
    monkeypatch.setattr(match_files, "MIN_ROW_GROUP_ROWS", 10)
    api.export(path, out=tmp_path, what=["matches"], formats=[*TABULAR, "jsonl"])
    made = tables(tmp_path)
    for kind in ("csv", "json"):
        pd.testing.assert_frame_equal(
            made[kind].astype(object).where(made[kind].notna(), None),
            made["parquet"].astype(object).where(made["parquet"].notna(), None),
        )
    whole = made["parquet"]
    lines = [json.loads(line) for line in (tmp_path / "matches.jsonl").read_text().splitlines()]
    assert whole["match"].drop_duplicates().to_list() == [line["match"] for line in lines]
    assert whole["bot"].to_list() == [bot for line in lines for bot in line["bots"]]
    assert whole["identity"].to_list() == [each for line in lines for each in line["identities"]]
    assert pyarrow.parquet.ParquetFile(tmp_path / "matches.parquet").num_row_groups == 3
    assert [line[0] for line in rows_of((tmp_path / "matches.html").read_text())[1:]] == whole["match"].to_list()
    with Store.open(path) as store:
        for index, board in enumerate(plan.boards):
            expected = board_matches(Tournament(store, plan), index).round(4)
            mine = whole[whole["players"] == board.players].rename(columns={"place": "rank"})
            mine["rank"] -= 1
            mine = mine[mine.groupby("block")["seat"].transform("size") == board.players**2].reset_index(drop=True)
            for name in expected.columns.drop(["block", "entry", "moves_hash", "distinct_share"]):
                found = mine[name].astype(object).where(mine[name].notna(), None).to_list()
                assert found == expected[name].astype(object).where(expected[name].notna(), None).to_list(), name


def test_what_bots_expected_is_in_every_table_of_matches_as_in_json_lines(tmp_path):
    plan = schedule(["alice", "bob", "carol"], players=(2, 3), blocks=2)
    rng, results = random.Random(3), []
    for spec in all_matches(plan):
        players, kept = len(spec.seats), []
        for ply in range(3):
            values = [rng.randint(-1000, 1000) for _ in range(players)] if rng.random() < 0.4 else []
            line = [rng.randrange(9) for _ in range(rng.randrange(3))]
            kept += [(ply, values, line, [])] if values or line else []
        results.append(
            finished(spec, row(spec.lineup, list(range(players)), estimates=pack_estimates(kept), dropped={}))
        )
    with Store.create(tmp_path / "matches.db") as store:
        store.add(plan, results, begin(store, plan))
    api.export(tmp_path / "matches.db", out=tmp_path, what=["matches"], formats=["csv", "json", "parquet", "jsonl"])
    expected = []
    for text in (tmp_path / "matches.jsonl").read_text().splitlines():
        line = json.loads(text)
        lines = [[ply, actions] for ply, _, actions, _ in line["evaluations"] if actions]
        for seat in range(line["players"]):
            expected.append(([[ply, values[seat]] for ply, values, _, _ in line["evaluations"] if values], lines))
    assert sum(bool(values) for values, _ in expected) > 9 and not all(values for values, _ in expected)
    for kind, frame in tables(tmp_path).items():
        found = zip(frame["evaluations"], frame["lines"], strict=True)
        read = [tuple(json.loads(cell) if isinstance(cell, str) else [] for cell in cells) for cells in found]
        assert read == expected, kind


@pytest.mark.parametrize("kind", [*TABULAR, "jsonl"])
def test_no_matches_are_a_table_too(tmp_path, kind):
    plan = schedule(["alice", "bob"])
    fill(tmp_path / "matches.db", plan, leave_out=range(100))
    api.export(tmp_path / "matches.db", out=tmp_path / "out", what=["matches"], formats=[kind])
    text = (tmp_path / "out" / f"matches.{kind}").read_bytes()
    assert (b"identity" in text) == (kind not in ("json", "jsonl"))
    if kind == "json":
        assert json.loads(text) == []


@pytest.mark.parametrize("kind", ["md", "html", "tex"])
def test_a_table_for_people_is_refused_when_it_is_too_long_and_nothing_is_written(log, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(match_files, "MAX_DOCUMENT_ROWS", 20)
    with pytest.raises(
        ConfigError, match=f"more than 20 rows, too many for {kind}; csv, json, jsonl and parquet take any"
    ):
        api.export(log[0], out=tmp_path / "out", what=["matches"], formats=[kind])
    assert not (tmp_path / "out").exists()


def test_every_key_of_a_line_is_described(log, tmp_path):
    api.export(log[0], out=tmp_path, what=["matches"])
    line = json.loads((tmp_path / "matches.jsonl").read_text().splitlines()[0])
    for name in line:
        assert described(name, "docs/reference/json.md"), f"{name} is not described"


# Columns


def test_columns_come_in_the_order_they_are_asked_for(log, tmp_path):
    columns = ["mean_return", "bot", "rank"]
    api.export(log[0], out=tmp_path, formats=TABULAR, columns=columns)
    for stem in ("epicycle_2p", "epicycle_3p"):
        assert list(pd.read_csv(tmp_path / f"{stem}.csv").columns) == columns
        assert list(pd.read_parquet(tmp_path / f"{stem}.parquet").columns) == columns
        assert list(json.loads((tmp_path / f"{stem}.json").read_text())["leaderboard"][0]) == columns
        assert rows_of((tmp_path / f"{stem}.html").read_text())[0] == columns
    api.export(log[0], out=tmp_path, what=["matches"], formats=["csv", "parquet"], columns=["seat", "match"])
    assert list(pd.read_csv(tmp_path / "matches.csv").columns) == ["seat", "match"]
    assert list(pd.read_parquet(tmp_path / "matches.parquet").columns) == ["seat", "match"]
    api.export(log[0], out=tmp_path, what=["matches"], columns=["ranks", "match"])
    assert list(json.loads((tmp_path / "matches.jsonl").read_text().splitlines()[0])) == ["ranks", "match"]


def test_a_column_of_one_board_alone_is_left_out_on_others(log, tmp_path):
    api.export(log[0], out=tmp_path, formats=["csv"], columns=["bot", "return_seat_2"])
    assert list(pd.read_csv(tmp_path / "epicycle_2p.csv").columns) == ["bot"]
    assert list(pd.read_csv(tmp_path / "epicycle_3p.csv").columns) == ["bot", "return_seat_2"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            "--columns bot,ratting",
            "--columns: leaderboards have no column 'ratting'; did you mean 'rating'? They have rank, bot",
        ),
        ("--columns xyzzy", "--columns: leaderboards have no column 'xyzzy'; known: rank, bot"),
        ("--columns bot,bot", "--columns: 'bot' is given twice"),
        ("--columns return_seat_2", "--columns: the leaderboard of epicycle, 2 players has none of return_seat_2"),
        ("--what matches --format csv --columns sea", "--columns: matches have no column 'sea'; did you mean 'seat'?"),
        ("--what matches --columns rank", "matches in JSON Lines have no column 'rank'; did you mean 'ranks'?"),
        (
            "--what crosstable --columns opponnent",
            "--columns: crosstables have no column 'opponnent'; did you mean 'op",
        ),
        ("--what leaderboards,crosstable --columns rating", "--columns: crosstables have no column 'rating'"),
        ("--what leaderboards,matches --columns bot", "matches in JSON Lines have no column 'bot'"),
        ("--format jsonl", "'jsonl' is a format of matches alone"),
        ("--what matches,leaderboard", "'leaderboard' cannot be exported; did you mean 'leaderboards'?"),
        ("--format html,xls", "'xls' cannot be exported"),
    ],
)
def test_a_wrong_export_is_told_in_one_line(log, tmp_path, capsys, options, told):
    assert run_command(["export", str(log[0]), "--out", str(tmp_path), *options.split()]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err
    assert said.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


# Crosstables


def board_json(log, folder, players):
    """The leaderboard of a number of players, as JSON."""
    api.export(log, out=folder, formats=["json"])
    return (folder / f"epicycle_{players}p.json").read_text()


def test_crosstables_are_exported_for_every_board_in_every_format(log, tmp_path):
    api.export(log[0], out=tmp_path, what=["crosstable"], formats=TABULAR)
    for players in (2, 3):
        stem = tmp_path / f"epicycle_{players}p_crosstable"
        data = json.loads(stem.with_suffix(".json").read_text())
        assert (data["game"], data["players"]) == ("epicycle", players)
        assert data["ratings"] == json.loads(board_json(log[0], tmp_path, players))["ratings"]
        assert {frozenset((row["bot"], row["opponent"])) for row in data["crosstable"]} == {
            frozenset(pair) for pair in ((LABEL, "bob"), (LABEL, "1e5"), ("bob", "1e5"))
        }
        found = pd.read_csv(StringIO(stem.with_suffix(".csv").read_text()), dtype={"bot": str, "opponent": str})
        assert found["bot"].to_list() == [row["bot"] for row in data["crosstable"]]
        assert (found["wins"] + found["ties"] + found["losses"] == found["matches"]).all()
        assert rows_of(stem.with_suffix(".html").read_text())[1][0] == data["crosstable"][0]["bot"]
    told = api.crosstable(log[0])["epicycle", 2]
    assert list(told) == list(pd.read_csv(tmp_path / "epicycle_2p_crosstable.csv"))
    assert (tmp_path / "plan.json").is_file()


# Names from strangers

HOSTILE = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "'=1", "''-1", "\t=1", "\r=1", "<script>x</script>", "a|b"]
HOSTILE += ["\\input{x}"]
HOSTILE += ["\x1b[2Jx", "\x9b31m", "\u202eevil", "[red]x[/red]", "a\nb", "plain name", "1e5", "'tis"]


def test_no_text_in_csv_is_a_formula_and_numbers_stay_numbers():
    frame = pd.DataFrame({"bot": HOSTILE, "value": [-1.5] * len(HOSTILE), "count": [-1] * len(HOSTILE)})
    rows = list(csv.reader(StringIO(as_csv(frame))))[1:]
    assert [row[1:] for row in rows] == [["-1.5", "-1"]] * len(HOSTILE)
    assert not any(row[0][0] in "=+-@\t\r" or not row[0].isprintable() for row in rows)
    assert [from_csv(row[0]) for row in rows] == list(map(one_line, HOSTILE))


def test_every_format_takes_whatever_a_log_says_for_text():
    frame = pd.DataFrame({"bot": HOSTILE, "value": range(len(HOSTILE))})
    for kind in ("csv", "md", "html", "tex"):
        text = render_frame(frame, kind, "<script>|\\input{x}").decode()
        body = text.partition("\n")[2] if kind == "tex" else text
        assert text.replace("\n", "").isprintable()
        assert kind == "csv" or "<script>" not in re.sub(r"\\<", "", body)
        assert kind != "tex" or "\\input" not in body
    assert all(line.count("|") - line.count("\\|") == 3 for line in markdown(frame).splitlines())


@pytest.mark.parametrize("name", [*HOSTILE[:4], *HOSTILE[6:15], "", " x", "x" * 41])
def test_a_label_or_author_that_is_more_than_a_name_is_refused(name):
    with pytest.raises(ValueError, match="must be 1 to 40 printable characters without"):
        shown_name(name, 40)


@pytest.mark.parametrize("name", ["Ann-Marie O'Neil", "Zoë (2nd)", "uct:simulations=100,c=0.7", "R&D #3", "a.b_c"])
def test_a_label_or_author_may_be_what_people_are_called(name):
    assert shown_name(name, 40) == name


def test_texts_from_logs_do_not_steer_the_terminal(capsys):
    print_detail("ValueError: \x1b[2J [red]x[/red] \x9b31m")
    print_json([{"bot": "\x9b31m\u202e"}])
    said = capsys.readouterr().out
    assert said.replace("\n", "").isprintable()
    assert "[red]x[/red]" in said
