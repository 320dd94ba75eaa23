"""Pairings: how ranked bots are seated in a round, so that no table meets again while there is another way."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence

Group = frozenset[int]
NOBODY = -1
MAX_SEARCHED_GROUPS = 20_000
"""Sets that are tried for tables of three or more before a table may meet again."""


def seat_round(ranked: Sequence[int], size: int, times: Mapping[Group, int]) -> list[Group]:
    """Return the tables of a round, given bots by rank, a multiple of `size`, and how often sets of them have met.

    No table meets more often than it must; within that, bots meet those that they met least, and of these those next
    in rank.
    """
    for most in itertools.count():
        seated = _pairs(ranked, times, most) if size == 2 else _groups(ranked, size, times, most)
        if seated is not None:
            return seated
    raise AssertionError  # every table has met some number of times


def _pairs(ranked: Sequence[int], times: Mapping[Group, int], most: int) -> list[Group] | None:
    """Return pairs that have met at most so often; None if there is no way to pair everybody."""
    at = range(len(ranked))
    near: list[list[int]] = []
    for one in at:
        met = {other: times.get(Group((ranked[one], ranked[other])), 0) for other in at if other != one}
        near.append(sorted((each for each in met if met[each] <= most), key=lambda each: (met[each], abs(each - one))))
    mate = [NOBODY] * len(ranked)
    for one in at:
        if mate[one] == NOBODY and (free := [other for other in near[one] if mate[other] == NOBODY]):
            mate[one], mate[free[0]] = free[0], one
    for one in at:
        if mate[one] == NOBODY and not _Search(one, near, mate).augment():
            return None
    return [Group((ranked[one], ranked[other])) for one, other in enumerate(mate) if one < other]


class _Search:
    """Search for an alternating path from an unpaired bot to another one, by Edmonds' algorithm."""

    def __init__(self, root: int, near: Sequence[Sequence[int]], mate: list[int]) -> None:
        self.root, self.near, self.mate = root, near, mate
        self.base = [*range(len(mate))]
        """By bot: the base of the odd cycle that it is in, or itself."""
        self.parent = [NOBODY] * len(mate)
        self.reached, self.waiting = {root}, deque([root])

    def augment(self) -> bool:
        """Pair the root and one more; return whether there is a way."""
        while self.waiting:
            one = self.waiting.popleft()
            for other in self.near[one]:
                if self.base[one] == self.base[other] or self.mate[one] == other:
                    continue
                partner = self.mate[other]
                if other == self.root or (partner != NOBODY and self.parent[partner] != NOBODY):
                    self._shrink(one, other)
                elif self.parent[other] == NOBODY:
                    self.parent[other] = one
                    if partner == NOBODY:
                        self._flip(other)
                        return True
                    self._reach(partner)
        return False

    def _reach(self, bot: int) -> None:
        if bot not in self.reached:
            self.reached.add(bot)
            self.waiting.append(bot)

    def _shrink(self, one: int, other: int) -> None:
        """Take the odd cycle that two reached neighbours close for one bot."""
        joint, inside = self._joint(one, other), set[int]()
        for start, child in ((one, other), (other, one)):
            while self.base[start] != joint:
                partner = self.mate[start]
                inside |= {self.base[start], self.base[partner]}
                self.parent[start], child = child, partner
                start = self.parent[partner]
        for each, base in enumerate(self.base):
            if base in inside:
                self.base[each] = joint
                self._reach(each)

    def _joint(self, one: int, other: int) -> int:
        """Return the base at which the paths of two to the root join."""
        seen = {one := self.base[one]}
        while self.mate[one] != NOBODY:
            one = self.base[self.parent[self.mate[one]]]
            seen.add(one)
        while (other := self.base[other]) not in seen:
            other = self.parent[self.mate[other]]
        return other

    def _flip(self, end: int) -> None:
        """Exchange the pairs of the path to a bot for those beside them."""
        while end != NOBODY:
            before = self.parent[end]
            following = self.mate[before]
            self.mate[end], self.mate[before] = before, end
            end = following


def _groups(ranked: Sequence[int], size: int, times: Mapping[Group, int], most: int) -> list[Group] | None:
    """Return tables that have met at most so often; None if there is no such seating, or a long search finds none."""
    met: Counter[Group] = Counter()
    for group, count in times.items():
        met.update({Group(pair): count for pair in itertools.combinations(sorted(group), 2)})
    dead: set[Group] = set()
    chosen: list[Group] = []
    places = {bot: place for place, bot in enumerate(ranked)}
    open_sets = [(ranked, _candidates([ranked[0]], ranked[1:], size, met, places))]
    left = MAX_SEARCHED_GROUPS
    while open_sets:
        rest, groups = open_sets[-1]
        for group in groups:
            left -= 1
            if left < 0:
                return None
            if times.get(group, 0) > most:
                continue
            others = [each for each in rest if each not in group]
            if not others:
                return [*chosen, group]
            if Group(others) not in dead:
                chosen.append(group)
                open_sets.append((others, _candidates([others[0]], others[1:], size, met, places)))
                break
        else:
            dead.add(Group(rest))
            open_sets.pop()
            del chosen[-1:]
    return None


def _candidates(
    members: list[int], rest: Sequence[int], size: int, met: Mapping[Group, int], places: Mapping[int, int]
) -> Iterator[Group]:
    """Yield every set of the members with others: those who met least first, and then those next in rank."""
    if len(members) == size:
        yield Group(members)
        return
    times = {other: sum(met.get(Group((other, member)), 0) for member in members) for other in rest}
    near = sorted(rest, key=lambda other: (times[other], places[other]))
    for at, other in enumerate(near):
        yield from _candidates([*members, other], near[at + 1 :], size, met, places)
