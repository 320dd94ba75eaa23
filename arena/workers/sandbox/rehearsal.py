"""Loading what a bot will use, before it is there: packages, our own bots, compiled code; nothing of its author's."""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
from collections.abc import Iterable

from engine import Game, load_game


def load(modules: Iterable[str]) -> None:
    """Import modules; what cannot be is left for the bot to find out."""
    for name in modules:
        with contextlib.suppress(Exception):
            __import__(name)


@functools.cache
def rehearse(modules: tuple[str, ...], spec: str, players: int) -> Game:
    """A game with all that a match calls compiled, and what our own bots among some loaded modules prepare for it."""
    from arena.match.referee import warm_up
    from bots.base import Bot, make_bot

    game = load_game(spec, players)
    warm_up(game)
    own = [sys.modules[name] for name in modules if name.startswith("bots.") and name in sys.modules]
    for kind in [value for module in own for value in vars(module).values()]:
        if isinstance(kind, type) and issubclass(kind, Bot) and not getattr(kind, "__abstractmethods__", True):
            with contextlib.suppress(Exception):
                make_bot(kind, game, 0, 0)
    gc.collect()
    return game
