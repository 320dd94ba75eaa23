"""`arena site`."""

from __future__ import annotations

import sys
from pathlib import Path

from arena.cli.output import print_text, print_to_stderr
from arena.core.errors import ConfigError

CONFIRM_BYTES = 100_000_000
"""Bytes from which a site is written only if that is confirmed."""


def write_site(targets: list[str], out: Path, replays: int, yes: bool, home: Path | None) -> None:
    """Run `arena site`."""
    from arena.web.site import Site

    site = Site(targets, home, replays)
    try:
        size = site.estimate()
        print_to_stderr(
            f"{size.pages:,} pages, {size.replays:,} of them replays out of {size.matches:,} matches: "
            f"about {in_words(size.bytes)}"
        )
        if size.bytes > CONFIRM_BYTES and not yes and not confirmed():
            raise ConfigError(
                f"this is more than {in_words(CONFIRM_BYTES)}: --yes writes it all the same, --replays with a smaller "
                "number makes it smaller"
            )
        written = site.write(out)
    finally:
        site.close()
    print_text(f"{len(written):,} files, {in_words(sum(path.stat().st_size for path in written))}")
    print(f"Site: {(out / 'index.html').absolute().as_uri()}")


def confirmed() -> bool:
    """Ask on a terminal; elsewhere nobody can answer."""
    return sys.stdin.isatty() and input("Write it? [y/N] ").strip().lower() in ("y", "yes")


def in_words(size: int) -> str:
    """Return a size in MB, or kB where it is small."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
