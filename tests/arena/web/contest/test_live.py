"""Matches of a contest in play are shown where its organiser allows it, under the names of bots."""

from __future__ import annotations

import re
from contextlib import closing
from types import SimpleNamespace

import pytest
from fastapi import Response

from arena.accounts import OPERATOR
from arena.contest import rounds
from arena.core.errors import AccountError
from arena.runner.in_play import InPlay
from arena.web.app import create_app
from arena.web.pages.live_boards import LiveBoard, board_values
from tests.arena.contest.homes import Home, good
from tests.arena.web.contest.conftest import client_of

LIVE = "/contests/cup/season-1/live"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return a home with a contest of one round, whose matches in play may be watched."""
    home = Home(tmp_path_factory.mktemp("home"), show_in_play=True)
    with closing(home), pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "secrets", SimpleNamespace(token_bytes=bytes))  # the same matches each time
        home.hand_in(home.author("Ann"), "alpha", good(0))
        home.hand_in(home.author("Bob"), "beta", good(1))
        home.check()
        home.rounds()
        yield home


@pytest.fixture
def app(played):
    made = create_app(played.path)
    with closing(vars(made.app)["app"].state.portal):
        yield made


def test_a_contest_leads_to_its_matches_in_play_and_they_lead_back(app):
    http = client_of(app)
    assert f'href="{LIVE}"' in http.get("/contests/cup").text
    page = http.get(LIVE)
    assert page.status_code == 200
    assert 'href="/contests/cup"' in page.text
    assert f'data-live="{LIVE}/events"' in page.text
    assert http.get("/contests/cup/season-2/live").status_code == 404


def test_every_page_of_a_match_of_a_contest_leads_to_pages_that_are_there(app):
    http = client_of(app)
    matches = http.get("/contests/cup/season-1/matches").text
    address = re.search(r'href="(/contests/cup/season-1/matches/[0-9a-f]+-\d+)"', matches)[1]
    for text in (matches, http.get(address).text, http.get("/contests/cup").text):
        for link in {*re.findall(r'href="(/contests[^"#?]*)', text)}:
            assert http.get(link).status_code == 200, link


@pytest.mark.parametrize("who_sees", ["nobody", "everybody"])
def test_the_page_of_a_bot_leads_to_the_matches_that_its_author_may_see(played, who_sees):
    config = {**played.config.as_data(), "show_matches": who_sees}
    played.accounts.contests.configure("cup", config, OPERATOR)
    made = create_app(played.path)
    with closing(vars(made.app)["app"].state.portal):
        http = client_of(made)
        links = []
        for number in (1, 2):
            author = played.accounts.authors.get(f"a{number}")
            http.cookies.set("arena_session", played.accounts.tokens.issue(author, "session", ["read"], OPERATOR))
            page = http.get(f"/contests/cup/bots/b{number}").text
            links += re.findall(r'href="(/contests/cup/season-1/matches/[^"]+)"', page)
        assert bool(links) is (who_sees == "everybody")
        assert all(http.get(link).status_code == 200 for link in links)


def test_a_match_in_play_is_shown_under_the_names_of_bots(app, played):
    catalog = vars(app.app)["app"].state.catalog
    plan = catalog.plan(catalog.log("contests/cup/season-1"))
    board = LiveBoard(plan, InPlay(id="ab-0", board=0, seats=(0, 1), moves=[], evaluations=[]))
    assert board.labels == ["alpha", "beta"]


def test_where_an_organiser_does_not_allow_it_nothing_in_play_is_shown(cup):
    assert cup.stranger.get(LIVE).status_code == 404
    assert cup.stranger.get(f"{LIVE}/events").status_code == 404
    assert "In play" not in cup.stranger.get("/contests/cup").text


def test_nothing_in_play_is_shown_while_standings_are_frozen(arena_of):
    cup = arena_of(freeze="2026-05-01T00:00:01", deadline="2099-01-01T00:00:00", show_in_play=True)
    assert cup.stranger.get(LIVE).status_code == 403
    assert cup.stranger.get(f"{LIVE}/events").status_code == 403


def test_a_freeze_ends_live_events_for_all_but_organisers(played, app, monkeypatch):
    sources = {}

    def response(name, source):
        sources[name] = source
        return Response()

    monkeypatch.setattr(vars(app.app)["app"].state.live, "response", response)
    boss = played.accounts.authors.add("Boss", "organiser", OPERATOR)
    organiser, stranger = client_of(app), client_of(app)
    organiser.cookies.set("arena_session", played.accounts.tokens.issue(boss, "session", ["read"], OPERATOR))
    assert [each.get(f"{LIVE}/events").status_code for each in (organiser, stranger)] == [200, 200]
    name = "contests/cup/season-1/live"
    config = played.config.as_data()
    frozen = {**config, "freeze": "2026-05-01T00:00:01", "deadline": "2099-01-01T00:00:00"}
    try:
        played.accounts.contests.configure("cup", frozen, OPERATOR)
        with pytest.raises(AccountError, match="frozen"):
            sources[name].make()
        assert sources[f"{name}/organisers"].make().startswith('{"boards":')
        assert organiser.get(f"{LIVE}/events").status_code == 200
        assert stranger.get(f"{LIVE}/events").status_code == 403
    finally:
        played.accounts.contests.configure("cup", config, OPERATOR)
        for source in sources.values():
            source.close()


def test_the_two_matches_of_a_block_in_play_have_different_names(app, played):
    state = vars(app.app)["app"].state
    plan = state.catalog.plan(state.catalog.log("contests/cup/season-1"))
    shown = []
    for lineup in (0, 1):
        match = InPlay(id=f"{'ab' * 16}-{lineup}", board=0, seats=(0, 1), moves=[], evaluations=[])
        board = LiveBoard(plan, match)
        board.draw()
        shown.append(re.search("<code>(.*?)</code>", board_values(state.links, "x", board)["html"])[1])
    assert shown == ["abababababab-0", "abababababab-1"]
