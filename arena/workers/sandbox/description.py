"""What a Python bot in a process of its own says of itself; `arena.registry.declarations` says what is believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.core.limits import Limits
from arena.match.referee import KILLS, Fault, Killed
from arena.workers.sandbox.channel import Ended
from arena.workers.sandbox.host import RemoteBot, ended
from arena.workers.sandbox.hosts import Hosts
from arena.workers.sandbox.network import with_hint

LIMIT = 60.0


def description(hosts: Hosts, bot: RemoteBot, wanted: Mapping[str, Any]) -> Any:
    """What the bot says of itself, whatever that is; under `error` why it cannot be used.

    It is asked again when its process is killed from outside.
    """
    for left in reversed(range(KILLS + 1)):
        try:
            return _hinted(_asked(hosts, bot, wanted), bot)
        except Fault as fault:
            if not left or not isinstance(fault, Killed):
                lines = str(fault).strip().splitlines()
                return _hinted({"error": f"cannot be loaded: {lines[-1] if lines else fault.cause}"}, bot)
    raise AssertionError("unreachable")


def _hinted(told: Any, bot: RemoteBot) -> Any:
    """What it said, with a word on networks where it failed for lack of one."""
    if isinstance(told, dict) and isinstance(told.get("error"), str):
        return {**told, "error": with_hint(told["error"], bot.isolation).replace("\n", ". ")}
    return told


def _asked(hosts: Hosts, bot: RemoteBot, wanted: Mapping[str, Any]) -> Any:
    host = hosts.host(bot, None)
    channel = None
    try:
        channel = host.open(bot, Limits())
        return channel.request({"type": "describe", "bot": wanted}, LIMIT).get("description")
    except Ended:
        assert channel is not None
        raise ended(channel, host.code(), bot.isolation) from None
    finally:
        host.release(channel, None)
