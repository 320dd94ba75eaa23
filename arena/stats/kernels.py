"""Compiled expectation propagation under the TrueSkill model, for one match and for a board.

Herbrich, Minka and Graepel, "TrueSkill: A Bayesian skill rating system" (NIPS 2006). A bot's skill is
N(mu, sigma^2), its performance in a match N(skill, beta^2); of neighbours in the final order the better performed
higher by more than the draw margin, or within it when they tied. Gaussians are kept as precision (1 / variance) and
precision times mean; `sites` are the Gaussians that approximate the truncations, one for each two neighbours.
A distribution's cavity is what it is without one result's contribution.
"""

import math

import numpy as np

from engine.kernel import kernel, routine

PRECISION, SHIFT = 0, 1
"""The two numbers of a Gaussian: 1 / variance, and mean / variance."""
ROOT_HALF = 0.7071067811865476
ROOT_2_PI = 2.5066282746310002
FAR_TAIL_SDS = 30.0
"""Standard deviations from which on a truncation is computed by its series."""
MAX_STEP_BETAS = 1.5
"""In units of beta: how far a skill may move at once."""
MAX_SWEEPS = 1000
"""Far more than any chain of neighbours needs to converge."""
SOLVED_RESIDUAL_SHARE = 1e-10
"""Residual of linear equations, as a share of what it was, at which they are solved."""


@kernel
def copy(source, target):
    """Copy an array; slices say what is wrong with shapes, in code that takes seconds to compile."""
    for place in range(source.size):
        target.flat[place] = source.flat[place]


# Truncated normal distributions


@kernel
def density(x):
    return math.exp(-0.5 * x * x) / ROOT_2_PI


@kernel
def win_corrections(x):
    """Return v and w of the paper for a win: mean shift and shrinkage of N(0, 1) truncated to values above -x.

    v = density(x) / cdf(x), w = v (v + x).
    """
    if x < -FAR_TAIL_SDS:
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
    if inner < -FAR_TAIL_SDS:
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
    if inner < -FAR_TAIL_SDS:
        return win_corrections(inner)[0] / math.tanh(-inner * margin)
    mass = 0.5 * (math.erfc(-inner * ROOT_HALF) - math.erfc(-outer * ROOT_HALF))
    return (density(inner) + density(outer)) / mass


# One match


@kernel
def match_moments(mean, variance, tied, margin):
    """Return the site of a truncation: the Gaussian that changes N(mean, variance) to the truncated one's moments."""
    spread = math.sqrt(variance)
    scale = 1 / spread
    if tied:
        v, w = draw_corrections(mean * scale, margin * scale)
    else:
        v, w = win_corrections((mean - margin) * scale)
    w = min(max(w, 0.0), 1.0 - 1e-12)
    # truncated, it has mean `mean + spread v` and variance `variance (1 - w)`; the site is that over N(mean, variance)
    precision = scale * scale / (1 - w)
    return w * precision, (w * mean + spread * v) * precision


@kernel
def pass_message(precision, shift, site_precision, site_shift, message):
    """Write the message from a performance N(shift / precision, 1 / precision) to its neighbour's, through a site."""
    total = precision + site_precision
    if total <= 0:
        message[PRECISION], message[SHIFT] = 0.0, 0.0
        return
    share = 1 / total
    message[PRECISION] = precision * site_precision * share
    message[SHIFT] = (shift * site_precision + site_shift * precision) * share


@kernel
def neighbour_cavity(performances, left, right, place):
    """Return two neighbours' performances without the site between them, and mean and variance of their difference."""
    upper = performances[place, PRECISION] + left[place, PRECISION]
    upper_shift = performances[place, SHIFT] + left[place, SHIFT]
    lower = performances[place + 1, PRECISION] + right[place + 1, PRECISION]
    lower_shift = performances[place + 1, SHIFT] + right[place + 1, SHIFT]
    both = 1 / (upper * lower)
    mean, variance = (upper_shift * lower - lower_shift * upper) * both, (upper + lower) * both
    return upper, upper_shift, lower, lower_shift, mean, variance


@routine
def sweep(performances, tied, margin, sites, left, right):
    """Pass messages along the chain of neighbours and back; return the greatest change of a site, by its spread.

    `performances` (seats, 2) are those before the match, in the final order. `left` and `right` (seats, 2) become the
    messages to each performance from the neighbours before and after it.
    """
    last = len(performances) - 1
    left[0] = 0.0
    right[last] = 0.0
    for place in range(last - 1, 0, -1):
        precision = performances[place + 1, PRECISION] + right[place + 1, PRECISION]
        shift = performances[place + 1, SHIFT] + right[place + 1, SHIFT]
        pass_message(precision, shift, sites[place, PRECISION], sites[place, SHIFT], right[place])
    change = 0.0
    for step in range(2 * last - 1):
        place = step if step < last else 2 * last - 2 - step
        upper, upper_shift, lower, lower_shift, mean, variance = neighbour_cavity(performances, left, right, place)
        precision, shift = match_moments(mean, variance, tied[place], margin)
        moved = (shift - sites[place, SHIFT]) ** 2 * variance
        change = max(change, moved, ((precision - sites[place, PRECISION]) * variance) ** 2)
        sites[place, PRECISION], sites[place, SHIFT] = precision, shift
        if step < last:  # the lower one is the upper one minus the difference
            pass_message(upper, upper_shift, precision, -shift, left[place + 1])
        if step >= last - 1:
            pass_message(lower, lower_shift, precision, shift, right[place])
    return math.sqrt(change)


@kernel
def skill_messages(left, right, beta_square, found):
    """Write the messages from a match to its seats' skills to `found` (seats, 2)."""
    for seat in range(len(left)):
        precision = left[seat, PRECISION] + right[seat, PRECISION]
        kept = 1 / (1 + beta_square * precision)
        found[seat, PRECISION] = kept * precision
        found[seat, SHIFT] = kept * (left[seat, SHIFT] + right[seat, SHIFT])


@routine
def rate_in_order(orders, results, mu, sigma, beta_square, margin, accuracy):
    """Rate matches one after the other, `results` (matches,) of `orders`; `mu` and `sigma` (bots,) change in place."""
    who, tied = orders.who, orders.tied
    seats = who.shape[1]
    performances, sites = np.empty((seats, 2)), np.zeros((seats - 1, 2))
    left, right, found = np.empty((seats, 2)), np.empty((seats, 2)), np.empty((seats, 2))
    for match in results:
        for seat in range(seats):
            bot = who[match, seat]
            precision = 1 / (sigma[bot] ** 2 + beta_square)
            performances[seat, PRECISION], performances[seat, SHIFT] = precision, mu[bot] * precision
        sites[:] = 0.0
        for _ in range(MAX_SWEEPS):
            if sweep(performances, tied[match], margin, sites, left, right) < accuracy or seats == 2:
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
def cavity(who, beliefs, messages, beta_square, performances):
    """Write the performances in one match without its own messages to `performances` (seats, 2)."""
    for seat in range(len(who)):
        bot = who[seat]
        rest = max(beliefs.precision[bot] - messages[seat, PRECISION], 1e-9)
        kept = 1 / (1 + beta_square * rest)
        performances[seat, PRECISION] = kept * rest
        performances[seat, SHIFT] = kept * (beliefs.precision[bot] * beliefs.mu[bot] - messages[seat, SHIFT])


@routine
def propagate(orders, weights, model, beliefs, sums):
    """Run one round of expectation propagation over all results, each of which counts `weights` times.

    Sites and messages are brought up to date; `sums` (bots, 2) becomes the sum of all messages to a bot. A message
    moves by the share of the bot's precision that comes from elsewhere: with whole steps, a result that says more of
    its bots than all else does would swing ever farther.
    """
    who, tied, messages = orders.who, orders.tied, beliefs.messages
    seats = who.shape[1]
    performances, found = np.empty((seats, 2)), np.empty((seats, 2))
    left, right = np.empty((seats, 2)), np.empty((seats, 2))
    for result in range(len(who)):
        if weights[result] == 0:
            continue
        cavity(who[result], beliefs, messages[result], model.beta_square, performances)
        sweep(performances, tied[result], model.margin, beliefs.sites[result], left, right)
        skill_messages(left, right, model.beta_square, found)
        for seat in range(seats):
            own = messages[result, seat, PRECISION]
            rest = max(beliefs.precision[who[result, seat]] - own, 1e-9)
            share = rest / (rest + own)
            for part in range(2):
                messages[result, seat, part] += share * (found[seat, part] - messages[result, seat, part])
    sum_messages(who, weights, messages, sums)


@routine
def margin_gradients(orders, model, beliefs, found):
    """Write the derivative of each result's log evidence by the draw margin, at the fixed point, to `found` (results,).

    There it is the sum of d log Z / d margin over the truncations, as sites and messages are stationary (Seeger,
    "Expectation Propagation for Exponential Families", 2005): -density / cdf for each neighbour that is ahead, for one
    that tied the density at both edges by the mass between them.
    """
    who, tied, margin = orders.who, orders.tied, model.margin
    seats = who.shape[1]
    performances, left, right = np.empty((seats, 2)), np.empty((seats, 2)), np.empty((seats, 2))
    for result in range(len(who)):
        cavity(who[result], beliefs, beliefs.messages[result], model.beta_square, performances)
        sweep(performances, tied[result], margin, beliefs.sites[result], left, right)
        found[result] = 0.0
        for place in range(seats - 1):
            mean, variance = neighbour_cavity(performances, left, right, place)[4:]
            spread = math.sqrt(variance)
            behind = win_corrections((mean - margin) / spread)[0]
            between = edge_density(mean / spread, margin / spread)
            found[result] += (between if tied[result, place] else -behind) / spread


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
def result_curvature(beta_square, sites, found):
    """Write the precision matrix of the skills of one result's seats that its sites imply to `found` (seats, seats).

    It is D' (diag(1 / site precisions) + beta^2 D D')^-1 D, D being differences of neighbours.
    """
    last = len(sites)
    root, diagonal, column = np.empty(last), np.empty(last), np.empty(last)
    found[:] = 0.0
    for place in range(last):
        root[place] = math.sqrt(sites[place, PRECISION])
    diagonal[0] = 1 + 2 * beta_square * root[0] ** 2
    for place in range(1, last):
        beside = beta_square * root[place - 1] * root[place]
        diagonal[place] = 1 + 2 * beta_square * root[place] ** 2 - beside**2 / diagonal[place - 1]
    for of in range(last):  # a column of the inverse of a matrix with three diagonals
        for place in range(last):
            column[place] = 1.0 if place == of else 0.0
            if place > 0:
                column[place] += beta_square * root[place - 1] * root[place] / diagonal[place - 1] * column[place - 1]
        for place in range(last - 1, -1, -1):
            if place < last - 1:
                column[place] += beta_square * root[place] * root[place + 1] * column[place + 1]
            column[place] /= diagonal[place]
        for place in range(last):
            amount = root[of] * root[place] * column[place]
            found[of, place] += amount
            found[of + 1, place + 1] += amount
            found[of, place + 1] -= amount
            found[of + 1, place] -= amount


@routine
def curvatures(beta_square, sites, found):
    """Write the precision matrix of its skills that each result's sites imply to `found` (results, seats, seats)."""
    for result in range(len(sites)):
        result_curvature(beta_square, sites[result], found[result])


@routine
def times_precision(model, who, weights, found, skills, product):
    """Write the product of the precision matrix of all skills, prior included, and `skills` to `product` (bots,).

    `found` are the `curvatures` of the results.
    """
    for bot in range(len(skills)):
        product[bot] = model.prior_precision * skills[bot]
    seats = who.shape[1]
    for result in range(len(who)):
        if weights[result] > 0:
            for one in range(seats):
                total = 0.0
                for other in range(seats):
                    total += found[result, one, other] * skills[who[result, other]]
                product[who[result, one]] += weights[result] * total


@routine
def solve(model, who, weights, found, gap, step):
    """Write what `times_precision` makes `gap` of to `step`, by conjugate gradients with the diagonal to precondition.

    Hestenes and Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems" (1952): in exact arithmetic it
    takes as many products as there are bots at most, and memory for a few vectors.
    """
    bots = len(gap)
    diagonal, product = np.full(bots, model.prior_precision), np.empty(bots)
    for result in range(len(who)):
        for seat in range(who.shape[1]):
            diagonal[who[result, seat]] += weights[result] * found[result, seat, seat]
    step[:] = 0.0
    rest, ahead = gap.copy(), gap / diagonal
    size = np.sum(rest * ahead)
    enough = size * SOLVED_RESIDUAL_SHARE**2
    for _ in range(2 * bots + 20):
        if not size > enough:
            break
        times_precision(model, who, weights, found, ahead, product)
        share = size / np.sum(ahead * product)
        before, size = size, 0.0
        for bot in range(bots):
            step[bot] += share * ahead[bot]
            rest[bot] -= share * product[bot]
            size += rest[bot] ** 2 / diagonal[bot]
        for bot in range(bots):
            ahead[bot] = rest[bot] / diagonal[bot] + size / before * ahead[bot]


@routine
def newton_step(model, who, weights, found, beliefs, sums, step, growth):
    """Return how far the skills are from agreeing with the messages to them, in sigmas.

    `found` are the `curvatures` of the results. `step` (bots,) becomes the change of `mu` that would bring agreement
    for all skills together if the sites stayed, `growth` (bots,) the logarithm of the change of `precision`.
    """
    mu, precision = beliefs.mu, beliefs.precision
    gap = np.empty(len(mu))
    for bot in range(len(mu)):
        wanted = model.prior_precision + sums[bot, PRECISION]
        gap[bot] = model.prior_shift + sums[bot, SHIFT] - wanted * mu[bot]
        growth[bot] = math.log(wanted / precision[bot])
    solve(model, who, weights, found, gap, step)
    distance = 0.0
    for bot in range(len(mu)):
        distance = max(distance, abs(step[bot]) * math.sqrt(precision[bot]), abs(growth[bot]))
    return distance


@kernel
def bounded(model, step):
    """Return the factor by which a step is shortened so that no skill moves farther than `MAX_STEP_BETAS`."""
    longest = 1e-300
    for place in range(len(step)):
        longest = max(longest, abs(step[place]))
    return min(1.0, MAX_STEP_BETAS * math.sqrt(model.beta_square) / longest)


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
    who, seats = orders.who, orders.who.shape[1]
    sums, found = np.empty((bots, 2)), np.empty((len(who), seats, seats))
    step, growth, last_step, last_growth = np.empty(bots), np.empty(bots), np.zeros(bots), np.zeros(bots)
    pace = growth_pace = 1.0
    distance = math.inf
    for _ in range(most):
        for _ in range(2):
            propagate(orders, weights, model, beliefs, sums)
        if not math.isfinite(np.sum(sums)):
            return math.inf
        curvatures(model.beta_square, beliefs.sites, found)
        distance = newton_step(model, who, weights, found, beliefs, sums, step, growth)
        if distance < accuracy:
            break
        pace = max(0.1, 0.5 * pace) if turns_back(step, last_step) else min(1.0, 1.3 * pace)
        growth_pace = max(0.1, 0.5 * growth_pace) if turns_back(growth, last_growth) else min(1.0, 1.3 * growth_pace)
        copy(step, last_step)
        copy(growth, last_growth)
        limit = bounded(model, step)
        for bot in range(bots):
            mu[bot] += pace * limit * step[bot]
            precision[bot] *= math.exp(min(max(growth_pace * growth[bot], -2.0), 2.0))
    return distance
