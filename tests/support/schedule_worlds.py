"""Which kind of schedule finds out most: every kind plays simulated worlds whose truth is known.

`python -m tests.support.schedule_worlds` (`make stats`) prints a table by number of players and kind of schedule, and
exits with 1 if a promise fails; with a path it draws the figure of docs/explanation/schedule.md there, as SVG.
"""

from __future__ import annotations

import itertools
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tabulate import tabulate

from arena.schedule.kinds.knockout import Knockout
from arena.schedule.kinds.pyramid import Pyramid
from arena.schedule.kinds.round_robin import RoundRobin
from arena.schedule.kinds.swiss import Swiss
from arena.schedule.scheduler import Scheduler
from arena.schedule.tables import Table
from arena.stats.fit import fit_with_margin, results_of
from tests.support.meetings import PlayedBoard
from tests.support.worlds import SEATS, ranks_of

PLAYERS = (2, 3, 4, 5)
BOTS = 12
WORLDS = 160
MARGIN = 0.1
"""Draw margin, in standard deviations of a match's luck."""
AS_GOOD = 0.1
"""Skill, in the same unit, by which a bot may be behind the best and is taken for it."""
SURE = 0.95
STEP = 3
"""Factor between the sizes that a kind is tried with."""
SIZES = 4


class Trial(NamedTuple):
    """A kind of schedule, and the smallest number of blocks that it is tried with."""

    name: str
    kind: Scheduler
    blocks: int


def trials(players: int) -> list[Trial]:
    """Return the kinds, of which the smallest boards take about as many matches."""
    sets = 132 // players
    return [
        Trial("round robin", RoundRobin(max_tables=sets), 1),
        Trial("swiss", Swiss(), 2),
        Trial("knockout", Knockout(), 4),
        Trial("double knockout", Knockout(elimination="double"), 2),
        Trial("pyramid", Pyramid(), 3),
    ]


class WorldBoard(PlayedBoard):
    """A board of a world: luck is in part a bot's own in a block, and in part its seat's, as common dice make it."""

    def __init__(self, kind: Scheduler, players: int, blocks: int, seed: int) -> None:
        rng = np.random.default_rng([31, seed, players])
        self.skill = rng.normal(0, rng.uniform(0.5, 1.5), BOTS)
        self.worth = rng.permutation(np.linspace(SEATS[2], -SEATS[2], players))
        super().__init__(kind, BOTS, players, blocks, lambda table, _: self.skill[list(table)], rng)

    def performances(self, table: Table, count: int) -> np.ndarray:
        players, normal = len(table), self.rng.normal
        own = normal(0, np.sqrt(1 / 6), (count, players))[:, self.places]
        shared = normal(0, np.sqrt(1 / 6), (count, 1, players))
        shown = self.skill[list(table)][self.places] + self.worth + own + shared
        shown = shown + normal(0, np.sqrt(4 / 6), shown.shape)
        return -ranks_of(shown.reshape(-1, players), MARGIN).reshape(shown.shape).astype(float)


def judge(trial: Trial, players: int, blocks: int, seed: int) -> dict[str, Any]:
    """Play one world; return the matches that it took, whether the best was found, and the share of wrong pairs."""
    played = WorldBoard(trial.kind.with_seed(seed), players, blocks, seed)
    played.play()
    results = results_of(played.entries, played.ranks)
    fitted = np.full(BOTS, -np.inf)
    fitted[results.entries] = fit_with_margin(results, results.times.astype(float)).mu
    pairs = [(a, b) if played.skill[a] > played.skill[b] else (b, a) for a, b in itertools.combinations(range(BOTS), 2)]
    return {
        "players": players,
        "schedule": trial.name,
        "blocks": blocks,
        "matches": len(played.entries),
        "best": bool(played.skill[_winner(played, fitted)] >= played.skill.max() - AS_GOOD),
        "wrong": float(np.mean([fitted[better] <= fitted[worse] for better, worse in pairs])),
    }


def _winner(played: WorldBoard, fitted: np.ndarray) -> int:
    """Return the bot that comes first by a kind's own rule, or else by rating."""
    kind = played.kind
    if isinstance(kind, Swiss):
        return kind.ranking(played.board, played)[0].entry
    if isinstance(kind, Knockout):
        winner = kind.bracket(played.board, played).winner
        assert winner is not None
        return winner
    if isinstance(kind, Pyramid):
        return kind.hill(played.board, played).holder
    return int(np.argmax(fitted))


def judged_with(players: int, worlds: int) -> list[dict[str, Any]]:
    """Return what every kind found out in every world with so many players."""
    return [
        judge(trial, players, trial.blocks * STEP**size, seed)
        for trial in trials(players)
        for size in range(SIZES)
        for seed in range(worlds)
    ]


def judged(worlds: int) -> pd.DataFrame:
    """Return the means over worlds, by players, schedule and blocks."""
    with ProcessPoolExecutor(len(PLAYERS)) as pool:
        rows = [row for part in pool.map(judged_with, PLAYERS, [worlds] * len(PLAYERS)) for row in part]
    keys = ["players", "schedule", "blocks"]
    return pd.DataFrame(rows).groupby(keys, sort=False, as_index=False).mean()


def matches_until(matches: np.ndarray, share: np.ndarray, wanted: float) -> float:
    """Return the matches at which a share is reached, between two sizes on a logarithmic scale; infinite for never."""
    for at, reached in enumerate(share):
        if reached >= wanted:
            if at == 0:
                return float(matches[0])
            part = (wanted - share[at - 1]) / (reached - share[at - 1])
            return float(np.exp(np.log(matches[at - 1]) + part * np.log(matches[at] / matches[at - 1])))
    return float("inf")


def at_matches(matches: np.ndarray, share: np.ndarray, wanted: float) -> float:
    """Return a share at a number of matches, between two sizes on a logarithmic scale."""
    return float(np.interp(np.log(wanted), np.log(matches), share))


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Return what each kind of schedule finds out, by players."""
    rows = []
    for (players, name), part in found.groupby(["players", "schedule"], sort=False):
        matches, best, wrong = (part[column].to_numpy(float) for column in ("matches", "best", "wrong"))
        rows.append(
            {
                "players": players,
                "schedule": name,
                "until best": matches_until(matches, best, SURE),
                "until order": matches_until(matches, 1 - wrong, SURE),
                "best missed": 100 * (1 - at_matches(matches, best, 1000)),
                "pairs wrong": 100 * at_matches(matches, wrong, 1000),
            }
        )
    return pd.DataFrame(rows)


def draw(found: pd.DataFrame, path: Path) -> None:
    """Draw how often the best is found, and the pairs the wrong way round, by matches."""
    import altair as alt
    import vl_convert

    shown = found.assign(missed=100 * (1 - found["best"]), wrong=100 * found["wrong"])
    shown["players"] = shown["players"].astype(str) + " players"
    names = [trial.name for trial in trials(2)]
    axis = alt.Axis(values=[100, 300, 1000, 3000], format=",")
    x = alt.X("matches:Q", scale=alt.Scale(type="log", domain=[90, 4200], nice=False), axis=axis, title="matches")
    colour = alt.Color("schedule:N", title="schedule", sort=names)
    lines = alt.Chart(shown).mark_line(point=True).encode(x=x, color=colour)
    rows = [
        lines.encode(y=alt.Y(f"{column}:Q", title=title))
        .properties(width=190, height=150)
        .facet(column=alt.Column("players:N", title=None))
        for column, title in (("missed", "best missed, %"), ("wrong", "pairs wrong, %"))
    ]
    path.write_text(vl_convert.vegalite_to_svg(alt.vconcat(*rows).to_json()) + "\n")


def broken(table: pd.DataFrame) -> list[str]:
    """Return the promises of docs/explanation/schedule.md that a summary breaks."""
    wrong = table.groupby("schedule")["pairs wrong"].mean()
    kinds = [name for name in wrong.index if name not in ("round robin", "swiss")]
    return [f"{name}: orders bots better than a round robin" for name in kinds if wrong[name] < wrong["round robin"]]


def main() -> int:
    """Print the table, and draw the figure where a path is given."""
    start = time.perf_counter()
    found = judged(WORLDS)
    table = summary(found)
    print(tabulate(table, headers="keys", showindex=False, floatfmt=".0f"))
    print(f"{WORLDS} worlds of {BOTS} bots each, {time.perf_counter() - start:.0f} s")
    for path in sys.argv[1:]:
        draw(found, Path(path))
        found.to_csv(Path(path).with_suffix(".csv"), index=False)
    problems = broken(table)
    for problem in problems:
        print(f"broken: {problem}")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
