"""What a Python bot in a process of its own says of itself; `arena.registry.declarations` says what is believed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.core.limits import Limits
from arena.match.faults import Fault, Killed
from arena.match.referee import KILLS
from arena.workers.messages import Describe
from arena.workers.sandbox.channel import Ended
from arena.workers.sandbox.host import RemoteBot, ended
from arena.workers.sandbox.hosts import Hosts
from arena.workers.sandbox.network import with_hint

LIMIT = 60.0


def description(hosts: Hosts, request: Describe) -> Any:
    """Return what a bot declares, whatever that is; under `error` why it cannot be used.

    It is asked again when its process is killed from outside.
    """
    bot = RemoteBot(request.name, request.bundle, request.class_name, {}, request.isolation, -1)
    for left in reversed(range(KILLS + 1)):
        try:
            return _hinted(_asked(hosts, bot, request.boards), bot)
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


def _asked(hosts: Hosts, bot: RemoteBot, boards: Sequence[tuple[str, int]]) -> Any:
    host = hosts.host(bot, None)
    channel = None
    try:
        channel = host.open(bot, Limits())
        question = {"type": "describe", "name": bot.name, "class": bot.class_name, "boards": boards}
        return channel.request(question, LIMIT).get("description")
    except Ended:
        assert channel is not None
        raise ended(channel, host.code(), bot.isolation) from None
    finally:
        host.release(channel, None)
