"""Compiled expectation propagation under the TrueSkill model, for one match, for a board, and for its resamples.

Herbrich, Minka and Graepel, "TrueSkill: A Bayesian skill rating system" (NIPS 2006). A bot's skill is
N(mu, sigma^2), its performance in a match N(skill, beta^2); of neighbours in the final order the better performed
higher by more than the draw margin, or within it when they tied. Gaussians are kept as precision (1 / variance) and
precision times mean; `sites` are the Gaussians that approximate the truncations, one for each two neighbours.
A distribution's cavity is what it is without one result's contribution.
"""

import math

import numpy as np

from arena.stats.factors import Beliefs
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
"""Far more than any chain of neighbours needs to converge."""


# Truncated normal distributions


@kernel
def density(x):
    return math.exp(-0.5 * x * x) / ROOT_2_PI


@kernel
def win_corrections(x):
    """Return v and w of the paper for a win: mean shift and shrinkage of N(0, 1) truncated to values above -x.

    v = density(x) / cdf(x), w = v (v + x).
    """
    if x < -FAR:
        square = 1 / (x * x)
        v = -x * (1 + square * (1 - square * (2 - 10 * square)))
        return v, 1 - square * (1 - square * (6 - 50 * square))
    v = density(x) / (0.5 * math.erfc(-x * ROOT_HALF))
    return v, v * (v + x)


@kernel
def draw_corrections(x, margin):
    """Return v and w of the paper for a draw: N(0, 1) truncated to values between -margin - x and margin - x."""
    distance = abs(x)
    inner, outer = margin - distance, -margin - distance
    mass = 0.5 * (math.erfc(-inner * ROOT_HALF) - math.erfc(-outer * ROOT_HALF))
    if inner < -FAR:
        v, w = win_corrections(
            inner
        )  # beyond the nearer edge the density falls exponentially, and the farther one cuts it
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
def edge_density(x, margin):
    """Return the density at both edges of that interval, divided by the mass between them."""
    distance = abs(x)
    inner, outer = margin - distance, -margin - distance
    if inner < -FAR:
        return win_corrections(inner)[0] / math.tanh(-inner * margin)
    mass = 0.5 * (math.erfc(-inner * ROOT_HALF) - math.erfc(-outer * ROOT_HALF))
    return (density(inner) + density(outer)) / mass


# One match


@kernel
def match_moments(mean, variance, tied, margin):
    """Return the site of a truncation: the Gaussian that changes N(mean, variance) to the truncated one's moments."""
    spread = math.sqrt(variance)
    if tied:
        v, w = draw_corrections(mean / spread, margin / spread)
    else:
        v, w = win_corrections((mean - margin) / spread)
    w = min(max(w, 0.0), 1.0 - 1e-12)
    kept = 1 - w
    # truncated, it has mean `mean + spread v` and variance `variance kept`; the site is that over N(mean, variance)
    return w / (variance * kept), (w * mean + spread * v) / (variance * kept)


@kernel
def pass_message(precision, shift, site_precision, site_shift):
    """Return the message from a performance N(shift / precision, 1 / precision) to its neighbour's, through a site."""
    total = precision + site_precision
    if total <= 0:
        return 0.0, 0.0
    return precision * site_precision / total, (shift * site_precision + site_shift * precision) / total


@kernel
def neighbour_cavity(means, variances, left, right, place):
    """Return mean and variance of the difference of two neighbours' performances, without the site between them."""
    upper = 1 / variances[place] + left[place, PRECISION]
    lower = 1 / variances[place + 1] + right[place + 1, PRECISION]
    mean = (means[place] / variances[place] + left[place, SHIFT]) / upper
    mean -= (means[place + 1] / variances[place + 1] + right[place + 1, SHIFT]) / lower
    return mean, 1 / upper + 1 / lower


@routine
def sweep(means, variances, tied, margin, sites, left, right):
    """Pass messages along the chain of neighbours and back; return the greatest change of a site, by its spread.

    `means` and `variances` (seats,) are of the performances before the match, in the final order. `left` and `right`
    (seats, 2) become the messages to each performance from the neighbours before and after it.
    """
    last = len(means) - 1
    left[0] = 0.0
    right[last] = 0.0
    for place in range(last - 1, 0, -1):
        precision = 1 / variances[place + 1] + right[place + 1, PRECISION]
        shift = means[place + 1] / variances[place + 1] + right[place + 1, SHIFT]
        right[place] = pass_message(precision, shift, sites[place, PRECISION], sites[place, SHIFT])
    change = 0.0
    for step in range(2 * last - 1):
        place = step if step < last else 2 * last - 2 - step
        upper_precision = 1 / variances[place] + left[place, PRECISION]
        upper_shift = means[place] / variances[place] + left[place, SHIFT]
        lower_precision = 1 / variances[place + 1] + right[place + 1, PRECISION]
        lower_shift = means[place + 1] / variances[place + 1] + right[place + 1, SHIFT]
        mean, variance = neighbour_cavity(means, variances, left, right, place)
        precision, shift = match_moments(mean, variance, tied[place], margin)
        moved = abs(shift - sites[place, SHIFT]) * math.sqrt(variance)
        change = max(change, moved, abs(precision - sites[place, PRECISION]) * variance)
        sites[place, PRECISION], sites[place, SHIFT] = precision, shift
        if step < last:  # the lower one is the upper one minus the difference
            left[place + 1] = pass_message(upper_precision, upper_shift, precision, -shift)
        if step >= last - 1:
            right[place] = pass_message(lower_precision, lower_shift, precision, shift)
    return change


@kernel
def skill_messages(left, right, beta_square, found):
    """Write the messages from a match to its seats' skills to `found` (seats, 2)."""
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
        skill_messages(left, right, beta_square, found)
        for seat in range(seats):
            bot = who[match, seat]
            before = 1 / sigma[bot] ** 2
            precision = before + found[seat, PRECISION]
            mu[bot] = (mu[bot] * before + found[seat, SHIFT]) / precision
            sigma[bot] = math.sqrt(1 / precision)


# All matches of a board at once


@kernel
def cavity(who, beliefs, messages, beta_square, means, variances):
    """Write the performances in one match without its own messages to `means` and `variances` (seats,)."""
    for seat in range(len(who)):
        bot = who[seat]
        rest = max(beliefs.precision[bot] - messages[seat, PRECISION], 1e-9)
        means[seat] = (beliefs.precision[bot] * beliefs.mu[bot] - messages[seat, SHIFT]) / rest
        variances[seat] = 1 / rest + beta_square


@routine
def propagate(orders, weights, model, beliefs, sums):
    """Run one round of expectation propagation over all results, each of which counts `weights` times.

    Sites and messages are brought up to date; `sums` (bots, 2) becomes the sum of all messages to a bot. A message
    moves by the share of the bot's precision that comes from elsewhere: with whole steps, a result that says more of
    its bots than all else does would swing ever farther.
    """
    who, tied, messages = orders.who, orders.tied, beliefs.messages
    seats = who.shape[1]
    means, variances = np.empty(seats), np.empty(seats)
    left, right, found = np.empty((seats, 2)), np.empty((seats, 2)), np.empty((seats, 2))
    for result in range(len(who)):
        if weights[result] == 0:
            continue
        cavity(who[result], beliefs, messages[result], model.beta_square, means, variances)
        sweep(means, variances, tied[result], model.margin, beliefs.sites[result], left, right)
        skill_messages(left, right, model.beta_square, found)
        for seat in range(seats):
            rest = 1 / (variances[seat] - model.beta_square)
            share = rest / (rest + messages[result, seat, PRECISION])
            for part in range(2):
                messages[result, seat, part] += share * (found[seat, part] - messages[result, seat, part])
    sum_messages(who, weights, messages, sums)


@routine
def margin_gradient(orders, weights, model, beliefs):
    """Return the derivative of the model's log evidence by the draw margin, at the fixed point.

    There it is the sum of d log Z / d margin over the truncations, as sites and messages are stationary (Seeger,
    "Expectation Propagation for Exponential Families", 2005): -density / cdf for each neighbour that is ahead, for one
    that tied the density at both edges by the mass between them.
    """
    who, tied, margin = orders.who, orders.tied, model.margin
    seats = who.shape[1]
    means, variances = np.empty(seats), np.empty(seats)
    left, right = np.empty((seats, 2)), np.empty((seats, 2))
    total = 0.0
    for result in range(len(who)):
        cavity(who[result], beliefs, beliefs.messages[result], model.beta_square, means, variances)
        sweep(means, variances, tied[result], margin, beliefs.sites[result], left, right)
        for place in range(seats - 1):
            mean, variance = neighbour_cavity(means, variances, left, right, place)
            spread = math.sqrt(variance)
            behind = win_corrections((mean - margin) / spread)[0]
            between = edge_density(mean / spread, margin / spread)
            total += weights[result] * (between if tied[result, place] else -behind) / spread
    return total


@routine
def sum_messages(who, weights, messages, sums):
    """Write the sum of all messages to each bot's skill to `sums` (bots, 2)."""
    sums[:] = 0.0
    for result in range(len(who)):
        if weights[result] > 0:
            for seat in range(who.shape[1]):
                for part in range(2):
                    sums[who[result, seat], part] += weights[result] * messages[result, seat, part]


@routine
def curvature(who, weights, beta_square, sites, total):
    """Write the precision matrix of all skills together that the sites imply to `total` (bots, bots).

    A result adds D' (diag(1 / site precisions) + beta^2 D D')^-1 D for its skills, D being differences of neighbours.
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
def newton_step(model, beliefs, sums, total, step, growth):
    """Return how far the skills are from agreeing with the messages to them, in sigmas.

    `step` (bots,) becomes the change of `mu` that would bring agreement for all skills together if the sites stayed,
    `growth` (bots,) the logarithm of the change of `precision`.
    """
    mu, precision = beliefs.mu, beliefs.precision
    gap = np.empty(len(mu))
    matrix = total.copy()
    for bot in range(len(mu)):
        wanted = model.prior_precision + sums[bot, PRECISION]
        gap[bot] = model.prior_shift + sums[bot, SHIFT] - wanted * mu[bot]
        growth[bot] = math.log(wanted / precision[bot])
        matrix[bot, bot] += model.prior_precision
    step[:] = np.linalg.solve(matrix, gap)
    distance = 0.0
    for bot in range(len(mu)):
        distance = max(distance, abs(step[bot]) * math.sqrt(precision[bot]), abs(growth[bot]))
    return distance


@kernel
def bounded(model, step):
    """Return the factor by which a step is shortened so that no skill moves farther than `LONGEST_STEP`."""
    return min(1.0, LONGEST_STEP * math.sqrt(model.beta_square) / max(np.max(np.abs(step)), 1e-300))


@kernel
def turns_back(now, before):
    """Return whether a step goes back on the one before, by more than a third of it."""
    together = square = 0.0
    for place in range(len(now)):
        together += now[place] * before[place]
        square += before[place] ** 2
    return together < -0.3 * square


@routine
def converge(orders, weights, model, beliefs, accuracy, most):
    """Bring the beliefs to the fixed point, or through `most` rounds; return the distance left.

    A step is a Newton step for the means, damped while steps turn back on each other; there are two rounds of
    expectation propagation before each, so that messages agree with the skills that they are measured against.
    """
    mu, precision = beliefs.mu, beliefs.precision
    bots = len(mu)
    sums, total = np.empty((bots, 2)), np.empty((bots, bots))
    step, growth, last_step, last_growth = np.empty(bots), np.empty(bots), np.zeros(bots), np.zeros(bots)
    pace = growth_pace = 1.0
    distance = math.inf
    for _ in range(most):
        for _ in range(2):
            propagate(orders, weights, model, beliefs, sums)
        curvature(orders.who, weights, model.beta_square, beliefs.sites, total)
        if not math.isfinite(np.sum(total) + np.sum(sums)):
            return math.inf
        distance = newton_step(model, beliefs, sums, total, step, growth)
        if distance < accuracy:
            break
        pace = max(0.1, 0.5 * pace) if turns_back(step, last_step) else min(1.0, 1.3 * pace)
        growth_pace = max(0.1, 0.5 * growth_pace) if turns_back(growth, last_growth) else min(1.0, 1.3 * growth_pace)
        last_step[:], last_growth[:] = step, growth
        limit = bounded(model, step)
        for bot in range(bots):
            mu[bot] += pace * limit * step[bot]
            precision[bot] *= math.exp(min(max(growth_pace * growth[bot], -2.0), 2.0))
    return distance


# Resampling blocks


@kernel
def random_below(state, limit):
    """Return a draw from 0 to limit - 1 by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014); advances `state` (1,)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64((z >> np.uint64(11)) % np.uint64(limit))


@routine
def resample(seed, blocks, draws, counts):
    """Draw `draws` blocks with replacement; `counts` (kinds,) becomes how often each kind of block came.

    A block drawn counts with the probability `distinct_share` of its kind, else another one is drawn. SplitMix64's
    seeds 0, 1, 2, ... are far apart: the first thing it does with a seed is to scatter it.
    """
    state = np.full(1, np.uint64(seed))
    state[0] = np.uint64(random_below(state, 1 << 53))
    counts[:] = 0.0
    fine = 1 << 30
    drawn = 0
    while drawn < draws:
        kind = blocks.kind[random_below(state, len(blocks.kind))]
        share = blocks.distinct_share[kind]
        if share == 1.0 or random_below(state, fine) < share * fine:
            counts[kind] += 1.0
            drawn += 1


@routine
def count_results(counts, results, weights):
    """Write how often each result came to `weights`, from how often each kind of block did."""
    weights[:] = 0.0
    for kind in range(len(counts)):
        if counts[kind] > 0:
            for match in range(results.shape[1]):
                weights[results[kind, match]] += counts[kind]


@routine
def bootstrap(seed, blocks, draws, orders, model, fitted, accuracy, most, found):
    """Refit resampled boards, from the beliefs `fitted` to the whole board on; `found` (replicates, bots) becomes `mu`.

    Replicate r is drawn with the chance of `seed` + r.
    """
    bots = len(fitted.mu)
    counts, weights = np.empty(len(blocks.results)), np.empty(len(orders.who))
    sums, total, step, growth = np.empty((bots, 2)), np.empty((bots, bots)), np.empty(bots), np.empty(bots)
    precision, sites, messages = np.empty(bots), np.empty_like(fitted.sites), np.empty_like(fitted.messages)
    for replicate in range(len(found)):
        resample(seed + replicate, blocks, draws, counts)
        count_results(counts, blocks.results, weights)
        beliefs = Beliefs(found[replicate], precision, sites, messages)
        beliefs.mu[:], precision[:] = fitted.mu, fitted.precision
        sites[:], messages[:] = fitted.sites, fitted.messages
        sum_messages(orders.who, weights, messages, sums)
        curvature(orders.who, weights, model.beta_square, sites, total)
        newton_step(model, beliefs, sums, total, step, growth)
        limit = bounded(model, step)
        for bot in range(bots):
            beliefs.mu[bot] += limit * step[bot]
            precision[bot] *= math.exp(growth[bot])
        converge(orders, weights, model, beliefs, accuracy, most)
