"""`arena export` and `arena import`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena import api
from arena.cli.logs import print_exports
from arena.cli.output import say


def export_files(
    target: str,
    what: Sequence[str] | None,
    format: Sequence[str] | None,
    columns: Sequence[str] | None,
    out: Path | None,
    home: Path | None,
) -> None:
    """Run `arena export`."""
    for path in api.export(target, home, out, _listed(what) or ["leaderboards"], _listed(format), _listed(columns)):
        print(path)


def _listed(given: Sequence[str] | None) -> list[str]:
    """Split repeated options of names joined by commas."""
    return [name.strip() for text in given or () for name in text.split(",")]


def print_import(files: Sequence[Path], name: str, plan: Path | None, home: Path | None) -> None:
    """Run `arena import`."""
    from arena.transfer.importing import import_records

    done = import_records(files, name, plan, home)
    for line in done.remarks:
        say(line)
    known = f"; {done.skipped:,} were there already" if done.skipped else ""
    say(f"{done.added:,} matches imported into {done.log}{known}")
    if done.added:
        print_exports(done.log)
