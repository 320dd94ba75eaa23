"""Figure of what a parameter is worth: ratings of bots of one kind over its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

import pandas as pd

from arena.results.columns import as_text
from arena.results.pages.figures.style import (
    AXIS_WIDTH,
    FIGURE_WIDTH,
    SHAPES,
    BoardResults,
    Figure,
    altair_module,
    spec_of,
)
from arena.results.parameters import kind_of, value_text
from arena.schedule.boards import Entry
from engine.svg import SEAT_COLOURS

MAX_CURVES = 6
"""Parameters that are drawn."""
MAX_SERIES = 8
"""Combinations of the other parameters that are drawn for one; with more they are shown in the table alone."""
LEAST_LOG_RATIO = 8.0
"""Ratio of the largest value to the smallest from which on a scale is logarithmic."""
ONLY = "all"
"""Series of a parameter beside which nothing varies."""


def responses(board: BoardResults) -> Figure | None:
    """Draw the ratings of bots over each parameter with numbers that varies among bots of one kind."""
    if board.leaderboard.empty:
        return None
    rated = board.leaderboard.set_index("bot")
    rows = [
        (kind, parameter, value, series, label, *rated.loc[label, ["rating", "rating_ci_low", "rating_ci_high"]])
        for kind, parameter, value, series, label in grid_points(board.entries)
        if label in rated.index
    ]
    names = ["kind", "parameter", "value", "others", "bot", "rating", "rating_ci_low", "rating_ci_high"]
    table = pd.DataFrame(rows, columns=names)
    curves = [curve for _, curve in table.groupby(["kind", "parameter"], sort=False) if _is_curve(curve)]
    if not curves:
        return None
    table = pd.concat(curves, ignore_index=True)
    drawn = [curve for curve in curves if curve["others"].nunique() <= MAX_SERIES][:MAX_CURVES] or curves[:1]
    chart = altair_module().vconcat(*map(_curve, drawn), spacing=18).resolve_scale(color="independent")
    sentence = " ".join(map(_in_words, drawn))
    return Figure("Ratings by parameter", sentence, table, spec_of(chart))


def _is_curve(table: pd.DataFrame) -> bool:
    """Return whether any bots differ in the parameter and in nothing else."""
    return bool((table.groupby("others")["value"].nunique() > 1).any())


def varied_parameters(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Return by kind of bot the parameters in which bots of that kind differ, sorted."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        kinds.setdefault(kind_of(entry), []).append(dict(entry.params))
    found = {}
    for kind, params in kinds.items():
        names = sorted(set(params[0]).intersection(*params[1:]))
        varied = [name for name in names if len({value_text(each[name]) for each in params}) > 1]
        if varied:
            found[kind] = varied
    return found


def grid_points(entries: Sequence[Entry]) -> Iterator[tuple[str, str, float, str, str]]:
    """Yield kind, parameter, value, the other parameters that vary, and label of each point of each curve."""
    for kind, varied in varied_parameters(entries).items():
        bots = [(entry.label, dict(entry.params)) for entry in entries if kind_of(entry) == kind]
        for name in varied:
            if not all(type(params[name]) in (int, float) for _, params in bots):
                continue
            for label, params in sorted(bots, key=lambda bot: bot[1][name]):
                others = ", ".join(f"{other}={value_text(params[other])}" for other in varied if other != name)
                yield kind, name, float(params[name]), others or ONLY, label


def _curve(table: pd.DataFrame) -> Any:
    """Return the chart of one parameter."""
    alt = altair_module()
    values, series = sorted(set(table["value"])), list(dict.fromkeys(table["others"]))
    is_log = values[0] > 0 and values[-1] / values[0] >= LEAST_LOG_RATIO
    kind, parameter = table[["kind", "parameter"]].iloc[0]
    colours = alt.Scale(domain=series, range=[*islice(cycle(SEAT_COLOURS), len(series))])
    shapes = alt.Scale(domain=series, range=[*islice(cycle(SHAPES), len(series))])
    legend = None
    if len(series) > 1:
        legend = alt.Legend(orient="top", direction="horizontal", columns=3, offset=2)
    x = alt.X(
        "value:Q",
        title=f"{parameter} of {kind}" + ", logarithmic" * is_log,
        scale=alt.Scale(type="log" if is_log else "linear", zero=False, nice=False, padding=12),
        axis=alt.Axis(values=values, format="~g", grid=False, labelOverlap=True),
    )
    y = alt.Y("rating:Q", title="rating", scale=alt.Scale(zero=False))
    base = alt.Chart(table).encode(x=x, color=alt.Color("others:N", scale=colours, title=None, legend=legend))
    known = base.transform_filter("isValid(datum.rating_ci_low)")
    bars = known.mark_rule(strokeWidth=1.5).encode(
        y=alt.Y("rating_ci_low:Q", title="rating", scale=alt.Scale(zero=False)), y2="rating_ci_high"
    )
    lines = base.mark_line(strokeWidth=1.5).encode(y=y)
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        y=y, shape=alt.Shape("others:N", scale=shapes, title=None, legend=legend)
    )
    return (bars + lines + points).properties(width=FIGURE_WIDTH - AXIS_WIDTH, height=150)


def _in_words(table: pd.DataFrame) -> str:
    """Return what the ends of the curve with the most points are."""
    series = table["others"].value_counts(sort=False).idxmax()
    curve = table[table["others"] == series]
    first, *_, last = curve.to_dict("records")
    where = "" if series == ONLY else f", with {series}"
    return (
        f"{first['kind']} over {first['parameter']}{where}: {_rating(first)} at {as_text(first['value'], '.12g')}, "
        f"{_rating(last)} at {as_text(last['value'], '.12g')}."
    )


def _rating(row: Mapping[Any, Any]) -> str:
    rating = f"rating {row['rating']:.2f}"
    if pd.isna(row["rating_ci_low"]):
        return rating
    return f"{rating} ({row['rating_ci_low']:.2f} to {row['rating_ci_high']:.2f})"
