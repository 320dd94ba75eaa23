"""Tests of counts, with bounds on how often chance alone makes them fail: rigorous ones, of Chernoff and Hoeffding.

A test gives how surprising a count is: the probability of one as far off on its side is at most `exp(-surprise)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import inf, log

import numpy as np

FALSE_ALARM_PROBABILITY = 1e-6
"""Probability with which chance alone makes a game fail that keeps the contract, over all checks of it together."""
CHECKS_BY_CHANCE = 3
"""Checks among which it is shared out."""


def most_surprise(tests: int) -> float:
    """Return the surprise beyond which one of so many two-sided tests of a check fails."""
    return log(2 * max(tests, 1) * CHECKS_BY_CHANCE / FALSE_ALARM_PROBABILITY)


def surprise(count: int, draws: int, chance: float) -> float:
    """Return how surprising a count among independent draws is, each with this chance (Chernoff's bound)."""
    found = 0.0
    for seen, expected in ((count, draws * chance), (draws - count, draws * (1 - chance))):
        if seen:
            found += seen * log(seen / expected) if expected > 0 else inf
    return max(found, 0.0)


def surprises(one: np.ndarray, other: np.ndarray, size: int) -> np.ndarray:
    """Return how surprising counts in two samples of one size are, if both are of one distribution.

    Given what both hold together, they are drawn without replacement, so that Hoeffding's bound for fair coins holds.
    """
    total = one + other
    room = 2 * np.minimum(total, 2 * size - total)
    return np.where(room > 0, (one - other) ** 2 / np.maximum(room, 1), 0.0)


def odd_category(one: Sequence[Hashable], other: Sequence[Hashable], tests: int) -> tuple[Hashable, int, int] | None:
    """Return the category that two samples of one size hold most surprisingly often each, and how often; None if none.

    `tests` is the number of tests of which these are some.
    """
    counts = Counter(one), Counter(other)
    kinds = sorted(counts[0] | counts[1], key=lambda kind: counts[0][kind] + counts[1][kind])  # of equals the rarest
    first, second = (np.array([count[kind] for kind in kinds]) for count in counts)
    found = odd_count(first, second, len(one), tests)
    return found and (kinds[found[0]], *found[1:])


def odd_threshold(one: np.ndarray, other: np.ndarray, tests: int) -> tuple[int, int, int] | None:
    """Return the number up to which the numbers of two samples are most surprisingly many; None if none is."""
    limits = np.union1d(one, other)
    upto, other_upto = (np.searchsorted(np.sort(numbers), limits, side="right") for numbers in (one, other))
    found = odd_count(upto, other_upto, one.size, tests)
    return found and (int(limits[found[0]]), *found[1:])


def odd_count(one: np.ndarray, other: np.ndarray, size: int, tests: int) -> tuple[int, int, int] | None:
    """Return the index of the most surprising pair of counts and the pair; None if none is too surprising."""
    found = surprises(one, other, size)
    worst = int(np.argmax(found))
    if found[worst] <= most_surprise(tests):
        return None
    return worst, int(one[worst]), int(other[worst])


def bit_counts(words: np.ndarray) -> np.ndarray:
    """Return how many rows of uint64 words have each bit set, the lowest bit of the first word first."""
    octets = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
    counts = np.zeros(8 * octets.shape[1], np.int64)
    for part in np.array_split(octets, max(1, len(octets) // 1000)):  # a bit takes a byte
        counts += np.unpackbits(part, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return counts
