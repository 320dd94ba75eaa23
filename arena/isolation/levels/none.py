"""No isolation: a bot is an instance of its class in the worker's own process."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from arena.core.errors import BotError, is_disk_full
from arena.isolation import Host, Launcher
from arena.isolation.launched import LaunchedBot
from arena.match.player import LocalBot, SeatTaker, failing_bot
from arena.registry.bundles import Bundle
from arena.registry.describe import CHANGED_DECLARATION, Board, defaults, describe, is_as_planned
from arena.registry.loader import is_built_in, load_class, made, write_bundle

ASKED_DIRECTLY = {("bots.random_bot", "Random")}
"""Modules and classes of the built-in bots that are asked directly; tests hold their matches against the usual way."""


class Level(Launcher):
    """In the worker; for one's own bots."""

    in_worker = True
    runs_programs = False

    def contestant(self, bot: LaunchedBot, host: Host) -> SeatTaker:
        bundle, interpreter = bot.bundle, host.interpreter
        _lay_out(bundle)
        if not is_built_in(bundle.files):
            host.foreign.add(bot.key)
        interpreter.restore()
        interpreter.touched = True
        try:
            bot_class = load_class(bundle, bot.class_name)
            host.recursion[bot.key] = write_bundle(bundle).recursion_limit
            interpreter.accept_threads()
            if bot.options is not None and not is_as_planned(defaults(bot_class), bot.params, bot.options):
                raise BotError(CHANGED_DECLARATION)
            direct = bot.key not in host.foreign and (bundle.module, bot.class_name) in ASKED_DIRECTLY
            return LocalBot(functools.partial(made, bot_class), bot.params, direct)
        except BaseException as error:
            return failing_bot(error)

    def describe(self, bot: LaunchedBot, boards: Sequence[Board], host: Host) -> Any:
        _lay_out(bot.bundle)
        return describe(bot.bundle, bot.name, bot.class_name, boards)


def _lay_out(bundle: Bundle) -> None:
    """Put a bundle's files in place; raises `OSError` on a full disk, and leaves other errors to whoever loads it."""
    try:
        write_bundle(bundle)
    except OSError as error:
        if is_disk_full(error):
            raise
