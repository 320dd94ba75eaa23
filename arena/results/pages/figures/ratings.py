"""Figures of strength: ratings, how they settle, pairs, and how well ratings predict them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from arena.results.crosstable import Crosstable
from arena.results.leaderboards import ratings_with_intervals
from arena.results.pages.figures.style import (
    AXIS_WIDTH,
    BLUE,
    FIGURE_WIDTH,
    ORANGE,
    ROW_HEIGHT,
    SHAPES,
    SHORTENED_LABEL,
    BoardResults,
    Figure,
    altair_module,
    label_width,
    largest,
    row_axis,
    size_of,
    spec_of,
)
from arena.stats.multiple import FAMILY_WISE_ERROR
from engine.svg import FAINT, INK
from engine.words import counted

CONVERGENCE_STEPS = 5
"""Points of convergence, each of twice as many blocks as the one before."""
MAX_LINES = 8
"""Bots whose convergence is drawn, the best ones."""
MAX_LABELLED_BOTS = 16
"""Bots of a heat map whose cells have numbers in them."""


def ratings(board: BoardResults) -> Figure | None:
    """Draw a forest plot: the rating of every bot with its interval, its range of ranks and its groups."""
    names = ["rank", "bot", "rating", "rating_ci_low", "rating_ci_high", "rank_ci_low", "rank_ci_high", "group"]
    names += ["lead_over_next", "matches", "disqualified"]
    table = board.leaderboard
    if table.empty:
        return None
    table = table[[name for name in names if name in table]]
    shown = table.assign(place=[_place(row) for row in table.to_dict("records")])
    alt, size = altair_module(), size_of(table["bot"], 86)
    base = alt.Chart(shown).encode(y=row_axis("bot", table["bot"]))
    axis = alt.X("rating_ci_low:Q", title="rating, TrueSkill points", scale=alt.Scale(zero=False))
    known = base.transform_filter("isValid(datum.rating_ci_low)")  # below two blocks there is no interval
    bars = known.mark_rule(color=INK, strokeWidth=2).encode(x=axis, x2="rating_ci_high")
    points = base.mark_point(filled=True, size=70, color=BLUE, opacity=1).encode(x="rating:Q")
    words = base.mark_text(align="left", color=INK, fontSize=12).encode(x=alt.value(size["width"] + 10), text="place")
    chart = (bars + points + words).properties(**size)
    return Figure("Ratings", _ratings_in_words(table), table, spec_of(chart))


def _place(row: Mapping[Any, Any]) -> str:
    if not pd.isna(row.get("disqualified")):
        return "disqualified"
    low, high = row["rank_ci_low"], row["rank_ci_high"]
    return f"{low if low == high else f'{low}–{high}'}  {row['group'][:6]}"


def _ratings_in_words(table: pd.DataFrame) -> str:
    first = table.iloc[0]
    words = f"{first['bot']} is first with {first['rating']:.1f} points"
    if pd.isna(first["rating_ci_low"]):
        return f"{words}; below two blocks there are no intervals."
    words += f" (95 % interval {first['rating_ci_low']:.1f} to {first['rating_ci_high']:.1f})"
    if len(table) > 1:
        worst = first["rank_ci_high"]
        words += ", significantly ahead of all others" if worst == 1 else f", and may be anywhere in ranks 1 to {worst}"
    return (
        f"{words}. To the right: the ranks that a bot may have, and its groups; bots with a common letter are not "
        "significantly different."
    )


def convergence(board: BoardResults) -> Figure | None:
    """Draw how ratings and their intervals settle with more blocks."""
    rounds = np.unique(board.played.round)
    counts = sorted({len(rounds) >> step for step in range(CONVERGENCE_STEPS)} - {0, 1})
    if len(counts) < 2:
        return None
    parts = []
    for count in counts[:-1]:
        first = board.played.first(int(np.searchsorted(board.played.round, rounds[count])))
        parts.append(ratings_with_intervals(first).assign(blocks=len(np.unique(first.block))))
    parts.append(board.leaderboard.assign(blocks=len(np.unique(board.played.block))))
    table = pd.concat(parts)[["bot", "blocks", "rating", "rating_ci_low", "rating_ci_high"]].reset_index(drop=True)
    order = board.leaderboard["bot"].tolist()[:MAX_LINES]
    shown = table[table["bot"].isin(order)]
    alt = altair_module()
    axis = alt.X(
        "blocks:Q",
        scale=alt.Scale(type="log", nice=False),
        title="blocks played, logarithmic",
        axis=alt.Axis(values=sorted(set(table["blocks"])), grid=False, format=",d"),
    )
    legend = alt.Legend(
        orient="bottom",
        columns=2,
        columnPadding=28,
        title=None,
        labelExpr=SHORTENED_LABEL,
        labelLimit=180,
        symbolLimit=0,
        symbolOpacity=1,
    )
    colour = alt.Color("bot:N", sort=order, legend=legend, scale=alt.Scale(domain=order, scheme="tableau10"))
    base = alt.Chart(shown).encode(x=axis, color=colour)
    ends = alt.Y("rating_ci_low:Q", title="rating", scale=alt.Scale(zero=False))
    known = base.transform_filter("isValid(datum.rating_ci_low)")
    band = known.mark_area(opacity=0.15).encode(y=ends, y2="rating_ci_high")
    line = base.mark_line(strokeWidth=1.5).encode(y="rating:Q")
    shapes = alt.Scale(domain=order, range=[*SHAPES[: len(order)]])
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        y="rating:Q", shape=alt.Shape("bot:N", sort=order, legend=legend, scale=shapes)
    )
    chart = (band + line + points).properties(width=FIGURE_WIDTH - AXIS_WIDTH, height=200)
    return Figure("Convergence", _convergence_in_words(table, len(order)), table, spec_of(chart))


def _convergence_in_words(table: pd.DataFrame, lines: int) -> str:
    half = (table["rating_ci_high"] - table["rating_ci_low"]) / 2
    halves = half.groupby(table["blocks"]).mean()
    (first, last), (early, late) = (halves.index[[0, -1]], halves.iloc[[0, -1]])
    words = "Ratings with their 95 % bands after the first blocks: "
    words += f"± {late:.1f} points on average after {counted(int(last), 'block')}"
    if not pd.isna(early):
        words += f", ± {early:.1f} after {int(first):,}"
    return f"{words}." if table["bot"].nunique() <= lines else f"{words}. Drawn are the best {lines} bots."


def crosstable(board: BoardResults) -> Figure | None:
    """Draw the head-to-head differences of all pairs as a heat map."""
    found = board.crosstable
    if found.pairs.empty:
        return None
    names = ["bot", "opponent", "matches", "blocks", "wins", "ties", "losses"]
    pairs = found.pairs[[*names, "difference", "difference_ci_low", "difference_ci_high", "p_value", "p_adjusted"]]
    mirrored = pairs.rename(columns={"bot": "opponent", "opponent": "bot"}).assign(difference=0.0 - pairs["difference"])
    cells = pd.concat([pairs, mirrored])[["bot", "opponent", "difference"]]
    leads = cells["difference"]
    cells = cells.assign(lead=np.where(leads < 0, "behind", "ahead"), size=leads.abs().round(2))
    alt, bots = altair_module(), found.bots
    has_words, room = len(bots) <= MAX_LABELLED_BOTS, label_width(bots)
    cell = max(44, min(72, (FIGURE_WIDTH - room) // len(bots))) if has_words else 14
    words = {"labelExpr": SHORTENED_LABEL, "labelLimit": room, "labelFontSize": 12 if has_words else 10}
    across = alt.Axis(
        labelAngle=-35 if has_words else -90, minExtent=round(0.65 * room) if has_words else room, **words
    )
    base = alt.Chart(cells).encode(
        x=alt.X("opponent:N", sort=bots, title=None, axis=across),
        y=alt.Y("bot:N", sort=bots, title=None, axis=alt.Axis(minExtent=room, maxExtent=room, labelPadding=6, **words)),
    )
    colours = alt.Scale(domain=["ahead", "behind"], range=[BLUE, ORANGE])
    chart = base.mark_rect().encode(  # paler where the lead is small, on light and on dark pages
        color=alt.Color("lead:N", scale=colours, legend=None),
        opacity=alt.Opacity("size:Q", scale=alt.Scale(domain=[0, 2], range=[0.04, 0.7]), legend=None),
    )
    if has_words:
        chart += base.mark_text(fontSize=11, color=INK).encode(text=alt.Text("difference:Q", format="+.2f"))
    chart = chart.properties(width=cell * len(bots), height=(ROW_HEIGHT if has_words else cell) * len(bots))
    return Figure("Head to head", _crosstable_in_words(pairs, found.apart), pairs, spec_of(chart))


def _crosstable_in_words(pairs: pd.DataFrame, together: int) -> str:
    apart = int(((pairs["difference_ci_low"] > 0) | (pairs["difference_ci_high"] < 0)).sum())
    widest = largest(pairs, pairs["difference"].abs())
    lead = widest["difference"]
    winner, loser = (widest["bot"], widest["opponent"])[:: 1 if lead >= 0 else -1]
    return (
        "Mean return of the row's bot minus that of the column's, where both played: blue where the row leads, orange "
        f"where it trails. Of {counted(len(pairs), 'pair')}, {together:,} differ significantly when all are tested at "
        f"once (Holm, {100 * FAMILY_WISE_ERROR:g} %), {apart:,} when each is taken alone, by its interval. "
        f"The widest is that of {winner} over {loser}, {abs(lead):+.2f}."
    )


def misfits(board: BoardResults) -> Figure | None:
    """Draw the leads of all pairs against those that the ratings predict."""
    pairs = board.crosstable.pairs
    if pairs.empty:
        return None
    table = pairs[["bot", "opponent", "matches", "lead", "predicted", "z"]]
    found = set(zip(board.crosstable.misfits["bot"], board.crosstable.misfits["opponent"], strict=True))
    kinds = ["as predicted", "significantly not"]
    shown = table.assign(kind=[kinds[(row.bot, row.opponent) in found] for row in table.itertuples()])
    alt = altair_module()
    line = alt.Chart(pd.DataFrame({"x": [-1, 1]})).mark_line(color=FAINT, strokeWidth=1).encode(x="x:Q", y="x:Q")
    scale = alt.Scale(domain=[-1, 1])
    points = (
        alt.Chart(shown)
        .mark_point(filled=True, size=50, opacity=0.8)
        .encode(
            x=alt.X("predicted:Q", title="lead that the ratings predict", scale=scale),
            y=alt.Y("lead:Q", title="lead in matches", scale=scale),
            color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=[BLUE, ORANGE]), title=None, legend=None),
            shape=alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=["circle", "diamond"]), legend=None),
        )
    )
    chart = (line + points).properties(width=240, height=200)
    return Figure("Ratings and results", _misfits_in_words(board.crosstable, len(table)), table, spec_of(chart))


def _misfits_in_words(found: Crosstable, pairs: int) -> str:
    words = "A dot for every two bots; on the line results are what the ratings predict. "
    if found.misfits.empty:
        words += f"None of {counted(pairs, 'pair')} deviates significantly"
    else:
        worst = largest(found.misfits, found.misfits["z"].abs())
        words += (
            f"Significantly off (diamonds): {len(found.misfits):,} of {counted(pairs, 'pair')}, most of all "
            f"{worst['bot']} and {worst['opponent']} with {worst['lead']:+.2f}, predicted {worst['predicted']:+.2f}"
        )
    cycles = len(found.cycles)
    return f"{words}. Significant cycles of three bots: {cycles or 'none'}."
