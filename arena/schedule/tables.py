"""Tables: which sets of bots meet."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np

Table = tuple[int, ...]
"""Entries of the schedule."""


@functools.lru_cache(maxsize=64)
def choose_tables(count: int, size: int, most: int) -> tuple[Table, ...]:
    """Return all sets of `size` out of `count` bots, or a balanced choice where there are more than `most`.

    In a choice every bot appears as often as every other, within 2, and so does every pair; no set comes twice. The
    sets are not enumerated: each new table takes the bots that appeared least, then those that met least.
    """
    if size == 0 or count < size:
        return ()
    if math.comb(count, size) <= most:
        return tuple(itertools.combinations(range(count), size))
    if math.comb(count, size) - most < most:  # few are left out: choose those instead
        left_out = set(choose_tables(count, size, math.comb(count, size) - most))
        return tuple(table for table in itertools.combinations(range(count), size) if table not in left_out)
    appeared = np.zeros(count, np.int64)
    met = np.zeros((count, count), np.int64)
    chosen: dict[Table, None] = {}
    while len(chosen) < most:
        table = _next_table(appeared, met, size, chosen)
        chosen[table] = None
        appeared[list(table)] += 1
        met[np.ix_(table, table)] += 1
    np.fill_diagonal(met, 0)
    _balance(chosen, appeared, met)
    return tuple(sorted(chosen))


def _balance(chosen: dict[Table, None], appeared: np.ndarray, met: np.ndarray) -> None:
    """Exchange single bots of tables until counts are within 2, or no exchange helps."""
    pairs = np.triu_indices(len(appeared), 1)
    for _ in range(4 * len(appeared)):
        counts = met[pairs]
        if np.ptp(appeared) <= 2 and np.ptp(counts) <= 2:
            return
        extremes = [(pairs[0][i], pairs[1][i]) for i in (np.argmax(counts), np.argmin(counts))]
        extremes += [(int(np.argmax(appeared)), int(np.argmin(appeared)))]
        wanted = {int(bot) for pair in extremes for bot in pair}
        exchange = _best_exchange([table for table in chosen if wanted.intersection(table)], chosen, appeared, met)
        if exchange is None:
            return
        table, out, into = exchange
        rest = [member for member in table if member != out]
        del chosen[table]
        chosen[tuple(sorted([*rest, into]))] = None
        appeared[out] -= 1
        appeared[into] += 1
        for bot, change in ((out, -1), (into, 1)):
            met[bot, rest] += change
            met[rest, bot] += change


def _best_exchange(
    tables: Sequence[Table], chosen: dict[Table, None], appeared: np.ndarray, met: np.ndarray
) -> tuple[Table, int, int] | None:
    """Return the exchange that lowers most the sum of fourth powers of the counts' distances from their means."""
    pair_mean, bot_mean = met.sum() / (len(met) * (len(met) - 1)), appeared.mean()
    fewer = (appeared - 1 - bot_mean) ** 4 - (appeared - bot_mean) ** 4
    more = (appeared + 1 - bot_mean) ** 4 - (appeared - bot_mean) ** 4
    best, exchange = -1e-9, None
    for table in sorted(tables):
        columns = met[:, table] - pair_mean
        loosened = (columns - 1) ** 4 - columns**4
        tightened = (columns + 1) ** 4 - columns**4
        for place, out in enumerate(table):
            rest = [i for i in range(len(table)) if i != place]
            gain = more + tightened[:, rest].sum(axis=1) + fewer[out] + loosened[out, rest].sum()
            gain[list(table)] = np.inf
            for into in np.argsort(gain, kind="stable")[:4]:
                moved = tuple(sorted([*(table[i] for i in rest), int(into)]))
                if gain[into] < best and moved not in chosen:
                    best, exchange = gain[into], (table, out, int(into))
    return exchange


def _next_table(appeared: np.ndarray, met: np.ndarray, size: int, chosen: dict[Table, None]) -> Table:
    """Return the least used bots that met each other least; the next best set where that one is chosen already."""
    excess = np.maximum(appeared - appeared.min(), 1) * 1e9
    for start in np.argsort(appeared, kind="stable") if len(chosen) else (0,):
        members = [int(start)]
        together = met[start].astype(float)
        while len(members) < size:
            cost = excess + together**2
            cost[members] = np.inf
            pick = int(np.argmin(cost))
            while len(members) + 1 == size and tuple(sorted([*members, pick])) in chosen:
                cost[pick] = np.inf
                pick = int(np.argmin(cost))
                if cost[pick] == np.inf:
                    break
            if cost[pick] == np.inf:
                break
            members.append(pick)
            together += met[pick]
        if len(members) == size:
            return tuple(sorted(members))
    return next(table for table in itertools.combinations(range(len(appeared)), size) if table not in chosen)
