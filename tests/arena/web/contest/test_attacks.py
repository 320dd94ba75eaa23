"""Every address that changes something of contests, asked by those who may not: nothing is changed.

The addresses are those of the server, so that a new one is tested before anybody writes a test for it.
"""

from __future__ import annotations

import re

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Mount

from arena.accounts import OPERATOR
from arena.web.contest.api import API_PREFIX
from tests.arena.web.contest.conftest import ADDRESS, BOT, client_of, finish_check, hand_in

READING = {"GET", "HEAD", "OPTIONS"}
FOR_EVERYBODY = {"/sign-in", "/sign-out", "/join/{code}", "/contests/{id}/join"}
"""What a stranger may ask for too: each of them checks what it is given."""
OWN = {"/contests/{id}/hand-in", f"{API_PREFIX}/contests/{{id}}/submissions", "/account/tokens", "/account/export"}
"""What another author may ask for, who then changes what is that author's own."""
OF_PLAY = ("/play", "/analysis")
ACTIONS = ("invite", "invite-anybody", "announce", "ban", "unban", "extend", "erase", "limit")
FORM = {
    "names": "Eve",
    "message": "Hello",
    "name": "Ann",
    "uses": "3",
    "max_bots": "9",
    "label": "mine",
    "scopes": "read",
}


def changing_routes(app):
    """Return method and pattern of all addresses that may change something, but for those of play."""
    found = []
    for route in app.routes:
        if isinstance(route, Mount):
            found += [(method, f"{route.path}{path}") for method, path in changing_routes(route.app)]
        elif isinstance(route, APIRoute) and not route.path.startswith(OF_PLAY):
            found += [(method, route.path) for method in sorted(route.methods - READING)]
    return found


def everything(accounts):
    """Return all that may be changed."""
    tables = [name for (name,) in accounts.database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = {name: accounts.database.rows(f"SELECT * FROM {name}") for name in tables if not name.startswith("sqlite")}
    return {name: some for name, some in rows.items() if name != "tokens"} | {
        "tokens": accounts.database.rows("SELECT token, author, kind, scopes FROM tokens")
    }


@pytest.fixture
def attacked(cup):
    """Return a contest in which Ann has a bot of two versions, and what fills patterns of addresses."""
    hand_in(cup.ann)
    finish_check(cup.accounts)
    hand_in(cup.ann, BOT + b"\n")
    finish_check(cup.accounts, "b1.2")
    token = cup.accounts.tokens.of(cup.ann.author.id)[0].id
    cup.fill = {"id": "cup", "bot": "b1", "number": 1, "author": cup.ann.author.id, "token": token, "code": "made-up"}
    return cup


def person(cup, who):
    """Return somebody who may change nothing of Ann's: cookie and token."""
    if who == "stranger":
        return "", ""
    author = {"another author": cup.bob.author, "reader": cup.ann.author, "revoked": cup.ann.author}[who]
    scopes = ["read"] if who == "reader" else ["read", "submit"]
    cookie, token = (cup.accounts.tokens.issue(author, kind, scopes, OPERATOR) for kind in ("session", "api"))
    if who == "revoked":
        for each in cup.accounts.tokens.of(author.id):
            cup.accounts.tokens.revoke(author.id, each.id, OPERATOR)
    return cookie, token


@pytest.mark.parametrize("who", ["stranger", "another author", "reader", "revoked"])
def test_no_address_changes_anything_for_who_may_not(attacked, who):
    routes = changing_routes(vars(attacked.app.app)["app"])
    assert len(routes) >= 10
    page_token = attacked.ann.page_token()
    cookie, token = person(attacked, who)
    before = everything(attacked.accounts)
    for method, pattern in routes:
        if pattern in FOR_EVERYBODY or (who == "another author" and pattern in OWN):
            continue
        address = re.sub(r"{(\w+)}", lambda part: str(attacked.fill[part[1]]), pattern)
        for action in ACTIONS if pattern.endswith("/organise") else ("",):
            http = client_of(attacked.app)
            if pattern.startswith(API_PREFIX):
                http.headers["Authorization"] = f"Bearer {token}"
                answer = http.request(method, address, params={"file": "mine.py"}, content=BOT)
            else:
                http.cookies.set("arena_session", cookie)
                fields = {**FORM, "token": page_token, "action": action, "author": attacked.ann.author.id}
                answer = http.request(method, address, data=fields)
            assert answer.status_code in (400, 401, 403, 404), (pattern, action, answer.status_code)
    assert everything(attacked.accounts) == before


def test_no_page_changes_anything_by_a_request_of_another_site(attacked):
    routes = [each for each in changing_routes(vars(attacked.app.app)["app"]) if not each[1].startswith(API_PREFIX)]
    before = everything(attacked.accounts)
    for browser in (attacked.ann, attacked.boss):
        page_token = browser.page_token()
        for method, pattern in routes:
            address = re.sub(r"{(\w+)}", lambda part: str(attacked.fill[part[1]]), pattern)
            for action in ACTIONS if pattern.endswith("/organise") else ("",):
                fields = {**FORM, "action": action, "author": attacked.ann.author.id}
                for more, headers in (
                    ({}, {"Origin": ADDRESS}),
                    ({"token": "made up"}, {}),
                    ({"token": page_token}, {"Origin": "http://evil.example"}),
                    ({"token": page_token}, {"Sec-Fetch-Site": "cross-site"}),
                ):
                    answer = browser.http.request(method, address, data={**fields, **more}, headers=headers)
                    assert answer.status_code == 403, (pattern, action, answer.status_code)
    assert everything(attacked.accounts) == before
