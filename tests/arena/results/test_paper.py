"""The files of a paper: a table that agrees with leaderboards and crosstables, and paragraphs from plan and machine."""

import hashlib
import json
import random
import re
from dataclasses import replace

import pandas as pd
import pytest

from arena import api
from arena.core import citation
from arena.core.errors import ConfigError
from arena.core.versions import versions
from arena.match.dice import key_hash
from arena.match.estimates import pack_estimates
from arena.results.columns import PAPER
from arena.results.paper import duration, p_in_words
from arena.schedule.kinds.adaptive import Adaptive
from arena.schedule.kinds.knockout import Knockout
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.transfer.foreign_results import import_results
from tests.support.documents import ROOT
from tests.support.samples import all_matches, begin, entry, fill, finished, random_row, schedule
from tests.support.samples import row as row_of

KEY = b"k" * 32
HOSTILE = r"50%_#&{}\~^<$"


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "matches.db"
    fill(path, schedule(["alice", "bob", entry("carol", label=HOSTILE)], players=(2, 3), blocks=8))
    return path


def read(folder, name):
    return (folder / name).read_text()


def test_the_table_has_every_bot_with_its_effect_against_the_first_of_its_board(log, tmp_path):
    api.export(log, out=tmp_path, what=["paper"], formats=["csv", "json", "parquet"])
    table = pd.read_parquet(tmp_path / "paper_table.parquet")
    assert list(table) == PAPER.names and len(table) == 6
    assert [row["bot"] for row in json.loads(read(tmp_path, "paper_table.json"))] == table["bot"].tolist()
    boards, pairs = api.leaderboard(log), api.crosstable(log)
    for at, frame in table.groupby(["game", "players"]):
        frame = frame.set_index("bot")
        board = boards[at].set_index("bot")
        assert frame["rating"].to_dict() == board["rating"].to_dict()
        first = board.index[0]
        assert pd.isna(frame.loc[first, "difference"]) and pd.isna(frame.loc[first, "p_adjusted"])
        for row in pairs[at].itertuples():
            if row.bot == first:
                mine = frame.loc[row.opponent]
                assert mine["difference"] == -row.difference and mine["difference_ci_low"] == -row.difference_ci_high
                assert mine["p_adjusted"] == row.p_adjusted


def test_the_table_is_written_in_latex_and_markdown_with_nothing_that_they_could_misread(log, tmp_path):
    api.export(log, out=tmp_path, what=["paper"])
    latex, markdown = read(tmp_path, "paper_table.tex"), read(tmp_path, "paper_table.md")
    escaped = r"50\%\_\#\&\{\}\textbackslash{}\textasciitilde{}\^{}\ensuremath{<}\$"
    assert escaped in latex and escaped in read(tmp_path, "paper_methods.tex")
    rows = re.findall(r"^ .*\\\\$", latex, re.MULTILINE)
    assert len(rows) == 7 and {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(rows[0].split(" & ")) - 1}
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == 1 and r"\toprule" in latex
    assert markdown.count("epicycle, 2 players") == 2  # in the table once, and in the caption
    assert r"50%\_#\&{}\\\~^\<$" in markdown


def test_what_searches_took_is_a_column_where_bots_told_it(tmp_path, log):
    plan = schedule(["alice", "bob"], blocks=2)
    told = {"clocks": "0,0,1000,1000,0 1,1,1000,1000,0", "estimates": pack_estimates([(0, [], [], [], 1200)])}
    with Store.create(tmp_path / "matches.db") as store:
        found = [finished(spec, row_of(spec.lineup, [0, 1], **told)) for spec in all_matches(plan)]
        store.add(plan, found, begin(store, plan))
    api.export(tmp_path / "matches.db", out=tmp_path, what=["paper"], formats=["csv", "md"])
    assert set(pd.read_csv(tmp_path / "paper_table.csv")["search_steps_per_move"]) == {1200}
    markdown = read(tmp_path, "paper_table.md")
    assert "| searched a move" in markdown and "1,200" in markdown
    assert "searched a move: simulations, nodes or playouts." in markdown
    api.export(log, out=tmp_path / "silent", what=["paper"], formats=["md"])
    assert "searched" not in read(tmp_path / "silent", "paper_table.md")


@pytest.mark.parametrize("label", ["a` <img src=x> _b_", "`arena <b>``<img src=x>` _b_", "```<img src=x> _b_"])
def test_a_backtick_in_a_label_makes_no_code_of_what_follows(tmp_path, label):
    fill(tmp_path / "matches.db", schedule([entry("mallory", label=label), "bob"], blocks=2))
    api.export(tmp_path / "matches.db", out=tmp_path, what=["paper"])
    methods = read(tmp_path, "paper_methods.md")
    assert r"\<img src=x\>" in methods and r"\_b\_" in methods and "`arena run`" in methods


def test_paragraphs_tell_the_plan_and_the_machine(log, tmp_path):
    paths = api.export(log, out=tmp_path, what=["paper"])
    assert {path.name for path in paths} >= {"paper_methods.md", "paper.bib", "plan.json", "versions.json"}
    methods = read(tmp_path, "paper_methods.md")
    digest = hashlib.blake2b((tmp_path / "plan.json").read_bytes(), digest_size=32).hexdigest()
    assert digest in methods and "a round robin of 3 bots was played on epicycle, 2 players and epicycle, 3" in methods
    assert "random openings of 2 plies" in methods and "seed 5" in methods and "Holm" in methods
    assert read(tmp_path, "paper.bib") == citation.bibtex()
    assert r"\cite{pyramid_arena}" in read(tmp_path, "paper_methods.tex")


def methods_of(folder, plan):
    rng = random.Random(1)
    with Store.create(folder / "matches.db") as store:
        if plan.keys:
            store.keep_key(KEY, "2026")
        run = begin(store, plan)
        while missing := [*Tournament(store, plan).missing()]:  # stage after stage
            specs = [spec for block, lineups in missing for spec in plan.matches(block) if spec.lineup in lineups]
            store.add(plan, [finished(spec, random_row(spec, rng, True)) for spec in specs], run)
    api.export(folder / "matches.db", out=folder, what=["paper"])
    return read(folder, "paper_methods.md")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Knockout(elimination="double", draw=3), "a knockout (seeding drawn, margin 1, elimination double) of 4 bots"),
        (Adaptive(first_blocks=2), "an adaptive (first blocks 2, max tables 10000) of 4 bots"),
    ],
)
def test_of_a_schedule_that_follows_results_p_values_are_called_approximate(tmp_path, kind, words):
    methods = methods_of(tmp_path, schedule(["alice", "bob", "carol", "dave"], blocks=2, scheduler=kind))
    assert words in methods
    assert "followed from earlier results. Intervals and p-values do not allow for that" in methods
    assert "bounds the family-wise error rate only approximately" in methods


def test_where_nothing_follows_from_results_p_values_bound_the_error(log, tmp_path):
    api.export(log, out=tmp_path, what=["paper"])
    methods = read(tmp_path, "paper_methods.md")
    assert "That bounds the family-wise error rate of a board by 0.05" in methods and "earlier results" not in methods


def test_with_secret_dice_no_run_is_said_to_play_the_same_matches(tmp_path):
    keyed = replace(schedule([entry("mallory", trusted=False), "bob"], blocks=2), keys=(key_hash(KEY),))
    methods = methods_of(tmp_path, keyed)
    assert "`arena run` with its configuration draws new keys of the secret dice" in methods
    assert "plays the matches again" not in methods


def test_processor_and_cores_are_told_where_the_log_knows_them(tmp_path):
    path, plan = tmp_path / "matches.db", schedule(["alice", "bob"])
    fill(path, plan)
    api.export(path, out=tmp_path, what=["paper"])
    assert "an unknown processor" in read(tmp_path, "paper_methods.md")
    with Store.create(path) as store:
        begin(store, plan)
        here = {"processor": "Fast Chip 9", "cores": "64", "platform": "Linux", "python": "3.12", "numpy": "2.4"}
        store.begin_run(store.runs.last_plan(), json.dumps(here), "2026-01-02", [], {})
    api.export(path, out=tmp_path, what=["paper"])
    assert "Fast Chip 9 (64 cores), Linux, with Python 3.12, numpy 2.4." in read(tmp_path, "paper_methods.md")


def test_versions_name_the_processor_and_its_cores():
    found = versions()
    assert found["processor"] and int(found["cores"]) >= 1


def test_a_format_that_no_table_of_a_paper_has_is_refused(log, tmp_path):
    with pytest.raises(ConfigError, match="paper: has no format html; it has tex, md, csv, json, parquet"):
        api.export(log, out=tmp_path, what=["paper"], formats=["html"])


def test_a_log_without_a_complete_block_has_no_paper(tmp_path):
    plan = schedule(["alice", "bob"])
    fill(tmp_path / "matches.db", plan, leave_out=range(6))
    with pytest.raises(ConfigError, match="paper: no board has a complete block yet"):
        api.export(tmp_path / "matches.db", out=tmp_path, what=["paper"])


@pytest.mark.parametrize(("p", "shown"), [(0.0004, "<0.001"), (0.0444, "0.044"), (1.0, "1.000"), (float("nan"), "")])
def test_p_values_are_shown_as_papers_print_them(p, shown):
    assert p_in_words(p) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(1.5, "1.5 s"), (0.0204, "20.4 ms"), (4.2e-5, "42 µs"), (float("nan"), "")]
)
def test_times_are_shown_in_units_that_suit_them(seconds, shown):
    assert duration(seconds) == shown


def test_the_citation_file_is_that_of_this_version():
    assert (ROOT / "CITATION.cff").read_text() == citation.cff()


def test_results_from_elsewhere_are_told_as_such(tmp_path):
    lines = [f"{match},{bot},{place}" for match in range(4) for place, bot in enumerate("ab", 1)]
    (tmp_path / "league.csv").write_text("\n".join(["match,bot,place", *lines]))
    import_results(tmp_path / "league.csv", "league", "go", {}, tmp_path)
    api.export("league", tmp_path, tmp_path, ["paper"])
    methods = read(tmp_path, "paper_methods.md")
    assert "were played elsewhere" in methods and "single matches" in methods and "processor" not in methods
