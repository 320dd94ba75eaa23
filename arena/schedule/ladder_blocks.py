"""Which tables of a ladder's board play how many blocks in a round: a pure function of what is known of the bots.

First come bots that have played little (placement), against opponents from all over the field; then every bot that has
no block yet (the floor); then neighbours in rank whose order is least certain. No matrix of all pairs is made.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arena.schedule.ladder_tally import Belief
from arena.schedule.tables import choose_tables

Labels = tuple[str, ...]
"""A table: the labels of its bots in order."""
NEIGHBOURS = 8
"""Bots behind each one, by rank, whose order with it is looked at."""
NEAREST = 3
"""Bots around a place in the ranking of which the one with the fewest blocks in the round is taken."""
MAX_LOAD_FACTOR = 4
"""Blocks of one bot in a round, for each block that a bot has there on average, before others come."""
RATING_DECIMALS = 3
"""Ratings are rounded so, and equal ones ordered by label, so that machines that differ in a last digit agree."""
DOUBT_STEPS = 1000
"""Doubts are rounded to whole numbers of which this many are one, for the same reason."""


class RoundRules(NamedTuple):
    """How blocks are given out on one board."""

    players: int
    placement: int
    """Blocks that a bot plays before any other bot gets more than the floor."""
    floor: int
    """Blocks of every bot in a round."""
    budget: int
    """Blocks of a round; more only where the floor needs them."""
    max_blocks: int
    """Blocks from which a bot is settled: a table of settled bots alone plays no more."""


def give_blocks(
    rules: RoundRules, number: int, beliefs: Mapping[str, Belief], played: Mapping[Labels, int]
) -> Counter[Labels]:
    """Return the blocks of round `number` by table; `beliefs` are those of the bots that play, `played` are before."""
    ranked = sorted(beliefs, key=lambda label: (-round(beliefs[label].mean, RATING_DECIMALS), label))
    if len(ranked) < rules.players:
        return Counter()
    giving = _Round(rules, ranked, played)
    giving.place()
    giving.give_floor(number)
    giving.give_by_doubt(beliefs)
    return giving.given


def nightly_blocks(
    players: int, labels: Sequence[str], blocks: int, max_blocks: int, max_tables: int, played: Mapping[Labels, int]
) -> Counter[Labels]:
    """Return as many blocks for every table, or for a balanced choice where there are more than `max_tables`."""
    names, done = sorted(labels), _blocks_by_bot(played)
    tables = (tuple(names[place] for place in table) for table in choose_tables(len(names), players, max_tables))
    return Counter({table: blocks for table in tables if any(done[label] < max_blocks for label in table)})


def _blocks_by_bot(played: Mapping[Labels, int]) -> Counter[str]:
    done: Counter[str] = Counter()
    for table, count in played.items():
        for label in table:
            done[label] += count
    return done


class _Round:
    """A round of one board while its blocks are given out."""

    def __init__(self, rules: RoundRules, ranked: Sequence[str], played: Mapping[Labels, int]) -> None:
        self.rules, self.ranked = rules, ranked
        self.place_of = {label: place for place, label in enumerate(ranked)}
        self.done = _blocks_by_bot(played)
        self.given: Counter[Labels] = Counter()
        self.load: Counter[str] = Counter()
        """Blocks of each bot in this round."""
        self.total = 0
        self.open = dict.fromkeys(label for label in ranked if self.done[label] < rules.max_blocks)
        """Bots that are not settled, by rank."""
        self._lacking = [0] * rules.floor + [len(self.open)]
        """Of these, how many lack so many blocks of the floor."""
        self.budget = max(rules.budget, self._reserve())

    def _reserve(self) -> int:
        """Return the blocks that the floor may still take: each table but one a pass seats bots that lack one alone."""
        total = sum(blocks * bots for blocks, bots in enumerate(self._lacking))
        most = max((blocks for blocks, bots in enumerate(self._lacking) if bots), default=0)
        return -(-total // self.rules.players) + most

    def _give(self, labels: Sequence[str]) -> None:
        for label in labels:
            lacking = self.rules.floor - self.load[label]
            if lacking > 0 and label in self.open:
                self._lacking[lacking] -= 1
                self._lacking[lacking - 1] += 1
        self.given[tuple(sorted(labels))] += 1
        self.load.update(labels)
        self.total += 1

    def place(self) -> None:
        """Give bots that have played little their next blocks, those with the fewest first, within the budget."""
        newcomers = [label for label in self.open if self.done[label] < self.rules.placement]
        for label in sorted(newcomers, key=lambda label: (self.done[label], label)):
            while (number := self.done[label] + self.load[label]) < self.rules.placement:
                if self.total + 1 + self._reserve() > self.budget:
                    return
                self._give(self._spread_table(label, number))

    def _spread_table(self, label: str, number: int) -> list[str]:
        """Return a bot with opponents from all over the ranking; other ones for each number of a block."""
        seats = self.rules.players - 1
        table, start = [label], _spread(number + 1)
        for seat in range(seats):
            share = (start + seat / seats) % 1.0
            table.append(self._near(int(share * len(self.ranked)), table))
        return table

    def _near(self, place: int, table: Sequence[str]) -> str:
        """Return, of the bots nearest to a place in the ranking, the one with the fewest blocks in the round."""
        found: list[str] = []
        for distance in range(len(self.ranked)):
            for at in {place - distance, place + distance}:
                if 0 <= at < len(self.ranked) and self.ranked[at] not in table:
                    found.append(self.ranked[at])
            if len(found) >= NEAREST:
                break
        return min(found, key=lambda label: (self.load[label], abs(self.place_of[label] - place), label))

    def give_floor(self, number: int) -> None:
        """Give every bot that is not settled its floor: neighbours in rank meet, from round to round other ones."""
        seats = self.rules.players
        for _ in range(self.rules.floor):
            lacking = [label for label in self.open if self.load[label] < self.rules.floor]
            start = number % seats
            lacking = lacking[start:] + lacking[:start]
            for at in range(0, len(lacking), seats):
                table = lacking[at : at + seats]
                while len(table) < seats:
                    table.append(self._near(self.place_of[table[0]], table))
                self._give(table)

    def give_by_doubt(self, beliefs: Mapping[str, Belief]) -> None:
        """Give what is left of the budget to neighbours in rank: by the doubt of their order and what a block tells."""
        settled = {*self.ranked} - {*self.open}
        waiting: list[tuple[int, int, int, int]] = []
        for one in range(len(self.ranked)):
            for other in range(one + 1, min(one + 1 + NEIGHBOURS, len(self.ranked))):
                a, b = self.ranked[one], self.ranked[other]
                if not (a in settled and b in settled) and (doubt := _doubt(beliefs[a], beliefs[b])):
                    waiting.append((-doubt, one, other, doubt))
        heapq.heapify(waiting)
        most = MAX_LOAD_FACTOR * -(-self.budget * self.rules.players // len(self.ranked))
        times: Counter[tuple[int, int]] = Counter()
        while waiting and self.total < self.budget:
            _, one, other, doubt = heapq.heappop(waiting)
            table = [self.ranked[one], self.ranked[other]]
            if max(self.load[label] for label in table) >= most:
                continue
            while len(table) < self.rules.players:
                table.append(self._near((one + other) // 2, table))
            self._give(table)
            times[one, other] += 1
            heapq.heappush(waiting, (-(doubt // (1 + times[one, other])), one, other, doubt))


def _doubt(one: Belief, other: Belief) -> int:
    """Return the probability of the other order times the variance of the difference, as a whole number."""
    variance = one.variance + other.variance
    wrong = 0.5 * math.erfc(abs(one.mean - other.mean) / math.sqrt(2 * variance))
    return round(DOUBT_STEPS * wrong * variance)


def _spread(number: int) -> float:
    """Return numbers from 0 to 1 of which any first few lie evenly: 1/2, 1/4, 3/4, 1/8 (van der Corput's sequence)."""
    found, part = 0.0, 0.5
    while number:
        found += part * (number % 2)
        number, part = number // 2, part / 2
    return found
