"""Simulated worlds for `arena crosstable`: rates of misfits where ratings hold, and where they do not.

`python -m tests.support.misfit_worlds` (`make stats`) plays 200 of each kind, prints a table, and exits with 1 when a
promise fails.
"""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tabulate import tabulate

from arena.stats.board import skills_of
from arena.stats.fit import BETA, MU
from arena.stats.head_to_head import compare_pairs
from arena.stats.misfits import misfits, misfitting
from tests.support.worlds import ranks_of

RARE = 1.96
"""What |z| exceeds in 5 % of pairs."""
TIMES = 200


@dataclass(frozen=True)
class World:
    """A board: performances are drawn around a skill. Margin and seat effect in units of beta."""

    bots: int
    players: int
    blocks: int
    """Of each table."""
    spread: float
    """Standard deviation of skills, in units of beta."""
    margin: float = 0.0
    own: float = 0.0
    """Share of luck's variance that a bot has alike in all matches of a block; `shared`: that a seat has."""
    shared: float = 0.0
    seat: float = 0.0
    better: int = 0
    """How many bots, the first ones, are better by `ahead`, in units of beta."""
    ahead: float = 0.0
    circle: float = 0.0
    """With two players: how much better, in units of beta, the first bot is against the second than its skill says, the
    second against the third, the third against the first."""

    def matches(self, seed: int) -> pd.DataFrame:
        """The frame of `arena.results.matches.board_matches`, as far as pairs need it."""
        rng = np.random.default_rng([7, seed])
        skill = rng.normal(MU, self.spread * BETA, self.bots) + BETA * self.ahead * (np.arange(self.bots) < self.better)
        tables = np.array(list(itertools.combinations(range(self.bots), self.players)) * self.blocks)
        entries = tables[:, (np.arange(self.players)[:, None] + np.arange(self.players)) % self.players]
        of_bots = rng.normal(0, math.sqrt(self.own), (len(tables), 1, self.bots)).repeat(self.players, axis=1)
        luck = np.take_along_axis(of_bots, entries, axis=2)
        luck += rng.normal(0, math.sqrt(self.shared), (len(tables), 1, self.players))
        luck += rng.normal(0, math.sqrt(1 - self.own - self.shared), entries.shape)
        luck += np.linspace(self.seat, -self.seat, self.players)
        performance = (skill[entries] + BETA * (luck + self._circling(entries))).reshape(-1, self.players)
        ranks = ranks_of(performance, self.margin * BETA)
        beaten = (ranks[:, None, :] > ranks[:, :, None]).sum(axis=2)
        tied = (ranks[:, None, :] == ranks[:, :, None]).sum(axis=2) - 1
        block, lineup, seat = np.indices(entries.shape)
        columns = {"block": block, "lineup": lineup, "seat": seat, "entry": entries, "rank": ranks}
        frame = pd.DataFrame({name: np.asarray(values).ravel() for name, values in columns.items()})
        names = np.array([f"bot {number}" for number in range(self.bots)], dtype=object)
        returns = (2 * beaten + tied) / (self.players - 1) - 1
        return frame.assign(bot=names[entries.ravel()], return_=returns.ravel())

    def _circling(self, entries: np.ndarray) -> np.ndarray:
        if not self.circle:
            return np.zeros(entries.shape)
        other = entries[:, :, ::-1]
        return self.circle * ((entries < 3) & (other == (entries + 1) % 3))


HELD = {
    "few blocks": World(6, 2, 6, 1.0),
    "fewer still": World(6, 2, 3, 1.5),
    "the least": World(4, 2, 2, 1.5),
    "many won always": World(6, 2, 6, 2.5),
    "many blocks, won always": World(6, 2, 60, 3.0),
    "blocks alike": World(6, 2, 20, 1.5, own=0.3),
    "seats that take turns in luck": World(6, 2, 20, 1.5, shared=0.5),
    "seats that matter": World(12, 2, 6, 2.0, seat=0.2),
    "ties": World(4, 2, 10, 1.5, margin=0.5),
    "three players": World(6, 3, 4, 1.5),
    "three players, ties": World(6, 3, 30, 1.5, margin=1.0),
    "four players, ties": World(6, 4, 10, 1.0, margin=1.0),
    "five players": World(7, 5, 4, 1.5, shared=0.3),
}
"""Worlds that are just as the ratings take them to be."""
CIRCLES = {
    "three bots, 20 blocks": World(3, 2, 20, 0.3, circle=1.0),
    "three bots in circles among eight, 40 blocks": World(8, 2, 40, 1.0, circle=1.0),
    "wide apart, 20 blocks": World(6, 2, 20, 0.3, circle=2.0),
}


def judge(world: World, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All pairs of a world, and those that are called misfits."""
    matches = world.matches(seed)
    fitted = misfits(compare_pairs(matches, world.players), skills_of(matches, world.players), world.players)
    return fitted, misfitting(fitted)


def in_circle(pairs: pd.DataFrame) -> pd.Series:
    """Which pairs are of the circle."""
    circle = ["bot 0", "bot 1", "bot 2"]
    return pairs["bot"].isin(circle) & pairs["opponent"].isin(circle)


def main() -> int:
    """Play all worlds, print what was called a misfit, and say whether the promises hold."""
    failed, rows = [], []
    for name, world in HELD.items():
        judged = [judge(world, seed) for seed in range(TIMES)]
        z = pd.concat([fitted for fitted, _ in judged])["z"]
        rare, named = (z.abs() > RARE).mean(), np.mean([len(found) > 0 for _, found in judged])
        rows.append([name, f"{100 * rare:.1f} %", f"{z.std():.2f}", f"{100 * named:.1f} %"])
        failed += [f"{name}: |z| > {RARE} in at most 8 % of pairs"] if rare > 0.08 else []
        failed += [f"{name}: at most 10 % of boards name a misfit"] if named > 0.1 else []
    print(f"Pairs where ratings hold, {TIMES} boards each: as often as due would be 5 %, deviation 1, at most 5 %.\n")
    print(tabulate(rows, ["", f"|z| > {RARE}", "deviation of z", "boards with a misfit"], disable_numparse=True))
    rows = []
    for name, world in CIRCLES.items():
        found = [in_circle(found).sum() for _, found in (judge(world, seed) for seed in range(TIMES))]
        rows.append([name, f"{np.mean(found):.2f} of 3"])
        failed += [f"{name}: at least half of a circle's pairs are named"] if np.mean(found) < 1.5 else []
    print("\nPairs of three bots that beat each other in a circle, named as misfits.\n")
    print(tabulate(rows, ["", "named"], disable_numparse=True))
    print("\n" + ("; ".join(f"BROKEN: {each}" for each in failed) or "all promises hold"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
