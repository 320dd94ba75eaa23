"""Ladders in a made-up world: bots with known strengths, and results drawn from them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from arena.core.limits import Limits
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board, Entry
from arena.schedule.kinds.ladder import Ladder, LadderRules
from arena.schedule.ladder_rounds import Event, Joined, ladder_boards, new_blocks, next_round
from arena.schedule.ladder_tally import BoardTally

DEVIATION = 25 / 6
"""Of a bot's performance in one match."""


def labelled(number: int) -> str:
    """Return the label of the first version of a bot."""
    return f"b{number:04}.1"


def joined(label: str, boards: Sequence[int] = (0,)) -> Joined:
    """Return the event of a bot that joins."""
    return Joined(Entry(label, label, label, f"{label}@0", trusted=False, isolation="sandbox"), tuple(boards))


def empty(players: Sequence[int] = (2,), **rules: Any) -> Schedule:
    """Return a ladder before its first round, with a board for each number of players."""
    boards = tuple(Board("epicycle", "{}", each, 1, (), 1, 0) for each in players)
    ladder = Ladder(round=0, rules=LadderRules(**rules), boards=ladder_boards(boards))
    return Schedule(0, (), boards, False, ladder, Limits())


class World:
    """A ladder that is played in memory."""

    def __init__(self, schedule: Schedule, skills: Mapping[str, float], seed: int = 0) -> None:
        self.schedule, self.skills = schedule, skills
        self.tallies = [BoardTally() for _ in schedule.boards]
        self.chance = random.Random(seed)
        self.faulty: set[str] = set()
        """Bots that forfeit every match."""
        self.matches = 0
        self.new: list[dict[tuple[str, ...], int]] = []
        """Blocks of the last round, by board and table."""

    def play(self, events: Sequence[Event] = ()) -> None:
        """Decide a round and play it."""
        before, self.schedule = self.schedule, next_round(self.schedule, self.tallies, events)
        self.new = [self._added(before, index) for index in range(len(self.schedule.boards))]
        present = {entry.label for entry in self.schedule.entries}
        for tally, tables in zip(self.tallies, self.new, strict=True):
            tally.remove({entry.label for entry in before.entries} - present)
            for table, count in tables.items():
                for _ in range(count * len(table)):
                    self._play_match(tally, table)

    def _added(self, before: Schedule, index: int) -> dict[tuple[str, ...], int]:
        after, names = self.schedule, [entry.label for entry in self.schedule.entries]
        counts = zip(after.tables[index], new_blocks(before, after, index), after.counts(index), strict=True)
        return {tuple(names[entry] for entry in table): now - was for table, was, now in counts if now > was}

    def _play_match(self, tally: BoardTally, table: Sequence[str]) -> None:
        self.matches += 1
        shown = [self.chance.gauss(self.skills[label], DEVIATION) for label in table]
        forfeited = [label in self.faulty for label in table]
        order = sorted(range(len(table)), key=lambda seat: (forfeited[seat], -shown[seat]))
        tally.add(table, [order.index(seat) for seat in range(len(table))], forfeited)

    def ranking(self, index: int = 0) -> list[str]:
        """Return the labels of the bots on a board, best first."""
        labels = [self.schedule.entries[place].label for place in self.schedule.boards[index].entries]
        beliefs = self.tallies[index].beliefs(labels)
        return sorted(labels, key=lambda label: -beliefs[label].mean)
