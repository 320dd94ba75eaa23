"""Simulated worlds for pairs tested at once: how often bots that are equal are called different on a board.

`python -m tests.support.family_worlds` (`make stats`) plays 300 boards of each kind, prints a table, and exits with 1
when a promise fails.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from tabulate import tabulate

from arena.results.crosstable import difference_p_values
from arena.stats.head_to_head import compare_pairs
from arena.stats.multiple import FAMILY_WISE_ERROR, holm
from tests.support.misfit_worlds import World

TIMES = 300
HIGHEST_RATE = 0.08
"""What 5 % may look like in 300 boards: two and a half standard errors more."""
LEAST_POWER = 0.9
"""Share of the pairs that are far apart, in the worlds that have any, that are to be found."""

EQUAL = {
    "4 bots, 4 blocks": World(4, 2, 4, 0.0),
    "8 bots, 10 blocks": World(8, 2, 10, 0.0),
    "8 bots, 10 blocks, blocks alike": World(8, 2, 10, 0.0, own=0.5),
    "8 bots, 10 blocks, seats that matter": World(8, 2, 10, 0.0, seat=0.3),
    "8 bots, 20 blocks, ties": World(8, 2, 20, 0.0, margin=0.5),
    "6 bots, 4 players, 10 blocks": World(6, 4, 10, 0.0, margin=0.3),
    "12 bots, 60 blocks": World(12, 2, 60, 0.0),
    "8 bots, 40 blocks, 4 of them better": World(8, 2, 40, 0.0, better=4, ahead=2.0),
    "6 bots, 3 players, 40 blocks, 2 of them better": World(6, 3, 40, 0.0, better=2, ahead=2.0),
}
"""Worlds in which bots are equal, in one group or in two."""


class Judged(NamedTuple):
    """What was said of a board; `alone` is without adjustment, `of_one` of the pairs of the first bot alone."""

    alone: bool
    together: bool
    of_one: bool
    """Whether any two equal bots were called different."""
    power: float
    """Share of the pairs of unequal bots that were found; NaN where there are none."""


def judge(world: World, seed: int) -> Judged:
    """Play a board and test its pairs."""
    compared = compare_pairs(world.matches(seed), world.players)
    p = difference_p_values(compared)
    first, second = (compared[name].str.removeprefix("bot ").astype(int).to_numpy() for name in ("bot", "opponent"))
    equal = (first < world.better) == (second < world.better)
    mine = (first == 0) | (second == 0)
    adjusted, of_one = holm(p), holm(p[mine])
    found = adjusted[~equal] <= FAMILY_WISE_ERROR
    return Judged(
        bool((p[equal] <= FAMILY_WISE_ERROR).any()),
        bool((adjusted[equal] <= FAMILY_WISE_ERROR).any()),
        bool((of_one[equal[mine]] <= FAMILY_WISE_ERROR).any()),
        float(found.mean()) if len(found) else np.nan,
    )


def main() -> int:
    """Play all worlds, print how often equal bots were called different, and say whether the promises hold."""
    failed, rows = [], []
    for name, world in EQUAL.items():
        judged = [judge(world, seed) for seed in range(TIMES)]
        alone, together, of_one = (np.mean([each[place] for each in judged]) for place in range(3))
        power = np.mean([each.power for each in judged])
        shown = "" if np.isnan(power) else f"{100 * power:.1f} %"
        rows.append([name, f"{100 * alone:.1f} %", f"{100 * together:.1f} %", f"{100 * of_one:.1f} %", shown])
        for what, rate in (("all pairs", together), ("one against all", of_one)):
            failed += [f"{name}: {what} err on at most 8 % of boards"] if rate > HIGHEST_RATE else []
        failed += [f"{name}: 90 % of the unequal pairs are found"] if power < LEAST_POWER else []
    print(f"Boards on which equal bots were called different, of {TIMES} each; by Holm's method 5 % at most is due.\n")
    columns = ["", "pairs taken alone", "all pairs, Holm", "one against all, Holm", "unequal pairs found"]
    print(tabulate(rows, columns, disable_numparse=True))
    print("\n" + ("; ".join(f"BROKEN: {each}" for each in failed) or "all promises hold"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
