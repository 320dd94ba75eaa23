"""Clients of a server on this machine, and its processes: what measurements of load share."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from arena.core.process_trees import descendants

TIMEOUT_SECONDS = 60.0
TICK = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
ADDRESSES = 60_000
"""Addresses of this machine that clients take as their own: readers come from different ones."""


class Server(NamedTuple):
    """A server that runs."""

    url: str
    pid: int

    @property
    def address(self) -> tuple[str, int]:
        """Host and port where it listens."""
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port


@contextlib.contextmanager
def serving(home: Path, *command: str) -> Iterator[Server]:
    """Run `arena serve`, or another command that serves, on a home; raises `RuntimeError` where it ends by itself."""
    words = [sys.executable, "-m", "arena", *(command or ["serve"]), "--port", "0", "--home", str(home)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(process.stdout.readline().split()[0], process.pid)
            if process.poll() is not None:
                raise RuntimeError(f"the server has ended with {process.returncode}")
        finally:
            process.send_signal(signal.SIGINT)


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    """0 for none."""
    seconds: float
    """To its end; to its first event where it is a stream."""
    body: bytes


class Process(NamedTuple):
    """A process, as the system tells of it."""

    pid: int
    resident: int
    """Bytes of memory."""
    cpu_seconds: float
    """With those of its children that have ended."""


def reader_address(number: int) -> str:
    """Return an address of this machine, another one for each number."""
    number = number % ADDRESSES + 256
    return f"127.1.{number >> 8}.{number & 255}"


def raise_file_limit() -> int:
    """Let this process have as many open files as the system allows; return how many."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


async def ask(
    address: tuple[str, int],
    path: str,
    source: str = "127.0.0.1",
    body: bytes | None = None,
    token: str = "",
    keep: Callable[[bytes], object] | None = None,
) -> Answer:
    """Ask a server on a connection of its own; `keep` is called with each line of a stream, until it ends."""
    begun = time.monotonic()
    try:
        reader, writer = await asyncio.wait_for(
            asyncio.open_connection(*address, local_addr=(source, 0), limit=2**22), TIMEOUT_SECONDS
        )
    except (OSError, TimeoutError):
        return Answer(0, time.monotonic() - begun, b"")
    try:
        writer.write(_request(address, path, body, token))
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), TIMEOUT_SECONDS)
        status = int(head.split(maxsplit=2)[1])
        if keep is None or status != 200:
            content = await asyncio.wait_for(reader.read(-1), TIMEOUT_SECONDS)
            return Answer(status, time.monotonic() - begun, _plain(head, content))
        first = 0.0
        while line := await reader.readline():
            first = first or (time.monotonic() - begun if line.startswith(b"data:") else 0.0)
            keep(line)
        return Answer(status, first, b"")
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        return Answer(0, time.monotonic() - begun, b"")
    finally:
        writer.transport.abort()


def _request(address: tuple[str, int], path: str, body: bytes | None, token: str) -> bytes:
    lines = [
        f"{'GET' if body is None else 'POST'} {path} HTTP/1.1",
        f"Host: {address[0]}:{address[1]}",
        "Connection: close",
        *([f"Authorization: Bearer {token}"] if token else []),
        *([] if body is None else ["Content-Type: application/octet-stream", f"Content-Length: {len(body)}"]),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def _plain(head: bytes, content: bytes) -> bytes:
    """Return a body without the marks of its chunks."""
    if b"transfer-encoding: chunked" not in head.lower():
        return content
    parts = []
    while content:
        size, _, content = content.partition(b"\r\n")
        length = int(size, 16)
        parts.append(content[:length])
        content = content[length + 2 :] if length else b""
    return b"".join(parts)


def processes(root: int) -> Iterator[Process]:
    """Yield a process and all below it."""
    for pid in (root, *descendants(root)):
        with contextlib.suppress(OSError):  # it has ended
            yield process_of(pid)


def process_of(pid: int) -> Process:
    """Return a process; raises `OSError` where there is none."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Process(pid, int(fields[21]) * PAGE_BYTES, sum(int(each) for each in fields[11:15]) / TICK)
