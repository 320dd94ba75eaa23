"""Handing bots in by pages and programs: who may, what is refused, what is one's own."""

from __future__ import annotations

import pytest

from arena.accounts import OPERATOR, Allowance
from tests.arena.web.contest.conftest import BOT, finish_check, hand_in

OWN = ["versions/1", "versions/1/source.zip", "versions/1/events"]


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


@pytest.mark.parametrize("name", ["random", "Random", "greedy"])
def test_no_bot_is_handed_in_under_the_name_of_one_of_the_house(arena_of, name):
    cup = arena_of(house=["random", "greedy:depth=1"])
    done = hand_in(cup.ann, name=name)
    assert done.status_code == 400
    assert "is a bot of the house" in done.text


def test_a_program_that_names_no_fit_file_is_told_so(cup):
    done = cup.ann.api("POST", "/contests/cup/submissions?file=../../mine.py", content=BOT)
    assert (done.status_code, "no name for a bot" in done.json()["error"]) == (400, True)


def test_a_withdrawn_bot_is_brought_back_by_a_button_or_a_program(cup):
    hand_in(cup.ann)
    finish_check(cup.accounts)
    for bring_back in (
        lambda: cup.ann.post("/contests/cup/bots/b1/versions/1/bring-back").status_code == 303,
        lambda: cup.ann.api("POST", "/contests/cup/bots/b1/versions/1/bring-back").json()["state"] == "valid",
    ):
        cup.ann.post("/contests/cup/bots/b1/withdraw")
        page = cup.ann.get("/contests/cup/bots/b1").text
        assert ("Bring back" in page, "Withdraw this bot" in page) == (True, False)
        assert "It does not play: the bot is withdrawn" in cup.ann.get("/contests/cup/bots/b1/versions/1").text
        assert bring_back()
        assert len(cup.accounts.submissions.playing("cup")) == 1


def test_the_page_of_a_version_that_was_withdrawn_unchecked_asks_for_nothing_to_be_mended(cup):
    hand_in(cup.ann)
    cup.ann.post("/contests/cup/bots/b1/withdraw")
    page = cup.ann.get("/contests/cup/bots/b1/versions/1").text
    assert "It does not play: the bot is withdrawn." in page
    assert "withdrawn before this version was checked" in page
    assert "Mend what failed" not in page
    hand_in(cup.ann)
    page = cup.ann.get("/contests/cup/bots/b1").text
    assert "Withdrawn, until the version that waits for its check is valid." in page
    assert "Withdraw this bot" in page
    finish_check(cup.accounts, "b1.2", is_valid=False)
    assert "Mend what failed" in cup.ann.get("/contests/cup/bots/b1/versions/2").text


def test_the_page_of_a_version_says_whether_it_plays(cup):
    for number in (1, 2, 3):
        hand_in(cup.ann, BOT + b"# more\n" * number)
        finish_check(cup.accounts, f"b1.{number}", is_valid=number < 3)

    def said(number):
        return cup.ann.get(f"/contests/cup/bots/b1/versions/{number}").text

    assert "It does not play; version 2 does." in said(1)
    assert "It plays from the next round on." in said(2)
    assert "It does not play; version 2 does. Mend what failed" in said(3)
    cup.boss.post("/contests/cup/organise", {"action": "ban", "author": cup.ann.author.id, "matches": "keep"})
    for number in (1, 2, 3):
        assert "It does not play: its author is banned" in said(number)
        assert "Mend" not in said(number)
    assert "It does not play: its author is banned" in cup.ann.get("/contests/cup/bots/b1").text
    page = cup.ann.get("/contests/cup").text
    assert ("You have been banned" in page, "Hand in a bot" in page, "plays." in page) == (True, False, False)
    assert "banned" not in cup.stranger.get("/contests/cup/bots/b1").text


def test_without_a_name_an_authors_one_bot_is_meant_also_while_it_may_come_back(cup):
    for content in (BOT, BOT + b"# more\n"):
        hand_in(cup.ann, content, name="alpha")
        if content == BOT:
            finish_check(cup.accounts)
            cup.ann.post("/contests/cup/bots/b1/withdraw")
    done = hand_in(cup.ann, BOT + b"# and more\n", name="")
    assert done.headers["location"] == "/contests/cup/bots/b1/versions/3"
