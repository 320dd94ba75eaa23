"""Sites of plain files: every link leads to a file, nothing foreign is touched, replays are of matches worth a look."""

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from arena.cli import site as command
from arena.cli.app import run_command
from arena.core.errors import ConfigError
from arena.web.catalog import LogCatalog
from arena.web.highlights import BEST, LONGEST, UPSETS, highlights
from arena.web.site import LIST_FILE, Site


@pytest.fixture(scope="module")
def site(home, tmp_path_factory):
    """Return the folder of a site of the tournament."""
    out = tmp_path_factory.mktemp("a site") / "public"
    pages = Site(["shown"], home)
    pages.write(out)
    pages.close()
    return out


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_every_link_leads_to_a_file_of_the_site_and_none_out_of_it(site):
    pages = sorted(site.rglob("*.html"))
    linked = {site / "index.html"}
    assert len(pages) > 15
    for page in pages:
        for address in re.findall(r'(?:href|src)="([^"]*)"', page.read_text()):
            path = unquote(unescape(address)).partition("#")[0]
            assert address and "://" not in address and not path.startswith("/"), (page.name, address)
            target = (page.parent / path).resolve() if path else page
            assert target.is_relative_to(site.resolve()) and target.is_file(), (page.name, address)
            linked.add(target)
    assert {page.resolve() for page in pages} <= {each.resolve() for each in linked}


def test_pages_carry_classic_scripts_that_their_policy_names(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert 'type="module"' not in text and not re.search(r"<script[^>]* src=", text)
        scripts = len(re.findall(r"<script>", text))
        assert unescape(text).count("'sha256-") == scripts == 1 + page.name.startswith("match-")
        assert not re.search(r"^(?:import|export) ", text, re.M)


def test_a_tournament_has_the_ratings_of_its_bots(site):
    text = (site / "shown" / "index.html").read_text()
    ratings = re.findall(r'<td class="number" data-label="rating ± 95 %">(.*?)</td>', text)
    assert len(ratings) == 6 and all(re.fullmatch(r"[0-9]+\.[0-9]{2} ± [0-9.]+", each) for each in ratings)


def test_a_site_in_the_same_place_replaces_the_first_and_leaves_what_is_not_of_it(home, tmp_path):
    (tmp_path / "shown").mkdir()
    for name in ("CNAME", "shown/notes.txt"):
        (tmp_path / name).write_text("mine")
    for replays in (2, 0):
        pages = Site(["shown"], home, replays)
        written = pages.write(tmp_path)
        pages.close()
        assert {str(path.relative_to(tmp_path)) for path in written} | {"CNAME", "shown/notes.txt"} == files_of(
            tmp_path
        )
    assert not list((tmp_path / "shown").glob("match-*"))
    assert (tmp_path / "CNAME").read_text() == "mine"


def test_a_foreign_file_in_the_way_is_not_replaced(home, tmp_path):
    (tmp_path / "index.html").write_text("mine")
    pages = Site(["shown"], home, 0)
    with pytest.raises(ConfigError, match=r"has a file index\.html that no earlier site wrote"):
        pages.write(tmp_path)
    pages.close()
    assert files_of(tmp_path) == {"index.html"}


@pytest.mark.parametrize("content", ["", "[]", '{"files": ["../victim"]}', '{"files": ["/etc/hosts"]}', '{"files": 3}'])
def test_a_list_that_names_what_is_elsewhere_is_refused(home, tmp_path, content):
    (tmp_path / "victim").write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    (out / LIST_FILE).write_text(content)
    pages = Site(["shown"], home, 0)
    with pytest.raises(ConfigError, match="is no list of the files of a site"):
        pages.write(out)
    pages.close()
    assert (tmp_path / "victim").exists() and files_of(out) == {LIST_FILE}


def test_a_folder_that_is_a_link_is_not_followed(home, tmp_path):
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    (elsewhere / "old.html").write_text("mine")
    out.mkdir()
    (out / "gone").symlink_to(elsewhere)
    (out / LIST_FILE).write_text(json.dumps({"files": ["gone/old.html"]}))
    pages = Site(["shown"], home, 0)
    pages.write(out)
    pages.close()
    assert (elsewhere / "old.html").read_text() == "mine"


def test_a_large_site_is_written_only_when_that_is_said(home, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(command, "CONFIRM_BYTES", 1000)
    given = ["site", "shown", "--out", str(tmp_path / "out"), "--home", str(home), "--replays", "1"]
    assert run_command(given) == 2
    said = capsys.readouterr().err
    assert re.match(r"\d+ pages, \d+ of them replays out of 18 matches: about \d", said) and "--yes" in said
    assert not (tmp_path / "out").exists()
    assert run_command([*given, "--yes"]) == 0
    address = (tmp_path / "out" / "index.html").as_uri()
    assert capsys.readouterr().out.splitlines()[-1] == f"Site: {address}"


def test_the_estimate_is_near_the_size_of_the_site(home, site):
    pages = Site(["shown"], home)
    size = pages.estimate()
    pages.close()
    written = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    assert size.pages == len(list(site.rglob("*.html"))) and written / 2 < size.bytes < written * 2


def test_a_tournament_that_is_not_there_is_refused(home, tmp_path, capsys):
    assert run_command(["site", "nothing", "--out", str(tmp_path), "--home", str(home)]) == 2
    assert "no tournament of that name" in capsys.readouterr().err


def test_chosen_matches_are_upsets_among_the_best_and_the_longest(home):
    catalog = LogCatalog(home)
    log = catalog.log("shown")
    _, view = catalog.view(log)
    found = highlights(catalog, log, 2)
    catalog.close()
    plies = view.match["plies"]
    for board in view.boards:
        rows = [number for number in range(view.total) if view.match["board"][number] == board]
        longest = max(plies[row] for row in rows)
        assert any(plies[each.number] == longest for each in found if each.number in rows)
    assert {each.kind for each in found} <= {UPSETS, BEST, LONGEST, "Worst mistakes"}
    assert len({each.number for each in found}) == len(found)
    assert {UPSETS, BEST} & {each.kind for each in found}, "bots that play under two labels are rated too"
