"""What the author of a bot sees of it, and nobody else but organisers."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace

import pytest

from arena.accounts import OPERATOR
from arena.runner.single import play_match
from arena.web.app import create_app
from arena.web.catalog import LogCatalog
from arena.web.contest.own_bot import FASTEST, LONGEST, NARROWEST, own_bot, reasons
from tests.arena.contest.homes import Home, good
from tests.arena.web.contest.conftest import client_of

SECRET = "a word for Ann alone"
TALKING = f"""
import sys

from bots import Bot


class Talking(Bot):
    \"\"\"Expect much, then less, and fail in the end.\"\"\"

    moves = 0

    def choose(self, state):
        self.moves += 1
        value = 0.9 - 0.4 * self.moves
        self.evaluation = [value, -value] if self.seat == 0 else [-value, value]
        if self.moves == 3:
            print("{SECRET}", file=sys.stderr)
            raise RuntimeError("{SECRET}")
        return state.legal_actions()[-1]
"""
ADDRESSES = ("/contests/cup/bots/b1", "/api/v1/contests/cup/bots/b1/review")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return a home in which a bot has played in two versions against another author's, and failed in the second."""
    boards = [{"game": "connect_four", "players": [2], "opening": "none"}]  # nobody wins before the fourth move
    home = Home(tmp_path_factory.mktemp("home"), boards=boards)
    with closing(home):
        ann, bob = home.author("Ann"), home.author("Bob")
        home.hand_in(ann, "alpha", good(0))
        home.hand_in(bob, "beta", good(1))
        home.check()
        home.rounds()
        version = home.hand_in(ann, "alpha", TALKING)
        home.accounts.submissions.begin_check(version)
        home.accounts.submissions.end_check(version, is_valid=True)
        home.rounds(2)
        yield home


@pytest.fixture
def ask(played):
    """Return what asks for an address as somebody, by the cookie of a browser or the token of a program."""
    app, accounts = create_app(played.path), played.accounts
    people = {name: accounts.authors.named(name) for name in ("Ann", "Bob", "Boss", "Reader")}
    for name, role in (("Boss", "organiser"), ("Reader", "author")):
        people[name] = people[name] or accounts.authors.add(name, role, OPERATOR)

    def answer(name, address, by_token):
        http = client_of(app)
        if name != "Stranger":
            scopes = ["read"] if name == "Reader" else ["read", "submit", *(["admin"] if name == "Boss" else [])]
            token = accounts.tokens.issue(people[name], "api" if by_token else "session", scopes, OPERATOR)
            if by_token:
                http.headers["Authorization"] = f"Bearer {token}"
            else:
                http.cookies.set("arena_session", token)
        return http.get(address)

    with closing(vars(app.app)["app"].state.portal):
        yield answer


@pytest.mark.parametrize("by_token", [False, True])
@pytest.mark.parametrize("name", ["Ann", "Boss", "Bob", "Reader", "Stranger"])
def test_what_a_bot_said_is_shown_to_its_author_and_organisers_alone(ask, name, by_token):
    listed = ask("Ann", "/contests/cup/season-1/matches", False).text
    matches = {
        f"{prefix}/{match}"
        for match in re.findall(r"/matches/([0-9a-f]+-\d+)", listed)[:4]
        for prefix in ("/contests/cup/season-1/matches", "/api/v1/contests/cup/matches")
    }
    others = {"/contests/cup", "/contests/cup/bots/b2", "/contests/cup/season-1/matches", "/contests/cup/season-1/live"}
    others |= {f"/api/v1/contests/cup/{part}" for part in ("standings", "events", "bots", "bots/b1", "matches")}
    assert matches
    assert not [address for address in matches | others if SECRET in ask(name, address, by_token).text]
    shown = [SECRET in ask(name, address, by_token).text for address in ADDRESSES]
    assert shown == [name in ("Ann", "Boss")] * 2
    versions = [f"{address}/versions/2" for address in ("/contests/cup/bots/b1", "/api/v1/contests/cup/bots/b1")]
    statuses = {ask(name, address, by_token).status_code for address in versions}
    assert (statuses == {200}) == (name in ("Ann", "Boss"))


def test_versions_are_compared_on_each_board_and_against_the_same_opponents(ask):
    found = ask("Ann", ADDRESSES[1], True).json()
    newer, older = found["scores"]
    assert (newer["version"], older["version"], older["change"]) == (2, 1, None)
    assert newer["change"] == pytest.approx(newer["score"] - older["score"])
    assert newer["score"] == 0 and newer["forfeits"] == newer["matches"] > 0 == older["forfeits"]
    assert older["low"] <= older["score"] <= older["high"]
    assert {each["name"] for each in found["against"]} >= {"beta"}
    for each in found["against"]:
        before, after = (
            100 * (ahead + even / 2) / (ahead + even + behind) for ahead, even, behind in (each["older"], each["newer"])
        )
        assert each["change"] == pytest.approx(after - before)
    assert sum(sum(each["newer"]) for each in found["against"]) <= newer["matches"]
    page = ask("Ann", ADDRESSES[0], False).text
    assert "Versions by board" in page and "Head to head" in page
    assert [f"Version {number}</th>" in page for number in (1, 2, 3)] == [True, True, False]
    assert page.count("in percentage points") == 2


def test_at_most_ten_matches_are_chosen_each_for_one_reason(ask):
    found = ask("Ann", ADDRESSES[1], True).json()["matches"]
    assert 1 < len(found) == len({each["id"] for each in found}) <= 10
    assert {each["kind"] for each in found} >= {"forfeit", "lost though ahead", "largest swing"}
    for each in found:
        assert (SECRET in each["said"]) == (each["kind"] == "forfeit")
    links = re.findall(r'href="(/contests/cup/season-1/matches/[^"#]+)', ask("Ann", ADDRESSES[0], False).text)
    assert set(each.rpartition("/")[2] for each in links) >= {each["id"] for each in found}


def test_losses_are_chosen_as_fastest_and_longest_in_turn(played):
    catalog = LogCatalog(played.path)
    chosen = own_bot(catalog, catalog.log("contests/cup/season-1"), played.accounts.submissions.versions("b2")).chosen
    plies = {kind: [each.line.plies or 0 for each in chosen if each.kind == kind] for kind in (FASTEST, LONGEST)}
    assert (
        len(plies[FASTEST]) - len(plies[LONGEST]) in (0, 1) and len(plies[FASTEST] + plies[LONGEST]) == len(chosen) > 0
    )
    assert (plies[FASTEST], plies[LONGEST]) == (sorted(plies[FASTEST]), sorted(plies[LONGEST], reverse=True))
    assert max(plies[FASTEST]) <= min(plies[LONGEST], default=max(plies[FASTEST]))


def test_losses_of_games_with_scores_are_narrow_by_the_distance_to_the_place_before():
    match = replace(play_match("magic_mids", ["random"] * 4, 1), ranks=[0, 3, 1, 1], scores=[9, 2, 7, 7])
    distances = [[-size for size, each in reasons(match, seat, 0) if each.kind == NARROWEST] for seat in range(4)]
    assert distances == [[], [5], [2], [2]]


def test_where_matches_are_not_shown_their_author_gets_nothing_of_them_either(played, ask):
    config = played.config.as_data()
    played.accounts.contests.configure("cup", {**config, "show_matches": "nobody"}, OPERATOR)
    try:
        assert not [address for address in ADDRESSES if SECRET in ask("Ann", address, False).text]
        assert all(SECRET in ask("Boss", address, False).text for address in ADDRESSES)
    finally:
        played.accounts.contests.configure("cup", config, OPERATOR)
