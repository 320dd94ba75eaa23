"""`arena backup` and `arena restore`."""

from __future__ import annotations

from pathlib import Path

from arena.cli.exit_codes import FAILED, FINE
from arena.cli.output import print_json, print_text
from arena.transfer.backup import make_backup, restore_backup
from engine.words import counted


def print_backup(out: Path, as_json: bool, home: Path | None) -> int:
    """Run `arena backup` and return the exit code."""
    backup = make_backup(out, home)
    size = out.stat().st_size
    if as_json:
        print_json({"backup": str(out), "files": backup.files, "bytes": size, "damaged": list(backup.damaged)})
    else:
        print_text(f"{out}: {counted(backup.files, 'file')}, {size:,} bytes.")
        print_text("Keep it as you keep the home: it has its secrets.")
        for name in backup.damaged:
            print_text(f"{name}: cannot be read as a database; the backup has its bytes as they were.")
    return FAILED if backup.damaged else FINE


def print_restored(file: Path, as_json: bool, home: Path | None) -> None:
    """Run `arena restore`."""
    restored = restore_backup(file, home)
    if as_json:
        print_json({"home": str(restored.home), "files": restored.files, "time": restored.time})
    else:
        print_text(f"{restored.home}: {counted(restored.files, 'file')}, as they were at {restored.time}.")
