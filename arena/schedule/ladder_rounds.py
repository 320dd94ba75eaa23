"""The rounds of a ladder: the next one follows from the one before, its complete results, and events.

Nothing else decides: no time, no order in which results came, no order of events.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board, Entry
from arena.schedule.kinds.ladder import LABEL_SEPARATOR, Ladder, LadderBoard
from arena.schedule.ladder_blocks import Labels, RoundRules, give_blocks, nightly_blocks
from arena.schedule.ladder_tally import BoardTally

LABEL_PATTERN = re.compile(r"[!-~]{1,200}")
MATCHES_PER_FORFEIT = 10
"""Matches of a bot for each that it has forfeited, at which it is suspended, as of a disqualification."""


class Joined(NamedTuple):
    """A bot joins, on the boards of these numbers; its key is its label."""

    entry: Entry
    boards: tuple[int, ...]

    @property
    def label(self) -> str:
        return self.entry.label


class Departed(NamedTuple):
    """A bot leaves, and its results with it."""

    label: str


class Retired(NamedTuple):
    """A bot plays no more; its results stay."""

    label: str


Event = Joined | Departed | Retired


def next_round(schedule: Schedule, tallies: Sequence[BoardTally], events: Sequence[Event]) -> Schedule:
    """Return the schedule of the round after that of a ladder, given the results of all its blocks, by board.

    Raises `ValueError` for events that contradict it: two of one bot, or of a bot that is not there.
    """
    before = schedule.scheduler
    assert isinstance(before, Ladder)
    _check_events(schedule, events)
    gone = {event.label for event in events if isinstance(event, Departed)}
    entries, members = _with_events(schedule, events, gone)
    labels = {entry.label for entry in entries}
    retired = {*before.retired} | {event.label for event in events if isinstance(event, Retired)}
    suspended = {*before.suspended} | _forfeiting(before.rules.forfeit_limit, tallies)
    resting = retired | suspended
    boards = []
    for number, (of_ladder, tally) in enumerate(zip(before.boards, tallies, strict=True)):
        tables = {table: blocks for table, blocks in _tables(of_ladder).items() if gone.isdisjoint(table)}
        given = _given(before, of_ladder.players, tables, members[number], resting, tally)
        counts = Counter(tables) + given
        named = {LABEL_SEPARATOR.join(table): counts[table] for table in sorted(counts)}
        boards.append(of_ladder.model_copy(update={"tables": named}))
    scheduler = before.model_copy(
        update={
            "round": before.round + 1,
            "boards": tuple(boards),
            "suspended": tuple(sorted(suspended & labels)),
            "retired": tuple(sorted(retired & labels)),
        }
    )
    places = {entry.label: place for place, entry in enumerate(entries)}
    return replace(
        schedule,
        entries=entries,
        boards=tuple(
            replace(board, entries=tuple(places[label] for label in sorted(of_board)))
            for board, of_board in zip(schedule.boards, members, strict=True)
        ),
        scheduler=scheduler,
    )


def has_news(before: Schedule, after: Schedule) -> bool:
    """Return whether a round differs from the one before in more than its number; else the ladder rests."""
    one, other = before.scheduler, after.scheduler
    assert isinstance(one, Ladder)
    same = other == one.model_copy(update={"round": one.round + 1})
    return not (same and before.entries == after.entries and before.boards == after.boards)


def new_blocks(before: Schedule | None, after: Schedule, index: int) -> tuple[int, ...]:
    """Return, by table of a board, its blocks before the round of `after`: what the round adds comes behind them."""
    assert isinstance(after.scheduler, Ladder)
    tables = after.scheduler.boards[index].tables
    if before is None:
        return (0,) * len(tables)
    assert isinstance(before.scheduler, Ladder)
    old = before.scheduler.boards[index].tables
    return tuple(old.get(table, 0) for table in sorted(tables))


def template(schedule: Schedule) -> Schedule:
    """Return a ladder before its first round, without bots."""
    ladder = schedule.scheduler
    assert isinstance(ladder, Ladder)
    boards = tuple(board.model_copy(update={"tables": {}}) for board in ladder.boards)
    return replace(
        schedule,
        entries=(),
        boards=tuple(replace(board, entries=()) for board in schedule.boards),
        scheduler=Ladder(round=0, rules=ladder.rules, boards=boards),
    )


def ladder_boards(boards: Sequence[Board]) -> tuple[LadderBoard, ...]:
    """Return the boards of a ladder that has given out nothing."""
    return tuple(LadderBoard(game=board.game, players=board.players, tables={}) for board in boards)


def _tables(board: LadderBoard) -> dict[Labels, int]:
    return {tuple(table.split(LABEL_SEPARATOR)): blocks for table, blocks in board.tables.items()}


def _check_events(schedule: Schedule, events: Sequence[Event]) -> None:
    there = {entry.label for entry in schedule.entries}
    named = Counter(event.label for event in events)
    for event in events:
        if named[event.label] > 1:
            raise ValueError(f"{event.label}: has two events in one round")
        if isinstance(event, Joined):
            if event.label in there:
                raise ValueError(f"{event.label}: joins, and is there")
            if not LABEL_PATTERN.fullmatch(event.label) or event.entry.key != event.label:
                raise ValueError(f"{event.label!r}: is no label of a ladder, or not its bot's key")
            if not {*event.boards} <= {*range(len(schedule.boards))}:
                raise ValueError(f"{event.label}: joins a board that is not there")
        elif event.label not in there:
            raise ValueError(f"{event.label}: leaves, and is not there")


def _with_events(
    schedule: Schedule, events: Sequence[Event], gone: set[str]
) -> tuple[tuple[Entry, ...], list[set[str]]]:
    """Return the entries after events, by label, and the labels on each board."""
    members = [{schedule.entries[place].label for place in board.entries} - gone for board in schedule.boards]
    entries = {entry.label: entry for entry in schedule.entries if entry.label not in gone}
    for event in events:
        if isinstance(event, Joined):
            entries[event.label] = event.entry
            for number in event.boards:
                members[number].add(event.label)
    return tuple(entries[label] for label in sorted(entries)), members


def _forfeiting(limit: int, tallies: Sequence[BoardTally]) -> set[str]:
    """Return the bots that have forfeited too often on a board."""
    return {
        label
        for tally in tallies
        for label, count in tally.forfeits.items()
        if limit and count >= limit and count * MATCHES_PER_FORFEIT >= tally.matches[label]
    }


def _given(
    ladder: Ladder,
    players: int,
    tables: Mapping[Labels, int],
    members: set[str],
    resting: set[str],
    tally: BoardTally,
) -> Counter[Labels]:
    """Return the blocks that a round adds on a board, by table."""
    rules, playing = ladder.rules, members - resting
    if rules.mode == "nightly":
        most = rules.max_tables
        return nightly_blocks(players, sorted(playing), rules.nightly_blocks, rules.max_blocks, most, tables)
    budget = len(playing) if rules.budget is None else rules.budget
    of_round = RoundRules(players, rules.placement, rules.floor, budget, rules.max_blocks)
    beliefs = tally.beliefs(members)
    known = {label: beliefs[label] for label in playing}
    return give_blocks(of_round, ladder.round + 1, known, tables)
