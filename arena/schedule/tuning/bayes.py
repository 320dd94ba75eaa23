"""Bayesian optimisation by Optuna's tree-structured Parzen estimator (TPE), an optional library.

A candidate is a function of the trials before and a seed: the sampler is made anew for each.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from types import ModuleType

from arena.core.errors import ConfigError

PERSON = b"arena tpe v1"
EXTRA = "pip install 'pyramid-arena[tune]'"
"""What installs the library."""


def library() -> ModuleType:
    """Return Optuna; raises `ConfigError` where it is not installed."""
    try:
        import optuna
    except ImportError as error:
        raise ConfigError(f"method = 'optuna': Optuna cannot be imported ({error}); {EXTRA} installs it") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def version() -> str:
    """Return the library with its version: another one may draw other candidates."""
    return f"optuna {library().__version__}"


def candidate(points: Sequence[Sequence[float]], worth: Sequence[float], seed: int) -> tuple[float, ...]:
    """Return the point of the unit cube to try next, given those tried before and what each is worth."""
    optuna = library()
    drawn = hashlib.blake2b(f"{seed} {len(points)}".encode(), digest_size=4, person=PERSON).digest()
    sampler = optuna.samplers.TPESampler(seed=int.from_bytes(drawn, "little"), multivariate=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    names = [f"p{number:03}" for number in range(len(points[0]))]
    space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
    for point, value in zip(points, worth, strict=True):
        params = dict(zip(names, point, strict=True))
        study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=value))
    asked = study.ask(space)
    return tuple(float(asked.params[name]) for name in names)


def recommended(points: Sequence[Sequence[float]], worth: Sequence[float]) -> int:
    """Return the number of the best point, -1 where none is worth more than 0.

    The best is that whose neighbourhood is worth most: the mean over the nearest points, as many as the root of all,
    since the highest single value is mostly luck.
    """
    size = math.isqrt(len(points) - 1) + 1
    means = []
    for point in points:
        far = [sum((one - other) ** 2 for one, other in zip(point, each, strict=True)) for each in points]
        nearest = sorted(range(len(points)), key=lambda number: (far[number], number))[:size]
        means.append(sum(worth[number] for number in nearest) / size)
    best = max(range(len(points)), key=lambda number: (means[number], -number))
    return best if means[best] > 0 else -1
