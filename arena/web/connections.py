"""Connections of the server: a bounded number at once, also from one address, and none that keeps it waiting for long.

Uvicorn closes connections that are idle, but lets one that sends its request a byte at a time, or reads no answer, last
for as long as it likes. Where all places are taken, the slowest of these makes room for who comes.
"""

from __future__ import annotations

import asyncio
import ipaddress
import resource
from collections import Counter
from functools import cached_property
from http import HTTPStatus
from itertools import islice
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.web.addresses import Addresses
from arena.web.safety import HEADERS

REQUEST_TIMEOUT_SECONDS = 20.0
"""Time within which a request has to be there, body and all."""
UNREAD_TIMEOUT_SECONDS = 60.0
"""Time for which an answer may wait because nobody reads it."""
MAX_CONNECTIONS = 2_000
"""Connections at once, where the limit of open files leaves room for as many other files."""
ADDRESS_SHARE = 4
"""The share of those that one address may have: one in so many."""
SLOW_SECONDS = 2.0
"""Time after which a connection without a whole request is slow, and one whose answer nobody reads."""
MAX_COMPARED = 100
"""Slow connections, the oldest ones, of which the slowest makes room for a new one."""
MAX_SLOW_CONNECTIONS = 50
"""Slow connections from one address at once; others are cut as soon as they are slow."""
IPV6_PREFIX_BITS = 64
"""Bits of an IPv6 address that count: the rest is for its owner to choose."""
LINGER_SECONDS = 2.0
"""Time that a client has to read why it is refused; what it sends meanwhile is dropped."""
MAX_LINGERING = 1_000
"""Connections at once that have that time, or as many as a quarter of the limit of open files; others are closed."""
REQUEST_COMPLETE = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)
"""States of a client that has sent all of its request."""


class Crowd:
    """The connections of a server that are of a kind of their own."""

    def __init__(self) -> None:
        self.slow: dict[Connection, None] = {}
        """Those that have not sent a whole request in time, or do not read the answer, the oldest first."""
        self.leaving: set[Connection] = set()
        """Those that are refused or cut, and not lost yet."""
        self.open: Counter[str] = Counter()
        """How many there are from each address, without those that are cut."""
        self.waited_for: Counter[str] = Counter()
        """How many of these are slow."""


class Connection(H11Protocol):
    """One connection, which is cut when its client keeps the server waiting."""

    addresses: ClassVar[Addresses] = Addresses()
    """Of the server; its proxies bring the connections of many."""
    crowd: ClassVar[Crowd] = Crowd()
    """Of the server."""
    _receiving: asyncio.TimerHandle | None = None
    _sending: asyncio.TimerHandle | None = None
    is_slow = False
    _is_unread = False
    _is_counted = False
    _received = 0
    """Bytes since the server waits for a request."""
    _waited_since = 0.0

    @cached_property
    def network(self) -> str:
        """What counts as one address: an IPv4 address, or the network of an IPv6 one."""
        return network_of(self.client[0]) if self.client else ""

    @property
    def _is_proxy(self) -> bool:
        return self.client is not None and self.addresses.is_proxy(self.client[0])

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request; refuse it where there are too many connections, in all or from its address."""
        super().connection_made(transport)
        self._is_counted = True
        self.crowd.open[self.network] += 1
        most = min(MAX_CONNECTIONS, _open_files() // 2)
        if len(self.connections) - len(self.crowd.leaving) > most and not self._take_place_of_slow():
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections are open; try again soon", MAX_LINGERING)
        elif not self._is_proxy and self.crowd.open[self.network] > max(1, most // ADDRESS_SHARE):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections are open from your address; close some")
        else:
            self._wait()

    def _take_place_of_slow(self) -> bool:
        """Cut the slowest of the oldest slow connections; return whether there is one."""
        slow = min(islice(self.crowd.slow, MAX_COMPARED), key=lambda each: each._rate, default=None)
        if slow is None:
            return False
        slow._cut()
        return True

    @property
    def _rate(self) -> float:
        """Bytes a second that have come of the request."""
        return self._received / max(SLOW_SECONDS, self.loop.time() - self._waited_since)

    def _cut(self) -> None:
        """End without a word."""
        self._count_off()
        self.crowd.leaving.add(self)
        self.transport.abort()

    def _count_off(self) -> None:
        """Count no more."""
        if self._is_counted:
            self._is_counted = False
            _count(self.crowd.open, self.network, -1)
        self._set_slow(False)

    def _set_slow(self, is_slow: bool) -> None:
        """Count as slow, or as not."""
        if is_slow != self.is_slow:
            self.is_slow = is_slow
            _count(self.crowd.waited_for, self.network, 1 if is_slow else -1)
        self._queue()

    def _queue(self) -> None:
        """Be one of those that make room for others, or not."""
        if (self.is_slow or self._is_unread) and self._is_counted:
            self.crowd.slow.setdefault(self)
        else:
            self.crowd.slow.pop(self, None)

    def _wait(self) -> None:
        """Wait for a request."""
        self._received, self._waited_since = 0, self.loop.time()
        self._receiving = self.loop.call_later(min(SLOW_SECONDS, REQUEST_TIMEOUT_SECONDS), self._become_slow)

    def _become_slow(self) -> None:
        """Give a slow request the rest of its time, unless too many from its address are slow already."""
        if REQUEST_TIMEOUT_SECONDS <= SLOW_SECONDS or (
            not self._is_proxy and self.crowd.waited_for[self.network] >= MAX_SLOW_CONNECTIONS
        ):
            self._cut()
        else:
            self._set_slow(True)
            self._receiving = self.loop.call_later(REQUEST_TIMEOUT_SECONDS - SLOW_SECONDS, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if self in self.crowd.leaving:
            return
        super().data_received(data)
        self._received += len(data)
        if self in self.crowd.leaving:
            return
        if self.conn.their_state in REQUEST_COMPLETE:
            self._receiving = _stop(self._receiving)
            self._set_slow(False)
        elif self._receiving is None:
            self._wait()
            self._received = len(data)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, in words and with the headers of every answer."""
        self._refuse(HTTPStatus.BAD_REQUEST, "this is no request that the server understands", MAX_LINGERING)

    def _refuse(self, status: HTTPStatus, words: str, lingering: int = 0) -> None:
        """Say why, and end; the client has time to read it where fewer than so many connections have."""
        body = f"{status}: {words}\n".encode()
        about = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *HEADERS]
        if status is HTTPStatus.SERVICE_UNAVAILABLE:
            about.append((b"retry-after", b"10"))
        answer = h11.Response(status_code=status, headers=about, reason=status.phrase.encode())
        for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self._receiving = _stop(self._receiving)
        if len(self.crowd.leaving) < min(lingering, _open_files() // 4) and not self.transport.is_closing():
            self.transport.write_eof()  # a connection that is closed with something unread loses these words too
            self._receiving = self.loop.call_later(LINGER_SECONDS, self.transport.abort)
        else:
            self.transport.close()
            self._count_off()
        self.conn = h11.Connection(h11.SERVER)  # what was received of the request is kept no longer
        self.crowd.slow.pop(self, None)
        self.crowd.leaving.add(self)

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        if self._sending is None:
            self._sending = self.loop.call_later(min(SLOW_SECONDS, UNREAD_TIMEOUT_SECONDS), self._become_unread)

    def _become_unread(self) -> None:
        """Give an answer that nobody reads the rest of its time, unless its place is needed."""
        self._is_unread = True
        self._queue()
        self._sending = self.loop.call_later(max(0.0, UNREAD_TIMEOUT_SECONDS - SLOW_SECONDS), self.transport.abort)

    def resume_writing(self) -> None:
        """Go on when it has read."""
        super().resume_writing()
        self._sending = _stop(self._sending)
        self._is_unread = False
        self._queue()

    def connection_lost(self, exc: Exception | None) -> None:
        """End with the connection."""
        self._count_off()
        self.crowd.leaving.discard(self)
        super().connection_lost(exc)
        self._receiving, self._sending = _stop(self._receiving), _stop(self._sending)


def _open_files() -> int:
    """Return how many files the process may have open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def network_of(address: str) -> str:
    """Return what counts as one address of clients."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is None:
            return str(ipaddress.ip_network((found, IPV6_PREFIX_BITS), strict=False))
        found = found.ipv4_mapped
    return str(found)


def _count(counts: Counter[str], key: str, change: int) -> None:
    """Change a count; a count of none is forgotten."""
    counts[key] += change
    if counts[key] <= 0:
        del counts[key]


def _stop(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Stop a timer; return what stands in its place."""
    if timer is not None:
        timer.cancel()
    return None
