"""Queue of the matches a plan still needs: chunks, totals, replies.

None of it affects results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from arena.match.game_faults import GameFault
from arena.match.heartbeat import MAX_SILENCE_SECONDS, NOBODY
from arena.match.result import MatchRow
from arena.runner.board_queue import BoardQueue
from arena.runner.folds import SequentialFold
from arena.runner.play_order import PlayOrder, chunk_seconds
from arena.runner.retries import RetryPolicy
from arena.schedule.blocks import MatchSpec
from arena.store import FinishedMatch
from arena.tournament.tally import Tally
from arena.tournament.tournament import Tournament
from arena.workers.messages import WorkerDeath
from arena.workers.pools import CHUNKS_PER_WORKER, Chunk

FIRST_MATCH_SECONDS = 60.0
"""Time that the first match of a board is expected to take."""


class MatchQueue:
    """Hands out, in chunks, the matches that are missing from a log, and takes their results."""

    def __init__(self, tournament: Tournament, is_due: Callable[[], bool] = lambda: False) -> None:
        """Begin with a log, which is searched no further once `is_due`."""
        self.tournament, self.store = tournament, tournament.store
        schedule = self.planned = tournament.planned
        present = schedule if schedule.comparison is not None else tournament.schedule  # its fold decides
        self._has_stages = bool(present.stages)
        self.boards = [BoardQueue(number, self.store, present, is_due) for number in range(len(schedule.boards))]
        self.unwritten: list[FinishedMatch] = []
        """Results that are not in the log yet."""
        self.retries = RetryPolicy()
        self.game_faults: dict[int, GameFault] = {}
        """By board that is stopped, since its game failed."""
        self.order = PlayOrder(self.boards, self.retries)

    # Totals

    @property
    def total(self) -> int:
        """Matches of the plan, as far as is known."""
        return sum(board.total for board in self.boards)

    @property
    def found(self) -> int:
        """Of those, what was in the log before, as far as it has been searched."""
        return sum(board.found for board in self.boards)

    @property
    def played(self) -> int:
        """Of those, what this run has played."""
        return sum(board.played for board in self.boards)

    @property
    def tally(self) -> Tally:
        """That of a comparison."""
        fold = self.boards[0].fold
        assert isinstance(fold, SequentialFold)
        return fold.tally

    @property
    def not_played(self) -> dict[MatchSpec, str]:
        """Matches still in the plan that were given up, each with the reason."""
        given_up = self.retries.given_up
        return {spec: why for spec, why in given_up.items() if self.order.board(spec).counts(spec)}

    def seconds_left(self) -> float | None:
        """Return the seconds that the rest takes one worker, from boards with results; None before there are any."""
        sizes = [(board.total, board.costs.mean) for board in self.boards if board.costs.known]
        if not sizes:
            return None
        mean = sum(size * mean for size, mean in sizes) / max(sum(size for size, _ in sizes), 1)
        return (self.total - self.found - self.played) * mean

    def estimate(self) -> float | None:
        """Return the seconds that the rest takes one worker; None until that is reliable for every board."""
        left = [board for board in self.boards if board.total > board.found + board.played and not board.has_failed]
        if not left or not all(board.costs.settled(board.schedule.boards[board.number].entries) for board in left):
            return None
        return sum((board.total - board.found - board.played) * board.costs.mean for board in left)

    def reasons(self, given_up_only: bool) -> list[str]:
        """Return lines on why matches were not played; for an interrupted run only those given up."""
        given_up = self.not_played
        lines = [f"{spec.id}: {why}" for spec, why in given_up.items()]
        if given_up_only:
            return lines
        for board, planned in zip(self.boards, self.planned.boards, strict=True):
            left = board.fold.left - sum(spec.block.board == board.number for spec in given_up)
            if left and board.has_failed:
                lines.append(f"{left:,} on {planned.title}, for the game failed; the same command tries again")
            elif left:
                lines.append(f"{left:,} more on {planned.title}: whether they count, matches before them decide")
        return lines + [
            f"{board.unassigned:,} more on {planned.title}: which tables play them, those before decide"
            for board, planned in zip(self.boards, self.planned.boards, strict=True)
            if board.unassigned
        ]

    # Handing out

    def any_missing(self) -> bool:
        """Return whether there is anything to play."""
        matches = self.order.next(1)
        self.order.put_back(matches)
        return bool(matches)

    def next_chunk(self, workers: int) -> Chunk | None:
        """Return the next chunk for one of these `workers`; None while there is none."""
        matches = self.order.next(workers)
        if not matches:
            return None
        board = self.order.board(matches[0].spec)
        sizes = Counter([spec.seats for spec, _ in matches])
        costs = board.costs
        seconds = sum(n * costs.match(seats) for seats, n in sizes.items()) if costs.known else FIRST_MATCH_SECONDS
        return Chunk(matches, board.number, seconds=seconds, out_of_replays=self.retries.out_of_replays)

    def ahead(self, workers: int) -> int:
        """Return how many chunks a worker should hold: a second one to play next, unless it is needed for idle ones."""
        left = self.seconds_left()
        return (
            CHUNKS_PER_WORKER
            if left is not None and left > 2 * CHUNKS_PER_WORKER * chunk_seconds(workers) * workers
            else 1
        )

    def next_stage(self) -> bool:
        """Start the next stage of boards whose stage is complete; return whether there are any."""
        if not self._has_stages:
            return False
        present = self.tournament.now().schedule
        return any([board.next_stage(present) for board in self.boards])

    def stop_board(self, spec: MatchSpec, fault: GameFault) -> None:
        """Hand out no more matches of the board of a match in which its game failed."""
        number = spec.block.board
        if number in self.game_faults:
            return
        planned, bots = self.planned.boards[number], tuple(self.planned.entries[entry].spec for entry in spec.seats)
        fault = replace(fault, match=spec.id, game=planned.game, players=planned.players, bots=bots)
        self.game_faults[number] = fault
        self.boards[number].stop()
        self.order.drop(number)

    @property
    def complete(self) -> list[int]:
        """Boards of which every match is in the log or about to be written."""
        return [board.number for board in self.boards if board.is_complete]

    def count_remaining(self) -> bool:
        """Count matches in the log that were not handed out; return whether there was time for all of them."""
        return all([board.count_remaining() for board in self.boards])

    # Replies

    def take(self, chunk: Chunk, rows: Sequence[MatchRow], killed: Mapping[int, Sequence[int]]) -> None:
        """Take the results of a chunk, and put back the matches that have none.

        `killed` are entries whose processes were killed, by number of the match.
        """
        self._put_back(chunk, len(rows))
        board = self.boards[chunk.board]
        for number, ((spec, _), row) in enumerate(zip(chunk.matches, rows, strict=True)):
            board.costs.learn(spec.seats, row.seconds)
            attempts = self.retries.on_played(spec, killed.get(number, ()))
            board.fold.take(spec, row)
            self.unwritten.append(FinishedMatch(spec, row, chunk.worker_name, attempts))

    def _put_back(self, chunk: Chunk, start: int = 0) -> None:
        """Remove the matches of a chunk from one on, to hand them out again."""
        if chunk.board not in self.game_faults:
            self.order.put_back(chunk.matches[start:])
        del chunk.matches[start:]

    def on_worker_lost(self, chunk: Chunk, in_play: bool) -> None:
        """Put back the matches of a chunk that will not come back; `in_play` is false if it waited behind another."""
        if chunk.board in self.game_faults:
            return
        if not in_play or self.retries.on_worker_lost([spec for spec, _ in chunk.matches]):
            self._put_back(chunk)

    def on_worker_death(self, chunk: Chunk, death: WorkerDeath) -> None:
        """Put back the matches of a chunk whose worker process ended; the one in which it ended is played alone."""
        if chunk.board in self.game_faults:
            return
        match = chunk.matches.pop(min(death.number, len(chunk.matches) - 1))
        self._put_back(chunk)
        if death.cause == "timeout" and death.seat == NOBODY:
            self.stop_board(
                match.spec, GameFault(f"its rules did not come back in {MAX_SILENCE_SECONDS:g} s", "", [], "")
            )
        elif (charged := self.retries.on_worker_death(match, death)) is not None:
            self.order.put_back([charged])

    def write(self, run: int) -> None:
        """Write the results that are not in the log yet, in one transaction."""
        results, self.unwritten = self.unwritten, []  # what cannot be written is played again when the run is resumed
        if results:
            self.store.add(self.planned, results, run)
