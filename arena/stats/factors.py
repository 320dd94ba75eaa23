"""What kernels of expectation propagation take: the model's constants, results, and what is believed of skills."""

from typing import NamedTuple

import numpy as np


class Model(NamedTuple):
    """The constants of the model; the prior of every skill is N(prior_shift / prior_precision, 1 / prior_precision)."""

    beta_square: float
    margin: float
    prior_precision: float
    prior_shift: float


class FinalOrders(NamedTuple):
    """Distinct results of matches."""

    who: np.ndarray  # (results, seats) bots in the final order
    tied: np.ndarray  # (results, seats - 1) which neighbours tied


class Beliefs(NamedTuple):
    """What is believed of all skills, N(mu, 1 / precision), and each result's part in it; all change in place."""

    mu: np.ndarray  # (bots,)
    precision: np.ndarray  # (bots,)
    sites: np.ndarray  # (results, seats - 1, 2)
    messages: np.ndarray  # (results, seats, 2) from each result to the skills of its seats
