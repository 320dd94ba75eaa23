"""Bind a port and serve pages until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from arena.core.errors import ConfigError
from arena.core.garbage import collect_often
from arena.core.paths import home_folder
from arena.sessions.registry import SessionRegistry
from arena.web.addresses import Addresses
from arena.web.app import create_app
from arena.web.compute_process import ComputeProcess
from arena.web.connections import Connection, Crowd
from arena.web.forwarded import ForwardedHeader
from arena.web.operation import LogFormat

READY, STOPPING = "READY=1", "STOPPING=1"
"""States of which the service manager is told, as of systemd's `sd_notify`."""
GRACE_SECONDS = 1
"""Time that open connections get to end, by Ctrl-C."""


def serve(
    home: str | Path | None,
    addresses: Addresses,
    ready: Callable[[str], None] = lambda address: None,
    registry: SessionRegistry | None = None,
    log_format: LogFormat = "off",
) -> None:
    """Serve the pages of a home folder until Ctrl-C; `ready` is called with the address once it answers. `registry` has
    sessions that are open already.

    Port 0 is any free one. Raises `ConfigError` for a host or port that cannot be had.
    """
    home_folder(home)
    with contextlib.closing(bound(addresses.host, addresses.port)) as listening:
        addresses = replace(addresses, port=listening.getsockname()[1])
        app = create_app(home, addresses, registry, ComputeProcess(), log_format)
        proxies = [str(network) for network in addresses.proxies]
        config = uvicorn.Config(
            ForwardedHeader(ProxyHeadersMiddleware(app, proxies), addresses) if proxies else app,  # type: ignore[arg-type]
            http=type("ServerConnection", (Connection,), {"addresses": addresses, "crowd": Crowd()}),
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            server_header=False,
            proxy_headers=False,
            ws="none",
        )
        server = Server(config, app.release)
        ready(addresses.url)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[listening]))


class Server(uvicorn.Server):
    """A server that first ends what pages wait for, so that their connections need no grace."""

    def __init__(self, config: uvicorn.Config, release: Callable[[], None]) -> None:
        super().__init__(config)
        self._release = release

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and tell the service manager."""
        collect_often()
        await super().startup(sockets)
        notify_service(READY)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all connections and the application."""
        notify_service(STOPPING)
        self._release()
        await super().shutdown(sockets)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises `ConfigError` where it cannot."""
    try:
        family, kind, protocol, _, entry = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise ConfigError(f"--host {host}: is no name or address of this machine") from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(entry)
        listening.listen(512)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"--port {port}: is in use by another program; choose another, or 0 for any") from None
        if error.errno == errno.EACCES:
            raise ConfigError(f"--port {port}: may not be used by this user; choose one from 1024 on") from None
        raise ConfigError(f"--host {host}: cannot be listened on: {error.strerror}") from None
    return listening


def notify_service(state: str) -> None:
    """Tell the service manager of a state of this process; does nothing where there is none."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.sendto(state.encode(), f"\0{address[1:]}" if address.startswith("@") else address)
