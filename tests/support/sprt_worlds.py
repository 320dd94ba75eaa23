"""Sequential tests in simulated worlds of known strength: error rates, lengths, intervals, and who is said to lead.

`make test` plays a few hundred tests a world; `make stats` plays more and prints a table.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from arena.stats.estimates import fixed_estimate, lead, most_likely, stopped_estimate
from arena.stats.sprt import NORMALIZED_ELO_PER_SD, Sprt, block_values, score_from_elo

SHAPES = {
    "no ties, independent": (1, 0, 2, 0, 1),
    "no ties, correlated": (3, 0, 2, 0, 3),
    "no ties, opposed": (1, 0, 8, 0, 1),
    "many ties": (1, 8, 22, 8, 1),
    "three players": (4, 2, 6, 4, 8, 4, 6, 2, 4),
}
"""Shares of the values that a block's score has, before they are tilted to a strength.

With two players the middle one is larger than with independent matches when a pair's matches are opposed (common dice
or openings favour a seat), and smaller when they are alike.
"""
MOST_BLOCKS = 20_000
TESTS = 1000
"""In a world, when all are played; a quarter of that where they are long."""


@dataclass(frozen=True)
class World:
    """What tests in one world came to."""

    tests: int
    h1: int
    """Tests that decided for H1."""
    mean_blocks: float
    covered: int
    """Tests whose 95 % interval held the true score."""
    above: float
    """Share of tests whose estimate was above the truth; ties count half."""
    wrong: dict[float, int]
    """By confidence, the tests that named the wrong bot as the stronger one, or one of two equal bots, so surely."""


def shares_of(shape: tuple[int, ...], score: float) -> np.ndarray:
    """The shape, tilted so that a block's expected score is this."""
    counts = np.array(shape, float)
    values = block_values(len(shape) - 1)
    at = np.flatnonzero(counts)
    shares = np.zeros(len(shape))
    shares[at] = most_likely(values[at], counts[at] / counts.sum(), score)
    return shares


def true_score(shape: tuple[int, ...], elo: float, model: str) -> float:
    """The expected score of a block at so much Elo; for normalised Elo by repeated tilting."""
    if model == "logistic":
        return score_from_elo(elo)
    values, score = block_values(len(shape) - 1), 0.5
    for _ in range(50):
        shares = shares_of(shape, score)
        deviation = math.sqrt((values - values @ shares) ** 2 @ shares)
        score = 0.5 + elo / NORMALIZED_ELO_PER_SD * math.sqrt(2) * deviation
    return score


def play(test: Sprt, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One test, block by block, until it decides; its counts."""
    counts = np.zeros(len(shares))
    for value in rng.choice(len(shares), size=MOST_BLOCKS, p=shares):
        counts[value] += 1
        if test.verdict(test.llr(counts)) is not None:
            break
    return counts


def world(shape: tuple[int, ...], elo: float, test: Sprt, tests: int, seed: int = 1) -> World:
    """Many tests in a world where A is stronger by so much Elo (of the test's model)."""
    rng = np.random.default_rng([seed, *shape])
    score = true_score(shape, elo, test.model)
    shares = shares_of(shape, score)
    ends = [play(test, shares, rng) for _ in range(tests)]
    estimates = [stopped_estimate(counts, test) for counts in ends]
    leads = [lead(counts, test) for counts in ends]
    wrong = [each.confidence for each in leads if each.confidence and each.sign * elo <= 0]
    return World(
        tests=tests,
        h1=sum(test.verdict(test.llr(counts)) == "H1" for counts in ends),
        mean_blocks=float(np.mean([counts.sum() for counts in ends])),
        covered=sum(estimate.low <= score <= estimate.high for estimate in estimates),
        above=float(np.mean([(1 + np.sign(round(estimate.score - score, 9))) / 2 for estimate in estimates])),
        wrong={least: sum(confidence >= least for confidence in wrong) for least in sorted({*wrong})},
    )


def fixed_length(shape: tuple[int, ...], test: Sprt) -> float:
    """Blocks of the fixed test with the same error rates: ((z_alpha + z_beta) deviation / (s1 - s0))^2."""
    from scipy.special import ndtri

    score0, score1 = (true_score(shape, elo, test.model) for elo in (test.elo0, test.elo1))
    values, shares = block_values(len(shape) - 1), shares_of(shape, (score0 + score1) / 2)
    variance = (values - values @ shares) ** 2 @ shares
    return float((ndtri(1 - test.alpha) + ndtri(1 - test.beta)) ** 2 * variance / (score1 - score0) ** 2)


def fixed_coverage(shape: tuple[int, ...], score: float, blocks: int, tests: int, seed: int = 1) -> float:
    """How often the interval after a fixed number of blocks holds the true score."""
    rng = np.random.default_rng([seed, blocks, *shape])
    counts = rng.multinomial(blocks, shares_of(shape, score), size=tests)
    intervals = map(fixed_estimate, counts.astype(float))
    return sum(each.low <= score <= each.high for each in intervals) / tests


def may_be_wrong(sure: float) -> float:
    """How often a bot may be named that is not stronger: as often as a verdict errs, or the interval on its side."""
    return 1 - sure + (0.025 if sure <= 0.95 else 0.0)


def broken(found: World, test: Sprt, elo: float) -> bool:
    """Whether a promise on error rates fails, beyond three Monte-Carlo standard errors."""

    def too_many(count: int, rate: float) -> bool:
        return count / found.tests > rate + 3 * (rate * (1 - rate) / found.tests) ** 0.5

    return (
        (elo == test.elo0 and too_many(found.h1, test.alpha))
        or (elo == test.elo1 and too_many(found.tests - found.h1, test.beta))
        or any(too_many(count, may_be_wrong(sure)) for sure, count in found.wrong.items())
    )


def main(tests: int = TESTS) -> int:
    """Play all tests, print how they ended, and say whether the promises hold."""
    print(f"\nSequential tests in worlds of known strength: {tests:,} each; alpha and beta 0.05; blocks in brackets")
    failed = 0
    for test in (Sprt(), Sprt(0, 10), Sprt(-100, 100), Sprt(0, 20, model="normalized")):
        print(f"elo0 {test.elo0:g}, elo1 {test.elo1:g}, {test.model}")
        for name, shape in SHAPES.items():
            told = []
            for elo in (test.elo0, (test.elo0 + test.elo1) / 2, test.elo1, 2 * test.elo1):
                found = world(shape, elo, test, tests // 4 if test.elo1 == 10 else tests)
                failed += broken(found, test, elo)
                told.append(
                    f"{elo:g}: H1 {found.h1 / found.tests:.3f} [{found.mean_blocks:,.0f}] "
                    f"interval {found.covered / found.tests:.3f}, above {found.above:.2f}"
                    + "".join(
                        f", wrong though sure at {100 * sure:g} % {count / found.tests:.3f}"
                        for sure, count in found.wrong.items()
                    )
                    + (" BROKEN" if broken(found, test, elo) else "")
                )
            print(f"  {name} (fixed test: {fixed_length(shape, test):,.0f})", *told, sep="\n    ", flush=True)
    for blocks in (5, 20, 100, 1000):
        told = [f"{name} {fixed_coverage(shape, 0.6, blocks, tests):.3f}" for name, shape in SHAPES.items()]
        print(f"interval after {blocks} blocks, true score 0.6:", "; ".join(told), flush=True)
    print(f"{failed} error rates are too high" if failed else "all error rates hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
