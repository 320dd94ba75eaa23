"""Figures of a tuning run: where its parameters went, and what its iterations found."""

from __future__ import annotations

from itertools import cycle, islice

from arena.results.pages.figures.style import (
    AXIS_WIDTH,
    FIGURE_WIDTH,
    SKY,
    BoardResults,
    Figure,
    altair_module,
    spec_of,
)
from engine.svg import INK, SEAT_COLOURS

HEIGHT = 180
"""Pixels of a plot."""


def tuning(board: BoardResults) -> Figure | None:
    """Draw the values of all tuned parameters by iteration, each as its place in its range."""
    if board.curve is None:
        return None
    table, alt = board.curve[["iteration", "parameter", "value", "place"]], altair_module()
    names = list(dict.fromkeys(table["parameter"]))
    colours = alt.Scale(domain=names, range=[*islice(cycle(SEAT_COLOURS), len(names))])
    chart = (
        alt.Chart(table)
        .mark_line(strokeWidth=1.5)
        .encode(
            x=alt.X("iteration:Q", title="iteration", axis=alt.Axis(tickMinStep=1, format="d")),
            y=alt.Y("place:Q", title="place in its range", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("parameter:N", scale=colours, title=None, legend=alt.Legend(orient="top", columns=4)),
        )
        .properties(width=FIGURE_WIDTH - AXIS_WIDTH, height=HEIGHT)
    )
    last = table.groupby("parameter", sort=False).last()
    ends = ", ".join(f"{name} {row['value']:g}" for name, row in last.iterrows())
    return Figure("Tuned values by iteration", f"The last iteration went on from {ends}.", table, spec_of(chart))


def tuning_lead(board: BoardResults) -> Figure | None:
    """Draw what each iteration found: how much better its first variant did than its second."""
    if board.curve is None:
        return None
    table = board.curve[["iteration", "difference", "mean_difference"]].drop_duplicates("iteration")
    table, alt = table.reset_index(drop=True), altair_module()
    base = alt.Chart(table).encode(x=alt.X("iteration:Q", title="iteration", axis=alt.Axis(tickMinStep=1, format="d")))
    axis = alt.Y("difference:Q", title="difference of mean returns")
    points = base.mark_point(filled=True, size=18, opacity=1, color=SKY).encode(y=axis)
    line = base.mark_line(strokeWidth=1.5, color=INK).encode(y="mean_difference:Q")
    chart = (points + line).properties(width=FIGURE_WIDTH - AXIS_WIDTH, height=HEIGHT)
    sentence = (
        f"What the {len(table):,} iterations found on this board, and its running mean; how much stronger the result "
        "is, the matches on fresh seeds say alone."
    )
    return Figure("Differences by iteration", sentence, table, spec_of(chart))
