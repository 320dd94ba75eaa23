"""Ask a Python bot in a process of its own what it declares; `arena.registry.declarations` says what is believed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.core.limits import Limits
from arena.match.faults import Fault, Killed
from arena.match.referee import KILLS
from arena.workers.messages import Describe
from arena.workers.sandbox.bot_process import Ended
from arena.workers.sandbox.process_pool import ProcessPool
from arena.workers.sandbox.process_source import RemoteBot, ended, with_hint

LIMIT = 60.0
"""Seconds that it may take."""


def describe_isolated(pool: ProcessPool, request: Describe) -> Any:
    """Return what a bot declares, whatever that is; under `error` why it cannot be used.

    It is asked again when its process is killed from outside.
    """
    bot = RemoteBot(request.name, request.bundle, request.class_name, {}, request.isolation, -1)
    for left in reversed(range(KILLS + 1)):
        try:
            return _hinted(_asked(pool, bot, request.boards), bot)
        except Fault as fault:
            if not left or not isinstance(fault, Killed):
                lines = str(fault).strip().splitlines()
                return _hinted({"error": f"cannot be loaded: {lines[-1] if lines else fault.cause}"}, bot)
    raise AssertionError("unreachable")


def _hinted(content: Any, bot: RemoteBot) -> Any:
    """Add a word on networks where a bot failed for lack of one."""
    if isinstance(content, dict) and isinstance(content.get("error"), str):
        return {**content, "error": with_hint(content["error"], bot.isolation).replace("\n", ". ")}
    return content


def _asked(pool: ProcessPool, bot: RemoteBot, boards: Sequence[tuple[str, int]]) -> Any:
    source = pool.acquire(bot, None)
    bot_process = None
    try:
        bot_process = source.open(bot, Limits())
        question = {"type": "describe", "name": bot.name, "class": bot.class_name, "boards": boards}
        return bot_process.request(question, LIMIT).get("description")
    except Ended:
        assert bot_process is not None
        raise ended(bot_process, source.code(), bot.isolation) from None
    finally:
        source.release(bot_process, None)
