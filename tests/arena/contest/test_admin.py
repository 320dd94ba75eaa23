"""`arena contest admin`: what an operator does about authors; everything leaves a row in the audit log."""

from __future__ import annotations

import csv
import io
import json
import stat
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from arena.accounts import OPERATOR, Accounts
from arena.accounts.sheets import sheet_of_links
from arena.cli.app import run_command
from arena.contest import author_export
from arena.contest.author_export import export_author
from arena.contest.config import contest_from
from arena.contest.erasing import remove_sources
from arena.contest.handing_in import hand_in
from arena.core.errors import AccountError
from arena.registry.submissions import source_path
from arena.store import Store
from arena.verify.archive import make_archive
from arena.verify.verification import verify
from tests.arena.contest.seasons import bots_of, play_season
from tests.arena.verify.logs import checked
from tests.support.rows import rows_of
from tests.support.submissions import submit

CONFIG = contest_from(
    {"name": "cup", "boards": [{"game": "epicycle", "players": 2}], "time_zone": "Europe/Berlin", "bots_per_author": 2}
)
BOT = "from bots import Bot\n\n\nclass Mine(Bot):\n    def choose(self, state):\n        return 0\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with a contest and two authors: Ann, a1, and Bob, a2."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", "home")
    with Accounts.open("home") as accounts:
        accounts.contests.add("cup", CONFIG.as_data(), "operator")
        for name in ("Ann", "Bob"):
            accounts.contests.join("cup", accounts.authors.add(name, "author", "operator").id, "operator")
    return tmp_path / "home"


@pytest.fixture
def admin(home, capsys):
    """Run a command that succeeds, and return what it prints."""

    def run(*arguments: str) -> str:
        code = run_command(["contest", "admin", *arguments])
        said = capsys.readouterr()
        assert (code, said.err) == (0, "")
        return said.out

    return run


@pytest.fixture
def refused(home, capsys):
    """Run a command that fails, and return its one line."""

    def run(*arguments: str) -> str:
        assert run_command(["contest", "admin", *arguments]) in (1, 2)
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n"), said.err[:7]) == ("", 1, "error: ")
        return said.err

    return run


def handed_in(home: Path, author: str, name: str, source: str = BOT) -> str:
    """Hand in a bot, and return its version's bundle."""
    with Accounts.open(home) as accounts:
        found = accounts.authors.get(author)
        return hand_in(accounts, home, CONFIG, found, name, {"mine.py": source.encode()}).version.bundle


def audit(home: Path) -> list[tuple[str, str, str]]:
    with Accounts.open(home) as accounts:
        return [(row.actor, row.action, row.subject) for row in accounts.database.audit(most=1000)]


# Invitations


def test_a_csv_of_names_becomes_a_sheet_of_links_that_count_once(admin, home):
    Path("class.csv").write_text("\ufeffName,Class\nCleo,9b\nDan Müller,9b\n\n", encoding="utf-8")
    said = admin("invite", "cup", "--csv", "class.csv", "--url", "https://arena.example/", "--out", "links.csv")
    assert said == "links.csv: 2 may take part in 'cup'.\n"
    assert stat.S_IMODE(Path("links.csv").stat().st_mode) == 0o600
    rows = list(csv.DictReader(Path("links.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["name"] for row in rows] == ["Cleo", "Dan Müller"]
    with Accounts.open(home) as accounts:
        for row in rows:
            code = row["link"].removeprefix("https://arena.example/join/")
            author, _ = accounts.invitations.accept(code)
            assert author.name == row["name"] and accounts.contests.member("cup", author.id)
            with pytest.raises(AccountError):
                accounts.invitations.accept(code)


def test_names_on_the_command_line_and_links_for_anybody_are_printed(admin, home):
    rows = list(csv.reader(io.StringIO(admin("invite", "cup", "Cleo", "Dan", "--role", "organiser"))))
    assert [row[0] for row in rows] == ["name", "Cleo", "Dan"]
    with Accounts.open(home) as accounts:
        assert accounts.invitations.find(rows[1][1].removeprefix("/join/")).role == "organiser"
    _, row = csv.reader(io.StringIO(admin("invite", "cup", "--anybody", "30", "--days", "7")))
    with Accounts.open(home) as accounts:
        assert accounts.invitations.find(row[1].removeprefix("/join/")).uses == 30


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["cup"], "give names, or --csv, or --anybody"),
        (["cup", "Cleo", "--anybody", "2"], "give names, or --csv, or --anybody"),
        (["cup", "Ann"], "is taken"),
        (["cup", "Cleo", "cleo"], "is in the list twice"),
        (["cup", "=1+1"], "must not begin with"),
        (["cap", "Cleo"], "there is no contest 'cap'"),
        (["cup", "--csv", "no.csv"], "no.csv: No such file"),
        (["cup", "--csv", "bad.csv"], "is no text in UTF-8"),
        (["cup", "--csv", "empty.csv"], "write at least one"),
        (["cup", "Cleo", "--out", "bad.csv"], "is there already"),
        (["cup", "Cleo", "--out", "no/links.csv"], "no folder no"),
    ],
)
def test_invitations_that_cannot_be_invite_nobody(refused, home, arguments, told):
    Path("bad.csv").write_bytes(b"\xff\xfe")
    Path("empty.csv").write_text("\n")
    before = audit(home)
    assert told in refused("invite", *arguments)
    assert audit(home) == before


def test_a_sheet_has_whole_links():
    assert sheet_of_links([("Ann", "x")], "https://a.example//") == "name,link\nAnn,https://a.example/join/x\n"


# Changes


def test_every_change_takes_effect_and_is_audited(admin, home):
    handed_in(home, "a1", "quick")
    admin("limit", "cup", "Ann", "--bots", "5")
    admin("extend", "cup", "a1", "2027-02-01T18:00")
    admin("ban", "cup", "bob", "--matches", "drop")
    admin("message", "cup", "Noon.")
    admin("role", "Ann", "organiser")
    admin("withdraw", "b1")
    with Accounts.open(home) as accounts:
        ann, bob = accounts.contests.members("cup")
        assert (ann.max_bots, ann.max_per_day, ann.author.role) == (5, None, "organiser")
        assert ann.deadline == "2027-02-01T17:00:00.000000Z"
        assert bob.banned == "drop"
        assert accounts.contests.get("cup").message == "Noon."
        assert accounts.submissions.bot("b1").withdrawn
    assert "already" in admin("withdraw", "b1")
    admin("unban", "cup", "Bob")
    admin("extend", "cup", "Ann")
    admin("message", "cup")
    with Accounts.open(home) as accounts:
        ann, bob = accounts.contests.members("cup")
        assert (ann.deadline, bob.banned, accounts.contests.get("cup").message) == (None, None, "")
    done = [action for actor, action, _ in audit(home) if actor == "operator"]
    assert done[-10:] == [
        *("limit bots", "limit submissions", "extend deadline", "ban", "announce", "give role", "withdraw"),
        *("unban", "extend deadline", "announce"),
    ]


def test_tokens_are_issued_listed_without_their_text_and_revoked(admin, home):
    text = admin("token", "Ann", "--scope", "submit", "--label", "laptop", "--days", "2").strip()
    with Accounts.open(home) as accounts:
        assert accounts.tokens.check(text).may("submit") and not accounts.tokens.check(text).may("read")
    listed = admin("tokens", "Ann")
    assert "laptop" in listed and text not in listed
    other = admin("token", "Ann").strip()
    admin("revoke", "Ann", "1")
    with Accounts.open(home) as accounts:
        assert accounts.tokens.check(text) is None and accounts.tokens.check(other)
    assert "1 token is revoked" in admin("revoke", "Ann")
    with Accounts.open(home) as accounts:
        assert accounts.tokens.check(other) is None


def test_lists_are_tables_or_json(admin, home):
    handed_in(home, "a1", "quick")
    assert "Ann" in admin("authors") and "b1" in admin("authors", "cup")
    rows = json.loads(admin("authors", "cup", "--json"))
    assert [(row["id"], row["name"], row["bots"], row["banned"]) for row in rows] == [
        ("a1", "Ann", "b1", None),
        ("a2", "Bob", "", None),
    ]
    changes = json.loads(admin("audit", "cup", "--json"))
    assert changes[0]["action"] == "add contest" and changes[-1]["subject"] == "b1.1"
    assert json.loads(admin("audit", "--after", str(changes[-1]["number"]), "--json")) == []
    assert "hand in" in admin("audit")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ban", "cup", "Anna"], "there is no author 'Anna'; did you mean 'Ann'?"),
        (["ban", "cup", "a9"], "there is no author a9"),
        (["ban", "cap", "Ann"], "does not take part in 'cap'"),
        (["extend", "cup", "Ann", "soon"], "must be a time such as"),
        (["withdraw", "b9"], "there is no bot b9"),
        (["withdraw", "x"], "is no id"),
        (["revoke", "Ann", "9"], "has no token 9"),
        (["token", "Ann", "--scope", "all"], "'all' is none of"),
        (["token", "Ann", "--scope", "admin"], "is for organisers"),
        (["audit", "cap"], "there is no contest 'cap'"),
        (["authors", "cap"], "there is no contest 'cap'"),
        (["erase", "Ann"], "--yes erases"),
        (["message", "cup", "x" * 2001], "at most 2,000"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(refused, home, arguments, told):
    before = audit(home)
    assert told in refused(*arguments)
    assert audit(home) == before


def test_a_home_without_contests_gets_no_database(refused, home, tmp_path):
    assert "has no contest" in refused("audit", "--home", str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


# Export and erasing


def test_an_export_has_all_of_one_author_and_nothing_of_another(admin, refused, home):
    handed_in(home, "a1", "quick")
    handed_in(home, "a2", "other", f"{BOT}# secret of Bob\n")
    text = admin("token", "Ann").strip()
    admin("export", "Ann", "ann.zip")
    assert stat.S_IMODE(Path("ann.zip").stat().st_mode) == 0o600
    with zipfile.ZipFile("ann.zip") as archive:
        about = json.loads(archive.read("author.json"))
        assert archive.read("bots/b1/1/mine.py").decode() == BOT
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert about["author"]["name"] == "Ann" and about["contests"][0]["contest"] == "cup"
    assert [bot["name"] for bot in about["bots"]] == ["quick"] and len(about["tokens"]) == 1
    assert {"a1", "b1.1"} <= {row["subject"] for row in about["audit"]}
    assert b"Bob" not in everything and text.encode() not in everything
    assert "is there already" in refused("export", "Ann", "ann.zip")


def test_an_export_holds_one_report_at_a_time_in_memory(home, monkeypatch):
    monkeypatch.setattr(author_export, "source_files", lambda *of: [])
    for number in range(10):
        handed_in(home, "a1", "quick", f"{BOT}# {number}\n")
    with Accounts.open(home) as accounts:
        for version in accounts.submissions.versions("b1"):
            accounts.submissions.begin_check(version)
            for line in range(20):
                accounts.submissions.report(version, {"text": f"{line}: " + "x" * 10_000})
        reports = sum(len(json.dumps(each.report)) for each in accounts.submissions.versions("b1", with_reports=True))
        tracemalloc.start()
        export_author(accounts, home, "a1", home / "ann.zip", OPERATOR)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert reports > 2_000_000
    assert peak < reports
    with zipfile.ZipFile(home / "ann.zip") as archive:
        (bot,) = json.loads(archive.read("author.json"))["bots"]
    assert [version["number"] for version in bot["versions"]] == [*range(10, 0, -1)]
    assert all(len(version["report"]) == 20 for version in bot["versions"])


def test_erasing_removes_names_tokens_and_sources_and_leaves_what_others_share(admin, home):
    mine, shared = handed_in(home, "a1", "Unmistakable"), handed_in(home, "a1", "same", f"{BOT}# shared\n")
    assert handed_in(home, "a2", "copy", f"{BOT}# shared\n") == shared
    text = admin("token", "Ann").strip()
    assert "1 sources" in admin("erase", "Ann", "--yes")
    assert not source_path(mine, home).exists() and source_path(shared, home).exists()
    with Accounts.open(home) as accounts:
        assert accounts.tokens.check(text) is None
        assert accounts.authors.get("a1").name == "(erased a1)"
        assert accounts.submissions.versions("b1")[0].state == "erased"
        assert accounts.submissions.versions("b1")[0].module == ""
    assert b"Unmistakable" not in (home / "arena.db").read_bytes()
    assert "a1 is erased, with 0 sources" in admin("erase", "a1", "--yes")


def test_a_source_that_is_submitted_at_home_too_stays(admin, home):
    Path("mine.py").write_text(BOT)
    submit("mine.py", "local", "Ann", home)
    mine = handed_in(home, "a1", "quick")
    admin("erase", "Ann", "--yes")
    assert source_path(mine, home).exists()


def test_erasing_reaches_seasons_that_have_ended_and_their_results_stay(admin, home):
    log = home / "contests" / "cup" / "season-1" / "matches.db"
    log.parent.mkdir(parents=True)
    play_season(log, bots_of())
    running = home / "contests" / "cup" / "season-2" / "matches.db"
    running.parent.mkdir()
    play_season(running, bots_of(), rounds=1, ends=False)
    archive = make_archive(log, home, log.with_name("archive.zip"))
    handed_in(home, "a1", "quick")
    with zipfile.ZipFile(archive) as packed:
        assert any(name.startswith("bots/greedy@") for name in packed.namelist())
    ((bundle,),) = rows_of(log, "SELECT bundle FROM bots WHERE spec = 'greedy'")
    with Accounts.open(home) as accounts, accounts.database.change("operator") as change:
        change.run("UPDATE versions SET bundle = ?", bundle)
        change.run("UPDATE contests SET season = 2")
    said = admin("erase", "Ann", "--yes")
    assert f"{log.relative_to(home.parent)}: sources erased" in " ".join(said.split())
    assert "its driver erases sources" in " ".join(said.split())
    with zipfile.ZipFile(archive) as packed:
        assert not any(name.startswith("bots/greedy@") for name in packed.namelist())
    assert verify(archive, workers=1).sound
    report = checked(log)
    assert report.sound and any("source erased" in remark for remark in report.remarks)
    with Store.open(log) as ended, Store.open(running) as other:
        assert bundle not in ended.bots.bundles() and bundle in other.bots.bundles()


def test_an_interrupted_erasure_goes_on(home):
    mine = handed_in(home, "a1", "quick")
    with Accounts.open(home) as accounts:
        accounts.authors.erase("a1", "operator")
        assert source_path(mine, home).exists()
        assert remove_sources(accounts, home).sources == 1
        assert not source_path(mine, home).exists()
