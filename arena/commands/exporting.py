"""`arena export`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena import api
from arena.config import FORMATS
from arena.errors import ConfigError
from engine.errors import did_you_mean


def export_files(target: str, what: Sequence[str], formats: Sequence[str], out: Path | None, home: Path | None) -> None:
    """`arena export`."""
    for name, allowed in [*((w, ("leaderboards", "matches")) for w in what), *((f, FORMATS) for f in formats)]:
        if name not in allowed:
            raise ConfigError(f"'{name}' cannot be exported{did_you_mean(name, allowed)}")
    for path in api.export(target, home, out, what, formats):
        print(path)
