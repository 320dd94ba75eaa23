"""What the server does with connections that keep it waiting, and with what is no request, over real sockets."""

import asyncio
import contextlib
import gc
import socket
import threading

import pytest

from arena.sessions.registry import SessionRegistry
from arena.sessions.setup import SessionSetup
from arena.sessions.view import Phase
from arena.web import connections, play_routes, server
from arena.web.addresses import Addresses
from arena.web.safety import POLICY
from arena.web.server import READY, notify_service
from tests.support.tournaments import PATIENCE, wait_until


@pytest.fixture
def registry(tmp_path):
    return SessionRegistry(tmp_path)


@pytest.fixture
def servers():
    """The server at the address."""
    return []


@pytest.fixture
def address(tmp_path, registry, servers, monkeypatch):
    """Return the address of a server in a thread of its own."""
    ready = threading.Event()

    class Server(server.Server):
        def __init__(self, *given):
            super().__init__(*given)
            servers.append(self)

        async def startup(self, sockets=None):
            await super().startup(sockets)
            ready.set()

    monkeypatch.setattr(server, "Server", Server)
    addresses = []
    thread = threading.Thread(target=server.serve, args=(tmp_path, Addresses(port=0), addresses.append, registry))
    thread.start()
    assert ready.wait(PATIENCE)
    yield ("127.0.0.1", int(addresses[0].rstrip("/").rpartition(":")[2]))
    servers[0].should_exit = True
    thread.join(PATIENCE)
    assert not thread.is_alive()


@contextlib.contextmanager
def connected(address, source="127.0.0.1"):
    with socket.create_connection(address, PATIENCE, (source, 0)) as connection:
        yield connection


def everything(connection) -> bytes:
    """Return all that comes until the server ends the connection."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            found += part
    return found


def send(connection, request: bytes) -> None:
    with contextlib.suppress(ConnectionError):  # the server may have cut it off already, on a slow machine
        connection.sendall(request)


def get(address, path="/games", source="127.0.0.1") -> bytes:
    with connected(address, source) as connection:
        host = "{}:{}".format(*address)
        send(connection, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return everything(connection)


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST /play HTTP/1.1\r\nHost: %b\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: 9\r\n\r\n1",
    ],
)
def test_a_request_that_does_not_come_whole_is_cut_off_and_others_are_answered(address, monkeypatch, begun):
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_SECONDS", 0.3)
    with connected(address) as slow:
        send(slow, begun.replace(b"%b", "{}:{}".format(*address).encode()))
        wait_until(lambda: get(address).startswith(b"HTTP/1.1 200"), "others are answered")
        assert everything(slow) == b""


def test_a_second_request_on_a_connection_has_to_come_whole_too(address, monkeypatch):
    with connected(address) as slow:
        slow.sendall("HEAD /games HTTP/1.1\r\nHost: {}:{}\r\n\r\n".format(*address).encode())
        assert slow.recv(12) == b"HTTP/1.1 200"
        monkeypatch.setattr(connections, "REQUEST_TIMEOUT_SECONDS", 0.3)
        slow.sendall(b"GET / HT")
        assert b"HTTP/1.1" not in everything(slow)


def test_who_does_not_read_is_cut_off(address, monkeypatch):
    monkeypatch.setattr(connections, "UNREAD_TIMEOUT_SECONDS", 0.3)
    ended, lost = threading.Event(), connections.Connection.connection_lost

    def connection_lost(self, error):
        lost(self, error)
        ended.set()

    monkeypatch.setattr(connections.Connection, "connection_lost", connection_lost)
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.settimeout(PATIENCE)
        deaf.connect(address)
        ask = "GET /games HTTP/1.1\r\nHost: {}:{}\r\n\r\n".format(*address).encode()
        with contextlib.suppress(OSError):  # it is cut off meanwhile
            while not ended.is_set():
                deaf.sendall(ask)
        assert ended.wait(PATIENCE)


def test_what_is_no_request_is_refused_with_the_headers_of_every_answer_and_cut_off(address, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_SECONDS", 3600.0)
    with connected(address) as connection:
        connection.sendall(b"nothing like it\r\n\r\n")
        answer = everything(connection)
    assert answer.startswith(b"HTTP/1.1 400") and f"content-security-policy: {POLICY}".encode() in answer.lower()


def test_too_many_connections_are_told_to_come_again(address, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)
    with connected(address) as first:
        first.sendall(b"GET /games HT")
        assert b"retry-after: 10" in get(address) and b"HTTP/1.1 503" in get(address)
        first.sendall("TP/1.1\r\nHost: {}:{}\r\n\r\n".format(*address).encode())
        assert first.recv(12) == b"HTTP/1.1 200"
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 20)
    assert get(address).startswith(b"HTTP/1.1 200")


def test_connections_from_one_address_leave_room_for_those_from_others(address, servers, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 40)
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_SECONDS", 3600.0)
    monkeypatch.setattr(connections, "SLOW_SECONDS", 3600.0)
    with contextlib.ExitStack() as held:
        for _ in range(40):
            send(held.enter_context(connected(address)), b"GET /games HT")
        assert b"HTTP/1.1 503" in get(address) and b"from your address" in get(address)
        assert get(address, source="127.0.0.2").startswith(b"HTTP/1.1 200")
        open_now = [each for each in servers[0].server_state.connections if each.network == "127.0.0.1"]
        assert len(open_now) <= 10
    wait_until(lambda: get(address).startswith(b"HTTP/1.1 200"), "the address has room again")


def test_only_some_slow_requests_of_one_address_are_waited_for(address, servers, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_SECONDS", 3600.0)
    monkeypatch.setattr(connections, "SLOW_SECONDS", 0.2)
    monkeypatch.setattr(connections, "MAX_SLOW_CONNECTIONS", 3)
    with contextlib.ExitStack() as held:
        for _ in range(30):
            send(held.enter_context(connected(address)), b"GET /games HT")
        other = held.enter_context(connected(address, "127.0.0.2"))
        send(other, b"GET /games HT")
        slow = servers[0].server_state.connections
        wait_until(lambda: len(slow) == 4 and all(each.is_slow for each in slow), "three and the other are left")
        send(other, "TP/1.1\r\nHost: {}:{}\r\n\r\n".format(*address).encode())
        assert other.recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_owner_of_many_addresses_counts_as_one(address, network):
    assert connections.network_of(address) == network


def test_pages_that_wait_for_news_get_their_answers_when_the_server_ends(address, registry, servers, monkeypatch):
    monkeypatch.setattr(play_routes, "LONG_POLL_SECONDS", 10 * PATIENCE)
    entry = registry.open(SessionSetup("epicycle", ("person", "random")), "me")
    wait_until(lambda: entry.session.phase in (Phase.WAITING, Phase.OVER, Phase.FAILED), "a person is to move")
    host = "{}:{}".format(*address)
    with connected(address) as events, connected(address) as table:
        send(events, f"GET /events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert events.recv(12) == b"HTTP/1.1 200"
        send(
            table, f"GET /play/{entry.id}/state?after={entry.session.version} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        )
        wait_until(lambda: entry.listeners, "the page of the session waits")
        servers[0].should_exit = True
        assert everything(table).startswith(b"HTTP/1.1 204")
        assert everything(events).endswith(b"\r\n0\r\n\r\n")  # the last chunk of a stream that is whole


def test_a_service_manager_is_told_when_the_server_answers_and_when_it_ends(tmp_path, monkeypatch, request):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        address, servers = request.getfixturevalue("address"), request.getfixturevalue("servers")
        assert manager.recv(100) == b"READY=1"
        assert get(address).startswith(b"HTTP/1.1 200")
        servers[0].should_exit = True
        assert manager.recv(100) == b"STOPPING=1"


@pytest.mark.parametrize("place", ["", "nowhere", "/no/such/socket", "@no-such-arena-socket"])
def test_a_service_manager_that_is_not_there_is_no_matter(monkeypatch, place):
    monkeypatch.setenv("NOTIFY_SOCKET", place)
    notify_service(READY)


def test_a_service_manager_may_have_a_socket_without_a_file(monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("")  # the system chooses an abstract name
        manager.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", manager.getsockname().decode().replace("\0", "@", 1))
        notify_service(READY)
        assert manager.recv(100) == b"READY=1"


def test_where_the_server_is_full_who_sends_no_request_makes_room(address, servers, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 4)
    monkeypatch.setattr(connections, "ADDRESS_SHARE", 1)
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_SECONDS", 3600.0)
    monkeypatch.setattr(connections, "SLOW_SECONDS", 0.2)
    now = servers[0].server_state.connections
    with contextlib.ExitStack() as held:
        idle = [held.enter_context(connected(address)) for _ in range(4)]
        wait_until(lambda: len(now) == 4 and all(each.is_slow for each in now), "all are slow")
        assert get(address).startswith(b"HTTP/1.1 200")
        assert everything(idle[0]) == b""  # the oldest one
        send(idle[1], "GET /games HTTP/1.1\r\nHost: {}:{}\r\n\r\n".format(*address).encode())
        assert idle[1].recv(12) == b"HTTP/1.1 200"


def slow_ones(servers) -> int:
    """Return how many connections of a server make room for others."""
    return sum(each in each.crowd.slow for each in servers[0].server_state.connections)


FORM = (
    "POST /play HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    "Content-Length: {}\r\n\r\n"
)


def test_where_the_server_is_full_the_slowest_bodies_make_room_and_quick_ones_stay(address, servers, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 4)
    monkeypatch.setattr(connections, "ADDRESS_SHARE", 1)
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_SECONDS", 3600.0)
    monkeypatch.setattr(connections, "SLOW_SECONDS", 0.2)
    with contextlib.ExitStack() as held:
        bodies = [held.enter_context(connected(address)) for _ in range(4)]
        for place, body in enumerate(bodies):
            send(body, FORM.format(*address, 9_000).encode() + b"a" * (8_999 if place == 0 else place))
        wait_until(lambda: slow_ones(servers) == 4, "all are slow")
        for slow in bodies[1:]:
            wait_until(lambda: get(address).startswith(b"HTTP/1.1 200"), "a page is shown")
            other = held.enter_context(connected(address))  # in place of the page, and quicker
            send(other, FORM.format(*address, 9_000).encode() + b"a" * 8_000)
            assert everything(slow) == b""
        send(bodies[0], b"a")
        assert bodies[0].recv(9) == b"HTTP/1.1 "


def test_where_the_server_is_full_who_does_not_read_the_answer_makes_room(address, servers, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)
    monkeypatch.setattr(connections, "ADDRESS_SHARE", 1)
    monkeypatch.setattr(connections, "UNREAD_TIMEOUT_SECONDS", 3600.0)
    monkeypatch.setattr(connections, "SLOW_SECONDS", 0.2)
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.settimeout(PATIENCE)
        deaf.connect(address)
        send(deaf, "GET /games HTTP/1.1\r\nHost: {}:{}\r\n\r\n".format(*address).encode() * 1_000)
        wait_until(lambda: slow_ones(servers) == 1, "it is slow to read")
        assert get(address).startswith(b"HTTP/1.1 200")


def test_who_is_refused_may_read_why_though_more_was_sent(address, servers, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)
    monkeypatch.setattr(connections, "LINGER_SECONDS", 3600.0)
    with connected(address) as first, connected(address) as second:
        send(first, b"GET /games HT")
        answer = everything(second)
        second.sendall(b"a" * 100_000)
        assert answer.startswith(b"HTTP/1.1 503")
        assert len(servers[0].server_state.connections) == 2
    wait_until(lambda: not servers[0].server_state.connections, "both have gone")


def test_who_is_refused_and_stays_is_cut_off(address, servers, monkeypatch):
    monkeypatch.setattr(connections, "LINGER_SECONDS", 0.2)
    with connected(address) as one:
        send(one, b"nothing like it\r\n\r\n")
        assert everything(one).startswith(b"HTTP/1.1 400")
        wait_until(lambda: not servers[0].server_state.connections, "it is cut off")


def test_of_many_who_are_refused_some_are_closed_at_once(address, servers, monkeypatch):
    monkeypatch.setattr(connections, "MAX_LINGERING", 0)
    with connected(address) as one:
        send(one, b"nothing like it\r\n\r\n")
        assert everything(one).startswith(b"HTTP/1.1 400")
        wait_until(lambda: not servers[0].server_state.connections, "it is closed")


@pytest.fixture
def rare_collections():
    """Collect garbage as rarely as commands begin with."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_what_connections_leave_behind_does_not_pile_up(rare_collections, request):
    address = request.getfixturevalue("address")
    for _ in range(600):
        assert get(address, "/static/web.css").startswith(b"HTTP/1.1 200")
    assert sum(isinstance(each, asyncio.Transport) for each in gc.get_objects()) < 300
