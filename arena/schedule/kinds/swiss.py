"""Swiss: in every round bots meet others that stand about as they do, and none the same table again before it must."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from arena.schedule.boards import Board, Entry
from arena.schedule.meetings import Meeting, as_table, played_meetings
from arena.schedule.pairings import Group, seat_round
from arena.schedule.scheduler import ConfigHints, Results, StandingsTable
from arena.schedule.seeding import SeededScheduler, spread
from arena.schedule.tables import Table

NOTE = (
    "Points: of every meeting the share of the points that there were, 1/2 for a bye. Opponents: the mean of their "
    "points, meeting by meeting. Ahead of: the points of all whom a bot was ahead of in a meeting, half of those level "
    "with it. Won: meetings with most points of all. Ties are broken in this order, and then by seed."
)


class Standing(NamedTuple):
    """How a bot stands after some rounds."""

    entry: int
    points: Fraction
    opponents: Fraction
    ahead_of: Fraction
    won: int
    meetings: int
    byes: int


class Swiss(SeededScheduler):
    """Rounds in which bots meet others that stand as they do."""

    kind = "swiss"
    purpose = "the order of many bots, where all against all is long"
    hints: ClassVar[ConfigHints] = {"rounds": (8, "swiss: rounds, of `blocks` blocks a table each")}

    rounds: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Rounds of a board; by default log2 of its bots, rounded up, and 2 more."""

    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        seeds = self.seeds(board)
        groups = spread(seeds[: len(seeds) - len(seeds) % board.players], board.players)
        return tuple(as_table(board, group) for group in groups)

    def next(self, board: Board, tables: Sequence[Table], results: Results) -> dict[Table, int]:
        stands = [each for each in self.ranking(board, results) if each.entry not in results.out]
        if results.stage_count >= self.round_count(board) or len(stands) < board.players:
            return {}
        by_last = range(len(stands) - 1, -1, -1)
        byes = sorted(by_last, key=lambda place: stands[place].byes)[: len(stands) % board.players]
        ranked = [each.entry for place, each in enumerate(stands) if place not in byes]
        times: Counter[Group] = Counter()
        for meetings in played_meetings(board, results):
            times.update(map(Group, meetings))
        return {as_table(board, group): board.blocks for group in seat_round(ranked, board.players, times)}

    def budget(self, board: Board, tables: Sequence[Table]) -> int:
        return board.blocks * (len(board.entries) // board.players) * self.round_count(board)

    def standings(
        self, board: Board, tables: Sequence[Table], results: Results, labels: Sequence[str]
    ) -> Sequence[StandingsTable]:
        rows = tuple(
            (
                *(place, labels[each.entry], f"{float(each.points):.3f}", f"{float(each.opponents):.3f}"),
                *(f"{float(each.ahead_of):.3f}", each.won, each.meetings, each.byes),
            )
            for place, each in enumerate(self.ranking(board, results), 1)
        )
        title = f"Standings after {results.stage_count} of {self.round_count(board)} rounds"
        columns = ("place", "bot", "points", "opponents", "ahead of", "won", "meetings", "byes")
        return (StandingsTable(title, columns, rows, NOTE),)

    def round_count(self, board: Board) -> int:
        """Return the rounds of a board."""
        return self.rounds or (len(board.entries) - 1).bit_length() + 2

    def ranking(self, board: Board, results: Results) -> list[Standing]:
        """Return how bots stand, the best first; those that are disqualified come last."""
        of: defaultdict[int, list[Meeting]] = defaultdict(list)
        for meetings in played_meetings(board, results):
            for table, meeting in meetings.items():
                for entry in table:
                    of[entry].append(meeting)
        points, byes = dict[int, Fraction](), dict[int, int]()
        for entry in board.entries:
            played = len(of[entry])
            byes[entry] = 0 if entry in results.out else results.stage_count - played
            points[entry] = Fraction(byes[entry], 2) + sum(meeting.shares()[entry] for meeting in of[entry])
        stands = [_standing(entry, of[entry], points, byes[entry]) for entry in board.entries]
        seeds = {entry: place for place, entry in enumerate(self.seeds(board))}
        return sorted(stands, key=lambda each: (each.entry in results.out, *_rank_key(each), seeds[each.entry]))


def _rank_key(each: Standing) -> tuple[Fraction, Fraction, Fraction, int]:
    return -each.points, -each.opponents, -each.ahead_of, -each.won


def _standing(entry: int, played: Sequence[Meeting], points: dict[int, Fraction], byes: int) -> Standing:
    """Return how a bot stands by its meetings, given all bots' points."""
    met, ahead_of, won = list[Fraction](), Fraction(0), 0
    for meeting in played:
        totals = meeting.totals
        others = [other for other in meeting.table if other != entry]
        met += [points[other] for other in others]
        ahead_of += sum(points[other] for other in others if totals[other] < totals[entry])
        ahead_of += sum((points[other] for other in others if totals[other] == totals[entry]), Fraction(0)) / 2
        won += all(totals[other] < totals[entry] for other in others)
    return Standing(entry, points[entry], sum(met, Fraction(0)) / max(1, len(met)), ahead_of, won, len(played), byes)
