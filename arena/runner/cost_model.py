"""What matches are expected to take a worker, learned from those that came back. It decides chunks, never results."""

from __future__ import annotations

from arena.schedule.blocks import MatchSpec

RISE, FALL = 0.2, 0.5
"""Shares of an error that are learned; what seemed too long mostly was a first match, which compiles."""


class Costs:
    """Seconds by board and entry: a match takes as long as its seats together.

    After each match the error of its forecast is shared out to its seats (least mean squares: Widrow and Hoff,
    Adaptive switching circuits, 1960).
    """

    def __init__(self) -> None:
        self._shares: dict[int, dict[int, float]] = {}
        """By board and entry."""
        self._sums: dict[int, float] = {}
        self._players: dict[int, int] = {}

    def learn(self, spec: MatchSpec, seconds: float) -> None:
        """A match took so long."""
        board = spec.block.board
        shares = self._shares.setdefault(board, {})
        players = self._players[board] = len(spec.seats)
        for entry in spec.seats:
            if entry not in shares:
                shares[entry] = seconds / players
                self._sums[board] = self._sums.get(board, 0.0) + shares[entry]
        error = seconds - sum([shares[entry] for entry in spec.seats])
        change = (RISE if error > 0 else FALL) * error / players
        for entry in spec.seats:
            share = max(shares[entry] + change, 0.0)
            self._sums[board] += share - shares[entry]
            shares[entry] = share

    def knows(self, board: int) -> bool:
        """Whether any match of a board has come back."""
        return board in self._shares

    def mean(self, board: int) -> float:
        """Of a board's matches; 0 where nothing is known."""
        return self._players[board] * self._sums[board] / len(self._shares[board]) if self.knows(board) else 0.0

    def longest(self, board: int) -> float:
        """At most so long is a match of a board."""
        return self._players[board] * max(self._shares[board].values()) if self.knows(board) else 0.0

    def match(self, spec: MatchSpec) -> float:
        """Of one match; 0 where nothing is known of its board."""
        board = spec.block.board
        if not self.knows(board):
            return 0.0
        shares, usual = self._shares[board], self._sums[board] / len(self._shares[board])
        return sum([shares.get(entry, usual) for entry in spec.seats])
