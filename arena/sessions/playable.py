"""Which bots can play a game: they are asked in a worker process, once for every game and list of bots."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from arena.core.errors import ArenaError
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.workers.process import WorkerProcess
from engine import Game, game_type, load_game
from engine.registry import is_provided

WAIT_SECONDS = 3.0
"""Time that a page waits for the answers."""

Answers = dict[str, frozenset[int]]
"""By bot, the numbers of players with which it plays a game."""


class PlayableBots:
    """What bots answered; safe to use from several threads."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="playable")
        self._answers: dict[str, tuple[tuple[str, ...], Future[Answers]]] = {}
        """By name of a game, the bots that were asked and their answers."""

    def of(self, game: Game, bots: Sequence[str], seconds: float = WAIT_SECONDS) -> frozenset[str] | None:
        """Return which of these bots play a game with its default options; None when they have not answered in time.

        They are asked once for each game, whatever its options: an address has no say in how often.
        """
        if is_provided(game.name):
            return None
        with self._lock:
            asked, answers = self._answers.get(game.name, ((), None))
            if answers is None or asked != tuple(bots):
                answers = self._executor.submit(self._ask, game.name, tuple(bots))
                self._answers[game.name] = tuple(bots), answers
        try:
            return frozenset(bot for bot, players in answers.result(seconds).items() if game.players in players)
        except Exception:  # they have not answered, the disk is full, a worker cannot start: pages do without
            return None

    def _ask(self, name: str, bots: tuple[str, ...]) -> Answers:
        kind = game_type(name)
        games = [load_game(name, players) for players in range(kind.min_players, kind.max_players + 1)]
        worker, answers = WorkerProcess(), {}
        try:
            for bot in bots:
                try:
                    (found,) = resolve_bots([BotEntry(bot=bot)], games, worker=worker, home=self._home)
                except ArenaError:  # it cannot be used on this machine
                    continue
                fits = zip(games, found.refusals, strict=True)
                answers[bot] = frozenset(game.players for game, refusal in fits if refusal is None)
        finally:
            worker.stop()
        return answers

    def close(self) -> None:
        """Ask no more bots."""
        self._executor.shutdown(wait=False, cancel_futures=True)
