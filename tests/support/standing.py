"""A standing arena as its operator starts it: `arena contest serve`, whose processes can be killed one by one."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from arena.core.process_trees import descendants
from tests.support.chaos import SOURCE
from tests.support.tournaments import PATIENCE, wait_until

SERVER, DRIVER, PARENT, WORKER, SANDBOX = ROLES = ("server", "driver", "parent", "worker", "sandbox")
"""What processes are: `parent` is the one that workers are forked from, `sandbox` all that is in or above one."""


class Answer(NamedTuple):
    """What a server answers."""

    status: int
    body: bytes

    @property
    def data(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Visitor:
    """Somebody who asks a server, by a connection that stays open; `token` is of an account there, or empty."""

    def __init__(self, arena: StandingArena, token: str = "", cookie: bool = False) -> None:
        """With a `cookie` the token is that of a browser's session."""
        self.arena = arena
        self._headers = {} if not token else {"Cookie": f"arena_session={token}"} if cookie else {}
        self._headers |= {"Authorization": f"Bearer {token}"} if token and not cookie else {}
        self._connection: http.client.HTTPConnection | None = None
        self._address = ""

    def ask(self, method: str, path: str, body: bytes | None = None, **query: str) -> Answer:
        """Return the answer; raises `OSError` or `HTTPException` where there is none."""
        if self._connection is None or self._address != self.arena.address:
            self.close()
            self._address = self.arena.address
            parts = urlsplit(self._address)
            self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
        try:
            self._connection.request(method, path + "?" * bool(query) + urlencode(query), body, self._headers)
            reply = self._connection.getresponse()
            return Answer(reply.status, reply.read())
        except BaseException:
            self.close()
            raise

    def get(self, path: str, **query: str) -> Answer:
        """Return the answer to a request for a page."""
        return self.ask("GET", path, **query)

    def api(self, method: str, path: str, body: bytes | None = None, **query: str) -> Answer:
        """Return the answer of the interface for programs."""
        return self.ask(method, f"/api/v1{path}", body, **query)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class StandingArena:
    """The server of a home with its driver, started again at will; a context manager that ends it."""

    def __init__(self, home: Path, folder: Path, workers: int = 2) -> None:
        """`folder` is for what the arena writes besides: its errors, and temporary files."""
        self.home, self.workers = home, workers
        self.errors, self._flag = folder / "errors.txt", folder / "full"
        self._temporary, self._library = folder / "temporary", folder / "chaos.so"
        self._temporary.mkdir()
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self._library, SOURCE, "-ldl"], check=True)
        self.address = ""
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> StandingArena:
        self.start()
        return self

    def __exit__(self, *of_error: object) -> None:
        self.fill_disk(False)
        if self._server is not None and self._server.poll() is None:
            self.end()

    def start(self, *options: str) -> None:
        """Start the server; return when it answers."""
        command = [sys.executable, "-m", "arena", "contest", "serve", "--port", "0", "--home", str(self.home)]
        command += ["--workers", str(self.workers), *options]
        environment = {
            **os.environ,
            "TMPDIR": str(self._temporary),
            "LD_PRELOAD": str(self._library),
            "CHAOS_FULL": str(self.home),
            "CHAOS_FULL_WHILE": str(self._flag),
        }
        with self.errors.open("a") as errors:
            self._server = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
            )
        assert self._server.stdout is not None
        self.address = self._server.stdout.readline().partition(" ")[0].rstrip("/")
        assert self.address.startswith("http://"), self.errors.read_text()

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End the server by a signal, and wait until everything below it is gone; return its exit code."""
        assert self._server is not None
        before = descendants(self._server.pid)
        self._server.send_signal(number)
        self._server.communicate(timeout=PATIENCE)
        wait_until(lambda: not any(map(is_running, before)), "all processes of the arena have ended")
        return self._server.returncode

    def processes(self) -> Mapping[str, list[int]]:
        """Return the numbers of the processes by role."""
        assert self._server is not None
        found: dict[str, list[int]] = {role: [] for role in ROLES}
        found[SERVER].append(self._server.pid)
        for process in descendants(self._server.pid):
            if role := self._role(process):
                found[role].append(process)
        return found

    def _role(self, process: int) -> str:
        assert self._server is not None
        words = command_of(process)
        if "drive" in words and "contest" in words:
            return DRIVER
        if "arena.workers.preloaded" in words:
            return PARENT if "drive" in command_of(parent_of(process)) else WORKER
        return SANDBOX if any("bwrap" in word or "forkserver" in word for word in words) else ""

    def kill(self, role: str, which: int = 0) -> None:
        """Kill a process of a role, as soon as there is one; the server is started again."""
        wait_until(lambda: self.processes()[role], f"there is a process: {role}")
        if role == SERVER:
            assert self._server is not None
            self._server.kill()
            self._server.communicate(timeout=PATIENCE)
            self.start()
        elif found := self.processes()[role]:
            try:
                os.kill(found[which % len(found)], signal.SIGKILL)
            except ProcessLookupError:  # it has just ended by itself
                self.kill(role, which)
        else:
            self.kill(role, which)

    def fill_disk(self, is_full: bool) -> None:
        """Have the disk of the home be full, or have room again."""
        if is_full:
            self._flag.touch()
        else:
            self._flag.unlink(missing_ok=True)

    def said(self) -> str:
        """What server and driver have written on standard error."""
        return self.errors.read_text(errors="replace")


def command_of(process: int) -> list[str]:
    """Return the words of a process's command; none when it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def parent_of(process: int) -> int:
    """Return the number of the process that has started another; 0 when that is gone."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def is_running(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
