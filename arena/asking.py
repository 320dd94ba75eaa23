"""Asking bots what they declare, in a worker process: a submitted bot once, others for each plan."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from arena.bundle import Bundle
from arena.config import Isolation
from arena.declarations import Board, Declaration, first_answers, read
from arena.errors import BotError
from arena.process import Death, WorkerProcess
from arena.registry import Source
from arena.submissions import answers_of, keep_answers

LIMIT = 120.0
"""Seconds that a bot's module may take to load."""


def declared(
    source: Source, bundle: Bundle, isolation: Isolation, boards: Sequence[Board], worker: WorkerProcess
) -> Declaration:
    """What a bot declares, its refusals by board; raises `BotError` when it cannot be used.

    What a submitted bot said first stands; it is asked about boards alone that it has not been asked about.
    """
    if source.version is None or source.is_program:
        return ask(source, bundle, isolation, boards, worker)
    before = answers_of(source.version, source.folder)
    if before is not None and (known := before.about(boards)) is not None:
        return known
    told = ask(source, bundle, isolation, boards, worker)
    after = first_answers(before, told, boards)
    with contextlib.suppress(OSError):  # who cannot write there asks again
        keep_answers(source.version, after, source.folder)
    found = after.about(boards)
    assert found is not None
    return found


def ask(
    source: Source, bundle: Bundle, isolation: Isolation, boards: Sequence[Board], worker: WorkerProcess
) -> Declaration:
    """What a bot says of itself now; raises `BotError`."""
    bot = {
        "name": source.name,
        "module": bundle.module,
        "class": source.class_name,
        "files": {name: content.hex() for name, content in bundle.files.items()},
        "isolation": isolation,
        "boards": boards,
    }
    told = worker.call({"do": "describe", "bot": bot}, LIMIT)
    if isinstance(told, Death):
        how = f"hung for {LIMIT:g} s" if told.cause == "timeout" else "ended its process"
        raise BotError(f"bot '{source.name}' {how} while it was loaded")
    return read(told, len(boards), source.name)
