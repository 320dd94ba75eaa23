"""What the server refuses, and what it says with every answer."""

import pytest
from fastapi import Depends, FastAPI, Request, Response
from starlette.testclient import TestClient

from arena.core.errors import ConfigError
from arena.web.addresses import Addresses
from arena.web.links import Links
from arena.web.safety import (
    MAX_ADDRESS_BYTES,
    MAX_BODY_BYTES,
    POLICY,
    ForbiddenError,
    Guard,
    changes_something,
    new_token,
)
from arena.web.server import bound


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("127.0.0.1:8000", True),
        ("localhost:8000", True),
        ("LOCALHOST:8000", True),
        ("[::1]:8000", True),
        ("localhost.:8000", True),
        ("127.0.0.1", False),
        ("127.0.0.1:8001", False),
        ("evil.example:8000", False),
        ("127.0.0.1.evil.example:8000", False),
        ("localhost:8000@evil.example", False),
        ("10.0.0.7:8000", False),
        ("127.0.0.1:８０００", False),
        ("", False),
    ],
)
def test_a_loopback_server_has_the_loopback_names_with_its_port_alone(host, is_ours):
    assert Addresses().has(host) == is_ours


def test_a_server_on_every_address_answers_to_addresses_but_to_no_foreign_name():
    names = Addresses("0.0.0.0")
    assert names.has("10.0.0.7:8000") and names.has("[fe80::1]:8000") and names.has("localhost:8000")
    assert not names.has("evil.example:8000")
    assert not names.has('[fe80::1%"onclick=evil]:8000')


def test_a_server_with_a_name_of_its_own_answers_to_that_one():
    names = Addresses("arena.example", 80)
    assert names.has("arena.example") and names.has("arena.example:80") and not names.has("localhost")


def test_a_foreign_host_gets_no_page(client):
    answer = client.get("/", headers={"Host": "evil.example:8000"})
    assert answer.status_code == 421 and "<" not in answer.text


@pytest.mark.parametrize("address", ["/", "/tournaments/none", "/static/page.js", "/static/none.js"])
def test_every_answer_says_what_a_browser_may_do_with_it(client, address):
    headers = client.get(address).headers
    assert headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY and "script-src 'self'" in POLICY and "frame-ancestors 'none'" in POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "site", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_nothing_is_changed_from_a_page_of_another_server(client, site):
    assert client.post("/", headers=site).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_servers_may_lead_here_but_load_and_compute_nothing_here(client, site):
    for address in ("/", "/analysis/state?game=epicycle&players=2", "/static/page.js"):
        loads = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
        frames = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
        assert [client.get(address, headers=each).status_code for each in (loads, frames)] == [403, 403]
    follows = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert client.get("/", headers=follows).status_code == 200
    assert client.get("/static/page.js", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_large_requests_are_refused_before_they_are_read(client):
    assert client.get("/?" + "x" * MAX_ADDRESS_BYTES).status_code == 414
    assert client.post("/", content=b"x" * (MAX_BODY_BYTES + 1)).status_code == 413
    assert client.post("/", headers={"Content-Length": "many"}).status_code == 400
    refused = client.post("/", content=b"x" * (MAX_BODY_BYTES + 1), headers={"Accept": "text/html"})
    assert refused.status_code == 413 and "larger than 256 KiB" in refused.text and "To the first page" in refused.text


def test_no_page_has_a_script_or_a_handler_inside(client):
    for address in ("/", "/tournaments/shown", "/tournaments/none"):
        text = client.get(address).text
        assert "<script>" not in text and " onclick" not in text and " style=" not in text


def test_a_taken_port_is_named(client):
    listening = bound("127.0.0.1", 0)
    port = listening.getsockname()[1]
    with listening, pytest.raises(ConfigError, match=f"--port {port}: is in use"):
        bound("127.0.0.1", port)


def test_a_host_that_is_none_is_named():
    with pytest.raises(ConfigError, match="--host no"):
        bound("no.such.host.invalid", 0)


def test_addresses_can_be_opened():
    assert Addresses("0.0.0.0", 80).url == "http://127.0.0.1:80/"
    assert Addresses("::1").url == "http://[::1]:8000/"


def test_a_change_needs_the_token_of_this_server():
    app = FastAPI()
    app.state.links = Links()
    app.state.links.token = new_token()

    @app.post("/change", dependencies=[Depends(changes_something)])
    async def change() -> str:
        return "changed"

    @app.exception_handler(ForbiddenError)
    async def forbidden(request: Request, error: Exception) -> Response:
        return Response(str(error), 403)

    token = app.state.links.token
    with TestClient(Guard(app, Addresses()), base_url="http://127.0.0.1:8000") as client:
        assert client.post("/change").status_code == 403
        assert client.post("/change", headers={"X-Arena-Token": token[:-1]}).status_code == 403
        assert client.post("/change", data={"token": "é"}).status_code == 403
        assert client.post("/change", headers={"X-Arena-Token": token}).status_code == 200
        assert client.post("/change", data={"token": token}).status_code == 200
        own = {"X-Arena-Token": token, "Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}
        assert client.post("/change", headers=own).status_code == 200
        assert client.post("/change", headers={**own, "Origin": "http://127.0.0.1:9"}).status_code == 403


def test_every_address_that_changes_something_asks_for_the_token(client):
    for route in client.app.app.app.routes:
        if getattr(route, "methods", None) and route.methods - {"GET", "HEAD"}:
            asked = [dependency.call for dependency in route.dependant.dependencies]
            assert changes_something in asked, route.path
