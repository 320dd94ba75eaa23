"""`arena warm`, and what commands show while code is compiled."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena import api
from arena.cli.output import print_text
from engine.cache import kernel_cache

if TYPE_CHECKING:
    from arena.cli.progress import Display


@contextlib.contextmanager
def compiling_shown() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows what is being compiled."""
    display: Display | None = None
    with contextlib.ExitStack() as shown:

        def show(line: str) -> None:
            nonlocal display
            if display is None:
                from arena.cli.progress import Display  # of no use where everything is compiled

                display = Display()
                shown.callback(display.end)
            display.show(lambda: line, phase=line)

        yield show


def compile_ahead(
    games: Sequence[str] | None, bots: Sequence[str] | None, workers: int | None, home: Path | None
) -> None:
    """Run `arena warm`."""
    started = time.monotonic()
    with compiling_shown() as show:
        compiled = api.warm(games or (), bots or (), workers, home, show)
    done = f"compiled in {time.monotonic() - started:.0f} s" if compiled else "everything was compiled before"
    print_text(f"{kernel_cache()}: {done}")
