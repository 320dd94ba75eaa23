"""Compiled expectation propagation under the TrueSkill model, for one match, for a board, and for its resamples.

Herbrich, Minka and Graepel, "TrueSkill: A Bayesian skill rating system" (NIPS 2006). A bot's skill is
N(mu, sigma^2), its performance in a match N(skill, beta^2); of neighbours in the final order the better performed
higher by more than the draw margin, or within it when they tied. Gaussians are kept as precision (1 / variance) and
precision times mean; `sites` are the Gaussians that stand for the truncations, one for each two neighbours.
"""

import math

import numpy as np

from engine.kernel import kernel, routine

PRECISION, SHIFT = 0, 1
"""The two numbers of a Gaussian: 1 / variance, and mean / variance."""
ROOT_HALF = 0.7071067811865476
ROOT_2_PI = 2.5066282746310002
FAR = 30.0
"""Standard deviations from which on a truncation is computed by its series."""
LONGEST_STEP = 1.5
"""In units of beta: how far a skill may move at once."""
MOST_SWEEPS = 1000
"""Far more than any chain of neighbours needs to settle."""


# Truncated normal distributions


@kernel
def density(x):
    return math.exp(-0.5 * x * x) / ROOT_2_PI


@kernel
def above(x):
    """The standard normal distribution's mean shift and shrinkage when it is cut to values above -x: (v, w).

    v = density(x) / cdf(x), w = v (v + x).
    """
    if x < -FAR:
        square = 1 / (x * x)
        v = -x * (1 + square * (1 - square * (2 - 10 * square)))
        return v, 1 - square * (1 - square * (6 - 50 * square))
    v = density(x) / (0.5 * math.erfc(-x * ROOT_HALF))
    return v, v * (v + x)


@kernel
def within(x, margin):
    """The same when it is cut to values between -margin - x and margin - x."""
    distance = abs(x)
    inner, outer = margin - distance, -margin - distance
    mass = 0.5 * (math.erfc(-inner * ROOT_HALF) - math.erfc(-outer * ROOT_HALF))
    if inner < -FAR:
        v, w = above(inner)  # beyond the nearer edge the density falls exponentially, and the farther one cuts it
        v = -v
        half = -inner * margin
        if half < 25:
            v += 2 * margin / math.expm1(2 * half)
            w += (margin / math.sinh(half)) ** 2
    else:
        v = (density(outer) - density(inner)) / mass
        w = v * v + (inner * density(inner) - outer * density(outer)) / mass
    return (v if x > 0 else -v), w


@kernel
def edges(x, margin):
    """The density at both edges of that interval by the mass between them."""
    distance = abs(x)
    inner, outer = margin - distance, -margin - distance
    if inner < -FAR:
        return above(inner)[0] / math.tanh(-inner * margin)
    mass = 0.5 * (math.erfc(-inner * ROOT_HALF) - math.erfc(-outer * ROOT_HALF))
    return (density(inner) + density(outer)) / mass


# One match


@kernel
def site_of(mean, variance, tied, margin):
    """The Gaussian that stands for what a result says of a difference distributed as N(mean, variance)."""
    spread = math.sqrt(variance)
    if tied:
        v, w = within(mean / spread, margin / spread)
    else:
        v, w = above((mean - margin) / spread)
    w = min(max(w, 0.0), 1.0 - 1e-12)
    kept = 1 - w
    # cut, it has mean `mean + spread v` and variance `variance kept`; the site is what N(mean, variance) lacks of that
    return w / (variance * kept), (w * mean + spread * v) / (variance * kept)


@kernel
def through(precision, shift, site_precision, site_shift):
    """What a performance N(shift / precision, 1 / precision) says of its neighbour's, by a site on the difference."""
    total = precision + site_precision
    if total <= 0:
        return 0.0, 0.0
    return precision * site_precision / total, (shift * site_precision + site_shift * precision) / total


@kernel
def difference(means, variances, left, right, place):
    """Mean and variance of the difference of two neighbours, as all but their own result has it."""
    upper = 1 / variances[place] + left[place, PRECISION]
    lower = 1 / variances[place + 1] + right[place + 1, PRECISION]
    mean = (means[place] / variances[place] + left[place, SHIFT]) / upper
    mean -= (means[place + 1] / variances[place + 1] + right[place + 1, SHIFT]) / lower
    return mean, 1 / upper + 1 / lower


@routine
def sweep(means, variances, tied, margin, sites, left, right):
    """One pass over the chain of neighbours, forward and back; the greatest change of a site, relative to its spread.

    `means` and `variances` (seats,) are of the performances before the match, in the final order. `left` and `right`
    (seats, 2) become what the neighbours before and after say of each performance.
    """
    last = len(means) - 1
    left[0] = 0.0
    right[last] = 0.0
    for place in range(last - 1, 0, -1):
        precision = 1 / variances[place + 1] + right[place + 1, PRECISION]
        shift = means[place + 1] / variances[place + 1] + right[place + 1, SHIFT]
        right[place] = through(precision, shift, sites[place, PRECISION], sites[place, SHIFT])
    change = 0.0
    for step in range(2 * last - 1):
        place = step if step < last else 2 * last - 2 - step
        upper_precision = 1 / variances[place] + left[place, PRECISION]
        upper_shift = means[place] / variances[place] + left[place, SHIFT]
        lower_precision = 1 / variances[place + 1] + right[place + 1, PRECISION]
        lower_shift = means[place + 1] / variances[place + 1] + right[place + 1, SHIFT]
        mean, variance = difference(means, variances, left, right, place)
        precision, shift = site_of(mean, variance, tied[place], margin)
        moved = abs(shift - sites[place, SHIFT]) * math.sqrt(variance)
        change = max(change, moved, abs(precision - sites[place, PRECISION]) * variance)
        sites[place, PRECISION], sites[place, SHIFT] = precision, shift
        if step < last:  # the lower one is the upper one minus the difference
            left[place + 1] = through(upper_precision, upper_shift, precision, -shift)
        if step >= last - 1:
            right[place] = through(lower_precision, lower_shift, precision, shift)
    return change


@kernel
def messages(left, right, beta_square, found):
    """What a match says of its seats' skills, into `found` (seats, 2), from what the neighbours say of performances."""
    for seat in range(len(left)):
        precision = left[seat, PRECISION] + right[seat, PRECISION]
        kept = 1 / (1 + beta_square * precision)
        found[seat, PRECISION] = kept * precision
        found[seat, SHIFT] = kept * (left[seat, SHIFT] + right[seat, SHIFT])


@routine
def rate_in_order(who, tied, mu, sigma, beta_square, margin, accuracy):
    """Rate matches one after the other; `mu` and `sigma` (bots,) change in place.

    `who` (matches, seats) are bots in the final order, `tied` (matches, seats - 1) says which neighbours tied.
    """
    seats = who.shape[1]
    means, variances = np.empty(seats), np.empty(seats)
    sites, left, right, found = (
        np.zeros((seats - 1, 2)),
        np.empty((seats, 2)),
        np.empty((seats, 2)),
        np.empty((seats, 2)),
    )
    for match in range(len(who)):
        for seat in range(seats):
            bot = who[match, seat]
            means[seat], variances[seat] = mu[bot], sigma[bot] ** 2 + beta_square
        sites[:] = 0.0
        for _ in range(MOST_SWEEPS):
            if sweep(means, variances, tied[match], margin, sites, left, right) < accuracy or seats == 2:
                break
        messages(left, right, beta_square, found)
        for seat in range(seats):
            bot = who[match, seat]
            before = 1 / sigma[bot] ** 2
            precision = before + found[seat, PRECISION]
            mu[bot] = (mu[bot] * before + found[seat, SHIFT]) / precision
            sigma[bot] = math.sqrt(1 / precision)


# All matches of a board at once


@kernel
def without(who, mu, precision, said, beta_square, means, variances):
    """The performances in one match as all other matches have them, into `means` and `variances` (seats,)."""
    for seat in range(len(who)):
        bot = who[seat]
        rest = max(precision[bot] - said[seat, PRECISION], 1e-9)
        means[seat] = (precision[bot] * mu[bot] - said[seat, SHIFT]) / rest
        variances[seat] = 1 / rest + beta_square


@routine
def pass_over(who, tied, weights, mu, precision, beta_square, margin, sites, said, sums):
    """One round of expectation propagation over all results.

    `who` (results, seats) are bots in the final order, each result `weights` times; the bots' skills are N(mu,
    1 / precision). `sites` (results, seats - 1, 2) and `said` (results, seats, 2), what each result said of its seats,
    are brought up to date; `sums` (bots, 2) becomes the sum of what all results say. What is said of a bot moves by the
    share of its precision that comes from elsewhere: with whole steps, a result that says more of its bots than all
    else does would swing ever farther.
    """
    seats = who.shape[1]
    means, variances = np.empty(seats), np.empty(seats)
    left, right, found = np.empty((seats, 2)), np.empty((seats, 2)), np.empty((seats, 2))
    for result in range(len(who)):
        if weights[result] == 0:
            continue
        without(who[result], mu, precision, said[result], beta_square, means, variances)
        sweep(means, variances, tied[result], margin, sites[result], left, right)
        messages(left, right, beta_square, found)
        for seat in range(seats):
            rest = 1 / (variances[seat] - beta_square)
            share = rest / (rest + said[result, seat, PRECISION])
            for part in range(2):
                said[result, seat, part] += share * (found[seat, part] - said[result, seat, part])
    add_up(who, weights, said, sums)


@routine
def pull_on_margin(who, tied, weights, mu, precision, beta_square, margin, sites, said):
    """The derivative of the model's log evidence by the draw margin, at the fixed point.

    There it is the sum of d log Z / d margin over the truncations, as sites and messages are stationary (Seeger,
    "Expectation Propagation for Exponential Families", 2005): -density / cdf for each neighbour that is ahead, for one
    that tied the density at both edges by the mass between them.
    """
    seats = who.shape[1]
    means, variances = np.empty(seats), np.empty(seats)
    left, right = np.empty((seats, 2)), np.empty((seats, 2))
    total = 0.0
    for result in range(len(who)):
        without(who[result], mu, precision, said[result], beta_square, means, variances)
        sweep(means, variances, tied[result], margin, sites[result], left, right)
        for place in range(seats - 1):
            mean, variance = difference(means, variances, left, right, place)
            spread = math.sqrt(variance)
            behind, between = above((mean - margin) / spread)[0], edges(mean / spread, margin / spread)
            total += weights[result] * (between if tied[result, place] else -behind) / spread
    return total


@routine
def add_up(who, weights, said, sums):
    """The sum of what all results say of each bot's skill, into `sums` (bots, 2)."""
    sums[:] = 0.0
    for result in range(len(who)):
        if weights[result] > 0:
            for seat in range(who.shape[1]):
                for part in range(2):
                    sums[who[result, seat], part] += weights[result] * said[result, seat, part]


@routine
def curvature(who, weights, beta_square, sites, total):
    """The precision matrix of all skills together that the sites imply, into `total` (bots, bots).

    A result says of its skills D' (diag(1 / site precisions) + beta^2 D D')^-1 D, with D the differences of neighbours.
    """
    seats = who.shape[1]
    last = seats - 1
    root, diagonal, column = np.empty(last), np.empty(last), np.empty(last)
    total[:] = 0.0
    for result in range(len(who)):
        if weights[result] == 0:
            continue
        for place in range(last):
            root[place] = math.sqrt(sites[result, place, PRECISION])
        diagonal[0] = 1 + 2 * beta_square * root[0] ** 2
        for place in range(1, last):
            beside = beta_square * root[place - 1] * root[place]
            diagonal[place] = 1 + 2 * beta_square * root[place] ** 2 - beside**2 / diagonal[place - 1]
        for of in range(last):  # a column of the inverse of a matrix with three diagonals
            for place in range(last):
                column[place] = 1.0 if place == of else 0.0
                if place > 0:
                    column[place] += (
                        beta_square * root[place - 1] * root[place] / diagonal[place - 1] * column[place - 1]
                    )
            for place in range(last - 1, -1, -1):
                if place < last - 1:
                    column[place] += beta_square * root[place] * root[place + 1] * column[place + 1]
                column[place] /= diagonal[place]
            for place in range(last):
                amount = weights[result] * root[of] * root[place] * column[place]
                a, b = who[result, of], who[result, of + 1]
                c, d = who[result, place], who[result, place + 1]
                total[a, c] += amount
                total[b, d] += amount
                total[a, d] -= amount
                total[b, c] -= amount


@routine
def newton_step(mu, precision, prior_precision, prior_shift, sums, total, step, growth):
    """How far the skills are from agreeing with what the results say of them; in sigmas.

    `step` (bots,) becomes the change of `mu` that would bring agreement for all skills together if the sites stayed,
    `growth` (bots,) the logarithm of the change of `precision`.
    """
    gap = np.empty(len(mu))
    matrix = total.copy()
    for bot in range(len(mu)):
        said = prior_precision + sums[bot, PRECISION]
        gap[bot] = prior_shift + sums[bot, SHIFT] - said * mu[bot]
        growth[bot] = math.log(said / precision[bot])
        matrix[bot, bot] += prior_precision
    step[:] = np.linalg.solve(matrix, gap)
    distance = 0.0
    for bot in range(len(mu)):
        distance = max(distance, abs(step[bot]) * math.sqrt(precision[bot]), abs(growth[bot]))
    return distance


@kernel
def turned(now, before):
    """Whether a step goes back on the one before, by more than a third of it."""
    together = square = 0.0
    for place in range(len(now)):
        together += now[place] * before[place]
        square += before[place] ** 2
    return together < -0.3 * square


@routine
def settle(
    who, tied, weights, beta_square, margin, prior_precision, prior_shift, mu, precision, sites, said, accuracy, most
):
    """Bring skills, sites and what the results say to the fixed point, or through `most` rounds; the distance left.

    A step is a Newton step for the means, damped while steps turn back on each other; the results' messages are
    passed twice before each, so that they agree with the skills that they are measured against.
    """
    bots = len(mu)
    sums, total = np.empty((bots, 2)), np.empty((bots, bots))
    step, growth, last_step, last_growth = np.empty(bots), np.empty(bots), np.zeros(bots), np.zeros(bots)
    pace = growth_pace = 1.0
    distance = math.inf
    for _ in range(most):
        for _ in range(2):
            pass_over(who, tied, weights, mu, precision, beta_square, margin, sites, said, sums)
        curvature(who, weights, beta_square, sites, total)
        if not math.isfinite(np.sum(total) + np.sum(sums)):
            return math.inf
        distance = newton_step(mu, precision, prior_precision, prior_shift, sums, total, step, growth)
        if distance < accuracy:
            break
        pace = max(0.1, 0.5 * pace) if turned(step, last_step) else min(1.0, 1.3 * pace)
        growth_pace = max(0.1, 0.5 * growth_pace) if turned(growth, last_growth) else min(1.0, 1.3 * growth_pace)
        last_step[:], last_growth[:] = step, growth
        limit = min(1.0, LONGEST_STEP * math.sqrt(beta_square) / max(np.max(np.abs(step)), 1e-300))
        for bot in range(bots):
            mu[bot] += pace * limit * step[bot]
            precision[bot] *= math.exp(min(max(growth_pace * growth[bot], -2.0), 2.0))
    return distance


# Resampling blocks


@kernel
def random_below(state, limit):
    """A draw from 0 to limit - 1 by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014); `state` (1,) uint64 moves on."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64((z >> np.uint64(11)) % np.uint64(limit))


@routine
def resample(seed, kind, news, draws, counts):
    """Draw `draws` blocks with replacement; `counts` (kinds,) becomes how often each kind of block came.

    `kind` (blocks,) is each block's kind. A block drawn counts with the probability `news[kind]`, else another one is
    drawn. SplitMix64's seeds 0, 1, 2, ... are far apart: the first thing it does with a seed is to scatter it.
    """
    state = np.full(1, np.uint64(seed))
    state[0] = np.uint64(random_below(state, 1 << 53))
    counts[:] = 0.0
    fine = 1 << 30
    drawn = 0
    while drawn < draws:
        chosen = kind[random_below(state, len(kind))]
        if news[chosen] == 1.0 or random_below(state, fine) < news[chosen] * fine:
            counts[chosen] += 1.0
            drawn += 1


@routine
def weigh(counts, held, weights):
    """How often each result came in the blocks drawn; `held` (kinds, matches) are the results of each kind."""
    weights[:] = 0.0
    for kind in range(len(counts)):
        if counts[kind] > 0:
            for match in range(held.shape[1]):
                weights[held[kind, match]] += counts[kind]


@routine
def bootstrap(
    seed, kind, news, draws, held,
    who, tied, beta_square, margin, prior_precision, prior_shift, mu, precision, sites, said,
    accuracy, most, found,
):  # fmt: skip
    """Refit resampled boards, from the fit of the whole board on; `found` (replicates, bots) becomes their means.

    Replicate r is drawn with the chance of `seed` + r.
    """
    bots = len(mu)
    counts, weights = np.empty(len(held)), np.empty(len(who))
    sums, total, step, growth = np.empty((bots, 2)), np.empty((bots, bots)), np.empty(bots), np.empty(bots)
    own_sites, own_said, own_precision = np.empty_like(sites), np.empty_like(said), np.empty(bots)
    for replicate in range(len(found)):
        resample(seed + replicate, kind, news, draws, counts)
        weigh(counts, held, weights)
        means = found[replicate]
        means[:], own_precision[:] = mu, precision
        own_sites[:], own_said[:] = sites, said
        add_up(who, weights, own_said, sums)
        curvature(who, weights, beta_square, own_sites, total)
        newton_step(means, own_precision, prior_precision, prior_shift, sums, total, step, growth)
        limit = min(1.0, LONGEST_STEP * math.sqrt(beta_square) / max(np.max(np.abs(step)), 1e-300))
        for bot in range(bots):
            means[bot] += limit * step[bot]
            own_precision[bot] *= math.exp(growth[bot])
        settle(
            who, tied, weights, beta_square, margin, prior_precision, prior_shift,
            means, own_precision, own_sites, own_said, accuracy, most,
        )  # fmt: skip
