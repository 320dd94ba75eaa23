"""Ask bots what they declare, in a worker process: a submitted bot once, others for each plan."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from arena.core.errors import BotError, WorkerError
from arena.isolation import Isolation, launcher
from arena.isolation.launched import OF_NO_PLAN, LaunchedBot
from arena.registry.bundles import Bundle
from arena.registry.declarations import Board, Declaration, first_answers, read_declaration
from arena.registry.discovery import Source
from arena.registry.submissions import answers_of, keep_answers
from arena.workers.messages import Describe, Description, WorkerDeath
from arena.workers.process import MAX_STARTS, WorkerProcess

LOAD_SECONDS = 120.0
"""Seconds that a bot's module may take to load."""


def declaration_of(
    source: Source, bundle: Bundle, isolation: Isolation, boards: Sequence[Board], worker: WorkerProcess
) -> Declaration:
    """Return what a bot declares, with its refusals by board; raises `BotError` when it cannot be used.

    The first answer of a submitted bot counts; it is asked again only about further boards.
    """
    version = None if source.is_program else source.version
    before = None if version is None else answers_of(version, source.folder)
    if before is not None and (known := before.about(boards)) is not None:
        return known
    now = ask_bot(source, bundle, isolation, boards, worker)
    if version is None:
        return now
    after = first_answers(before, now, boards)
    with contextlib.suppress(OSError):  # who cannot write there asks again
        keep_answers(version, after, source.folder)
    found = after.about(boards)
    assert found is not None
    return found


def ask_bot(
    source: Source, bundle: Bundle, isolation: Isolation, boards: Sequence[Board], worker: WorkerProcess
) -> Declaration:
    """Ask a bot what it declares now; raises `BotError` when it cannot be used.

    When the worker is killed it is asked again: the first time that says nothing of the bot. Bots in processes of their
    own cannot end the worker at all; then `WorkerError` is raised.
    """
    message = Describe(LaunchedBot(source.name, bundle, source.class_name, {}, isolation, OF_NO_PLAN), boards)
    in_worker = launcher(isolation).in_worker
    reply = worker.call(message, Description, LOAD_SECONDS)
    for _ in range(MAX_STARTS - 1):
        if isinstance(reply, WorkerDeath) and reply.cause != "timeout" and (reply.killed or not in_worker):
            reply = worker.call(message, Description, LOAD_SECONDS)
    if not isinstance(reply, WorkerDeath):
        return read_declaration(reply.content, len(boards), source.name)
    if reply.cause != "timeout" and not in_worker:  # what ended was no process of the bot's
        raise WorkerError(
            f"a worker process ended {MAX_STARTS} times while bot '{source.name}' was asked ({reply.how})"
        )
    times = f" {MAX_STARTS} times" if reply.killed else ""
    how = f"hung for {LOAD_SECONDS:g} s" if reply.cause == "timeout" else f"ended its process{times} ({reply.how})"
    raise BotError(f"bot '{source.name}' {how} while it was loaded")
