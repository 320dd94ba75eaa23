"""Messages to the service manager that has started the server, as systemd's `sd_notify` sends them."""

from __future__ import annotations

import contextlib
import os
import socket

READY, STOPPING = "READY=1", "STOPPING=1"


def notify_service(state: str) -> None:
    """Tell the service manager of a state of this process; does nothing where there is none."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.sendto(state.encode(), f"\0{address[1:]}" if address.startswith("@") else address)
