"""Thousands of connections to a server of this machine: idle, slow, giant; who else is answered meanwhile, and after.

`python -m scripts.connection_load --connections 10000`. Starts `arena serve` with a home of its own, opens connections
of each kind from many addresses of this machine, asks for pages beside them, lets go, and asks again. Prints a table.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from scripts.loopback import Answer, Server, ask, process_of, raise_file_limit, reader_address, serving

KINDS = {
    "idle": b"",
    "slow headers": b"GET /games HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    "slow body": b"POST /play HTTP/1.1\r\nHost: %b\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 100000\r\n\r\na=",
    "giant headers": b"GET /games HTTP/1.1\r\nHost: %b\r\nX-Giant: " + b"a" * 2**18,
    "giant body": b"POST /play HTTP/1.1\r\nHost: %b\r\nContent-Length: 99999999999\r\n\r\n" + b"a" * 2**16,
    "streams": b"GET /events HTTP/1.1\r\nHost: %b\r\n\r\n",
}
"""What the connections of each kind begin with; `%b` is the server's name."""
DRIP_SECONDS = 1.0
"""Between two bytes of a slow request."""
ASKED_PATH = "/games"
OPEN_TIMEOUT_SECONDS = 30.0
OPENING = 200
"""Connections that are opened at once."""


class Result(NamedTuple):
    """What happened while connections of a kind were there."""

    kind: str
    opened: int
    """Connections that were accepted, refused in words later or not."""
    refused: dict[int, int]
    """By the status of their answers; 0 for none yet, or cut off without words."""
    held: int
    """Those that the server still had at the end."""
    statuses: dict[int, int]
    """Of the pages that others asked for meanwhile; 0 for no answer."""
    seconds: list[float]
    """How long those answers took."""
    before_bytes: int
    most_bytes: int
    cpu_seconds: float
    """Processor time of the server."""
    recovered_seconds: float
    """From letting go to the first page that is answered."""


class Held(asyncio.Protocol):
    """A connection that is opened and held."""

    transport: asyncio.Transport
    is_open = False
    status = 0
    """Of the answer that came; 0 for none."""

    def __init__(self, begin: bytes) -> None:
        self.begin = begin

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send what it begins with."""
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.is_open = transport, True
        transport.write(self.begin)

    def data_received(self, data: bytes) -> None:
        """Take the status of an answer."""
        if not self.status and data.startswith(b"HTTP/1.1 "):
            self.status = int(data[9:12])

    def connection_lost(self, error: Exception | None) -> None:
        """Count as ended."""
        self.is_open = False

    def drip(self) -> None:
        """Send a byte."""
        if self.is_open and not self.transport.is_closing():
            self.transport.write(b"a")


class Crowd:
    """Connections of one kind."""

    def __init__(self, server: Server, kind: str, addresses: int) -> None:
        self.server, self.addresses = server, addresses
        self.begin = KINDS[kind].replace(b"%b", "{}:{}".format(*server.address).encode())
        self.is_slow = kind.startswith("slow")
        self.all: list[Held] = []

    async def open(self, number: int) -> None:
        """Open so many connections, and send what they begin with."""
        for start in range(0, number, OPENING):
            await asyncio.gather(*(self._open(each) for each in range(start, min(number, start + OPENING))))

    async def _open(self, number: int) -> None:
        loop, source = asyncio.get_running_loop(), (reader_address(number % self.addresses), 0)
        with contextlib.suppress(OSError, TimeoutError):
            _, held = await asyncio.wait_for(
                loop.create_connection(lambda: Held(self.begin), *self.server.address, local_addr=source),
                OPEN_TIMEOUT_SECONDS,
            )
            self.all.append(held)

    async def hold(self, seconds: float) -> None:
        """Keep them for a while; slow ones send a byte now and then."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if self.is_slow:
                for each in self.all:
                    each.drip()
            await asyncio.sleep(min(DRIP_SECONDS, seconds))

    @property
    def held(self) -> int:
        """Connections that the server has not ended."""
        return sum(each.is_open for each in self.all)

    def let_go(self) -> None:
        """Cut all connections."""
        for each in self.all:
            each.transport.abort()


async def measure(server: Server, kind: str, connections: int, addresses: int, seconds: float) -> Result:
    """Open connections of a kind, ask for pages beside them, let go, and ask again."""
    before, crowd = process_of(server.pid), Crowd(server, kind, addresses)
    answers: list[Answer] = []
    most = before.resident
    done = asyncio.Event()

    async def watch() -> None:
        nonlocal most
        for number in range(10**9):
            answers.append(await ask(server.address, ASKED_PATH, source=reader_address(50_000 + number)))
            most = max(most, process_of(server.pid).resident)
            if done.is_set():
                return
            await asyncio.sleep(0.2)

    watching = asyncio.create_task(watch())
    await crowd.open(connections)
    await crowd.hold(seconds)
    held = crowd.held
    done.set()
    await watching
    crowd.let_go()
    begun = time.monotonic()
    while (await ask(server.address, ASKED_PATH, source=reader_address(59_000))).status != 200:
        await asyncio.sleep(0.1)
    return Result(
        kind,
        len(crowd.all),
        dict(Counter(each.status for each in crowd.all)),
        held,
        dict(Counter(answer.status for answer in answers)),
        [answer.seconds for answer in answers],
        before.resident,
        most,
        process_of(server.pid).cpu_seconds - before.cpu_seconds,
        time.monotonic() - begun,
    )


def shown(statuses: dict[int, int]) -> str:
    """Return how often each status came."""
    return " ".join(f"{status or 'none'}: {number}" for status, number in sorted(statuses.items()))


def table(results: Sequence[Result]) -> str:
    """Return the results as a table."""
    rows = [
        (
            each.kind,
            each.opened,
            shown(each.refused),
            each.held,
            shown(each.statuses),
            f"{1000 * statistics.median(each.seconds):.0f}",
            f"{1000 * max(each.seconds):.0f}",
            f"{each.before_bytes / 1e6:.0f}",
            f"{each.most_bytes / 1e6:.0f}",
            f"{each.cpu_seconds:.1f}",
            f"{each.recovered_seconds:.2f}",
        )
        for each in results
    ]
    headers = [
        "connections",
        "opened",
        "their answers",
        "held",
        "others' answers",
        "p50 ms",
        "max ms",
        "MB before",
        "MB most",
        "CPU s",
    ]
    return tabulate(rows, [*headers, "recovered s"])


def main(words: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    options = parser().parse_args(words)
    most = min(options.connections, raise_file_limit() - 200)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        results = [
            asyncio.run(measure(server, kind, most, options.addresses, options.seconds))
            for kind in options.kinds or KINDS
        ]
    print(table(results))
    print(f"\nload average {', '.join(f'{each:.1f}' for each in os.getloadavg())}")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser("python -m scripts.connection_load", description=__doc__)
    made.add_argument("kinds", nargs="*", metavar="KIND", choices=[[], *KINDS], help=f"of {', '.join(KINDS)}")
    made.add_argument("--connections", type=int, default=10_000, help="of each kind")
    made.add_argument("--addresses", type=int, default=1_000, help="that they come from")
    made.add_argument("--seconds", type=float, default=5.0, help="for which they are held")
    return made


if __name__ == "__main__":
    sys.exit(main())
