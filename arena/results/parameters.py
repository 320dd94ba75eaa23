"""Parameters of bots as columns of tables: a column for each parameter that the spec of a bot names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from arena.results.columns import PARAMETER
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Entry

INT64 = np.iinfo(np.int64)


def kind_of(entry: Entry) -> str:
    """Return the name of a bot without its parameters."""
    return entry.spec.partition(":")[0]


def named_parameters(entries: Sequence[Entry]) -> list[str]:
    """Return the parameters that the spec of any of some bots names, sorted."""
    return sorted(
        {
            name
            for entry in entries
            for option in entry.spec.partition(":")[2].split(",")
            if (name := option.partition("=")[0]) in entry.params
        }
    )


def entries_on(schedule: Schedule, index: int) -> list[Entry]:
    """Return all entries with the parameters that they play with on a board."""
    return [schedule.boards[index].entry(schedule.entries, number) for number in range(len(schedule.entries))]


def calibrated_parameters(schedule: Schedule) -> set[str]:
    """Return the parameters that got numbers for times a move on any board."""
    return {budget.parameter for board in schedule.boards for budget in board.budgets}


def parameter_columns(entries: Sequence[Entry], also: Collection[str] = ()) -> dict[str, pd.Series]:
    """Return a column for each parameter that the spec of any of some bots names, by the column's name.

    A row is that of a bot; the value is missing where the bot has no such parameter. `also` are further parameters.
    """
    return {
        f"{PARAMETER}{name}": _column([entry.params.get(name) for entry in entries])
        for name in sorted({*named_parameters(entries), *also})
    }


def _column(values: list[Any]) -> pd.Series:
    """Return values as a column of the narrowest type that takes all of them."""
    kinds = {type(value) for value in values if value is not None}
    if any(type(value) is int and not INT64.min <= value <= INT64.max for value in values):
        kinds |= {str}
    for dtype, allowed in (("boolean", {bool}), ("Int64", {int}), ("Float64", {int, float})):
        if kinds <= allowed:
            return pd.Series(values, dtype=dtype)
    return pd.Series([None if value is None else value_text(value) for value in values], dtype="string")


def value_text(value: Any) -> str:
    """Return a value as it stands in a spec."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def with_parameters(frame: pd.DataFrame, schedule: Schedule, index: int) -> pd.DataFrame:
    """Return a frame of a board whose column `bot` has labels of bots with the columns of their parameters, last."""
    labels = set(frame["bot"])
    entries = [entry for entry in entries_on(schedule, index) if entry.label in labels]
    place = {entry.label: number for number, entry in enumerate(entries)}
    rows = [place[label] for label in frame["bot"]]
    columns = parameter_columns(entries, calibrated_parameters(schedule) if rows else ())
    added = {name: column.take(rows).set_axis(frame.index) for name, column in columns.items()}
    if not added:
        return frame
    found = frame.assign(**added)
    found.attrs = frame.attrs
    return found
