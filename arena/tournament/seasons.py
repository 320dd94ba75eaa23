"""Seasons of contests: logs in which every round has a plan of its own, which follows from the round before.

`Season` reads a log up to its latest round; `follow` goes through all rounds, as verification does.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from arena.core.errors import RecordError, StoreError
from arena.core.models import checked
from arena.plan.model import BotRecord, ResolvedPlan
from arena.schedule.blocks import Block, Schedule
from arena.schedule.boards import Entry
from arena.schedule.kinds.ladder import Ladder
from arena.schedule.ladder_rounds import Departed, Event, Joined, Retired, new_blocks, next_round, template
from arena.schedule.ladder_tally import BoardTally
from arena.schedule.scheduler import Stage
from arena.store import EventRow, Store

JOINED, LEFT, RETIRED = "joined", "left", "retired"
BATCH_BLOCKS = 256
"""Blocks whose results are read at a time."""


def event_row(number: int, event: Event) -> EventRow:
    """Return the row of an event of a round."""
    if isinstance(event, Joined):
        data = {"bot": vars(event.entry), "boards": [*event.boards]}
        return EventRow(number, JOINED, event.label, json.dumps(data, sort_keys=True))
    return EventRow(number, LEFT if isinstance(event, Departed) else RETIRED, event.label, "{}")


def read_event(row: EventRow) -> Event:
    """Return the event of a row; raises `StoreError` for a row that is none."""
    try:
        data = json.loads(row.data)
        if row.kind == JOINED:
            entry = Entry(**vars(checked(BotRecord, data["bot"])))
            event: Event = Joined(entry, tuple(int(number) for number in data["boards"]))
        else:
            leaving: dict[str, type[Departed] | type[Retired]] = {LEFT: Departed, RETIRED: Retired}
            event = leaving[row.kind](row.label)
        if event_row(row.round, event) != row:
            raise ValueError("is not as the arena writes it")
        return event
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError) as error:
        raise StoreError(f"the {row.kind} event of {row.label} in round {row.round} cannot be read: {error}") from None


def is_season(plan: ResolvedPlan) -> bool:
    """Return whether a plan is that of a contest's round."""
    return plan.schedule().scheduler.has_events


def round_number(schedule: Schedule) -> int:
    """Return the number of a round."""
    assert isinstance(schedule.scheduler, Ladder)
    return schedule.scheduler.round


def with_new_blocks(before: Schedule | None, schedule: Schedule) -> Schedule:
    """Return the schedule of a round, whose stages give out what it adds to the round before."""
    stages = (
        Stage(tuple(schedule.counts(index)), new_blocks(before, schedule, index), ())
        for index in range(len(schedule.boards))
    )
    return replace(schedule, stages=tuple(stages))


class Season:
    """The rounds of a log so far: the schedule of the latest one, and the results of what its plan has."""

    def __init__(self, schedule: Schedule) -> None:
        """Begin before the first round of a ladder."""
        self.schedule = template(schedule)
        self.tallies = [BoardTally() for _ in schedule.boards]
        self.is_complete = True
        """Whether the results of every block of the round have been taken."""

    @classmethod
    def read(cls, store: Store, plan: ResolvedPlan) -> Season:
        """Return the season of a log whose latest plan is given."""
        schedule = plan.schedule()
        season = cls(schedule)
        season.schedule, season.is_complete = schedule, True
        for index in range(len(schedule.boards)):
            season._take(store, schedule, index, schedule.blocks_of(index))
        return season

    def begin(self, events: Sequence[Event]) -> Schedule:
        """Return the schedule of the next round; raises `ValueError` for events that contradict the season."""
        return next_round(self.schedule, self.tallies, events)

    def advance(self, store: Store, schedule: Schedule) -> None:
        """Advance to a round and add the results of its blocks."""
        before, self.schedule = self.schedule, schedule
        present = {entry.label for entry in schedule.entries}
        gone = {entry.label for entry in before.entries} - present
        self.is_complete = True
        staged = with_new_blocks(before, schedule)
        for index, tally in enumerate(self.tallies):
            tally.remove(gone)
            self._take(store, schedule, index, staged.blocks_of(index, staged.stage(index)))

    def _take(self, store: Store, schedule: Schedule, index: int, blocks: Iterable[Block]) -> None:
        for block, results in read_results(store, blocks):
            if not take_block(self.tallies[index], schedule, block, results):
                self.is_complete = False


MatchResults = dict[int, list[tuple[int, int, int]]]
"""Seat, rank and whether it was forfeited, by line-up."""


def read_results(store: Store, blocks: Iterable[Block]) -> Iterator[tuple[Block, MatchResults]]:
    """Yield blocks with the results that a log has of them."""
    waiting: list[Block] = []
    for block in blocks:
        waiting.append(block)
        if len(waiting) == BATCH_BLOCKS:
            yield from _results_of(store, waiting)
            waiting = []
    yield from _results_of(store, waiting)


def _results_of(store: Store, blocks: Sequence[Block]) -> Iterator[tuple[Block, MatchResults]]:
    found = store.seat_results([block.identity for block in blocks])
    for block in blocks:
        results: MatchResults = defaultdict(list)
        for lineup, *seat in found.get(block.identity, ()):
            results[lineup].append((seat[0], seat[1], seat[2]))
        yield block, results


def take_block(tally: BoardTally, schedule: Schedule, block: Block, results: MatchResults) -> bool:
    """Add a block to a tally if the log has the whole of it; return whether it has."""
    lineups, players = schedule.lineups(schedule.boards[block.board]), schedule.boards[block.board].players
    seats = [*range(players)]
    if any([seat for seat, _, _ in results.get(lineup, ())] != seats for lineup in range(lineups)):
        return False
    for lineup in range(lineups):
        labels = [schedule.entries[entry].label for entry in schedule.seats(block, lineup)]
        of_match = results[lineup]
        tally.add(labels, [rank for _, rank, _ in of_match], [bool(lost) for _, _, lost in of_match])
    return True


class LoggedRound(NamedTuple):
    """A round of a log."""

    run: int
    """The run that began it."""
    plan: ResolvedPlan
    """The plan in the log."""
    expected: str
    """The plan that follows from the round before, as JSON; empty where none does."""
    why_not: str
    """Why none does."""
    events: list[Event]
    before: Schedule
    is_last: bool


def follow(store: Store) -> Iterator[LoggedRound]:
    """Yield the rounds of a season, each with the plan that follows from the one before.

    Raises `StoreError` for plans or events that cannot be read.
    """
    rows = defaultdict[int, list[EventRow]](list)
    for row in store.runs.events():
        rows[row.round].append(row)
    season: Season | None = None
    for run, text, is_last in plans_in_order(store):
        plan = read_plan_text(text, f"the plan of run {run} cannot be read")
        schedule = plan.schedule()
        if not isinstance(schedule.scheduler, Ladder):
            raise StoreError(f"the plan of run {run} is no round of a contest")
        season = Season(schedule) if season is None else season
        events = [read_event(row) for row in rows.pop(round_number(season.schedule) + 1, ())]
        expected, why = "", ""
        try:
            next_one = season.begin(events)
            expected = ResolvedPlan.of(plan.name, next_one, plan.formats, plan.left_out, plan.rules).as_json()
        except ValueError as error:
            why = str(error)
        yield LoggedRound(run, plan, expected, why, events, season.schedule, is_last)
        season.advance(store, schedule)
    if rows:
        raise StoreError(f"there are events of round {min(rows)}, which is not in the log")


def plans_in_order(store: Store) -> Iterator[tuple[int, str, bool]]:
    """Yield the first run and the plan of every round, and whether it is the last; runs may go on with a round."""
    found: tuple[int, str] | None = None
    for run, text in store.runs.by_number():
        if found is not None and found[1] != text:
            yield *found, False
        if found is None or found[1] != text:
            found = run, text
    if found is not None:
        yield *found, True


def read_plan_text(text: str, where: str) -> ResolvedPlan:
    try:
        data: Any = json.loads(text)
        return ResolvedPlan.read(data, where)
    except RecordError as error:
        raise StoreError(str(error)) from None
    except (ValueError, RecursionError):
        raise StoreError(where) from None
