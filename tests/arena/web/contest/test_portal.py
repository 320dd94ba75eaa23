"""Contests on the server: who sees what, who may do what, and what a person is told."""

from __future__ import annotations

import io
import re
import zipfile
from functools import partial

import pytest
from starlette.testclient import TestClient

from arena.accounts import OPERATOR, Allowance
from arena.contest.final import commit_to_key
from arena.contest.layout import final_log
from arena.core.errors import LockedError
from arena.store import Store
from arena.web.addresses import addresses_of
from arena.web.app import create_app
from arena.web.contest.access import RateLimit
from tests.arena.web.contest.conftest import BOT, client_of, finish_check, hand_in, write_round

HARDLY = 1e-6
"""Requests a minute, of which none comes while a test runs."""
STRANGE = ["/contests", "/contests/cup", "/sign-in", "/api/v1/contests", "/api/v1/contests/cup", "/api/v1/openapi.json"]


def test_a_home_without_contests_has_none_and_no_database(tmp_path):
    http = client_of(create_app(tmp_path))
    assert "no contest here yet" in http.get("/contests").text
    assert http.get("/contests/cup").status_code == 404
    assert http.get("/api/v1/contests").json() == {"contests": []}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", STRANGE)
def test_everybody_sees_contests(cup, address):
    assert cup.stranger.get(address).status_code == 200


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


# Invitations and signing in


def test_from_the_link_to_a_signed_in_browser(cup):
    ((_, code),) = cup.accounts.invitations.invite("cup", ["Cid"], "operator")
    page = cup.stranger.get(f"/join/{code}")
    assert "This invitation is for" in page.text
    welcome = cup.stranger.post(f"/join/{code}")
    assert welcome.status_code == 200
    assert "arena_" in welcome.text
    assert "HttpOnly" in welcome.headers["set-cookie"]
    assert "SameSite=lax" in welcome.headers["set-cookie"]
    assert "Signed in as" in cup.stranger.get("/contests/cup").text
    assert cup.stranger.get(f"/join/{code}").status_code == 404


def test_signing_in_takes_a_token_and_leads_where_one_was_going(cup):
    away = cup.stranger.get("/contests/cup/hand-in")
    assert (away.status_code, away.headers["location"]) == (303, "/sign-in?next=/contests/cup/hand-in")
    assert cup.stranger.post("/sign-in", {"secret": "arena_wrong"}).status_code == 403
    done = cup.stranger.post("/sign-in", {"secret": cup.ann.token, "next": "/contests/cup/hand-in"})
    assert done.headers["location"] == "/contests/cup/hand-in"
    assert cup.stranger.get("/contests/cup/hand-in").status_code == 200


@pytest.mark.parametrize(
    "away", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/a\r\nb"]
)
def test_signing_in_leads_to_no_other_site(cup, away):
    done = cup.stranger.post("/sign-in", {"secret": cup.ann.token, "next": away})
    assert done.headers["location"] == "/account"


def test_signing_out_ends_the_session_everywhere(cup):
    session = cup.ann.http.cookies["arena_session"]
    cup.ann.post("/sign-out")
    cup.stranger.http.cookies.set("arena_session", session)
    assert cup.stranger.get("/account").status_code == 303


def test_a_token_is_shown_once_and_can_be_revoked(cup):
    made = cup.ann.post("/account/tokens", {"label": "laptop", "scopes": "read submit admin"})
    secret = made.text.split('<code class="secret">')[1].split("<")[0]
    grant = cup.accounts.tokens.check(secret)
    assert grant.scopes == {"read", "submit"}  # nobody gives more than they have
    assert secret not in cup.ann.get("/account").text
    assert cup.bob.post(f"/account/tokens/{grant.id}/revoke").status_code == 403
    assert cup.ann.post(f"/account/tokens/{grant.id}/revoke").status_code == 303
    assert cup.accounts.tokens.check(secret) is None


def test_guessing_is_slowed_down(cup):
    cup.door.attempts = RateLimit(per_minute=HARDLY, burst=3)
    data = {"token": cup.stranger.page_token(), "secret": "arena_x"}
    answers = [cup.stranger.http.post("/sign-in", data=data).status_code for _ in range(4)]
    assert answers == [403, 403, 403, 429]


def test_a_contest_that_is_open_takes_whoever_comes(arena_of):
    cup = arena_of(entry="open")
    assert cup.stranger.post("/contests/cup/join", {"name": "Ann"}).status_code == 400
    assert "arena_" in cup.stranger.post("/contests/cup/join", {"name": "Dora"}).text
    assert cup.accounts.contests.member("cup", cup.accounts.authors.named("Dora").id) is not None


def test_a_contest_for_the_invited_takes_nobody_else(cup):
    assert cup.stranger.post("/contests/cup/join", {"name": "Dora"}).status_code == 403


# Handing in


def test_a_bot_that_is_handed_in_waits_for_its_check(cup):
    done = hand_in(cup.ann)
    assert (done.status_code, done.headers["location"]) == (303, "/contests/cup/bots/b1/versions/1")
    page = cup.ann.get(done.headers["location"]).text
    assert "waiting for its check" in page
    finish_check(cup.accounts)
    assert "It plays from the next round on" in cup.ann.get(done.headers["location"]).text
    again = hand_in(cup.ann)
    assert again.headers["location"] == "/contests/cup/bots/b1/versions/1?again=1"
    assert "so nothing has changed" in cup.ann.get(again.headers["location"]).text


@pytest.mark.parametrize(
    ("content", "file", "words"),
    [
        (b"x =", "mine.py", "is not valid Python"),
        (b"PK", "mine.zip", "archive cannot be read"),
        (BOT, "../a.py", "no plain path"),
    ],
)
def test_what_is_no_bot_is_refused_in_a_sentence(cup, content, file, words):
    done = hand_in(cup.ann, content, file=file)
    assert done.status_code == 400
    assert words in done.text
    assert cup.accounts.submissions.bots("cup") == []
    assert not list((cup.home / "bots").glob("*.zip")) if (cup.home / "bots").exists() else True


def test_a_script_gets_words_instead_of_a_page(cup):
    headers = {"X-Arena-Token": cup.ann.page_token()}
    done = cup.ann.http.post("/contests/cup/hand-in", files={"files": ("a.py", b"x =")}, headers=headers)
    assert done.status_code == 400
    assert "is not valid Python" in done.json()["error"]
    done = cup.ann.http.post("/contests/cup/hand-in", files={"files": ("a.py", BOT)}, headers=headers)
    assert done.json() == {"address": "/contests/cup/bots/b1/versions/1"}


def test_nothing_is_handed_in_after_the_deadline_but_by_who_has_another(arena_of):
    cup = arena_of(deadline="2020-01-01T00:00:00")
    assert "deadline was 01 January 2020" in hand_in(cup.ann).text
    cup.boss.post(
        "/contests/cup/organise", {"action": "extend", "author": cup.ann.author.id, "deadline": "2099-01-01T00:00"}
    )
    assert hand_in(cup.ann).status_code == 303
    assert hand_in(cup.bob, name="other").status_code == 400


def test_an_upload_that_is_too_large_is_refused(arena_of):
    cup = arena_of(max_upload=1)
    assert "at most 1 MiB" in hand_in(cup.ann, BOT + b"#" * (1 << 20)).text
    assert hand_in(cup.ann, BOT + b"#" * (2 << 20)).status_code == 413


def test_only_who_may_hand_in_may_send_much(cup):
    files = [("files", ("bot/a.py", BOT)), ("files", ("bot/data.bin", b"#" * 300_000))]
    assert cup.ann.post("/contests/cup/hand-in", files=files).status_code == 303
    data = {"token": cup.stranger.page_token()}
    assert cup.stranger.http.post("/contests/cup/hand-in", data=data, files=files).status_code == 413


def test_handing_in_takes_the_token_of_a_page(cup):
    for data in ({}, {"token": "wrong"}):
        assert cup.ann.http.post("/contests/cup/hand-in", data=data, files={"files": ("a.py", BOT)}).status_code == 403
    assert cup.accounts.submissions.bots("cup") == []


# What is one's own


OWN = ["versions/1", "versions/1/source.zip", "versions/1/events"]


@pytest.mark.parametrize("what", OWN)
def test_reports_and_sources_are_for_the_author_and_organisers(cup, what):
    hand_in(cup.ann)
    address = f"/contests/cup/bots/b1/{what}"
    assert cup.bob.get(address).status_code == 403
    assert cup.stranger.get(address).status_code == 303
    if not what.endswith("events"):
        assert cup.ann.get(address).status_code == 200
        assert cup.boss.get(address).status_code == 200


def test_nobody_withdraws_or_brings_back_the_bot_of_another(cup):
    hand_in(cup.ann)
    finish_check(cup.accounts)
    assert cup.bob.post("/contests/cup/bots/b1/withdraw").status_code == 403
    assert cup.bob.post("/contests/cup/bots/b1/versions/1/bring-back").status_code == 403
    assert cup.bob.api("POST", "/contests/cup/bots/b1/withdraw").status_code == 403
    assert cup.accounts.submissions.bot("b1").withdrawn is None
    assert cup.ann.post("/contests/cup/bots/b1/withdraw").status_code == 303
    assert cup.accounts.submissions.bot("b1").withdrawn


def test_an_older_version_is_brought_back_by_a_button(cup):
    for content in (BOT, BOT + b"# more\n"):
        hand_in(cup.ann, content)
        finish_check(cup.accounts, cup.accounts.submissions.waiting()[0].label)
    assert cup.ann.get("/contests/cup/bots/b1").text.count("Bring back") == 1
    assert cup.ann.post("/contests/cup/bots/b1/versions/1/bring-back").status_code == 303
    assert [each.label for each in cup.accounts.submissions.playing("cup")] == ["b1.3"]


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


# Standings


def test_standings_are_those_of_the_file_with_names(cup):
    for person, name in ((cup.ann, "alpha"), (cup.bob, "beta")):
        hand_in(person, name=name)
    write_round(cup.home, 1, ("b2.1", "b1.1", "house:random"))
    write_round(cup.home, 2)
    text = cup.ann.get("/contests/cup").text
    assert text.index("alpha") < text.index("beta") < text.index("of the house")
    assert "▲ 1" in text
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


# The interface for programs


def test_a_program_hands_in_and_follows_the_check(cup):
    done = cup.ann.api("POST", "/contests/cup/submissions?name=alpha&file=mine.py", content=BOT)
    assert done.status_code == 201
    assert (done.json()["label"], done.json()["state"], done.json()["is_new"]) == ("b1.1", "waiting", True)
    finish_check(cup.accounts)
    assert cup.ann.api("GET", "/contests/cup/bots/b1/versions/1").json()["state"] == "valid"
    assert cup.bob.api("GET", "/contests/cup/bots/b1/versions/1").status_code == 403
    kinds = [each["kind"] for each in cup.stranger.api("GET", "/contests/cup/events").json()["events"]]
    assert kinds == ["opened", "bot", "version"]


def test_a_cookie_is_not_enough_to_change_something_by_the_interface(cup):
    done = cup.ann.http.post("/api/v1/contests/cup/submissions?file=a.py", content=BOT)
    assert done.status_code == 401


@pytest.mark.parametrize("scopes", [["read"]])
def test_a_token_to_read_hands_in_nothing(cup, scopes):
    cup.ann.token = cup.accounts.tokens.issue(cup.ann.author, "api", scopes, "operator")
    assert cup.ann.api("POST", "/contests/cup/submissions?file=a.py", content=BOT).status_code == 403
    assert cup.ann.api("GET", "/me").json()["scopes"] == ["read"]


def test_answers_have_a_tag_and_tell_what_is_left(cup):
    first = cup.stranger.api("GET", "/contests")
    headers = {"If-None-Match": first.headers["etag"]}
    again = cup.stranger.http.get("/api/v1/contests", headers=headers)
    assert (again.status_code, again.content) == (304, b"")
    assert int(again.headers["ratelimit-remaining"]) < int(again.headers["ratelimit-limit"])


def test_a_program_that_asks_too_often_is_told_when_to_come_again(cup):
    cup.door.requests = RateLimit(per_minute=HARDLY, burst=2)
    answers = [cup.stranger.http.get("/api/v1/contests") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_lists_go_on_from_a_cursor(arena_of):
    cup = arena_of(bots_per_author=5)
    for number in range(5):
        cup.accounts.submissions.hand_in("cup", cup.ann.author.id, f"bot {number}", ("ab", "m", "C"), Allowance(5, 9))
    found, after = [], 0
    while after is not None:
        page = cup.stranger.api("GET", f"/contests/cup/bots?limit=2&after={after}").json()
        found += [bot["id"] for bot in page["bots"]]
        after = page["next"]
    assert found == ["b1", "b2", "b3", "b4", "b5"]


def test_a_made_up_token_has_no_limit_of_its_own(cup):
    cup.door.requests = RateLimit(per_minute=HARDLY, burst=2)
    answers = [
        cup.stranger.http.get("/api/v1/contests", headers={"Authorization": f"Bearer arena_{number}"}).status_code
        for number in range(3)
    ]
    assert answers == [200, 200, 429]


def test_so_many_hand_in_at_once_and_no_more(cup, monkeypatch):
    monkeypatch.setattr("arena.web.contest.portal.MAX_UPLOADS", 0)
    assert hand_in(cup.ann).status_code == 503
    assert cup.ann.api("POST", "/contests/cup/submissions?file=a.py", content=BOT).status_code == 503


def test_an_author_has_one_place_to_hand_in_and_others_have_theirs(cup):
    with cup.portal.upload(cup.ann.author.id):
        assert hand_in(cup.ann).status_code == 503
        assert cup.ann.api("POST", "/contests/cup/submissions?file=a.py", content=BOT).status_code == 503
        assert hand_in(cup.bob, name="another").status_code == 303
    assert hand_in(cup.ann).status_code == 303


def test_nothing_of_a_form_is_read_without_a_place(cup, monkeypatch):
    async def read(*args, **rest):
        raise AssertionError("the form was read")

    token = cup.ann.page_token()
    monkeypatch.setattr("starlette.requests.Request._get_form", read)
    with cup.portal.upload(cup.ann.author.id):
        answer = cup.ann.http.post("/contests/cup/hand-in", data={"token": token}, files={"files": ("a.py", BOT)})
    assert answer.status_code == 503


@pytest.mark.parametrize("why", ["banned", "closed", "too many bots", "not yet a member"])
def test_sources_are_not_parsed_for_who_may_not_hand_in(cup, monkeypatch, why):
    who = cup.ann.author.id
    if why == "banned":
        cup.accounts.contests.ban("cup", who, "keep", OPERATOR)
    elif why == "closed":
        cup.accounts.contests.close("cup", OPERATOR)
    elif why == "too many bots":
        cup.accounts.submissions.hand_in("cup", who, "another", ("ab", "m", "C"), Allowance(1, 9))
    person = cup.boss if why == "not yet a member" else cup.ann
    monkeypatch.setattr("arena.contest.handing_in.uploaded_bot", None)  # calling it would fail the request
    assert hand_in(person).status_code in (400, 403)
    assert person.api("POST", "/contests/cup/submissions?name=n&file=a.py", content=BOT).status_code in (400, 403)


def test_an_upload_that_takes_too_long_to_read_is_refused_and_the_next_one_is_read(cup, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("arena.web.contest.portal.MAX_READ_SECONDS", 0.0)
        answer = hand_in(cup.ann)
        assert answer.status_code == 400
        assert "could not be read" in answer.text
    assert hand_in(cup.ann).status_code == 303


@pytest.mark.parametrize(
    ("address", "status"), [("/contests/cup/certificates/x.svg", 404), ("/contests/cup?start=x", 422)]
)
def test_an_address_with_a_word_for_a_number_is_a_page_of_words(cup, address, status):
    answer = cup.stranger.get(address)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")


HUGE = 10**30
FORM = "application/x-www-form-urlencoded; charset="


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


def test_who_organises_no_more_signs_in_as_an_author(cup):
    token = cup.accounts.tokens.issue(cup.boss.author, "api", ["read", "submit", "admin"], OPERATOR)
    cup.accounts.authors.give_role(cup.boss.author.id, "author", OPERATOR)
    browser = client_of(cup.app)
    given = re.search('name="arena-token" content="([^"]+)"', browser.get("/sign-in").text)[1]
    assert browser.post("/sign-in", data={"token": given, "secret": token}).status_code == 303
    assert browser.get("/account").status_code == 200
    assert browser.get("/contests/cup/organise").status_code == 403


@pytest.mark.parametrize(
    ("public", "name"),
    [("https://arena.example", "__Host-arena_session"), ("https://arena.example/club", "arena_session")],
)
def test_browsers_take_the_cookie_from_no_neighbour_where_that_can_be_had(cup, public, name):
    app = create_app(cup.home, addresses_of(public_url=public))
    http = TestClient(app, base_url="https://arena.example", follow_redirects=False)
    with http:
        path = public.removeprefix("https://arena.example")
        given = re.search('name="arena-token" content="([^"]+)"', http.get(f"{path}/sign-in").text)[1]
        fields = {"token": given, "secret": cup.ann.token}
        answer = http.post(f"{path}/sign-in", data=fields, headers={"Origin": "https://arena.example"})
        assert answer.status_code == 303
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"{name}=arena_")
        assert "Secure" in cookie
        assert f"Path={path or '/'};" in cookie
        assert http.get(f"{path}/account").status_code == 200
        session = http.cookies[name]
        http.cookies.clear()
        http.cookies.set("arena_session" if path == "" else "__Host-arena_session", session)
        assert http.get(f"{path}/account").status_code == 303


def test_a_browser_that_may_only_read_changes_nothing_of_its_account(cup):
    session = cup.accounts.tokens.issue(cup.ann.author, "session", ["read"], OPERATOR)
    cup.ann.http.cookies.clear()
    cup.ann.http.cookies.set("arena_session", session)
    for address in ("/account/tokens/1/revoke", "/account/export"):
        assert cup.ann.post(address).status_code == 403
    assert cup.ann.api("GET", "/me").status_code == 200


def test_a_database_that_is_locked_is_told_as_such(cup, monkeypatch):
    def locked(*args, **rest):
        raise LockedError("another process has been writing for 30 s")

    monkeypatch.setattr(type(cup.accounts.tokens), "check", locked)
    answer = cup.ann.api("GET", "/me")
    assert answer.status_code == 503
    assert answer.json()["error"] and int(answer.headers["retry-after"]) > 0


def test_the_interface_tells_a_failure_of_its_own_as_json(cup, monkeypatch, capsys):
    monkeypatch.setattr("arena.web.contest.api.standings_json", None)
    answer = cup.stranger.api("GET", "/contests/cup/standings")
    assert answer.status_code == 500
    assert list(answer.json()) == ["error"]
    assert "TypeError" not in answer.text
    assert "TypeError" in capsys.readouterr().err
