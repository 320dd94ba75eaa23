"""The interface for programs: what it takes, how it limits and what it says when something fails."""

from __future__ import annotations

import pytest

from arena.accounts import Allowance
from arena.core.errors import LockedError
from arena.web.contest.access import RateLimit
from tests.arena.web.contest.conftest import BOT, finish_check

HARDLY = 1e-6
"""Requests a minute, of which none comes while a test runs."""


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


def test_a_token_that_nobody_has_is_told_from_none(cup):
    address = "/api/v1/contests/cup/submissions?file=a.py"
    answers = [
        cup.stranger.http.post(address, content=BOT, headers=headers).json()["error"]
        for headers in ({}, {"Authorization": "Bearer arena_made_up"})
    ]
    assert "it takes a token" in answers[0]
    assert "no account has this token" in answers[1]


def test_what_is_too_large_is_told_in_json(cup):
    done = cup.ann.api("POST", "/contests/cup/submissions?file=a.py", content=b"#" * (40 << 20))
    assert (done.status_code, done.json()) == (413, {"error": "this is larger than 8 MiB, and no more is taken here"})


def test_nobody_is_told_to_come_again_at_once(cup):
    cup.door.requests = RateLimit(per_minute=1e6, burst=0)
    assert "try again in 1 s" in cup.stranger.http.get("/api/v1/contests").json()["error"]
