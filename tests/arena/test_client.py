"""The client of a server: what it hands in is what was in the folder, and it gives its token to nobody else."""

from __future__ import annotations

import contextlib
import http.server
import threading
from typing import ClassVar

import pytest
import uvicorn

from arena.accounts import OPERATOR, Accounts
from arena.cli.app import run_command
from arena.client import Client, ServerError, packed_bot, target_of
from arena.contest.config import contest_from
from arena.core.errors import ArenaError, ConfigError
from arena.registry.submissions import source_path
from arena.registry.uploads import uploaded_bot
from arena.web.addresses import Addresses
from arena.web.app import create_app
from arena.web.server import bound
from tests.support.tournaments import wait_until

BOT = """from bots import Bot
import util

class Mine(Bot):
    def choose(self, state):
        return util.first(state)
"""
UTIL = "def first(state):\n    return state.legal_actions()[0]\n"


@contextlib.contextmanager
def listening(app, port):
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [port]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def cup(tmp_path):
    """A server with a contest; its address, an author's token, and the accounts."""
    home = tmp_path / "home"
    home.mkdir()
    with contextlib.closing(bound("127.0.0.1", 0)) as port, Accounts.open(home) as accounts:
        config = contest_from({"name": "cup", "boards": [{"game": "epicycle", "players": 2}]})
        accounts.contests.add("cup", config.as_data(), OPERATOR)
        ann = accounts.authors.add("Ann", "author", OPERATOR)
        accounts.contests.join("cup", ann.id, OPERATOR)
        token = accounts.tokens.issue(ann, "api", ["read", "submit"], OPERATOR)
        number = port.getsockname()[1]
        with listening(create_app(home, Addresses(port=number)), port):
            yield f"http://127.0.0.1:{number}", token, accounts


@pytest.fixture
def folder(tmp_path):
    """A folder with a bot that has a module of its own."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "my_bot.py").write_text(BOT)
    (folder / "util.py").write_text(UTIL)
    return folder


def check(accounts, is_valid, *lines):
    """Check what waits, as the driver of a contest does."""
    wait_until(accounts.submissions.waiting, "a version waits")
    (first, *_) = accounts.submissions.waiting()
    accounts.submissions.begin_check(first)
    for line in lines:
        accounts.submissions.report(first, line)
    accounts.submissions.end_check(first, is_valid)


def test_a_bot_is_handed_in_with_its_own_modules_and_followed_to_the_end_of_its_check(cup, folder):
    address, token, accounts = cup
    client = Client(address, token)
    assert client.me()["name"] == "Ann"
    version = client.hand_in("cup", folder / "my_bot.py", "alpha")
    assert (version["label"], version["is_new"]) == ("b1.1", True)
    kept = accounts.submissions.version("b1", 1)
    assert kept.class_name == "Mine"
    assert source_path(kept.bundle, accounts.database.path.parent).is_file()
    checker = threading.Thread(target=check, args=(accounts, True, {"board": "epicycle", "result": "ok"}))
    checker.start()
    lines = []
    assert client.wait("cup", version, lines.append, poll=0.02)["state"] == "valid"
    checker.join()
    assert lines == [{"board": "epicycle", "result": "ok"}]
    assert not client.hand_in("cup", folder / "my_bot.py", "alpha")["is_new"]
    assert [bot["name"] for bot in client.bots("cup")] == ["alpha"]
    assert [event["kind"] for event in client.events("cup")] == ["opened", "bot", "version"]
    assert client.withdraw("cup", "b1")["withdrawn"]
    assert client.bring_back("cup", "b1", 1)["state"] == "valid"


@pytest.mark.parametrize(("is_valid", "code", "words"), [(True, 0, "Valid"), (False, 1, "Refused")])
def test_the_command_line_hands_in_and_prints_the_report(cup, folder, monkeypatch, capsys, is_valid, code, words):
    address, token, accounts = cup
    monkeypatch.setenv("ARENA_TOKEN", token)
    line = {
        "board": "epicycle",
        "result": "crash",
        "problems": [{"cause": "crash", "where": "at ply 1", "detail": "\x1b[2J"}],
    }
    checker = threading.Thread(target=check, args=(accounts, is_valid, line))
    checker.start()
    assert run_command(["submit", str(folder / "my_bot.py"), "--to", f"{address}/contests/cup"]) == code
    checker.join()
    out = capsys.readouterr().out
    assert words in out
    assert "crash at ply 1" in out
    assert "\x1b" not in out


def test_what_a_server_refuses_is_said_in_its_words(cup, folder):
    address, token, _ = cup
    with pytest.raises(ServerError, match="takes a token") as caught:
        Client(address).hand_in("cup", folder / "my_bot.py")
    assert caught.value.status == 401
    with pytest.raises(ServerError, match="no contest 'none'"):
        Client(address, token).contest("none")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "arena.example/contests/cup",
        "ftp://a/contests/cup",
        "https://a/",
        "https://a/contests/",
        "http://[a/contests/x",
    ],
)
def test_an_address_of_something_else_is_refused(address):
    with pytest.raises(ConfigError):
        target_of(address)


def test_the_address_of_any_page_of_a_contest_names_it():
    assert target_of("https://a.example:8443/prefix/contests/cup/bots/b1") == ("https://a.example:8443/prefix", "cup")


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A server that answers with what the test says."""

    answers: ClassVar[tuple[int, dict[str, str], bytes]] = (200, {}, b"")
    asked: ClassVar[list[str | None]] = []

    def do_GET(self):
        Elsewhere.asked.append(self.headers.get("Authorization"))
        status, headers, body = Elsewhere.answers
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""


@pytest.mark.parametrize(
    "answers",
    [
        (302, {"Location": "/elsewhere"}, b""),
        (200, {}, b"<html>"),
        (200, {}, b"[]"),
        (200, {}, b"[" * 100_000),
        (500, {}, b"\x00\xff"),
        (404, {}, b'{"error": "a\\u001b[2Jb\\nc"}'),
    ],
)
def test_a_server_that_is_no_arena_is_one_line_and_gets_no_token_by_a_redirect(answers):
    Elsewhere.answers, Elsewhere.asked = answers, []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(ServerError) as caught:
                Client(f"http://127.0.0.1:{server.server_port}", "arena_secret").me()
        finally:
            server.shutdown()
            thread.join()
    assert len(Elsewhere.asked) == 1
    assert str(caught.value).isprintable()


def test_a_server_that_is_not_there_is_one_line():
    with pytest.raises(ArenaError, match="cannot be reached"):
        Client("http://127.0.0.1:9", timeout=2).contests()


def test_what_is_sent_is_the_bot_that_the_server_finds(folder):
    file, content, main = packed_bot(str(folder / "my_bot.py"))
    bundle, class_name = uploaded_bot({file: content}, main)
    assert (bundle.module, class_name) == ("my_bot", "Mine")
    assert set(bundle.files) == {"my_bot.py", "util.py", "bots/API_VERSION"}


def test_without_a_token_the_command_says_what_to_set(folder, monkeypatch, capsys):
    monkeypatch.delenv("ARENA_TOKEN", raising=False)
    assert run_command(["submit", str(folder / "my_bot.py"), "--to", "http://127.0.0.1:9/contests/cup"]) == 2
    assert "ARENA_TOKEN" in capsys.readouterr().err
