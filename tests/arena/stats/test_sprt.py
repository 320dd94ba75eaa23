"""Sequential tests: the published numbers, an independent maximisation, error rates in simulated worlds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from arena.core.errors import ConfigError
from arena.stats.estimates import fixed_estimate, lead, meets_first, most_likely, stopped_estimate
from arena.stats.sprt import NORMALIZED_ELO_PER_SD, Sprt, block_values, elo_from_score, regularised, score_from_elo
from tests.support import sprt_worlds as worlds

FASTCHESS = [
    ((365, 16618, 36229, 16974, 390), 0, 2, "normalized", 2.25),
    ((127, 4883, 10712, 5150, 104), -1.75, 0.25, "normalized", 3.01),
    ((0, 0, 0, 0, 5550), 0, 5, "normalized", 111.82),
    ((223, 9863, 21279, 10037, 246), 0.5, 2.5, "logistic", -3.07),
    ((871, 26175, 55983, 26678, 821), 0, 2, "logistic", -4.98),
]
"""Pentanomial counts, hypotheses and the ratio, as fastchess's tests of its own SPRT have them."""
FISHTEST = [
    ((3, 20, 50, 22, 5), 0, 20, 0.04032037241670679),
    ((3, 20, 50, 22, 5), -10, 10, 0.9344729113889829),
    ((0, 10, 30, 12, 0), 0, 20, -0.27041453628885204),
    ((12, 40, 60, 30, 8), 0, 20, -2.9973011351582723),
]
"""What fishtest's LLRcalc.LLR_logistic gives, to full precision."""

counts_of_blocks = st.integers(1, 4).flatmap(
    lambda steps: st.lists(st.integers(0, 60), min_size=2 * steps + 1, max_size=2 * steps + 1).filter(any)
)


@pytest.mark.parametrize(("counts", "elo0", "elo1", "model", "expected"), FASTCHESS)
def test_ratios_agree_with_those_that_fastchess_publishes(counts, elo0, elo1, model, expected):
    assert Sprt(elo0, elo1, model=model).llr(np.array(counts)) == pytest.approx(expected, rel=3e-4, abs=0.006)


@pytest.mark.parametrize(("counts", "elo0", "elo1", "expected"), FISHTEST)
def test_ratios_agree_with_fishtests_to_nine_digits(counts, elo0, elo1, expected):
    assert Sprt(elo0, elo1).llr(np.array(counts)) == pytest.approx(expected, abs=1e-9)


def best_log_likelihood(counts, model, elo):
    """The largest log-likelihood under the hypothesis, by a general optimiser over softmax weights."""
    values, weights = block_values(len(counts) - 1), regularised(np.array(counts))

    def shares(z):
        return np.exp(z - z.max()) / np.exp(z - z.max()).sum()

    def broken(z):
        p = shares(z)
        mean = values @ p
        if model == "logistic":
            return mean - score_from_elo(elo)
        return mean - 0.5 - elo / NORMALIZED_ELO_PER_SD * math.sqrt(2) * math.sqrt((values - mean) ** 2 @ p)

    found = minimize(
        lambda z: -weights @ np.log(shares(z)) / weights.sum(),
        np.log(np.maximum(weights, 1) / weights.sum()),
        constraints={"type": "eq", "fun": broken},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert found.success
    return -found.fun * weights.sum()


@pytest.mark.parametrize("model", ["logistic", "normalized"])
@pytest.mark.parametrize("counts", [(5, 9, 14, 12, 3), (7, 3, 9), (2, 1, 4, 3, 9, 8, 3, 2, 6), (40, 2, 3, 2, 41)])
def test_ratios_agree_with_an_independent_maximisation(counts, model):
    expected = best_log_likelihood(counts, model, 40) - best_log_likelihood(counts, model, -20)
    assert Sprt(-20, 40, model=model).llr(np.array(counts)) == pytest.approx(expected, abs=1e-4)


@settings(max_examples=50)
@given(counts_of_blocks, st.sampled_from(["logistic", "normalized"]))
def test_swapping_the_bots_and_the_hypotheses_changes_the_sign_alone(counts, model):
    there, back = Sprt(-5, 30, model=model), Sprt(-30, 5, model=model)
    assert there.llr(np.array(counts)) == pytest.approx(-back.llr(np.array(counts[::-1])), abs=1e-6)


@settings(max_examples=50)
@given(counts_of_blocks)
def test_a_better_block_never_lowers_the_ratio(counts):
    better = np.array(counts)
    better[np.flatnonzero(better)[0]] -= 1
    better[-1] += 1
    assert Sprt().llr(better) >= Sprt().llr(np.array(counts)) - 1e-9


def test_bounds_are_walds():
    test = Sprt(alpha=0.05, beta=0.1)
    assert (test.lower, test.upper) == pytest.approx((math.log(0.1 / 0.95), math.log(0.9 / 0.05)))
    assert [test.verdict(llr) for llr in (test.lower, 0.0, test.upper)] == ["H0", None, "H1"]


def test_elo_and_scores_are_each_others_inverse():
    assert score_from_elo(400) == pytest.approx(10 / 11)
    assert [elo_from_score(score_from_elo(elo)) for elo in (-300, 0, 120)] == pytest.approx([-300, 0, 120])
    assert (elo_from_score(1.0), elo_from_score(0.0)) == pytest.approx((1200, -1200), abs=1)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"elo1": 0}, "elo0 must be below elo1"),
        ({"elo1": 500, "model": "normalized"}, "from -200 to 200"),
        ({"alpha": 0.5}, "alpha = 0.5"),
        ({"model": "bayes"}, "logistic or normalized"),
    ],
)
def test_a_test_that_makes_no_sense_is_refused(changes, told):
    with pytest.raises(ConfigError, match=told):
        Sprt(**changes)


def likely(tests, probability):
    """The most that a count of that probability comes to, but for once in thousands of times."""
    return tests * probability + 3.5 * math.sqrt(tests * probability * (1 - probability))


@pytest.mark.parametrize("model", ["normalized", pytest.param("logistic", marks=pytest.mark.system)])
@pytest.mark.parametrize("name", worlds.SHAPES)
def test_error_rates_are_at_most_alpha_and_beta_and_the_test_is_shorter_than_a_fixed_one(name, model):
    shape, tests = worlds.SHAPES[name], 100
    test = Sprt(0, 60, model=model)
    null, strong = (worlds.world(shape, elo, test, tests) for elo in (0, 60))
    assert null.h1 <= likely(tests, test.alpha)
    assert tests - strong.h1 <= likely(tests, test.beta)
    length = max(worlds.fixed_length(shape, test), 55)  # very short tests wait until 0.001 of a block is little
    assert max(null.mean_blocks, strong.mean_blocks) < length
    assert tests - min(null.covered, strong.covered) <= likely(tests, 0.05)
    assert abs(null.above - 0.5) < 0.2 and abs(strong.above - 0.5) < 0.2


@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_of_equal_bots_few_tests_say_that_one_is_stronger_the_fewer_the_surer(alpha):
    tests, test = 200, Sprt(0, 60, alpha, alpha)
    found = worlds.world(worlds.SHAPES["no ties, opposed"], 0.0, test, tests)
    assert found.wrong and not worlds.broken(found, test, 0.0)
    assert all(count <= likely(tests, worlds.may_be_wrong(sure)) for sure, count in found.wrong.items())


def test_confidence_after_a_test_is_what_its_error_rates_say_or_its_interval_at_95_percent():
    far = np.array([0, 0, 0, 0, 400.0])
    for alpha, sure in ((0.001, 0.999), (0.05, 0.95), (0.07, 0.95)):
        assert lead(far, Sprt(0, 30, alpha)).confidence == sure
        assert lead(far[::-1], Sprt(-30, 0, 0.3, alpha)) == replace(lead(far, Sprt(0, 30, alpha)), sign=-1)
    assert lead(far[::-1], Sprt(0, 30, 0.001, 0.001)).confidence == 0.95  # H0 does not say that B is stronger
    assert lead(far, None).confidence == 0.999
    barely = np.array([9, 20, 31, 31, 14.0])
    test = Sprt(0, 30, 0.3, 0.3)
    assert test.verdict(test.llr(barely)) == "H1" and lead(barely, test).confidence == 0.7


def test_intervals_after_a_fixed_number_of_blocks_cover_the_truth():
    for blocks in (10, 60):
        covered = worlds.fixed_coverage(worlds.SHAPES["many ties"], 0.6, blocks, 400)
        assert 400 * (1 - covered) <= likely(400, 0.06)


def test_an_interval_has_a_width_even_when_all_blocks_are_equal():
    won = fixed_estimate(np.array([0, 0, 0, 0, 7.0]))
    assert won.score == won.high == 1.0 and 0.5 < won.low < 0.8
    assert fixed_estimate(np.array([0, 0, 0, 0, 1.0])).low == 0.0


@settings(max_examples=25)
@given(counts_of_blocks)
def test_estimates_of_swapped_bots_are_mirrored(counts):
    there, back = (fixed_estimate(np.array(each, float)) for each in (counts, counts[::-1]))
    assert (there.low, there.score, there.high) == pytest.approx(
        (1 - back.high, 1 - back.score, 1 - back.low), abs=1e-5
    )


def test_after_a_stop_the_estimate_is_nearer_to_the_bounds_than_the_mean():
    counts, test = np.array([30, 40, 50, 60, 70.0]), Sprt(0, 30)
    assert test.verdict(test.llr(counts)) == "H1"
    assert 0.5 < stopped_estimate(counts, test).score < fixed_estimate(counts).score


def test_a_brownian_motion_meets_its_bounds_as_the_gamblers_ruin_says():
    drift, variance, near, far = 0.02, 0.3, 2.0, -3.0
    ruin = (1 - math.exp(2 * drift * -far / variance)) / (
        math.exp(-2 * drift * near / variance) - math.exp(2 * drift * -far / variance)
    )
    assert meets_first(near, far, drift, variance, 600.0) == pytest.approx(ruin, abs=1e-6)
    assert meets_first(near, far, drift, variance, 1e-3) == pytest.approx(0.0, abs=1e-12)


def test_the_most_likely_distribution_has_its_mean_and_beats_others_with_it():
    values, shares = block_values(4), np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    best = most_likely(values, shares, 0.6)
    assert values @ best == pytest.approx(0.6)
    for step in (np.array([1, -2, 1, 0, 0]), np.array([0, 1, -2, 1, 0]), np.array([0, 0, 1, -2, 1])):
        for size in (1e-3, -1e-3):
            assert shares @ np.log(best + size * step) < shares @ np.log(best)


def test_who_is_stronger_is_what_the_interval_at_95_says_and_the_same_the_other_way_round():
    rng = np.random.default_rng(3)
    for _ in range(60):
        counts = rng.multinomial(rng.integers(1, 80), rng.dirichlet(np.ones(5)))
        told, mirrored, found = lead(counts, None), lead(counts[::-1], None), fixed_estimate(counts)
        assert told.sign == (found.low > 0.5) - (found.high < 0.5) == -mirrored.sign
        assert (told.confidence is None) == (told.sign == 0) and told.confidence == mirrored.confidence
        assert told.more_blocks == mirrored.more_blocks


def test_the_blocks_that_would_tell_do_so_mostly():
    counts = np.array([3, 6, 8, 7, 4])
    more = lead(counts, None).more_blocks
    rng, values = np.random.default_rng(4), np.arange(5) / 4
    truth = counts / counts.sum()
    found = [lead(rng.multinomial(counts.sum() + more, truth), None).sign == 1 for _ in range(200)]
    assert values @ truth > 0.5 and 0.7 < np.mean(found) < 0.9
