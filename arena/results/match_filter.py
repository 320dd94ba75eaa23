"""Snapshot of an index of matches, and filters of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.tournament.extents import with_seats


class MatchKey(NamedTuple):
    """A match in its log."""

    block: int
    lineup: int


class IndexView(NamedTuple):
    """Snapshot of an index: columns of matches and seats, and what their numbers stand for."""

    match: dict[str, np.ndarray]
    seat: dict[str, np.ndarray]
    boards: dict[int, tuple[str, int]]
    labels: list[str]
    """Names of the plan's entries."""
    bots: list[str]
    """Specs by number, for bots that are in no entry of the plan."""
    ended: list[str]
    causes: list[str]
    run: tuple[int, str]
    """The log's latest run: its number, and when it was started."""

    @property
    def total(self) -> int:
        """Matches in the log."""
        return len(self.match["block"])

    def label(self, entry: int) -> str:
        """Return what a seat's bot is called: the label of its entry, or the spec of a bot outside the plan."""
        return self.labels[entry] if entry >= 0 else self.bots[~entry]

    def entries(self, label: str) -> list[int]:
        """Return the entries, and bots outside the plan, of a name."""
        found = [entry for entry, name in enumerate(self.labels) if name == label]
        return found + [~bot for bot, name in enumerate(self.bots) if name == label]

    def key(self, number: int) -> MatchKey:
        """Return where a match is in the log."""
        return MatchKey(int(self.match["block"][number]), int(self.match["lineup"][number]))


class MatchFilter(NamedTuple):
    """Conditions on matches; None for any. Those on seats hold for one and the same seat."""

    game: str | None = None
    players: int | None = None
    bot: str | None = None
    """Label."""
    opponent: str | None = None
    """Label of a bot in another seat."""
    seat: int | None = None
    place: int | None = None
    """From 1."""
    cause: str | None = None
    """Of a forfeit; an empty one is any."""
    ended: str | None = None
    least: int | None = None
    """Plies."""
    most: int | None = None


def matching(view: IndexView, wanted: MatchFilter) -> np.ndarray:
    """Return which matches fit a filter."""
    match, seat = view.match, view.seat
    found = np.ones(view.total, bool)
    if wanted.game is not None or wanted.players is not None:
        boards = [
            board
            for board, (game, players) in view.boards.items()
            if wanted.game in (None, game, game.partition("(")[0]) and wanted.players in (None, players)
        ]
        found &= np.isin(match["board"], boards)
    if wanted.ended is not None:
        found &= match["ended"] == _number(view.ended, wanted.ended)
    if wanted.least is not None:
        found &= match["plies"] >= wanted.least
    if wanted.most is not None:
        found &= match["plies"] <= wanted.most
    tests = []
    if wanted.bot is not None:
        tests.append(np.isin(seat["entry"], view.entries(wanted.bot)))
    if wanted.seat is not None:
        tests.append(seat["seat"] == wanted.seat)
    if wanted.place is not None:
        tests.append(seat["rank"] == wanted.place - 1)
    if wanted.cause is not None:
        tests.append(seat["cause"] == _number(view.causes, wanted.cause) if wanted.cause else seat["cause"] > 0)
    if tests:
        found &= with_seats(seat, np.logical_and.reduce(tests), view.total)
    if wanted.opponent is not None:
        found &= with_seats(seat, np.isin(seat["entry"], view.entries(wanted.opponent)), view.total)
    return found


def _number(words: Sequence[str], word: str) -> int:
    return words.index(word) if word in words else -1
