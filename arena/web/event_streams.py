"""Server-sent events of open pages: what has changed in a log, computed once for all who look."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from arena.core.errors import ArenaError

POLL_SECONDS = 1.5
"""Time between two looks at a log."""
MAX_VIEWERS = 1_000
"""Open streams; who comes later is told to come again."""
KEEPALIVE_SECONDS = 15.0
"""Time without an event after which a stream sends a comment, which shows who has gone."""
END_OF_STREAM = b""
"""An event after which there are no more."""


class TooManyError(ArenaError):
    """More pages are open than the server follows."""


class Source(NamedTuple):
    """What a stream tells of."""

    make: Callable[[], str]
    """Returns the present event, as JSON; called in a thread."""
    seconds: float = POLL_SECONDS
    """Time between two calls."""
    close: Callable[[], None] = lambda: None
    """Called when nobody looks any more."""


class Channel:
    """The viewers of one thing, and the task that looks at it for them."""

    def __init__(self, source: Source, words: Callable[[object], str]) -> None:
        self.source, self.words = source, words
        self.viewers: set[asyncio.Queue[bytes]] = set()
        self.latest = b""
        self.task: asyncio.Task[None] | None = None

    async def follow(self) -> None:
        """Look again and again, and hand on what is new, until nobody looks any more."""
        try:
            while self.viewers:
                await self.look()
                await asyncio.sleep(self.source.seconds)
        finally:
            self.source.close()

    async def look(self) -> None:
        """Look once, and hand on what is new."""
        try:
            text = await run_in_threadpool(self.source.make)
        except Exception as error:  # a log that is damaged, or gone; the page itself tells more
            text = json.dumps({"problem": self.words(error) if isinstance(error, ArenaError) else "cannot be read now"})
        event = b"data: " + text.encode("utf-8", "replace") + b"\n\n"
        if event != self.latest:
            self.latest = event
            self.send(event)

    def send(self, event: bytes) -> None:
        """Hand something on to everybody."""
        for queue in self.viewers:
            if queue.full():
                queue.get_nowait()  # who is slow misses what is old
            queue.put_nowait(event)


async def _next(queue: asyncio.Queue[bytes]) -> bytes:
    """Return what comes next, or after a while without news that there is none."""
    try:
        return await asyncio.wait_for(queue.get(), KEEPALIVE_SECONDS)
    except TimeoutError:
        return b": here\n\n"


class EventStreams:
    """The channels of a server; used from its event loop alone. `words` returns what an error says."""

    def __init__(self, words: Callable[[object], str] = str) -> None:
        self._words = words
        self._channels: dict[str, Channel] = {}

    @property
    def viewers(self) -> int:
        """Open streams."""
        return sum(len(channel.viewers) for channel in self._channels.values())

    def response(self, name: str, source: Source) -> StreamingResponse:
        """Return the events of a name, from the source that was given for it first; raises `TooManyError`."""
        if self.viewers >= MAX_VIEWERS:
            raise TooManyError("too many pages are open; close some")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(name, source), 200, headers, "text/event-stream")

    async def _events(self, name: str, source: Source) -> AsyncIterator[bytes]:
        channel = self._channels.setdefault(name, Channel(source, self._words))
        queue: asyncio.Queue[bytes] = asyncio.Queue(2)
        channel.viewers.add(queue)
        try:
            if channel.latest:
                queue.put_nowait(channel.latest)
            if channel.task is None or channel.task.done():
                channel.task = asyncio.create_task(channel.follow())
            yield b"retry: 3000\n\n"
            while (event := await _next(queue)) != END_OF_STREAM:
                yield event
        finally:
            channel.viewers.discard(queue)
            if not channel.viewers:
                self._channels.pop(name, None)

    def release(self) -> None:
        """End all streams; those who follow them may come again."""
        for channel in self._channels.values():
            channel.send(END_OF_STREAM)

    async def close(self) -> None:
        """End all that the streams told of."""
        for channel in self._channels.values():
            if channel.task is not None:
                channel.task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await channel.task
