"""`arena serve`."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.output import print_to_stderr

if TYPE_CHECKING:
    from arena.web.addresses import Addresses
    from arena.web.operation import LogFormat


def serve(
    addresses: Addresses,
    open: bool,
    log_format: LogFormat,
    home: Path | None,
    begin: Callable[[], None] = lambda: None,
) -> None:
    """Run `arena serve`; `begin` is called when the port is had."""
    from arena.web.server import serve

    def ready(address: str) -> None:
        begin()
        print(f"{address} (Ctrl-C ends it)", flush=True)
        if open and not webbrowser.open(address):
            print_to_stderr(f"no browser was found; open {address}")

    serve(home, addresses, ready, log_format=log_format)
