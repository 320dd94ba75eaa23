"""`arena serve`."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from arena.cli.output import print_to_stderr


def serve(host: str, port: int, open: bool, home: Path | None) -> None:
    """Run `arena serve`."""
    from arena.web.server import serve

    def ready(address: str) -> None:
        print(f"{address} (Ctrl-C ends it)", flush=True)
        if open and not webbrowser.open(address):
            print_to_stderr(f"no browser was found; open {address}")

    serve(home, host, port, ready)
