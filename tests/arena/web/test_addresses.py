"""Where a server is reached: below a path, under another name and port, behind HTTPS; and nobody else's word counts."""

from __future__ import annotations

import asyncio
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from arena.accounts import OPERATOR, Accounts
from arena.cli.app import run_command
from arena.contest.config import contest_from
from arena.core.errors import ConfigError
from arena.web.addresses import Addresses, addresses_of, split_host
from arena.web.app import create_app
from arena.web.forwarded import ForwardedHeader, address_of, hops_of

PUBLIC = "https://arena.example/club"


@pytest.fixture(scope="module")
def behind(home):
    """Return the application of a home with a tournament, below a path of a public name."""
    return create_app(home, addresses_of(public_url=PUBLIC, forwarded_from=["10.0.0.0/8"]))


def browser(app, base="https://arena.example", **options):
    return TestClient(app, base_url=base, raise_server_exceptions=False, follow_redirects=False, **options)


class Links(HTMLParser):
    """The addresses that a page leads to or loads."""

    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value and (name in ("href", "src", "action") or (name.startswith("data-") and name != "data-root")):
                self.found.add(value)


def links_on(page):
    parser = Links()
    parser.feed(page)
    return {each.split("#")[0] for each in parser.found if each.startswith("/")}


@pytest.mark.parametrize("strips", [False, True], ids=["a proxy that passes the path on", "a proxy that takes it off"])
def test_every_link_of_every_page_works_below_a_path(behind, strips):
    http = browser(behind)
    waiting, seen = ["/club/", "/club/play", "/club/learn/epicycle", "/club/analysis?game=epicycle&players=2"], set()
    while waiting and len(seen) < 150:
        address = waiting.pop()
        if address in seen or "/events" in address:
            continue
        seen.add(address)
        assert address.startswith("/club/"), address
        answer = http.get(address.removeprefix("/club") if strips else address)
        assert answer.status_code in (200, 204), address
        if answer.headers.get("content-type", "").startswith("text/html"):
            waiting += sorted(links_on(answer.text) - seen)
    assert any("/matches/" in each for each in seen)
    assert any("/static/" in each for each in seen)


def test_scripts_know_the_path_that_they_are_below(behind):
    assert 'data-root="/club"' in browser(behind).get("/club/play").text


def test_a_match_is_begun_below_a_path_and_its_cookie_stays_there(behind):
    http = browser(behind)
    token = re.search('name="arena-token" content="([^"]+)"', http.get("/club/play").text)[1]
    data = {"token": token, "game": "epicycle", "players": "2", "seat-1": "greedy"}
    own = {"Origin": "https://arena.example", "Sec-Fetch-Site": "same-origin"}
    done = http.post("/club/play", data=data, headers=own)
    assert done.status_code == 303
    assert done.headers["location"].startswith("/club/play/")
    cookie = done.headers["set-cookie"]
    assert "Path=/club" in cookie
    assert "Secure" in cookie
    assert http.get(done.headers["location"]).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://arena.example", "https://evil.example", "https://arena.example:444", "null"]
)
def test_another_origin_changes_nothing(behind, origin):
    assert browser(behind).post("/club/play", headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "arena.example.evil", "arena.example:8000", "127.0.0.1"])
def test_a_name_that_is_not_the_servers_is_refused(behind, host):
    assert browser(behind, f"https://{host}").get("/club/").status_code == 421


def test_the_address_that_it_listens_on_works_besides(behind):
    assert browser(behind, "http://127.0.0.1:8000").get("/club/").status_code == 200


@pytest.mark.parametrize(
    ("allowed", "host", "is_ours"),
    [
        ([], "arena.example", False),
        (["arena.example"], "arena.example", True),
        (["arena.example"], "arena.example:9000", True),
        (["localhost:9000"], "localhost:9000", True),
        (["localhost:9000"], "localhost:9001", False),
        (["Arena.Example"], "ARENA.example", True),
        (["10.1.2.3"], "10.1.2.3:80", True),
        (["arena.example"], "arena.example:x", False),
    ],
)
def test_other_names_are_those_that_are_allowed(allowed, host, is_ours):
    assert addresses_of(allowed=allowed).has(host) == is_ours


@pytest.mark.parametrize(
    "options",
    [
        {"public_url": "arena.example"},
        {"public_url": "ftp://arena.example"},
        {"public_url": "https://user@arena.example"},
        {"public_url": "https://arena.example/?x"},
        {"public_url": "https://arena.example:99999"},
        {"public_url": "https://arena.example/a b"},
        {"public_url": "https://arena.example/a", "root_path": "/b"},
        {"root_path": "arena"},
        {"root_path": "/a/../b/%2e"},
        {"allowed": ["a b"]},
        {"allowed": ["a:port"]},
        {"forwarded_from": ["proxy"]},
        {"metrics_from": ["10.0.0.0/99"]},
    ],
)
def test_a_wrong_option_is_one_line_that_names_it(options):
    with pytest.raises(ConfigError) as caught:
        addresses_of(**options)
    assert str(caught.value).startswith("--")


def test_the_command_line_refuses_a_wrong_address_before_it_serves(tmp_path, capsys):
    assert run_command(["serve", "--public-url", "arena.example", "--home", str(tmp_path)]) == 2
    assert "--public-url arena.example" in capsys.readouterr().err


def test_who_listens_on_every_address_prints_one_that_works():
    assert Addresses("0.0.0.0", 80).url == "http://127.0.0.1:80/"
    assert addresses_of(public_url=PUBLIC).url == "https://arena.example/club/"


@given(st.text(max_size=30))
def test_any_host_header_is_read_without_an_error(text):
    split_host(text)
    addresses_of(public_url=PUBLIC, allowed=["a.example"]).has(text)
    Addresses().is_own(text, "http")


# Forwarded headers


async def seen_by(app_scope, addresses):
    """Return what an application behind the middleware is told of a client and scheme."""
    found = {}

    async def app(scope, receive, send):
        found.update(client=scope["client"][0], scheme=scope["scheme"])

    read = ProxyHeadersMiddleware(app, [str(network) for network in addresses.proxies])
    await ForwardedHeader(read, addresses)(app_scope, None, None)
    return found


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.1", b"203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", b"1.2.3.4, 203.0.113.7", "203.0.113.7"),  # what the client says of itself does not count
        ("10.0.0.1", b"203.0.113.7, 10.0.0.2", "203.0.113.7"),
        ("192.0.2.1", b"203.0.113.7", "192.0.2.1"),
    ],
)
def test_only_named_proxies_tell_who_asks(peer, forwarded, client):
    scope = {"type": "http", "client": (peer, 1), "scheme": "http", "headers": [(b"x-forwarded-for", forwarded)]}
    assert asyncio.run(seen_by(scope, addresses_of(forwarded_from=["10.0.0.0/8"])))["client"] == client


@pytest.mark.parametrize(
    ("forwarded", "client", "scheme"),
    [
        ("for=203.0.113.7;proto=https;by=10.0.0.1", "203.0.113.7", "https"),
        ('For="203.0.113.7:4711" ; Proto=HTTPS', "203.0.113.7", "https"),
        ('for="[2001:db8::1]:4711"', "2001:db8::1", "http"),
        ("for=1.2.3.4;proto=https, for=203.0.113.7", "203.0.113.7", "http"),
        ("for=203.0.113.7;proto=https, for=10.0.0.2;proto=http", "203.0.113.7", "https"),
        ("for=unknown", "10.0.0.1", "http"),
        ("for=203.0.113.7, for=_hidden", "10.0.0.1", "http"),
        ("for=203.0.113.7;proto=gopher", "203.0.113.7", "http"),
        ("for=203.0.113.7;for=1.2.3.4", "10.0.0.1", "http"),
        ("for=203.0.113.7,", "10.0.0.1", "http"),
        ('for="203.0.113.7', "10.0.0.1", "http"),
        ("", "10.0.0.1", "http"),
    ],
)
def test_the_header_of_rfc_7239_tells_who_asks(forwarded, client, scheme):
    headers = [(b"forwarded", forwarded.encode()), (b"x-forwarded-proto", b"https")][: 1 if forwarded else 0]
    scope = {"type": "http", "client": ("10.0.0.1", 1), "scheme": "http", "headers": headers}
    found = asyncio.run(seen_by(scope, addresses_of(forwarded_from=["10.0.0.0/8"])))
    assert found == {"client": client, "scheme": scheme}


def test_a_forwarded_header_counts_from_named_proxies_and_without_the_usual_one():
    addresses, own = addresses_of(forwarded_from=["10.0.0.0/8"]), (b"forwarded", b"for=1.2.3.4;proto=https")
    usual = (b"x-forwarded-for", b"203.0.113.7")
    for peer, headers, client in (("192.0.2.1", [own], "192.0.2.1"), ("10.0.0.1", [own, usual], "203.0.113.7")):
        scope = {"type": "http", "client": (peer, 1), "scheme": "http", "headers": headers}
        assert asyncio.run(seen_by(scope, addresses)) == {"client": client, "scheme": "http"}


@given(st.text(max_size=60))
def test_any_forwarded_header_is_read_without_an_error(text):
    for hop in hops_of(text):
        address_of(hop.get("for", ""))


# What watches a server


def test_health_is_told_under_any_name(behind, tmp_path):
    assert browser(behind, "http://10.9.8.7").get("/healthz").json()["status"] == "ok"
    with Accounts.open(tmp_path):
        pass
    (tmp_path / "arena.db").write_bytes(b"no database")
    answer = browser(create_app(tmp_path), "http://127.0.0.1:8000").get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "failing")


def test_metrics_name_patterns_of_addresses_and_nobody(tmp_path):
    with Accounts.open(tmp_path) as accounts:
        config = contest_from({"name": "cup", "boards": [{"game": "epicycle", "players": 2}]})
        accounts.contests.add("cup", config.as_data(), OPERATOR)
    http = browser(create_app(tmp_path), "http://127.0.0.1:8000", client=("127.0.0.1", 1))
    for address in ("/contests/cup", "/join/arena_secret", "/api/v1/contests/cup", "/nothing/here?token=secret"):
        http.get(address)
    text = http.get("/metrics").text
    assert 'arena_requests_total{method="GET",route="/contests/{id}",status="200"} 1.0' in text
    assert 'route="/join/{code}"' in text
    assert 'route="other",status="404"' in text
    assert "secret" not in text
    assert "arena_disk_free_bytes" in text


def test_metrics_are_for_this_machine_and_who_is_named(tmp_path):
    for networks, status in ((["203.0.113.0/24"], 200), ([], 403)):
        app = create_app(tmp_path, addresses_of(metrics_from=networks))
        assert browser(app, "http://127.0.0.1:8000", client=("203.0.113.9", 1)).get("/metrics").status_code == status


def test_nobody_makes_metrics_grow_by_methods_of_their_own(tmp_path):
    http = browser(create_app(tmp_path), "http://127.0.0.1:8000", client=("127.0.0.1", 1))
    for number in range(50):
        http.request(f"MADEUP{number}", "/healthz")
    text = http.get("/metrics").text
    assert "MADEUP" not in text
    assert 'method="other"' in text


@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("evil.example", {}),
        ("127.0.0.1:8000", {"Sec-Fetch-Site": "cross-site"}),
        ("127.0.0.1:8000", {"X-Forwarded-For": "203.0.113.9"}),
        ("127.0.0.1:8000", {"Forwarded": "for=203.0.113.9"}),
    ],
    ids=["another name", "a page of another site", "a proxy that is not named", "the same by the other header"],
)
def test_metrics_are_not_told_by_way_of_this_machine(tmp_path, host, headers):
    http = browser(create_app(tmp_path), f"http://{host}", client=("127.0.0.1", 1))
    assert http.get("/metrics", headers=headers).status_code in (403, 421)


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_line_for_each_request_tells_no_query(tmp_path, capsys, log_format):
    http = browser(create_app(tmp_path, log_format=log_format), "http://127.0.0.1:8000")
    http.get("/sign-in?next=/secret")
    http.get("/join/arena_secret")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "/sign-in" in lines[0]
    assert not any("secret" in line for line in lines)
