"""What a Python bot in a process of its own says of itself, asked there; `arena.declarations` says what is believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.referee import Fault
from arena.sandbox.host import RemoteBot
from arena.sandbox.hosts import Hosts
from arena.schedule import Limits

LIMIT = 60.0


def description(hosts: Hosts, bot: RemoteBot, wanted: Mapping[str, Any]) -> Any:
    """What the bot says of itself, whatever that is; under `error` why it cannot be used."""
    host = hosts.host(bot, None)
    channel = None
    try:
        channel = host.open(bot, Limits())
        return channel.request({"type": "describe", "bot": wanted}, LIMIT).get("description")
    except Fault as fault:
        lines = str(fault).strip().splitlines()
        return {"error": f"cannot be loaded: {lines[-1] if lines else fault.cause}"}
    finally:
        host.release(channel, None)
