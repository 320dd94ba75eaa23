"""Brackets: who meets whom in the rounds of a knockout, and who goes on. A fold over the stages of its meetings.

A round has meetings of full tables, of bots with equally many defeats; whoever is left over has a bye. The best of each
table go on, the others are defeated, and out when they have as many defeats as they have lives. When exactly a table is
left, it plays the final; in the round before, as many of a table go on as fill it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.schedule.meetings import Meeting, MeetingRule
from arena.schedule.seeding import spread
from arena.schedule.tables import Table

SECOND_FINAL = "second final"


class BracketRules(NamedTuple):
    """What decides a bracket but results."""

    players: int
    lives: int
    """Defeats after which a bot is out."""
    best: int
    """Bots of a table that go on, but in the final and the round before."""


@dataclass
class BracketMeeting:
    """A meeting of a round."""

    round: int
    meeting: Meeting
    best: int
    """Bots that go on."""
    name: str
    """What a bracket calls it."""
    order: list[int] = field(default_factory=list)
    """Entries, the best first; empty until it is decided."""


class Bracket:
    """A knockout up to its present round."""

    def __init__(self, rules: BracketRules, rule: MeetingRule, seeds: Sequence[int], entries: Sequence[int]) -> None:
        """Begin with the first round; `seeds` are the entries, the best first, `entries` the same in their order."""
        self.rules, self.rule, self.entries = rules, rule, tuple(entries)
        self.seeds = {entry: place for place, entry in enumerate(seeds)}
        self.defeats = dict.fromkeys(seeds, 0)
        self.byes = dict.fromkeys(seeds, 0)
        self.out: set[int] = set()
        """Disqualified entries."""
        self.left_in: dict[int, int] = {}
        """By entry that is out: the round."""
        self.meetings: list[BracketMeeting] = []
        """All so far, those of the present round last."""
        self.round = 0
        self.winner: int | None = None
        self._draw()

    @property
    def present(self) -> list[BracketMeeting]:
        """Meetings of the present round; none when the winner is known."""
        return [] if self.winner is not None else [each for each in self.meetings if each.round == self.round]

    @property
    def alive(self) -> list[int]:
        """Entries that are not out, by seed."""
        return [entry for entry in self.seeds if entry not in self.left_in]

    def take(self, played: Mapping[Table, Meeting], out: Collection[int]) -> None:
        """Take the next stage, given what was played in it and who is disqualified at its end."""
        seeds = [*self.seeds]
        for each in self.present:
            if each.order or each.meeting.table not in played:
                continue
            each.meeting = each.meeting.followed_by(played[each.meeting.table])
            order = each.meeting.order(seeds, out)
            each.order = order if self.rule.is_decided(each.meeting, order, each.best, out) else []
        if self.winner is None and all(each.order for each in self.present):
            self._close_round(out)

    def next_blocks(self) -> dict[Table, int]:
        """Return the blocks of the next stage, by table."""
        return {each.meeting.table: self.rule.more(each.meeting) for each in self.present if not each.order}

    def _close_round(self, out: Collection[int]) -> None:
        """End the round, whose meetings all have their orders, and draw the next one; `out` are the disqualified."""
        self.out |= {*out}
        closing = self.present
        alive = {*self.alive}
        for entry in alive - {entry for each in closing for entry in each.order}:
            self.byes[entry] += 1
        is_final = len(alive) == self.rules.players
        for each in closing:
            for entry in each.order[each.best :]:
                self.defeats[entry] += 1
        for entry in self.alive:
            if entry in self.out or self.defeats[entry] >= self.rules.lives:
                self.left_in[entry] = self.round
        if is_final:
            self._close_final(closing[0])
        else:
            self.round += 1
            self._draw()

    def _close_final(self, final: BracketMeeting) -> None:
        """Find the winner, unless a bot that had no defeat has just had its first: then the final is played again."""
        first, *others = final.order
        if first in self.out:  # as all others there are
            self.winner = self.places()[0]
            return
        is_level = self.defeats[first] > 0 and any(self.defeats[entry] == 1 for entry in others)
        if not is_level or final.name == SECOND_FINAL or not self.out.isdisjoint(final.order):
            self.winner = first
            return
        for entry in final.order:
            self.left_in.pop(entry, None)
        self.round += 1
        self._add(final.order, 1, SECOND_FINAL)

    def _draw(self) -> None:
        """Draw the meetings of a round; without enough bots for one, whoever has got furthest wins."""
        players = self.rules.players
        self._call_back()
        alive = self.alive
        if len(alive) < players:
            self.winner = self.places()[0]
            return
        if len(alive) == players:
            self._add(alive, 1, "final")
            return
        drawn = [
            (number, group)
            for number in range(self.rules.lives)
            for group in self._drawn([entry for entry in alive if self.defeats[entry] == number])
        ]
        if not drawn:  # what is left of several brackets
            worst = sorted(alive, key=lambda entry: (self.defeats[entry], self.seeds[entry]))[-players:]
            drawn = [(self.rules.lives - 1, worst)]
        best = self._numbers_going_on([number for number, _ in drawn], len(alive) - players)
        for (number, group), going_on in zip(drawn, best, strict=True):
            self._add(group, going_on, "round" if self.rules.lives == 1 else ("upper", "lower")[number])

    def _add(self, members: Collection[int], best: int, name: str) -> None:
        table: Table = tuple(entry for entry in self.entries if entry in members)
        self.meetings.append(BracketMeeting(self.round, Meeting(table), best, name))

    def _drawn(self, bots: Sequence[int]) -> list[list[int]]:
        """Return tables of bots with equally many defeats; byes go to those with the fewest, the best seeds first."""
        spare = len(bots) % self.rules.players
        byes = sorted(bots, key=lambda entry: (self.byes[entry], self.seeds[entry]))[:spare]
        return spread([entry for entry in bots if entry not in byes], self.rules.players)

    def _numbers_going_on(self, brackets: Sequence[int], most_out: int) -> list[int]:
        """Return how many of each table go on, of which no more than `most_out` may be put out."""
        players, best = self.rules.players, [self.rules.best for _ in brackets]
        ending = [at for at, number in enumerate(brackets) if number == self.rules.lives - 1]
        while sum(players - best[at] for at in ending) > most_out:
            at = min(ending, key=lambda at: best[at])
            best[at] += 1
        return best

    def _call_back(self) -> None:
        """Fill the final, where disqualifications have left too few, with those that were put out last."""
        lacking = self.rules.players - len(self.alive)
        waiting = [entry for entry in self.left_in if entry not in self.out]
        if len(self.alive) > 1 and 0 < lacking <= len(waiting):
            latest = sorted(waiting, key=lambda entry: (-self.left_in[entry], self.seeds[entry]))
            for entry in latest[:lacking]:
                del self.left_in[entry]
                self.defeats[entry] = self.rules.lives - 1

    def places(self) -> list[int]:
        """Return all entries, the best first: the winner, then those that got furthest, then by their last meeting."""
        last = {entry: at for each in self.meetings for at, entry in enumerate(each.order)}
        rounds = self.round + 1
        return sorted(
            self.seeds,
            key=lambda entry: (
                entry != self.winner,
                entry in self.out,
                -self.left_in.get(entry, rounds),
                last.get(entry, 0),
                self.seeds[entry],
            ),
        )


def most_meetings(bots: int, rules: BracketRules) -> int:
    """Return a number of meetings that no knockout of so many bots exceeds, whatever comes of them."""
    players = rules.players
    if rules.lives > 1:
        defeats = rules.lives * bots
        full = defeats // (players - rules.best)
        return full if rules.best == players - 1 else full + bots // players + 2 * players + 3
    most = [0] * players + [1]  # by bots that are left, a non-decreasing bound
    for left in range(players + 1, bots + 1):
        tables = left // players
        after = max(players, left - tables * (players - rules.best))
        most.append(max(most[-1], tables + most[after]))
    return most[bots]
