"""Invitations, signing in and accounts, as a browser does it."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from arena.accounts import OPERATOR
from arena.web.addresses import addresses_of
from arena.web.app import create_app
from arena.web.contest.access import RateLimit
from tests.arena.web.contest.conftest import client_of

HARDLY = 1e-6
"""Requests a minute, of which none comes while a test runs."""


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
    for address in ("/account/tokens/1/revoke", "/account/tokens", "/account/export"):
        assert cup.ann.post(address).status_code == 403
    assert cup.ann.api("GET", "/me").status_code == 200


def test_a_name_that_is_refused_stays_in_its_field(arena_of):
    cup = arena_of(entry="open")
    page = cup.stranger.post("/contests/cup/join", {"name": "Bob"})
    assert page.status_code == 400
    assert 'value="Bob"' in page.text
    code = cup.accounts.invitations.invite_anybody("cup", 2, OPERATOR)
    assert 'value="&lt;Bob"' in cup.stranger.post(f"/join/{code}", {"name": "<Bob"}).text
