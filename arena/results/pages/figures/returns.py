"""Figures of what returns depend on: seats, and the sources of their variance."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle, islice
from typing import Any

import numpy as np
import pandas as pd

from arena.results.columns import DECIMALS
from arena.results.matches import returns
from arena.results.pages.figures.style import (
    ROW_HEIGHT,
    SHAPES,
    SKY,
    BoardResults,
    Figure,
    altair_module,
    largest,
    percent,
    row_axis,
    size_of,
    spec_of,
)
from arena.stats.means import interval, over_blocks
from engine.svg import INK, SEAT_COLOURS

ALL_BOTS = "all bots"


def seats(board: BoardResults) -> Figure | None:
    """Draw the mean return of every bot in each seat, and of all bots, with intervals."""
    if board.leaderboard.empty or not board.played.has_seats:
        return None
    table = _seat_returns(board)
    labels, names = list(dict.fromkeys(table["bot"])), [f"seat {seat}" for seat in range(board.players)]
    alt = altair_module()
    colours = alt.Scale(domain=names, range=[*islice(cycle(SEAT_COLOURS), board.players)])
    shapes = alt.Scale(domain=names, range=[*islice(cycle(SHAPES[:5]), board.players)])
    legend = alt.Legend(orient="top", direction="horizontal", offset=2)
    base = alt.Chart(table).encode(
        y=row_axis("bot", labels),
        yOffset=alt.YOffset("seat:N", sort=names),
        color=alt.Color("seat:N", scale=colours, title=None, legend=legend),
    )
    axis = alt.X("return_ci_low:Q", title="mean return, -1 to 1")
    known = base.transform_filter("isValid(datum.return_ci_low)")
    bars = known.mark_rule(strokeWidth=1.5).encode(x=axis, x2="return_ci_high")
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        x="return:Q", shape=alt.Shape("seat:N", scale=shapes, title=None, legend=legend)
    )
    size = {**size_of(labels), "height": max(ROW_HEIGHT, 7 * board.players + 6) * len(labels)}
    return Figure("Returns by seat", _seats_in_words(table), table, spec_of((bars + points).properties(**size)))


def _seat_returns(board: BoardResults) -> pd.DataFrame:
    """Return the mean return by bot and seat with Student's 95 % interval over blocks; first that of all bots."""
    played, players = board.played, board.players
    entries, value = played.entries, returns(played.ranks)
    kept = np.zeros(played.block.max() + 1)
    kept[played.block] = played.distinct_share
    group = entries * players + np.arange(players)
    groups = len(played.labels) * players
    block = np.repeat(played.block, players)
    means = over_blocks(group.ravel(), block, value.ravel(), groups, kept)
    overall = over_blocks(np.tile(np.arange(players), len(entries)), block, value.ravel(), players, kept)
    shown = [(ALL_BOTS, seat, *row) for seat, row in enumerate(_intervals(*overall))]
    of_bots = [*_intervals(*means)]
    places = {label: place for place, label in enumerate(played.labels)}
    for bot in board.leaderboard["bot"]:
        shown += [(bot, seat, *of_bots[places[bot] * players + seat]) for seat in range(players)]
    frame = pd.DataFrame(shown, columns=["bot", "seat", "return", "return_ci_low", "return_ci_high"])
    return frame.assign(seat="seat " + frame["seat"].astype(str)).dropna(subset="return").reset_index(drop=True)


def _intervals(mean: np.ndarray, error: np.ndarray, distinct: np.ndarray, blocks: np.ndarray) -> Any:
    low, high = interval(mean, error, distinct, 1.0)
    mean = np.where(blocks > 0, mean, np.nan)
    return zip(*(np.round(each, DECIMALS).tolist() for each in (mean, low, high)), strict=True)


def _seats_in_words(table: pd.DataFrame) -> str:
    overall = table[table["bot"] == ALL_BOTS]
    best, worst = largest(overall, overall["return"]), largest(overall, -overall["return"])
    if pd.isna(best["return_ci_low"]):
        return "Mean return of every bot by the seat it had; below two blocks there are no intervals."
    if best["return_ci_low"] <= 0 <= best["return_ci_high"] and worst["return_ci_low"] <= 0 <= worst["return_ci_high"]:
        return f"No seat is an advantage for sure: over all bots {_seat(best)} comes off best."
    return f"Seats matter: over all bots {_seat(best)} comes off best, {_seat(worst)} worst."


def _seat(row: Mapping[str, Any]) -> str:
    low, high = row["return_ci_low"], row["return_ci_high"]
    return f"{row['seat']} ({row['return']:+.2f}, 95 % interval {low:+.2f} to {high:+.2f})"


def variance(board: BoardResults) -> Figure | None:
    """Draw the shares of the variance of a return by source."""
    if board.variance is None:
        return None
    table = board.variance[board.variance["statistic"] == "share"].drop(columns="statistic").dropna(subset="value")
    if table.empty:
        return None
    alt = altair_module()
    base = alt.Chart(table).encode(y=row_axis("part", table["part"]))
    shown = alt.X(
        "value:Q",
        title="share of the variance of a return",
        axis=alt.Axis(format=".0%"),
        scale=alt.Scale(domain=[min(0.0, float(table["value"].min())), 1.0], nice=False),
    )
    bars = base.mark_bar(color=SKY, height=12).encode(x=shown)
    known = base.transform_filter("isValid(datum.value_ci_low)")
    rules = known.mark_rule(color=INK).encode(x="value_ci_low:Q", x2="value_ci_high")
    chart = (bars + rules).properties(**size_of(table["part"], 24))
    return Figure("Sources of variance", _variance_in_words(table), table.reset_index(drop=True), spec_of(chart))


def _variance_in_words(table: pd.DataFrame) -> str:
    first = largest(table, table["value"])
    most = f"{percent(first['value'])} of the variance of a return"
    if not pd.isna(first["value_ci_low"]):
        most += f" (95 % interval {percent(first['value_ci_low'])} to {percent(first['value_ci_high'])})"
    sources = {"bots": "who plays", "seats": "who sits where", "bots by seat": "which bot has which seat"}
    sources |= {"dice and opening": "dice and opening", "rest": "none of these sources: chance within matches"}
    source = sources.get(first["part"], first["part"])
    certain = [row["part"] for row in table.to_dict("records") if row["value_ci_low"] > 0]
    words = f"{most} comes from {source}."
    return f"{words} Significantly above 0: {', '.join(certain)}." if certain else words
