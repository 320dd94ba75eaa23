"""What watches a server: health, metrics for Prometheus, and a log line for each request.

Metrics and lines name addresses by their pattern, `/contests/{id}`: no name, token or query of anybody is in them.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import MutableMapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from arena.accounts import DATABASE_FILE
from arena.web.addresses import LOCAL_HOSTS, Addresses
from arena.web.safety import App, Receive, Scope, Send

LogFormat = Literal["off", "text", "json"]
BUCKET_SECONDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)
LOW_DISK_BYTES = 2**28
"""Room on the disk of the home below which health tells of it; the server goes on serving."""
OTHER = "other"
"""What addresses that are not there are called, and methods that nobody needs."""
METHODS = ("GET", "HEAD", "POST", "OPTIONS")
"""Methods that have a name of their own."""
NO_ANSWER = 499
"""Status of a request whose client left before the answer, as nginx has it."""
FORWARDED_HEADERS = ("forwarded", "x-forwarded-for")


class Observer:
    """Counts and logs the requests of an application."""

    def __init__(self, app: App, log_format: LogFormat = "off") -> None:
        self.app, self.log_format = app, log_format
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "arena_requests", "Requests answered", ["route", "method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "arena_request_seconds",
            "Seconds to the first byte of an answer",
            ["route"],
            registry=self.registry,
            buckets=BUCKET_SECONDS,
        )
        self.open = Gauge("arena_open_requests", "Requests in work, event streams among them", registry=self.registry)
        self._number = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status, first = time.perf_counter(), NO_ANSWER, 0.0
        method = scope["method"] if scope["method"] in METHODS else OTHER

        async def observed(message: MutableMapping[str, Any]) -> None:
            nonlocal status, first
            if message["type"] == "http.response.start":
                status, first = message["status"], time.perf_counter() - begun
            await send(message)

        self.open.inc()
        try:
            await self.app(scope, receive, observed)
        finally:
            self.open.dec()
            route = route_of(scope)
            self.requests.labels(route, method, str(status)).inc()
            if status != NO_ANSWER:
                self.seconds.labels(route).observe(first)
            if self.log_format != "off":
                self._log(scope, method, route, status, time.perf_counter() - begun)

    def _log(self, scope: Scope, method: str, route: str, status: int, seconds: float) -> None:
        self._number += 1
        client = scope["client"][0] if scope.get("client") else ""
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "request": self._number,
            "client": client,
            "method": method,
            "route": route,
            "status": status,
            "seconds": round(seconds, 4),
        }
        text = json.dumps(line) if self.log_format == "json" else " ".join(str(value) for value in line.values())
        print(text, file=sys.stderr, flush=True)


def route_of(scope: Scope) -> str:
    """Return the pattern of the address that a request was answered by."""
    route = scope.get("route")
    path = getattr(route, "path", None)
    if path is None:
        return OTHER
    inner = scope.get("root_path", "").removeprefix(scope.get("app_root_path", scope.get("root_path", "")))
    return f"{inner}{path}"


def add_operation(app: FastAPI, home: Path, addresses: Addresses, observer: Observer) -> None:
    """Add what is asked of a server by those who run it."""

    @app.get("/healthz", response_model=None)
    def health() -> Response:
        problems = problems_of(home)
        status = "ok" if not problems else "failing"
        warnings = ["the disk of the home is nearly full"] if _is_disk_low(home) else []
        told = {"status": status, "problems": problems, "warnings": warnings}
        return JSONResponse(told, 200 if not problems else 503)

    gauges = observer.registry
    disk = Gauge("arena_disk_free_bytes", "Free bytes on the disk of the home", registry=gauges)
    streams = Gauge("arena_event_streams", "Open streams of events", registry=gauges)
    memory = Gauge("arena_resident_bytes", "Memory of the server's process", registry=gauges)
    logs = Gauge("arena_log_bytes", "Bytes of all logs under the home", registry=gauges)

    @app.get("/metrics", response_model=None)
    def metrics(request: Request) -> Response:
        client = request.client.host if request.client else ""
        is_local = client in LOCAL_HOSTS and not any(header in request.headers for header in FORWARDED_HEADERS)
        if not is_local and not addresses.is_watcher(client):
            return Response("metrics are for this machine, and for --metrics-from\n", 403, media_type="text/plain")
        disk.set(shutil.disk_usage(home if home.is_dir() else Path.cwd()).free)
        streams.set(app.state.live.viewers)
        memory.set(_resident_bytes())
        logs.set(sum(_size(log.path) for log in app.state.catalog.logs()))
        return Response(generate_latest(gauges), media_type="text/plain; version=0.0.4")


def problems_of(home: Path) -> list[str]:
    """Return what is wrong with a home, in words; none where it can be served."""
    if not home.exists():
        return []  # nothing has been played yet
    found = []
    if not os.access(home, os.R_OK | os.X_OK):
        found.append("the home cannot be read")
    if (home / DATABASE_FILE).is_file():
        try:
            with closing(sqlite3.connect(f"{(home / DATABASE_FILE).absolute().as_uri()}?mode=ro", uri=True)) as db:
                db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.Error:
            found.append(f"{DATABASE_FILE} cannot be read")
    return found


def _is_disk_low(home: Path) -> bool:
    return home.is_dir() and shutil.disk_usage(home).free < LOW_DISK_BYTES


def _resident_bytes() -> int:
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
