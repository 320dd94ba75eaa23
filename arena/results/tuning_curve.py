"""The learning curve of a tuning run: its values and what was found, iteration by iteration."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.results.columns import DECIMALS, PARAMETER
from arena.schedule.blocks import Schedule
from arena.schedule.kinds.tuning import Tuning
from arena.schedule.tuning.space import values_at

SMOOTHED_SHARE = 5
"""The curve is smoothed over a fifth of the iterations."""


def learning_curve(tuning: Tuning, board: int | None = None) -> pd.DataFrame:
    """Return a row an iteration: the values gone on from, and the difference found, of a board or their mean.

    The difference is the mean return of `plus` less that of `minus`, or of a candidate less that of the start. Columns
    of parameters begin with `param_`.
    """
    names = [f"{PARAMETER}{parameter.name}" for parameter in tuning.parameters]
    rows = []
    for number, trial in enumerate(tuning.trials, 1):
        values = values_at(tuning.parameters, trial.point) if tuning.method == "spsa" else trial.first
        found = trial.difference if board is None else trial.differences[board]
        rows.append((number, *values, found))
    return pd.DataFrame(rows, columns=["iteration", *names, "difference"])


def smoothed(values: np.ndarray) -> np.ndarray:
    """Return the running mean of values over a fifth of them."""
    width = max(len(values) // SMOOTHED_SHARE, 1)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    begins = np.maximum(ends - width, 0)
    return (sums[ends] - sums[begins]) / (ends - begins)


def curve_of_board(schedule: Schedule, index: int) -> pd.DataFrame | None:
    """Return a board's learning curve as figures have it: a row for each iteration and parameter; None elsewhere.

    Columns: iteration, parameter, value, place in its range from 0 to 1, difference, and its running mean.
    """
    tuning = schedule.scheduler
    if not isinstance(tuning, Tuning) or not tuning.trials:
        return None
    frame = learning_curve(tuning, index)
    frame["mean_difference"] = smoothed(frame["difference"].to_numpy())
    rows = [
        (
            row["iteration"],
            each.name,
            row[f"{PARAMETER}{each.name}"],
            each.place(row[f"{PARAMETER}{each.name}"]),
            *row[["difference", "mean_difference"]],
        )
        for _, row in frame.iterrows()
        for each in tuning.parameters
    ]
    found = pd.DataFrame(rows, columns=["iteration", "parameter", "value", "place", "difference", "mean_difference"])
    return found.astype({"iteration": int}).round(DECIMALS)
