"""Follow the season of a contest: every round's plan from the one before, and the blocks that it adds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from arena.plan.model import ResolvedPlan
from arena.schedule.blocks import Block, Schedule
from arena.schedule.ladder_rounds import Joined, template
from arena.tournament.seasons import LoggedRound, follow, with_new_blocks
from arena.verify.blocks import BLOCKS_PER_TASK, BlockFinder
from arena.verify.matches import BlockTask
from arena.verify.plans import LogContents


def season_plan(contents: LogContents) -> ResolvedPlan:
    """Return a plan with all bots that ever joined, in which the blocks of any round have their places."""
    resolved = contents.plans[0].resolved
    newest = resolved.schedule()
    entries = {event.label: event.entry for event in contents.events if isinstance(event, Joined)}
    entries |= {entry.label: entry for entry in newest.entries}
    places = {label: place for place, label in enumerate(sorted(entries))}
    members: list[set[str]] = [set() for _ in newest.boards]
    for event in contents.events:
        if isinstance(event, Joined):
            for number in event.boards:
                members[number].add(event.label)
    for number, board in enumerate(newest.boards):
        members[number] |= {newest.entries[place].label for place in board.entries}
    empty = template(newest)
    schedule = replace(
        empty,
        entries=tuple(entries[label] for label in sorted(entries)),
        boards=tuple(
            replace(board, entries=tuple(places[label] for label in sorted(of_board)))
            for board, of_board in zip(empty.boards, members, strict=True)
        ),
    )
    return ResolvedPlan.of(resolved.name, schedule, resolved.formats, resolved.left_out, resolved.rules)


class SeasonFinder(BlockFinder):
    """Finds every block of a season in the round that added it, and checks the rounds on the way."""

    @property
    def plans(self) -> list[ResolvedPlan]:
        """The plan of all bots."""
        return [season_plan(self.contents)]

    def tasks(self) -> Iterator[BlockTask]:
        """Yield every block of the log once."""
        self.totals.blocks = self.db.execute("SELECT count(*) FROM blocks").fetchone()[0]
        schedule = season_plan(self.contents).schedule()
        try:
            for logged in follow(self.store):
                yield from self._of_round(schedule, logged)
        except Exception as error:  # a damaged log may say anything
            self.followed = False
            self.findings.add(f"its rounds cannot be followed: {error}", table="runs")
        yield from self._rest()

    def _of_round(self, whole: Schedule, logged: LoggedRound) -> Iterator[BlockTask]:
        """Yield the blocks that a round adds; `whole` has all bots of the season."""
        if logged.expected != logged.plan.as_json():
            why = f": {logged.why_not}" if logged.why_not else ""
            text = f"the plan of run {logged.run} does not follow from the round before{why}"
            self.findings.add(text, table="runs")
        staged = with_new_blocks(logged.before, logged.plan.schedule())
        places = {entry.label: place for place, entry in enumerate(whole.entries)}
        for index, board in enumerate(staged.boards):
            stage = staged.stage(index)
            assert stage is not None
            lineups = staged.lineups(board)
            blocks = (
                _in(whole, places, staged, index, number, table)
                for table, since, count in zip(staged.tables[index], stage.done, stage.counts, strict=True)
                for number in range(since, count)
            )
            while batch := list(itertools.islice(blocks, BLOCKS_PER_TASK)):
                self._check_present(batch, lineups, logged)
                yield from self._found(0, batch)
        if logged.is_last:
            self.totals.planned = logged.plan.schedule().total_matches
            self.totals.present = self._present(logged)

    def _check_present(self, batch: list[Block], lineups: int, logged: LoggedRound) -> None:
        """Add a finding for the first missing match of a round that is over."""
        if logged.is_last and not self.contents.plans[0].finished:
            return
        there = self._known([block.identity for block in batch])
        missing = sum(
            lineups - len(there[block.identity][1]) if block.identity in there else lineups for block in batch
        )
        if missing:
            self.findings.add(f"{missing:,} matches of the round of run {logged.run} are missing", table="matches")

    def _present(self, logged: LoggedRound) -> int:
        """Return how many matches of a plan are in the log."""
        schedule, found = logged.plan.schedule(), 0
        for index, board in enumerate(schedule.boards):
            sizes = self.store.board(board.game, board.players).block_sizes()
            found += sum(sizes.get(identity, 0) for _, _, identity in schedule.identities(index))
        return found


def _in(whole: Schedule, places: dict[str, int], schedule: Schedule, index: int, number: int, table: object) -> Block:
    """Return the block of a table in the schedule of all bots."""
    assert isinstance(table, tuple)
    labels = [schedule.entries[entry].label for entry in table]
    return whole.block(index, number, tuple(sorted(places[label] for label in labels)))
