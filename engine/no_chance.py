"""Chance kernels of games that never roll; their `rules` import these four."""

import numpy as np

from engine.kernel import kernel


@kernel
def rolling_seat(state):
    return np.int64(-1)


@kernel
def chance_outcomes(state, outcomes, weights):
    return np.int64(0)


@kernel
def sample_chance(state, rng):
    return np.int64(0)


@kernel
def apply_chance(state, outcome):
    return None
