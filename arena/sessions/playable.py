"""Which bots can play a game: they are asked in a worker process, once for every game and list of bots."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReadyError
from pathlib import Path

from arena.core.errors import ArenaError
from arena.plan.bots import resolve_bots
from arena.plan.config import BotEntry
from arena.workers.process import WorkerProcess
from engine import Game, game_type, load_game

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
        self._answers: dict[tuple[str, tuple[str, ...]], Future[Answers]] = {}

    def of(self, game: Game, bots: Sequence[str], seconds: float = WAIT_SECONDS) -> frozenset[str] | None:
        """Return which of these bots play a game; None when they have not answered in time."""
        key = (game.spec, tuple(bots))
        with self._lock:
            if key not in self._answers:
                self._answers[key] = self._executor.submit(self._ask, *key)
            asked = self._answers[key]
        try:
            return frozenset(bot for bot, players in asked.result(seconds).items() if game.players in players)
        except NotReadyError:
            return None
        except Exception:
            with self._lock:
                self._answers.pop(key, None)  # they are asked again the next time
            return None

    def _ask(self, spec: str, bots: tuple[str, ...]) -> Answers:
        kind = game_type(spec)
        games = [load_game(spec, players) for players in range(kind.min_players, kind.max_players + 1)]
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
