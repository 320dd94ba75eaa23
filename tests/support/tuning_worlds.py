"""Simulated tuning runs: a response surface whose optimum is known, and parameters without any effect.

`python -m tests.support.tuning_worlds` (`make stats`) plays all, prints a table, and exits with 1 if a promise fails.
Iterations are those of `arena.schedule.tuning_iterations`, and the claim is made as `arena.results.tuning` does;
only matches are drawn instead of played.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from tabulate import tabulate

from arena.core.limits import Limits
from arena.results.tuning import overall
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board, Entry
from arena.schedule.kinds.tuning import START, Tuning
from arena.schedule.tuning.space import TunedParameter, point_of
from arena.schedule.tuning.spsa import Gains
from arena.schedule.tuning_iterations import (
    compared_values,
    next_schedule,
    planned_values,
    recommended,
    tuning_of,
    with_bots,
)
from arena.stats.estimates import ScoreEstimate, fixed_estimate
from arena.stats.sprt import block_values

SURFACE = (
    TunedParameter(name="weight", low=0.0, high=2.0, whole=False, default=1.0),
    TunedParameter(name="depth", low=1, high=20, whole=True, default=3),
    TunedParameter(name="rate", low=0.01, high=10.0, whole=False, scale="log", default=1.0),
)
PEAK = (0.7, 0.6, 0.3)
"""Places of the optimum."""
START_VALUES = (0.3, 4, 3.0)
HEIGHT = 2.0
"""Mean return that is lost at the distance of a whole range."""
NOISE = 0.9
"""Deviation of a block's difference of returns."""
STATED_ERROR = 0.1
"""Share of the range by which values are off at most, in the mean over parameters and runs."""
TIMES = 400
CLAIM_RATE = 0.025
"""Of claims that a parameter without an effect has made the bot stronger: those of a 95 % interval, one-sided."""


@dataclass(frozen=True)
class BoardWorld:
    """What `arena.results.tuning.overall` reads of a board."""

    counts: np.ndarray
    values: np.ndarray

    @property
    def difference(self) -> ScoreEstimate:
        """As of a comparison."""
        return fixed_estimate(self.counts, values=self.values).difference


def first_schedule(
    method: str = "spsa",
    iterations: int = 100,
    blocks: int = 32,
    seed: int = 0,
    parameters: Sequence[TunedParameter] = SURFACE,
    start: Sequence[float] = START_VALUES,
    players: Sequence[int] = (2,),
    sampler: str = "",
) -> Schedule:
    """Return the plan of the first iteration."""
    tuning = Tuning(
        method=method,
        parameters=tuple(parameters),
        start_values=tuple(start),
        iterations=iterations,
        iteration_blocks=blocks,
        final_blocks=1000,
        gains=Gains(step=0.4, reach=0.2, delay=iterations // 10) if method == "spsa" else None,
        sampler=sampler,
        fillers=(START,) if max(players) > 2 else (),
    )
    params = dict(zip((each.name for each in parameters), start, strict=True))
    entry = Entry(START, START, "bot", identity(params), True, params)
    boards = tuple(Board("surface", "{}", number, 1, (), blocks, 0) for number in players)
    schedule = Schedule(seed, (entry,), boards, False, tuning, Limits())
    return with_bots(schedule, tuning, compared_values(schedule), identity)


def identity(params: dict[str, object]) -> str:
    """Return the identity of a bot without a source."""
    return f"bot@{json.dumps(params, sort_keys=True)}"


def height(values: Sequence[float], parameters: Sequence[TunedParameter] = SURFACE) -> float:
    """Return what values are worth: a parabola with its summit at the peak."""
    places = point_of(parameters, values)
    return -HEIGHT * sum((place - peak) ** 2 for place, peak in zip(places, PEAK, strict=True)) / len(places)


def tuned(
    schedule: Schedule, worth: Callable[[Sequence[float]], float] = height, noise: float = NOISE, seed: int = 0
) -> Schedule:
    """Return the last plan of a run, with differences of a given mean and drawn noise."""
    rng = random.Random(seed)
    while not tuning_of(schedule).is_final:
        one, other = planned_values(schedule)
        deviation = noise / math.sqrt(schedule.boards[0].blocks)
        found = [worth(one) - worth(other) + rng.gauss(0.0, deviation) for _ in schedule.boards]
        schedule = next_schedule(schedule, found, identity)
    return schedule


def error(schedule: Schedule) -> float:
    """Return the mean share of a range by which the result of a run is off."""
    places = point_of(SURFACE, recommended(schedule.scheduler))
    return sum(abs(place - peak) for place, peak in zip(places, PEAK, strict=True)) / len(places)


def claims(boards: int, blocks: int, seed: int) -> tuple[bool, bool]:
    """Return whether a run without any effect claims that it has made the bot stronger, or weaker."""
    schedule = tuned(first_schedule(iterations=20, seed=seed), lambda values: 0.0, seed=seed)
    rng = np.random.default_rng(schedule.seed)
    values = block_values(4)
    shares = np.array([1, 2, 3, 2, 1]) / 9
    worlds = [BoardWorld(rng.multinomial(blocks, shares), values) for _ in range(boards)]
    found = overall(worlds)
    return found.low > 0, found.high < 0


def main() -> int:
    """Play all worlds and print what was found."""
    errors = [error(tuned(first_schedule(seed=seed), seed=seed)) for seed in range(40)]
    rows = [("known surface, 100 iterations of 32 blocks", "mean error", np.mean(errors), f"at most {STATED_ERROR}")]
    failed = np.mean(errors) > STATED_ERROR
    for boards in (1, 3):
        for blocks in (50, 400):
            found = np.array([claims(boards, blocks, seed) for seed in range(TIMES)])
            better = found[:, 0].mean()
            most = CLAIM_RATE + 3 * math.sqrt(CLAIM_RATE * (1 - CLAIM_RATE) / TIMES)
            failed |= better > most
            name = f"no effect, {boards} boards of {blocks} final blocks"
            rows.append((name, "claims of improvement", better, f"at most {CLAIM_RATE}"))
    print(tabulate(rows, headers=["world", "", "found", "promised"], floatfmt=".3f"))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
