"""Contests of many bots: files and names are read once for all who ask, and pages have as many rows as they show."""

from __future__ import annotations

import json
import re

import pytest

from arena.accounts import OPERATOR
from arena.web.contest import organise_routes, pages, standings
from tests.arena.web.contest.conftest import BOT, hand_in, write_round

MANY = tuple(f"b{number}.1" for number in range(10, 260))


@pytest.fixture
def calls(monkeypatch):
    """Return what counts the calls of a function of the standings, by its name."""

    def count(name):
        made, found = [], getattr(standings, name)

        def counted(*args):
            made.append(args)
            return found(*args)

        monkeypatch.setattr(standings, name, counted)
        return made

    return count


def ranked(text):
    """Return the bots of the overall standings of a page."""
    return re.findall(r'<tr[^>]* data-bot="(b\d+)"', text)


def test_the_files_of_a_round_are_read_once_for_all_pages(cup, calls):
    hand_in(cup.ann)
    read, written = calls("_read"), calls("to_json")
    for number in (1, 2):
        write_round(cup.home, number)
        for person in (cup.ann, cup.stranger, cup.boss):
            for address in ("/contests/cup", "/contests/cup?start=100", "/contests/cup/bots/b1"):
                assert f"ound {number}" in person.get(address).text or "bots" in address
            assert person.api("GET", "/contests/cup/standings").json()["round"] == number
        assert f"ound {number}" in json.loads(pages.standings_event(cup.portal, "cup"))["now"]
        of_season = [args for args in read if args[0].name == "season-1"]
        assert (len(of_season), len(written)) == (number, number)


def test_only_the_rows_that_are_shown_are_made(cup, calls):
    hand_in(cup.ann)
    write_round(cup.home, bots=(*MANY, "b1.1"))
    made = calls("sparkline")
    for address, bots in (
        ("/contests/cup", MANY[:100]),
        ("/contests/cup?start=100", MANY[100:200]),
        ("/contests/cup?start=200", (*MANY[200:], "b1.1")),
        ("/contests/cup?start=99999", (*MANY[200:], "b1.1")),
    ):
        made.clear()
        assert ranked(cup.stranger.get(address).text) == [bot.partition(".")[0] for bot in bots]
        assert len(made) == len(bots)
    made.clear()
    cup.stranger.get("/contests/cup/bots/b1")
    assert len(made) == 1


def test_an_author_sees_the_own_place_on_every_page(cup):
    hand_in(cup.ann)
    write_round(cup.home, bots=(*MANY[:150], "b1.1", *MANY[150:]))
    for address in ("/contests/cup", "/contests/cup?start=200"):
        text = cup.ann.get(address).text
        assert '<a href="/contests/cup?start=100#standings">Rank 151 of 251</a>' in text
        assert "#standings" not in cup.bob.get(address).text
    assert 'class="mine" data-bot="b1"' in cup.ann.get("/contests/cup?start=100").text


def test_a_bot_without_a_place_has_none_on_the_page_of_its_author(cup):
    hand_in(cup.ann)
    for _ in range(2):
        assert '#standings">Rank ' not in cup.ann.get("/contests/cup").text
        write_round(cup.home, bots=("b2.1",))


def test_names_are_read_again_when_there_is_another_one(arena_of, monkeypatch):
    cup = arena_of(standings="author", bots_per_author=2)
    read = cup.portal.accounts.submissions.names
    made = []
    monkeypatch.setattr(cup.portal.accounts.submissions, "names", lambda id: made.append(id) or read(id))
    write_round(cup.home, bots=("b1.1", "b2.1"))
    for number, name in enumerate(("alpha", "beta"), 1):
        hand_in(cup.ann, BOT + b"#" + name.encode(), name=name)
        for _ in range(3):
            assert ">alpha<" in cup.stranger.get("/contests/cup").text
            names = cup.stranger.api("GET", "/contests/cup/standings").json()["names"]
            assert (names["b2.1"]["name"] == "beta") == (number == 2)
        assert len(made) == number
    cup.boss.post("/contests/cup/organise", {"action": "erase", "author": cup.ann.author.id, "name": "Ann"})
    assert ">alpha<" not in cup.stranger.get("/contests/cup").text
    assert len(made) == 3


def test_the_list_of_contests_and_who_hands_in_need_no_names(cup, monkeypatch):
    hand_in(cup.ann)
    monkeypatch.setattr(cup.portal.accounts.submissions, "names", None)
    assert "1 bot handed in." in cup.stranger.get("/contests").text
    assert cup.ann.get("/contests/cup/hand-in").status_code == 200
    assert cup.stranger.api("GET", "/contests/cup").json()["bots"] == 1


def test_frozen_standings_stay_however_many_rounds_follow(arena_of):
    cup = arena_of(freeze="2026-05-01T00:00:01", deadline="2099-01-01T00:00:00")
    for number in range(1, 260):
        write_round(cup.home, number, ("b2.1", "b1.1") if number == 1 else ("b1.1", "b2.1"))
    text = cup.stranger.get("/contests/cup").text
    assert "frozen" in text
    assert ranked(text) == ["b2", "b1"]


def test_the_final_goes_on_from_page_to_page_below_its_podium(cup):
    write_round(cup.home, bots=("house:random", *MANY), folder="contests/cup/season-1/final")
    first, last = (cup.stranger.get(f"/contests/cup/final?start={start}").text for start in (0, 200))
    assert "/contests/cup/final?start=100" in first
    assert len(ranked(first)) == 99
    assert ranked(last) == [bot.partition(".")[0] for bot in MANY[199:]]
    assert '<li class="place-1">' in last
    assert "b10.1" in cup.stranger.get("/contests/cup/certificates/2.svg").text


def test_the_page_of_organisers_has_some_of_the_members_and_finds_the_others(cup, monkeypatch):
    monkeypatch.setattr(organise_routes, "MEMBERS_SHOWN", 2)
    for name in ("Cid", "Étienne"):
        cup.accounts.contests.join("cup", cup.accounts.authors.add(name, "author", OPERATOR).id, OPERATOR)
    hand_in(cup.bob, name="beta")
    address = "/contests/cup/organise"

    def members(query=""):
        text = cup.boss.get(address + query).text.split('id="members"')[1].split('id="audit"')[0]
        return re.findall(r"<summary>(?:<[^>]+>)*(\w+)", text), text

    names, text = members()
    assert names == ["Ann", "Bob"]
    assert f'href="{address}?start=2"' in text
    assert ">beta<" in text
    names, text = members("?start=2")
    assert names == ["Cid", "Étienne"]
    assert "After" not in text
    assert members("?name=ETI")[0] == ["Étienne"]
    assert members("?name=nobody")[0] == []
    assert members("?start=-1")[0] == ["Ann", "Bob"]
    assert cup.boss.post(f"{address}?start=2", {"action": "ban", "author": cup.ann.author.id}).status_code == 200
    assert ">Ann<" in cup.boss.get(address).text.split('id="audit"')[1]
