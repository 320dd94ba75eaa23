"""Load what bots will use before they are there: packages, our own bots, compiled code; nothing of their authors'.

The one file of workers that knows `bots`.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
from typing import NamedTuple

from arena.match.referee import warm_up
from bots.base import Bot, make_bot
from engine import Game, load_game


class Preload(NamedTuple):
    """What a fork server loads before its first fork: a child could tell what came later."""

    modules: tuple[str, ...] = ()
    boards: tuple[tuple[str, int], ...] = ()
    """Game and number of players."""


def load(preload: Preload) -> None:
    """Import the modules and load the games; errors are left for the bot, or the match, to find out."""
    for name in preload.modules:
        with contextlib.suppress(Exception):
            __import__(name)
    for game, players in preload.boards:
        with contextlib.suppress(Exception):
            prepare_game(preload.modules, game, players)


@functools.cache
def prepare_game(modules: tuple[str, ...], spec: str, players: int) -> Game:
    """Return a game with all that a match calls compiled, and what our own bots among the modules prepare for it."""
    game = load_game(spec, players)
    warm_up(game)
    own = [sys.modules[name] for name in modules if name.startswith("bots.") and name in sys.modules]
    for kind in [value for module in own for value in vars(module).values()]:
        if isinstance(kind, type) and issubclass(kind, Bot) and not getattr(kind, "__abstractmethods__", True):
            with contextlib.suppress(Exception):
                make_bot(kind, game, 0, 0)
    gc.collect()
    return game
