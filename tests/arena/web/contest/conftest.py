"""A home with a contest, persons of every kind, and a server that shows it."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from arena.accounts import OPERATOR, Accounts
from arena.contest.config import contest_from
from arena.contest.standings import BoardRow, BoardStandings, OverallRow, Standings, write_standings
from arena.web.app import create_app

ADDRESS = "http://127.0.0.1:8000"
CONTEST = {
    "name": "cup",
    "title": "Spring cup",
    "boards": [{"game": "epicycle", "players": 2}],
    "text": "# Hello\n*all*",
}
BOT = b"from bots import Bot\nclass Mine(Bot):\n    def choose(self, state):\n        return state.legal_actions()[0]\n"


def client_of(app):
    return TestClient(app, base_url=ADDRESS, raise_server_exceptions=False, follow_redirects=False)


class Person:
    """Somebody with a browser of their own."""

    def __init__(self, app, accounts, name="", role="author"):
        self.http = client_of(app)
        self.author = accounts.authors.add(name, role, OPERATOR) if name else None
        if self.author is not None:
            if role == "author":
                accounts.contests.join("cup", self.author.id, OPERATOR)
            scopes = ["read", "submit", *(["admin"] if role == "organiser" else [])]
            self.token = accounts.tokens.issue(self.author, "api", scopes, OPERATOR)
            self.http.cookies.set("arena_session", accounts.tokens.issue(self.author, "session", scopes, OPERATOR))

    def page_token(self):
        """Return the token that pages carry."""
        return re.search('name="arena-token" content="([^"]+)"', self.http.get("/contests").text)[1]

    def get(self, address, **rest):
        return self.http.get(address, **rest)

    def post(self, address, data=None, **rest):
        return self.http.post(address, data={"token": self.page_token(), **(data or {})}, **rest)

    def api(self, method, address, **rest):
        headers = {"Authorization": f"Bearer {self.token}"} if self.author else {}
        fresh = TestClient(self.http.app, base_url=ADDRESS, raise_server_exceptions=False, follow_redirects=False)
        return fresh.request(method, f"/api/v1{address}", headers=headers, **rest)


@pytest.fixture
def arena_of(tmp_path):
    """Return what makes a server with a contest of given changes, and its people."""
    opened = []

    def make(**changes):
        accounts = Accounts(tmp_path)
        opened.append(accounts)
        accounts.contests.add("cup", contest_from({**CONTEST, **changes}).as_data(), OPERATOR)
        app = create_app(tmp_path)
        people = {"ann": Person(app, accounts, "Ann"), "bob": Person(app, accounts, "Bob")}
        people["boss"] = Person(app, accounts, "Boss", "organiser")
        people["stranger"] = Person(app, accounts)
        portal = vars(app.app)["app"].state.portal
        opened.append(portal)
        return SimpleNamespace(app=app, home=tmp_path, accounts=accounts, portal=portal, door=portal.door, **people)

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def cup(arena_of):
    return arena_of()


def hand_in(person, content=BOT, name="mybot", file="mine.py"):
    return person.post("/contests/cup/hand-in", {"name": name}, files={"files": (file, content)})


def finish_check(accounts, label="b1.1", is_valid=True):
    version = next(each for each in accounts.submissions.waiting() if each.label == label)
    accounts.submissions.begin_check(version)
    accounts.submissions.end_check(version, is_valid)


def write_round(home, number=1, bots=("b1.1", "b2.1", "house:random"), folder="contests/cup/season-1"):
    rows = [
        OverallRow(
            bot=bot, rank=place, rank_low=1, rank_high=place, score=0.8 / place, low=0.1, high=0.9, matches=9, boards=1
        )
        for place, bot in enumerate(bots, 1)
    ]
    board = [
        BoardRow(
            bot=row.bot,
            rank=row.rank,
            rank_low=1,
            rank_high=row.rank,
            rating=25.0,
            low=20.0,
            high=30.0,
            matches=9,
            blocks=3,
        )
        for row in rows
    ]
    (home / folder).mkdir(parents=True, exist_ok=True)
    write_standings(
        home / folder,
        Standings(
            season=1, round=number, time=f"2026-05-01T00:00:{number:02}.000000Z", bots=len(bots), matches=27,
            boards=(BoardStandings(game="epicycle", players=2, rows=tuple(board)),), overall=tuple(rows),
        ),
    )  # fmt: skip
