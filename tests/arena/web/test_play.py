"""Sessions and analyses over HTTP: who may move, what is refused, and what hostile requests get."""

import contextlib
import re
import threading
import time

import pytest
from starlette.testclient import TestClient

from arena.web.app import create_app
from arena.web.safety import TOKEN_HEADER
from engine.words import Names
from tests.arena.web.conftest import ADDRESS
from tests.support.tournaments import wait_until

HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Return an application with a home of its own."""
    with TestClient(create_app(tmp_path_factory.mktemp("home")), base_url=ADDRESS) as found:
        yield found


@contextlib.contextmanager
def browser(server):
    """Another browser at the same server."""
    yield TestClient(server.app, base_url=ADDRESS)


@pytest.fixture(scope="module")
def token(server):
    return re.search(r'name="arena-token" content="([^"]+)"', server.get("/play").text)[1]


def opened(server, token, **fields):
    """Open a session and return its address."""
    wanted = {"game": "epicycle", "players": "2", "seat-0": "person", "seat-1": "greedy", "token": token, **fields}
    answer = server.post("/play", data=wanted, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def waiting(server, address):
    """Return the session when a person is to move, or it is over."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        data = server.get(f"{address}/state").json()
        if data["phase"] in ("waiting", "over", "failed"):
            return data
        time.sleep(0.01)
    raise AssertionError("the session does nothing")


def post(server, token, address, **fields):
    return server.post(address, data=fields, headers={TOKEN_HEADER: token})


def search(server, token, address, query):
    """Have a position searched, and return what is found so far."""
    return server.post(address, params=query, headers={TOKEN_HEADER: token})


def play(server, token, address):
    """Play the first action until the match is over."""
    while (data := waiting(server, address))["phase"] == "waiting":
        action = data["legal"][0]["action"]
        assert post(server, token, f"{address}/move", action=action, version=data["version"]).status_code == 200
    return data


def test_a_match_is_played_kept_and_exported(server, token):
    address = opened(server, token, seed="3", name="ada")
    assert "Epicycle" in server.get(address).text
    data = play(server, token, address)
    assert data["phase"] == "over"
    assert sorted(seat["place"] for seat in data["seats"]) == [1, 2]
    line = server.get(f"{address}/match.jsonl")
    assert line.headers["content-disposition"].startswith("attachment")
    assert line.json()["moves"].split() == [ply["text"] for ply in data["plies"]]
    kept = post(server, token, f"{address}/keep").json()["kept"]
    assert kept.startswith("played/")
    shown = waiting(server, address)["replay"]
    assert "ada" in server.get(shown).text
    for page in ("/", f"/{kept}", f"/{kept}/matches"):
        assert server.get(page).status_code == 200
    assert f'href="/{kept}' in server.get("/").text
    assert "Analyse from here" in server.get(shown).text
    refused = post(server, token, f"{address}/back")
    assert refused.status_code == 409
    assert "in a log" in refused.json()["error"]
    assert server.get(f"{address}/at", params={"ply": 2}).json()["svg"].startswith("<svg")
    assert server.get(f"{address}/at", params={"ply": 999}).status_code == 409
    assert post(server, token, f"{address}/rematch", turned="1").json()["go"].startswith("/play/")


def test_a_match_that_is_to_be_kept_is_kept_when_it_is_over(server, token):
    address = opened(server, token, keep="1")
    play(server, token, address)
    wait_until(lambda: server.get(f"{address}/state").json()["kept"], "it is kept")  # whoever keeps it gets to run


def test_another_browser_looks_on_and_cannot_move(server, token):
    address = opened(server, token)
    data = waiting(server, address)
    with browser(server) as other:
        seen = waiting(other, address)
        assert (seen["owner"], seen["turn"], seen["legal"]) == (False, False, [])
        assert "You look on" in other.get(address).text
        for what in ("move", "back", "resign", "keep", "rematch"):
            answer = post(other, token, f"{address}/{what}", action=data["legal"][0]["action"])
            assert answer.status_code == 403, what
    assert waiting(server, address)["plies"] == data["plies"]


def test_nothing_changes_without_the_token_or_from_another_site(server, token):
    address = opened(server, token)
    waiting(server, address)
    assert server.post(f"{address}/resign").status_code == 403
    assert server.post("/play", data={"game": "epicycle", "players": "2"}).status_code == 403
    foreign = {TOKEN_HEADER: token, "Origin": "http://evil.example"}
    assert server.post(f"{address}/resign", headers=foreign).status_code == 403
    assert server.get(f"{address}/resign").status_code == 405
    assert waiting(server, address)["phase"] == "waiting"


def test_illegal_and_late_moves_are_refused_in_words(server, token):
    address = opened(server, token)
    data = waiting(server, address)
    for fields, words in [
        ({"action": "99"}, "legal: "),
        ({"action": "-1"}, "legal: "),
        ({"action": HOSTILE}, "whole number"),
        ({"action": "9" * 500}, ""),
        ({}, "no action"),
        ({"action": data["legal"][0]["action"], "version": "0"}, "changed meanwhile"),
    ]:
        answer = post(server, token, f"{address}/move", **fields)
        assert answer.status_code == 409
        assert words in answer.json()["error"]
    assert waiting(server, address)["plies"] == data["plies"]


def test_a_move_is_taken_back(server, token):
    address = opened(server, token, seed="3")
    data = waiting(server, address)
    assert not data["back"]
    post(server, token, f"{address}/move", action=data["legal"][0]["action"])
    assert waiting(server, address)["back"]
    assert post(server, token, f"{address}/back").status_code == 200
    again = waiting(server, address)
    assert (again["plies"], again["svg"]) == (data["plies"], data["svg"])


def test_a_page_that_waits_hears_of_a_change(server, token):
    address = opened(server, token)
    data = waiting(server, address)
    post(server, token, f"{address}/move", action=data["legal"][0]["action"])
    assert server.get(f"{address}/state", params={"after": data["version"]}).json()["version"] > data["version"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"seat-1": HOSTILE}, "there is no bot"),
        ({"bot-1": "/etc/passwd"}, "there is no bot"),
        ({"bot-1": "onnx:file=/etc/passwd"}, "there is no bot"),
        ({"bot-1": "setup.py"}, "there is no bot"),
        ({"bot-1": "../x.py:Bot"}, "there is no bot"),
        ({"name": HOSTILE}, "name of a person"),
        ({"seed": "x"}, "seed"),
        ({"seed": "9" * 30}, "seed"),
        ({"position": HOSTILE}, "position"),
        ({"position": "x" * 4000}, "characters"),
        ({"moves": "S- S- S- " * 400}, "characters of moves"),
        ({"moves": HOSTILE}, "move 1"),
        ({"minutes": "inf"}, "clock"),
        ({"minutes": "nan"}, "clock"),
        ({"opening": "-5", "game": "nothing"}, "no game"),
        ({"option-setup": HOSTILE}, "setup"),
        ({"players": "99"}, "players"),
        ({"keep": "1", "position": "SMLSMLSML. SML/SML 0 0"}, "kept"),
    ],
)
def test_a_session_that_cannot_be_is_refused_on_the_form_in_words(server, token, fields, words):
    wanted = {"game": "epicycle", "players": "2", "seat-0": "person", "seat-1": "greedy", "token": token, **fields}
    answer = server.post("/play", data=wanted, follow_redirects=False)
    assert answer.status_code == 400
    alert = re.search(r'role="alert">(.*?)</p>', answer.text, re.DOTALL)[1]
    assert words in alert.lower()
    assert "<script>alert" not in answer.text


def test_a_bot_that_does_not_play_this_says_so_on_the_page(server, token):
    data = waiting(server, opened(server, token, **{"bot-1": "settler", "seat-1": "settler"}))
    assert data["phase"] == "failed"
    assert "settler" in data["line"]


@pytest.mark.parametrize(
    "address",
    ["/play/nothing", "/play/nothing/state", "/play/nothing/at?ply=0", "/play/nothing/why?version=0", "/play/%00"],
)
def test_a_session_that_is_gone_says_why(server, address):
    answer = server.get(address)
    assert answer.status_code == 404
    assert "matches end with the server" in answer.text


def test_an_analysis_grows_and_finds_the_win(server, token):
    from tests.arena.sessions.test_analysis import win_in_one

    state, winning = win_in_one()
    where = {"game": "epicycle", "players": 2, "position": state.position}
    shown = server.get("/analysis/state", params=where).json()
    assert {each["action"] for each in shown["legal"]} == set(state.legal_actions())
    until = time.monotonic() + 120
    while (found := search(server, token, "/analysis/found", {**where, "limit": 5000}).json())["running"]:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert found["proven"]
    assert found["best"][0]["action"] == winning
    says = state.tell(winning, Names.of_colours(2)).text
    assert found["best"][0]["says"] == says
    preview = server.get("/analysis/preview", params={**where, "action": winning}).json()
    assert preview["svg"].startswith("<svg") and preview["says"] == says
    played = state.action_to_string(winning)
    assert f"In the match: {says}" in server.get("/analysis", params={**where, "played": played}).text
    plain = server.get("/analysis", params=where)
    assert plain.status_code == 200 and "In the match" not in plain.text
    named = {state.action_to_string(action) for action in state.legal_actions()}
    for text in ("no move", next(each for each in ("S-", "S+", "M-", "M+", "L-", "L+") if each not in named)):
        assert server.get("/analysis", params={**where, "played": text}).status_code == 400


def searches():
    return {thread for thread in threading.enumerate() if thread.name == "analysis"}


def test_a_search_is_begun_by_a_page_of_this_server_alone_and_by_no_link(server, token):
    address = opened(server, token)
    waiting(server, address)
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    query, before = {"game": "pyramid_punch", "players": 2, "limit": 1_000_000}, searches()
    for place in (f"{address}/found", "/analysis/found"):
        for site in ({}, followed):
            assert server.get(place, params=query, headers=site).status_code == 405
        assert server.post(place, params=query).status_code == 403
        foreign = {TOKEN_HEADER: token, "Origin": "http://evil.example"}
        assert server.post(place, params=query, headers=foreign).status_code == 403
    for place in (address, "/analysis", "/analysis/state", "/play"):
        assert server.get(place, params=query, headers=followed).status_code == 200
    assert searches() == before


@pytest.mark.parametrize(
    "query",
    [
        {"game": "nothing", "players": 2},
        {"game": HOSTILE, "players": 2},
        {"game": "epicycle", "players": 99},
        {"game": "epicycle", "players": 2, "position": HOSTILE},
        {"game": "epicycle", "players": 2, "position": "x" * 4000},
        {"game": "epicycle", "players": 2, "moves": HOSTILE},
    ],
)
def test_what_is_no_position_is_refused_in_words(server, token, query):
    for answer in (
        *(server.get(address, params=query) for address in ("/analysis/state", "/analysis/why")),
        search(server, token, "/analysis/found", query),
    ):
        assert answer.status_code == 400
        assert answer.json()["error"]
    if query["players"] == 2:
        shown = server.get("/analysis", params=query)
        assert shown.status_code == 400
        assert "<script>alert" not in shown.text
        assert "Traceback" not in shown.text


def why(server, address, *parts, **query):
    return server.get(f"{address}/why", params={**query, "part": parts})


def test_whoever_looks_is_told_why_a_part_cannot_be_clicked(server, token):
    address = opened(server, token, opening="0")
    version = waiting(server, address)["version"]
    with browser(server) as other:
        for looking in (server, other):
            told = why(looking, address, "hand-1-S", version=version).json()
            assert told["why"] == (
                "That piece belongs to greedy; you are to move."
                if looking is server
                else "That piece belongs to greedy; Blue is to move."
            )
            assert (told["section"], told["anchor"]) == ("§2 Whose turn it is", "2-whose-turn-it-is")
    told = why(server, address, "slot-5", version=version).json()
    assert told["why"].startswith("Slot 5 is 4 slots from the gap") and told["section"] == "§3 What is allowed"
    assert (
        why(server, address, "hand-0-S", "slot-5", version=version).json()["why"].startswith("A small piece takes one")
    )
    assert why(server, address, "hand-0-S", version=version).json() == {"why": ""}
    where = {"game": "epicycle", "players": 2}
    told = why(server, "/analysis", "hand-0-S", **where, moves="S-").json()
    assert told["why"] == "That piece belongs to Blue; Orange is to move."


def test_a_reason_is_of_the_position_that_was_asked_about(server, token):
    address = opened(server, token, seed="3")
    version = waiting(server, address)["version"]
    assert why(server, address, "hand-1-S", version=version - 1).status_code == 204
    assert why(server, address, "hand-1-S", version="9" * 400).status_code in (204, 422)


@pytest.mark.parametrize("parts", [(), ("",), (HOSTILE,), ("hand-1-S" * 50,), ("hand-1-S",) * 50, ("slot-\0",)])
def test_asking_about_what_is_no_part_tells_nothing(server, token, parts):
    address = opened(server, token)
    answer = why(server, address, *parts, version=waiting(server, address)["version"])
    assert (answer.status_code, answer.json()) == (200, {"why": ""})


@pytest.mark.parametrize(
    "broken", [lambda self, parts, names: 1 / 0, lambda self, parts, names: None, lambda self, parts, names: 5]
)
def test_a_game_whose_reasons_fail_tells_nothing(server, monkeypatch, broken):
    from engine.state import KernelState

    monkeypatch.setattr(KernelState, "reason", broken)
    assert why(server, "/analysis", "hand-1-S", game="epicycle", players=2).json() == {"why": ""}


def test_numbers_that_are_none_are_refused(server):
    assert server.get("/analysis/state", params={"game": "epicycle", "players": "x"}).status_code == 422
    assert server.get("/play", params={"game": "epicycle", "players": "x" * 50}).status_code == 200


def test_every_game_offers_its_options_and_a_seat_for_each_player(server):
    for game, players in (("epicycle", 5), ("magic_mids", 4), ("midgard", 2), ("pyramid_punch", 3)):
        text = server.get("/play", params={"game": game, "players": players}).text
        assert text.count("<fieldset") == players


def test_a_form_speaks_of_dice_where_there_are_some_and_shows_options_that_were_chosen(server):
    plain, dice, variant = (
        server.get(f"/play?{query}").text
        for query in ("game=midgard", "game=magic_mids", "game=midgard&option-variant=odin")
    )
    assert "Seed of the dice" in dice
    assert "Seed of the bots" in plain
    options = '<details class="wide-field more"{}><summary>Options of the game'
    assert options.format("") in plain
    assert options.format(" open") in variant


def test_a_browser_that_has_the_claim_of_a_session_becomes_its_owner_once(tmp_path):
    from arena.sessions.registry import SessionRegistry
    from arena.sessions.setup import SessionSetup
    from arena.web.play_routes import session_address

    registry = SessionRegistry(tmp_path)
    entry = registry.open(SessionSetup("epicycle", ("person", "random")), "secret", claim=True)
    address = f"/{session_address(entry)}"
    with TestClient(create_app(tmp_path, registry=registry), base_url=ADDRESS) as first:
        second = TestClient(first.app, base_url=ADDRESS)
        assert waiting(first, f"/play/{entry.id}")["owner"] is False
        assert first.get(address).status_code == 200
        assert waiting(first, f"/play/{entry.id}")["owner"] is True
        second.get(address)
        assert waiting(second, f"/play/{entry.id}")["owner"] is False
