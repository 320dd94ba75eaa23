"""`arena serve`."""

from __future__ import annotations

import importlib.util
import webbrowser
from pathlib import Path

from arena.cli.output import tell
from arena.core.errors import ConfigError

NEEDED = ("fastapi", "uvicorn", "python_multipart")


def serve(host: str, port: int, open: bool, home: Path | None) -> None:
    """Run `arena serve`."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        names = " and ".join(missing)
        raise ConfigError(f"arena serve needs {names}, not installed here: pip install 'pyramid-arena[web]'")
    from arena.web.server import serve

    def ready(address: str) -> None:
        print(f"{address} (Ctrl-C ends it)", flush=True)
        if open and not webbrowser.open(address):
            tell(f"no browser was found; open {address}")

    serve(home, host, port, ready)
