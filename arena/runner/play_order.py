"""Play order: which matches of all boards are handed out next. It does not affect results."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from arena.runner.board_queue import BoardQueue
from arena.runner.retries import RetryPolicy
from arena.schedule.blocks import MatchSpec
from arena.workers.messages import MatchOrder
from arena.workers.pools import CHUNKS_PER_WORKER

CHUNK_SECONDS = 0.2
"""Duration of a chunk: long against its way to the worker and back, short against what a user waits for."""
MAX_CHUNKS_PER_SECOND = 500
"""Chunks that the driver hands out; for more workers than a fifth of that, chunks get longer."""
MAX_CHUNK_MATCHES = 2000
LONGEST_FIRST_FACTOR = 4.0
"""The longest matches come first when less than this many times their length is left for each worker."""
MAX_SORTED_MATCHES = 10_000
"""Maximum number of matches to sort for that."""


def chunk_seconds(workers: int) -> float:
    """Return how long chunks should take, given the number of workers."""
    return max(CHUNK_SECONDS, workers / MAX_CHUNKS_PER_SECOND)


class PlayOrder:
    """Hands out the missing matches of all boards: returned ones first, then of the board that ends first.

    Near the end the longest matches come first.
    """

    def __init__(self, boards: Sequence[BoardQueue], retries: RetryPolicy) -> None:
        self.boards, self.retries = boards, retries
        self._returned: deque[MatchOrder] = deque()
        """Matches that were handed out and came back unplayed."""
        self._last: deque[MatchSpec] = deque()
        """All that is left, longest first; empty until the end is near."""

    def next(self, workers: int) -> list[MatchOrder]:
        """Return the next matches for one of these `workers`; empty while there are none."""
        return self._returned_matches() or self._last_matches(workers) or self._new_matches(workers)

    def put_back(self, matches: Sequence[MatchOrder]) -> None:
        """Put back matches that were handed out and are to be handed out again, before all others."""
        self._returned.extendleft(reversed(matches))

    def drop(self, board: int) -> None:
        """Hand out no more matches of a board."""
        self._returned = deque(order for order in self._returned if order.spec.block.board != board)
        self._last = deque(spec for spec in self._last if spec.block.board != board)

    def board(self, spec: MatchSpec) -> BoardQueue:
        """Return the queue of a match's board."""
        return self.boards[spec.block.board]

    def _returned_matches(self) -> list[MatchOrder]:
        """Return matches of one board that came back unplayed; one that ended its worker goes alone."""
        matches: list[MatchOrder] = []
        seconds = 0.0
        while self._returned and len(matches) < MAX_CHUNK_MATCHES:
            spec = self._returned[0][0]
            board = self.board(spec)
            if not board.compiled:
                break
            if not board.counts(spec):
                self._returned.popleft()
                continue
            alone = self.retries.plays_alone(spec)
            if matches and (alone or spec.block.board != matches[0][0].block.board):
                break
            matches.append(self._returned.popleft())
            seconds += board.costs.match(spec.seats)
            if alone or seconds >= CHUNK_SECONDS:
                break
        return matches

    def _new_matches(self, workers: int) -> list[MatchOrder]:
        """Return a chunk of the board that ends first, for its results to be seen early.

        Boards of which little has been played come before: how long the rest takes is learned from all boards.
        """
        while ready := [board for board in self.boards if board.ready]:
            if self._is_near_end(ready, workers):
                self._sort_remaining(ready)
                return self._last_matches(workers)
            board = min(ready, key=_priority)
            matches = self._chunk(board, board.matches(), workers)
            if matches:
                board.round = matches[-1][0].block.round
                return matches
        return []

    def _chunk(self, board: BoardQueue, missing: Iterable[MatchSpec], workers: int) -> list[MatchOrder]:
        """Return matches as they come, as many as make a chunk; a first one alone, as its length is unknown."""
        matches: list[MatchOrder] = []
        share = sum(board.fold.left for board in self.boards) // (2 * CHUNKS_PER_WORKER * workers)
        most, enough, seconds = max(1, min(MAX_CHUNK_MATCHES, share)), chunk_seconds(workers), 0.0
        for spec in missing if board.costs.known else itertools.islice(missing, 1):
            matches.append(MatchOrder(spec))
            seconds += board.costs.match(spec.seats)
            if len(matches) >= most or seconds >= enough:
                break
        return matches

    def _is_near_end(self, ready: Sequence[BoardQueue], workers: int) -> bool:
        """Return whether so little is left that the longest matches should come first."""
        if not all(board.costs.known for board in ready):
            return False
        if sum(board.fold.left for board in ready) > MAX_SORTED_MATCHES:
            return False
        seconds = sum(board.fold.left * board.costs.mean for board in self.boards)
        return seconds < LONGEST_FIRST_FACTOR * max(board.costs.longest for board in ready) * workers

    def _sort_remaining(self, ready: Sequence[BoardQueue]) -> None:
        """Sort all that is left of some boards, longest first."""
        left = itertools.chain(self._last, *(board.matches() for board in ready))
        self._last = deque(sorted(left, key=lambda spec: self.board(spec).costs.match(spec.seats), reverse=True))

    def _last_matches(self, workers: int) -> list[MatchOrder]:
        """Return the longest match left, or several short ones of one board."""

        def of_board(board: BoardQueue) -> Iterator[MatchSpec]:
            while self._last and self.board(self._last[0]) is board:
                spec = self._last.popleft()
                if board.counts(spec):
                    yield spec

        matches: list[MatchOrder] = []
        while self._last and not matches:
            board = self.board(self._last[0])
            matches = self._chunk(board, of_board(board), workers)
        return matches


def _priority(board: BoardQueue) -> tuple[bool, float]:
    """Return when it is a board's turn; the least comes first."""
    return (True, board.seconds_left) if board.is_explored else (False, board.fold.played)
