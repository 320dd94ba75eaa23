"""`arena check-game`: lines, exit status, the page."""

import html
import re
from xml.etree import ElementTree

import pytest

from arena.cli import checking_games
from arena.cli.app import run_command
from arena.results.pages.conformance import conformance_page, summary
from engine.conformance import CHECKS, FAILED, NOT_APPLICABLE, PASSED, Finding


def finding(status, detail="", plies=()):
    return Finding("clones", "a clone goes its own way", "States", "nim", 2, status, detail, 3, plies)


def test_a_finding_is_one_line_with_the_seed_and_plies_of_a_failure():
    failed = finding(FAILED, "it does not", ("1", "2"))
    told = checking_games.line(failed)
    assert told == "  FAILED: clones: a clone goes its own way (it does not) [seed 3, after plies 1 2]"
    long = finding(FAILED, plies=("7",) * 100)
    assert long.where == f"seed 3, after plies {' '.join('7' * 40)} and 60 more"
    assert summary([failed, finding(PASSED), finding(PASSED)]) == "2 checks passed, 1 failed, 0 not applicable"


def test_the_page_is_one_file_that_loads_nothing_and_shows_what_a_game_says_as_text():
    bad = finding(FAILED, "<script>alert(1)</script>", ("1",))
    page = conformance_page("nim", 1, 0, {2: [bad, finding(NOT_APPLICABLE, "it has none")]}).decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page and "seed 3, after plies 1" in page
    assert "default-src 'none'" in html.unescape(page) and not re.search(r"(src|href)=\"http", page)
    body = page[page.index("<body>") : page.index("</body>") + 7]
    root = ElementTree.fromstring(re.sub("<script.*?</script>", "", body, flags=re.DOTALL))
    assert [cell.text for cell in root.iter("strong")] == ["failed"]
    assert conformance_page("nim", 1, 0, {2: [bad]}) == conformance_page("nim", 1, 0, {2: [bad]})


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("epicycle --players 9", "epicycle is for 2 to 5 players, not 9"),
        ("midgard --players 3", "midgard is for 2 players, not 3"),
        ("epicycel", "did you mean 'epicycle'"),
        ("midgard(variant=x)", "midgard: variant=x: not a choice"),
    ],
)
def test_what_is_no_game_or_number_of_players_is_refused_in_a_line(words, told, capsys):
    assert run_command(["check-game", *words.split()]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1) and told in said.err


@pytest.mark.system
def test_a_game_is_checked_from_the_command_line_with_a_page(tmp_path, capsys):
    page = tmp_path / "page.html"
    assert run_command(["check-game", "pettingzoo.tictactoe_v3", "--out", str(page)]) == 0
    lines = capsys.readouterr().out.splitlines()
    checks = [line for line in lines if re.match("  (passed|not applicable): ", line)]
    assert len(checks) == len(CHECKS) + 1
    assert page.read_text().count("<code>") > len(CHECKS)
