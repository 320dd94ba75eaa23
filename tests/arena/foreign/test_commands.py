"""Commands and pages say of results from elsewhere what they are, and refuse in a line what cannot be done."""

import json
import shlex
import shutil
import sqlite3

import pytest
from starlette.testclient import TestClient

import arena
from arena import api
from arena.cli.app import run_command
from arena.core.errors import ArenaError
from arena.foreign.build import copy_and_hash
from arena.store import Store
from arena.store.digests import match_rows
from arena.tournament.tournament import Tournament
from arena.transfer.foreign_results import import_results
from arena.transfer.importing import import_records
from arena.transfer.merging import merge
from arena.verify.archive import make_archive
from arena.verify.verification import verify
from arena.web.app import create_app
from tests.arena.foreign.tables import results, write

MARK = "unverified foreign results"
ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A home with results of a game for two and three players, with seats."""
    folder = tmp_path_factory.mktemp("made")
    import_results(write(folder / "league.csv", results(7, games=("chess",), matches=30)), game="chess", home=folder)
    return folder


@pytest.fixture
def home(made, tmp_path):
    """A copy of it that a test may spoil."""
    return shutil.copytree(made, tmp_path / "home")


def said(capsys, *words, code=0):
    """What a command prints."""
    assert run_command([*map(str, words)]) == code
    found = capsys.readouterr()
    assert "Traceback" not in found.err
    return " ".join((found.out + found.err).split())


@pytest.mark.parametrize(
    "command",
    [
        "leaderboard league",
        "leaderboard league --format csv",
        "leaderboard league --format json",
        "leaderboard league --format md",
        "crosstable league",
        "variance league",
        "power league 'bot 0' 'bot 1'",
        "status league",
        "diff league league",
        "verify league",
    ],
)
def test_every_table_says_that_nobody_has_checked_it(made, capsys, command):
    assert MARK in said(capsys, *shlex.split(command), "--home", made).lower()


def test_the_list_of_tournaments_and_its_data_say_so(made, capsys):
    assert (
        json.loads(said(capsys, "status", "league", "--json", "--home", made))["foreign"] == f"{MARK} from league.csv"
    )


def test_exports_and_their_plan_say_so(made, tmp_path):
    formats = ["csv", "json", "md", "parquet", "html", "tex"]
    paths = api.export("league", made, tmp_path, ["leaderboards", "crosstable", "matches"], formats)
    for path in paths:
        text = path.read_bytes().decode("utf-8", "replace").replace("\\_", "_")
        assert "unverified-foreign-results" in path.name or MARK in text or path.name == "versions.json"
    assert {path.name for path in paths} >= {"matches.csv", "plan.json", "chess-unverified-foreign-results_2p.csv"}
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["foreign"]["status"] == MARK and plan["foreign"]["file"] == "league.csv"


@pytest.mark.system
def test_the_report_says_so_at_its_head_and_is_the_same_again(home, capsys):
    said(capsys, "report", "league", "--home", home)
    page = (home / "league" / "index.html").read_text()
    assert MARK in page.partition("</header>")[0].lower() and "Returns by seat" in page
    assert "Lengths of matches" not in page and "replay MATCH" not in page and "--rerun" not in page
    report = verify("league", home)
    assert report.sound and "index.html" in report.compared


def test_figures_can_be_drawn_and_those_about_moves_say_that_there_are_none(made, tmp_path, capsys):
    said(capsys, "plot", "league", "ratings", "--players", 2, "--format", "json", "--out", tmp_path, "--home", made)
    assert [path.name for path in tmp_path.iterdir()] == ["chess-unverified-foreign-results_2p_ratings.json"]
    assert "there is nothing to draw" in said(capsys, "plot", "league", "lengths", "--home", made, code=2)


def test_pages_in_the_browser_say_so(made):
    with TestClient(create_app(made), base_url=ADDRESS, raise_server_exceptions=False) as client:
        board = "chess-unverified-foreign-results_2p"
        with Store.open(made / "league" / "matches.db") as store:
            match = f"{next(store.match_digests())[0].hex()}-0"
        for address in (
            "/",
            "/tournaments/league",
            "/tournaments/league/matches",
            f"/tournaments/league/matches/{match}",
            "/bots",
            f"/bot?name=bot 0({MARK})",
        ):
            page = client.get(address)
            assert page.status_code == 200, address
            assert MARK in page.text.lower(), address
        assert client.get("/games").status_code == 200 and client.get("/games/chess").status_code == 404
        pair = client.get("/tournaments/league/pair", params={"board": board, "a": "bot 0", "b": "bot 1"})
        assert pair.status_code == 200 and MARK in pair.text.lower()


@pytest.mark.system
def test_a_site_says_so_on_every_page_of_them(made, tmp_path, capsys):
    said(capsys, "site", "league", "--out", tmp_path / "site", "--home", made)
    pages = list((tmp_path / "site" / "league").rglob("*.html"))
    assert len(pages) > 3 and all(MARK in page.read_text().lower() for page in pages)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("verify league --rerun 2", "without moves: nothing can be played again"),
        ("merge league --into other", "they cannot be merged"),
        ("replay MATCH", "without moves: it cannot be replayed"),
        ("run league.toml --workers 1", "nothing can be played here; give the configuration another name"),
    ],
)
def test_what_needs_moves_is_refused_in_a_line(home, capsys, monkeypatch, command, expected):
    monkeypatch.chdir(home)
    with Store.open(home / "league" / "matches.db") as store:
        match = next(store.match_digests())[0].hex()
    bots = '[[bots]]\nbot = "random"\n[[bots]]\nbot = "greedy"\n'
    (home / "league.toml").write_text(f'name = "league"\n[[games]]\ngame = "epicycle"\nplayers = 2\n{bots}')
    before = (home / "league" / "matches.db").read_bytes()
    code = 2 if command.startswith("verify") else 1
    found = said(capsys, *command.replace("MATCH", match).split(), "--home", home, code=code)
    assert expected in found and MARK in found.replace("foreign results, without", f"{MARK}, without")
    assert (home / "league" / "matches.db").read_bytes() == before
    assert not (home / "other").exists()


def test_played_matches_and_results_from_elsewhere_never_share_a_log(home, tmp_path):
    bots = [{"bot": "random"}, {"bot": "greedy"}]
    games = [{"game": "connect_four", "players": 2}]
    arena.run({"name": "ours", "blocks": 1, "games": games, "bots": bots}, home=home, workers=1, report=False)
    for targets, into in ((["league"], "ours"), (["ours"], "league"), (["league", "ours"], "new")):
        with pytest.raises(ArenaError, match="cannot be merged"):
            merge(targets, into, home)
    api.export("ours", home, tmp_path / "ours", ["matches"])
    with pytest.raises(ArenaError, match="no matches can be added"):
        import_records([tmp_path / "ours" / "matches.jsonl"], "league", home=home)
    api.export("league", home, tmp_path / "league", ["matches"])
    with pytest.raises(ArenaError, match="have no moves to import"):
        import_records([tmp_path / "league" / "matches.jsonl"], "again", home=home)


# Verification


def findings(home):
    return [finding.text for finding in verify("league", home).findings]


def test_a_log_is_compared_with_the_file_that_it_was_made_from(home):
    report = verify("league", home)
    assert report.sound and report.totals.matches == 30 and report.totals.unverified == 30
    assert "the log was compared with source.csv" in report.remarks[0]
    (home / "league" / "source.csv").unlink()
    report = verify("league", home)
    assert report.sound and "is not beside it, so it was not compared" in report.remarks[0]


def test_another_file_beside_a_log_is_found(home):
    source = home / "league" / "source.csv"
    source.write_text(source.read_text().replace("bot 1", "bot 9"))
    assert findings(home) == ["is not the file that the log was made from: its digest differs"]


def test_a_changed_result_is_found_though_its_digests_fit(home):
    with sqlite3.connect(home / "league" / "matches.db") as db:
        block = db.execute("SELECT min(block) FROM blocks JOIN boards USING (board) WHERE players = 2").fetchone()
        assert db.execute("UPDATE seats SET rank = 1 - rank WHERE block = ?", block).rowcount == 2
        for whole in match_rows(db, [key for (key,) in db.execute("SELECT block FROM blocks")]):
            first, _ = whole.digests()
            db.execute("UPDATE matches SET digest = ? WHERE block = ?", (first, whole.key))
            whole = whole._replace(digest=first)
            db.execute("UPDATE timings SET digest = ? WHERE block = ?", (whole.digests()[1], whole.key))
    assert findings(home) == ["differs from source.csv"]


def test_a_log_and_a_file_that_were_both_changed_agree_and_stay_unverified(home, tmp_path):
    """What nobody can find out is not claimed: the mark stays."""
    text = (home / "league" / "source.csv").read_text().replace("bot 1", "bot 9")
    (tmp_path / "league.csv").write_text(text)
    import_results(tmp_path / "league.csv", name="other", game="chess", home=home)
    report = verify("other", home)
    assert report.sound and MARK in report.remarks[0]


def test_an_archive_has_the_file_and_is_verified_with_it(made, tmp_path):
    report = verify(make_archive("league", made, tmp_path / "league.zip"))
    assert report.sound and "the log was compared with source.csv" in report.remarks[0]


def test_a_plan_cannot_pass_foreign_results_off_as_played_ones(home):
    with Tournament.open("league", home) as tournament:
        plan = tournament.plan
    data = plan.model_dump()
    for changed in ({**data, "foreign": None}, {**data, "boards": [{**data["boards"][0], "game": "epicycle"}]}):
        with pytest.raises(ArenaError, match="are marked '\\(unverified foreign results\\)'"):
            type(plan).read(changed, "plan")


def test_a_link_in_place_of_the_copy_is_not_followed(home, tmp_path):
    source = home / "league" / "source.csv"
    source.rename(tmp_path / "elsewhere.csv")
    source.symlink_to(tmp_path / "elsewhere.csv")
    assert any("cannot be read: is a link" in text for text in findings(home))
    with pytest.raises(ArenaError):
        copy_and_hash(type(source)("source.csv"), tmp_path / "copy", source.parent)
