"""Contests on the server: who sees what, and what organisers do."""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import pytest
from fastapi.responses import FileResponse

from arena.accounts import OPERATOR
from arena.contest.final import commit_to_key
from arena.contest.layout import final_log
from arena.store import Store
from arena.web.app import create_app
from tests.arena.web.contest.conftest import BOT, CONTEST, client_of, hand_in, write_round

STRANGE = ["/contests", "/contests/cup", "/sign-in", "/api/v1/contests", "/api/v1/contests/cup", "/api/v1/openapi.json"]
HUGE = 10**30
FORM = "application/x-www-form-urlencoded; charset="


def test_a_home_without_contests_has_none_and_no_database(tmp_path):
    http = client_of(create_app(tmp_path))
    assert "no contest here yet" in http.get("/contests").text
    assert http.get("/contests/cup").status_code == 404
    assert http.get("/api/v1/contests").json() == {"contests": []}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", STRANGE)
def test_everybody_sees_contests(cup, address):
    assert cup.stranger.get(address).status_code == 200


def test_the_first_page_leads_to_contests_open_ones_first(arena_of):
    cup = arena_of()
    assert (
        '<a href="/contests/cup">Spring cup</a> <span class="faint">open, 0 bots</span>' in cup.stranger.get("/").text
    )
    for name in ("older", "newer", "newest"):
        cup.accounts.contests.add(name, {**CONTEST, "name": name, "title": f"The {name}"}, OPERATOR)
    cup.accounts.contests.close("newest", OPERATOR)
    shown = re.findall('<li><a href="/contests/([a-z]+)">', cup.stranger.get("/").text)
    assert {*shown} == {"cup", "older", "newer"}


def test_the_page_of_a_contest_tells_who_may_enter_and_what_is_played(cup):
    text = cup.stranger.get("/contests/cup").text
    assert "Spring cup" in text
    assert "<em>all</em>" in text
    assert "Sign in to hand in" in text
    assert "No round is complete yet" in text


def test_text_of_an_organiser_is_no_markup(arena_of):
    text = (
        arena_of(text="<script>alert(1)</script> [x](javascript:alert(1))", title="<b>T</b>")
        .stranger.get("/contests/cup")
        .text
    )
    assert "<script>alert" not in text
    assert 'href="javascript' not in text
    assert "<b>T</b>" not in text


@pytest.mark.parametrize("address", ["/contests/cup/organise"])
def test_organising_is_for_organisers(cup, address):
    assert cup.ann.get(address).status_code == 403
    assert cup.stranger.get(address).status_code == 303
    assert cup.boss.get(address).status_code == 200
    assert cup.ann.post(address, {"action": "announce", "message": "x"}).status_code == 403
    assert cup.accounts.contests.get("cup").message == ""


def test_an_organiser_invites_bans_limits_and_tells(cup):
    def act(**fields):
        return cup.boss.post("/contests/cup/organise", fields)

    sheet = act(action="invite", names="Cid,1\nDora,2\n").text
    assert sheet.count("http://127.0.0.1:8000/join/arena_") == 2
    assert "is taken" in act(action="invite", names="Ann").text
    assert act(action="announce", message="Maintenance at noon").status_code == 200
    assert "Maintenance at noon" in cup.stranger.get("/contests/cup").text
    assert act(action="ban", author=cup.ann.author.id, matches="drop").status_code == 200
    assert "banned" in hand_in(cup.ann).text
    assert act(action="unban", author=cup.ann.author.id).status_code == 200
    assert act(action="limit", author=cup.ann.author.id, max_bots="0").status_code == 200
    assert "ou may have 0 bots" in hand_in(cup.ann).text
    assert act(action="nothing").status_code == 400


def test_everything_of_an_author_is_for_the_author_and_organisers(cup):
    hand_in(cup.ann)
    mine = cup.ann.post("/account/export")
    with zipfile.ZipFile(io.BytesIO(mine.content)) as archive:
        assert "bots/b1/1/mine.py" in archive.namelist()
        assert "arena_" not in archive.read("author.json").decode()
    address = f"/contests/cup/organise/export/{cup.ann.author.id}"
    assert cup.bob.post(address).status_code == 403
    assert cup.boss.post(address).headers["content-type"] == "application/zip"


def test_an_export_is_sent_from_a_file_that_is_removed_then(cup, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sent = []
    monkeypatch.setattr(FileResponse, "chunk_size", 100)

    async def sent_by(response, scope, receive, send):
        sent.append(Path(response.path).is_file())
        return await send_file(response, scope, receive, send)

    send_file = FileResponse.__call__
    monkeypatch.setattr(FileResponse, "__call__", sent_by)
    mine = cup.ann.post("/account/export")
    assert mine.headers["content-length"] == str(len(mine.content))
    assert 'filename="a' in mine.headers["content-disposition"]
    assert sent == [True]
    assert list(tmp_path.glob("arena-export-*")) == []


def test_erasing_takes_the_name_and_leaves_the_results(cup):
    hand_in(cup.ann, name="alpha")
    write_round(cup.home, 1, ("b1.1", "house:random"))

    def erase(name):
        fields = {"action": "erase", "author": cup.ann.author.id, "name": name}
        return cup.boss.post("/contests/cup/organise", fields).status_code

    assert erase("Anne") == 400
    assert erase("Ann") == 200
    text = cup.stranger.get("/contests/cup").text
    assert "alpha" not in text
    assert ">Ann<" not in text
    assert "(erased b1)" in text
    assert cup.ann.get("/account").status_code == 303


def test_standings_are_those_of_the_file_with_names(cup):
    for person, name in ((cup.ann, "alpha"), (cup.bob, "beta")):
        hand_in(person, name=name)
    write_round(cup.home, 1, ("b2.1", "b1.1", "house:random"))
    write_round(cup.home, 2)
    text = cup.ann.get("/contests/cup").text
    assert text.index("alpha") < text.index("beta") < text.index("of the house")
    assert "▲ 1" in text
    assert ">Score, %</th>" in text
    assert 'class="mine"' in text
    found = cup.stranger.api("GET", "/contests/cup/standings").json()
    assert [row["bot"] for row in found["overall"]] == ["b1.1", "b2.1", "house:random"]
    assert found["names"]["b1.1"] == {"name": "alpha", "author": "Ann"}


def test_standings_of_authors_have_one_row_for_each(arena_of):
    cup = arena_of(standings="author", bots_per_author=2)
    for name in ("one", "two"):
        hand_in(cup.ann, BOT + name.encode().join([b"#", b"\n"]), name=name)
    write_round(cup.home)
    text = cup.stranger.get("/contests/cup").text
    overall = text.split('class="folded"')[0]
    assert ">one<" in overall
    assert ">two<" not in overall


def test_frozen_standings_show_what_was_known_before(arena_of):
    cup = arena_of(freeze="2026-05-01T00:00:01", deadline="2099-01-01T00:00:00")
    for person, name in ((cup.ann, "alpha"), (cup.bob, "beta")):
        hand_in(person, name=name)
    write_round(cup.home, 1, ("b2.1", "b1.1"))
    write_round(cup.home, 2, ("b1.1", "b2.1"))
    text = cup.stranger.get("/contests/cup").text
    assert "frozen" in text
    assert text.index("beta") < text.index("alpha")
    assert cup.stranger.api("GET", "/contests/cup/standings").status_code == 404


def test_the_final_has_a_podium_and_certificates_that_are_no_markup(cup):
    hand_in(cup.ann, name="alpha")
    write_round(cup.home, folder="contests/cup/season-1/final")
    assert "Certificate of place 1" in cup.stranger.get("/contests/cup/final").text
    svg = cup.stranger.get("/contests/cup/certificates/1.svg")
    assert " width=" not in svg.text.partition(">")[0], "it is as large as its window"
    assert svg.headers["content-type"] == "image/svg+xml"
    assert "Ann" in svg.text
    assert cup.stranger.get("/contests/cup/certificates/3.svg").status_code == 404  # the house's
    assert cup.stranger.get("/contests/cup/certificates/99.svg").status_code == 404


def test_a_page_of_many_bots_shows_some_of_them(cup):
    write_round(cup.home, bots=tuple(f"b{number}.1" for number in range(1, 251)))
    first, second = cup.stranger.get("/contests/cup").text, cup.stranger.get("/contests/cup?start=100").text
    assert ">b1.1<" in first
    assert ">b101.1<" not in first.split("Epicycle")[0]
    assert "start=100" in first
    assert ">b101.1<" in second


def test_the_hash_of_the_finals_key_is_shown_from_the_beginning(cup):
    hash = commit_to_key(cup.home, "cup", 1)
    text = cup.stranger.get("/contests/cup").text
    assert hash in text
    with Store.open(final_log(cup.home, "cup", 1)) as store:
        assert store.keys.all()[0].key.hex() not in text


def test_archives_have_sources_and_are_for_organisers(cup):
    folder = cup.home / "contests/cup/season-1"
    folder.mkdir(parents=True)
    assert cup.boss.get("/contests/cup/archive/season.zip").status_code == 404
    (folder / "archive.zip").write_bytes(b"PK")
    for person, status in ((cup.boss, 200), (cup.ann, 403), (cup.stranger, 303)):
        assert person.get("/contests/cup/archive/season.zip").status_code == status
    assert cup.boss.get("/contests/cup/archive/..%2F..%2Farena.db.zip").status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        f"/contests/cup/bots/b{HUGE}",
        f"/contests/cup/bots/b{HUGE}/versions/1",
        f"/contests/cup/bots/b1/versions/{HUGE}",
        f"/contests/cup/bots/b1/versions/{HUGE}/source.zip",
        f"/contests/cup/certificates/{HUGE}.svg",
        f"/contests/cup?start={HUGE}",
    ],
)
def test_huge_numbers_in_addresses_are_told_and_no_failures(cup, address):
    hand_in(cup.ann)
    assert cup.ann.get(address).status_code in (200, 400, 403, 404)
    assert cup.boss.get(address).status_code in (200, 400, 403, 404)


def test_huge_numbers_change_nothing(cup):
    hand_in(cup.ann)
    for address in (f"/account/tokens/{HUGE}/revoke", f"/contests/cup/bots/b1/versions/{HUGE}/bring-back"):
        assert cup.ann.post(address).status_code in (400, 403, 404)


@pytest.mark.parametrize("charset", ["no-such-code", "idna", "utf-16", "unicode_escape", "base64"])
def test_a_form_in_a_code_that_no_browser_sends_is_refused(cup, charset):
    answer = cup.ann.http.post("/sign-in", content=b"token=%ff%fe", headers={"Content-Type": FORM + charset})
    assert answer.status_code in (400, 403)


def test_a_deadline_is_a_time_of_our_centuries(cup):
    def extend(moment):
        fields = {"action": "extend", "author": cup.ann.author.id, "deadline": moment}
        return cup.boss.post("/contests/cup/organise", fields)

    assert extend("2027-05-01T18:00+02:00").status_code == 200
    assert cup.accounts.contests.member("cup", cup.ann.author.id).deadline.startswith("2027-05-01T16:00:00")
    for year in ("0001", "1999", "9999"):
        answer = extend(f"{year}-01-01T00:00")
        assert answer.status_code == 400
        assert "must be a time such as" in answer.text
    assert cup.ann.get("/contests/cup/hand-in").status_code == 200


def test_matches_tell_nothing_while_standings_are_frozen(arena_of):
    cup = arena_of(freeze="2026-05-01T00:00:01", deadline="2099-01-01T00:00:00")
    write_round(cup.home)
    pages = ["/contests/cup/season-1/matches", "/contests/cup/season-1/matches/abc"]
    asked = [
        *((person.get, page) for person in (cup.ann, cup.stranger) for page in pages),
        *((partial(cup.ann.api, "GET"), f"/contests/cup/matches{part}") for part in ("", "/abc")),
    ]
    for get, address in asked:
        answer = get(address)
        assert answer.status_code == 403
        assert "frozen" in answer.text
    assert "/season-1/matches" not in cup.ann.get("/contests/cup").text
    assert cup.boss.get(pages[0]).status_code != 403
    cup.accounts.contests.close("cup", OPERATOR)
    assert cup.ann.get(pages[0]).status_code != 403


def test_standings_come_back_when_a_frozen_contest_is_over(arena_of):
    cup = arena_of(freeze="2026-05-01T00:00:01", deadline="2099-01-01T00:00:00")
    write_round(cup.home)
    assert cup.stranger.api("GET", "/contests/cup/standings").status_code == 404
    cup.accounts.contests.close("cup", OPERATOR)
    assert cup.stranger.api("GET", "/contests/cup/standings").status_code == 200


def test_a_list_of_names_with_a_wrong_one_is_not_lost(cup):
    page = cup.boss.post("/contests/cup/organise", {"action": "invite", "names": "Cid\nAnn <b>", "days": "7"}).text
    assert ">Cid\nAnn &lt;b&gt;</textarea>" in page
    assert page.count('value="7"') == 1
    page = cup.boss.post("/contests/cup/organise", {"action": "invite-anybody", "uses": "x", "days": "9"}).text
    assert (page.count('value="x"'), page.count('value="9"'), page.count('value="30"')) == (1, 1, 1)
    for wrong in ({"uses": "0"}, {"uses": ""}, {"uses": "1", "days": "0"}, {"uses": "1", "days": "3651"}):
        answer = cup.boss.post("/contests/cup/organise", {"action": "invite-anybody", **wrong})
        assert (answer.status_code, "must be 1 to" in answer.text) == (400, True), wrong
    of_ann = {"action": "limit", "author": cup.ann.author.id, "max_bots": "many"}
    page = cup.boss.post("/contests/cup/organise", of_ann).text
    assert (page.count('value="many"'), page.count("<details open>")) == (1, 1)


def test_the_first_page_of_an_arena_with_contests_alone_counts_no_tournaments(cup):
    page = cup.stranger.get("/").text
    assert "Spring cup" in page
    assert "Nothing has been played" not in page
    assert "0 tournaments" not in page
