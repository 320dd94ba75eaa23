"""Leaderboards of boards that are complete, made in a thread while others are played."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable

import pandas as pd

from arena.core.match_ids import list_dice_kinds
from arena.results.leaderboards import leaderboard
from arena.tournament.counted import BoardMatches
from arena.tournament.tournament import Tournament


class EarlyLeaderboards:
    """Leaderboards as `leaderboards` makes them, of one complete board after the other.

    The calling thread, which may use the log, reads the matches; the other one only computes.
    Errors are ignored here: `leaderboards` meets them again and reports them.
    """

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.boards: dict[int, pd.DataFrame] = {}
        """Those made so far, by number."""
        self._waiting: deque[int] = deque()
        self.thread: threading.Thread | None = None
        self._latest = -1
        """The board that the thread has last begun with."""

    def add(self, board: int) -> None:
        """Make the leaderboard of a board whose matches are all in the log."""
        self._waiting.append(board)

    def update(self) -> None:
        """Begin with the next board if the thread has nothing to do."""
        if self._waiting and not (self.thread is not None and self.thread.is_alive()):
            with contextlib.suppress(Exception):
                self.begin(self._waiting.popleft())

    def begin(self, board: int) -> None:
        tournament = self.tournament.now()
        matches, out = tournament.counted(board), tournament.disqualified(board)
        dice = list_dice_kinds(tournament.schedule.dice_kinds(board))
        self._latest = board
        self.thread = threading.Thread(target=self._rate, args=(board, matches, out, dice), daemon=True, name="rating")
        self.thread.start()

    def _rate(self, board: int, matches: BoardMatches, out: dict[int, int], dice: str) -> None:
        with contextlib.suppress(Exception):
            frame = leaderboard(matches, out)
            frame.attrs["dice"] = dice
            self.boards[board] = frame

    def end(self, begin: Callable[[int], None] = lambda number: None) -> dict[int, pd.DataFrame]:
        """Wait for the board that is being rated, calling `begin` with its number, and return all leaderboards made."""
        self._waiting.clear()
        if self.thread is not None and self.thread.is_alive():
            begin(self._latest)
            self.thread.join()
        return self.boards
