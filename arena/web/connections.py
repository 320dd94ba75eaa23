"""Connections of the server: a bounded number at once, and none that keeps the server waiting for long.

Uvicorn closes connections that are idle, but lets one that sends its request a byte at a time, or reads no answer, last
for as long as it likes.
"""

from __future__ import annotations

import asyncio
import resource
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.web.safety import HEADERS

RECEIVING = 20.0
"""Seconds within which a request has to be there, body and all."""
SENDING = 60.0
"""Seconds for which an answer may wait because nobody reads it."""
MOST = 2_000
"""Connections at once, where the limit of open files leaves room for as many other files."""
WHOLE = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)
"""States of a client that has sent all of its request."""


class Connection(H11Protocol):
    """One connection, which is cut when its client keeps the server waiting."""

    _receiving: asyncio.TimerHandle | None = None
    _sending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request; refuse it where there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > min(MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections are open; try again soon")
        else:
            self._receiving = self.loop.call_later(RECEIVING, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self.conn.their_state in WHOLE:
            self._receiving = _stop(self._receiving)
        elif self._receiving is None:
            self._receiving = self.loop.call_later(RECEIVING, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, in words and with the headers of every answer."""
        self._refuse(HTTPStatus.BAD_REQUEST, "this is no request that the server understands")

    def _refuse(self, status: HTTPStatus, words: str) -> None:
        body = f"{status}: {words}\n".encode()
        about = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *HEADERS]
        if status is HTTPStatus.SERVICE_UNAVAILABLE:
            about.append((b"retry-after", b"10"))
        answer = h11.Response(status_code=status, headers=about, reason=status.phrase.encode())
        for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        if self._sending is None:
            self._sending = self.loop.call_later(SENDING, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on when it has read."""
        super().resume_writing()
        self._sending = _stop(self._sending)

    def connection_lost(self, exc: Exception | None) -> None:
        """End with the connection."""
        super().connection_lost(exc)
        self._receiving, self._sending = _stop(self._receiving), _stop(self._sending)


def _stop(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Stop a timer; return what stands in its place."""
    if timer is not None:
        timer.cancel()
    return None
