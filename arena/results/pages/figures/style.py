"""What all figures have in common: results they are drawn from, measures, colours, and the look of their charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.core.limits import Limits
from arena.results.crosstable import Crosstable
from arena.schedule.boards import Entry
from arena.tournament.counted import BoardMatches
from engine.svg import FAINT, INK, LINE, MARK, SEAT_COLOURS

if TYPE_CHECKING:
    import altair

FIGURE_WIDTH = 440
"""Pixels of a figure, labels included; those of many bots may be wider."""
AXIS_WIDTH = 60
"""Pixels beside a plot for the labels of numbers."""
ROW_HEIGHT = 22
"""Pixels of a bot's row."""
LETTER_WIDTH = 7.3
"""Pixels of a letter in labels: browsers have other fonts than the one that measures."""
MAX_LABEL_CHARS = 22
"""Letters of a label; longer ones are cut in the middle."""
BLUE, ORANGE, GREEN, SKY = SEAT_COLOURS[0], MARK, SEAT_COLOURS[2], SEAT_COLOURS[4]
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first one comes with the library that draws, so that figures are alike on all machines."""
SHORTENED_LABEL = (
    f"length(datum.label) > {MAX_LABEL_CHARS} ? slice(datum.label, 0, 12) + '…' + slice(datum.label, -9) : datum.label"
)
"""`shortened` as a Vega expression."""


@dataclass(frozen=True)
class BoardResults:
    """Results of a board that figures are drawn from."""

    players: int
    played: BoardMatches
    leaderboard: pd.DataFrame
    crosstable: Crosstable
    variance: pd.DataFrame | None
    """As of `arena.stats.variance.variance_table`; None where it has nothing to decompose."""
    plies: np.ndarray
    """(matches,) random ones included."""
    ended: np.ndarray
    """(matches,) `normal`, `forfeit`, or a word of the game."""
    forfeits: pd.DataFrame
    """Columns: bot, cause, matches."""
    calls: pd.DataFrame
    """Columns: match, seat, bot, seconds; a row for each timed move of the first matches in the log."""
    limits: Limits
    out: Mapping[int, int]
    """Disqualified bots, by entry."""
    entries: Sequence[Entry] = ()
    """Bots of the board, in the order of the plan."""
    curve: pd.DataFrame | None = None
    """Of a tuning run, as of `arena.results.tuning_curve.curve_of_board`."""


@dataclass(frozen=True)
class Figure:
    """A figure, what it shows, and its table."""

    title: str
    sentence: str
    table: pd.DataFrame
    spec: dict[str, Any]
    """Vega-Lite, with its data."""

    @property
    def is_wide(self) -> bool:
        """Whether it needs more than one column of a page."""
        return self.spec.get("width", 0) > FIGURE_WIDTH - AXIS_WIDTH


def render(spec: dict[str, Any], kind: str) -> bytes:
    """Return a figure as svg, png or pdf; the latter two on white."""
    import vl_convert

    if kind == "svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    spec = {**spec, "config": {**spec["config"], "background": "white"}}
    return vl_convert.vegalite_to_png(spec, scale=2) if kind == "png" else vl_convert.vegalite_to_pdf(spec)


def shortened(label: str) -> str:
    """Return a label as figures show it."""
    return label if len(label) <= MAX_LABEL_CHARS else f"{label[:12]}…{label[-9:]}"


_drawing = Lock()
"""Held while the options of altair, which are those of the whole process, are ours."""


@cache
def altair_module() -> Any:
    """Return altair, imported when it is first needed."""
    import altair  # takes a while, and commands without figures do without

    return altair


def spec_of(chart: altair.TopLevelMixin) -> dict[str, Any]:
    """Return a chart with the look of all figures as Vega-Lite."""
    quiet = {"domain": False, "ticks": False, "labelColor": INK, "titleColor": FAINT, "gridColor": LINE}
    words = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    styled = chart.configure(background="transparent", font=FONT, padding=4)
    styled = styled.configure_axis(**quiet, **words, gridOpacity=0.5, tickCount=5)
    legend = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "labelLimit": 180}
    styled = styled.configure_view(stroke=None).configure_legend(**legend)
    data = altair_module().data_transformers
    with _drawing, data.enable("default", max_rows=None):  # else 5,000: 72 bots' crosstable
        found: dict[str, Any] = styled.to_dict(validate=False)  # tests do
    return found


def label_width(labels: Any) -> int:
    """Return the pixels that the longest of some labels takes, and a margin."""
    return round(LETTER_WIDTH * max((min(len(label), MAX_LABEL_CHARS) for label in labels), default=0)) + 10


def row_axis(field: str, labels: Any, **options: Any) -> Any:
    """Return the encoding of rows, with room for their labels."""
    alt, room = altair_module(), label_width(labels)
    axis = alt.Axis(minExtent=room, maxExtent=room, labelExpr=SHORTENED_LABEL, labelLimit=room, labelPadding=6)
    return alt.Y(field, type="nominal", sort=None, title=None, axis=axis, **options)


def size_of(labels: Any, beside: int = 8) -> dict[str, int]:
    """Return the size of a plot of rows with these labels and as many pixels beside it."""
    return {"width": FIGURE_WIDTH - label_width(labels) - beside, "height": ROW_HEIGHT * len(labels)}


def largest(frame: pd.DataFrame, values: pd.Series) -> Mapping[Any, Any]:
    """Return the row of a frame where the values are largest."""
    return frame.iloc[int(np.nanargmax(values.to_numpy()))].to_dict()


def percent(value: float) -> str:
    """Return a share in words."""
    return "under 1 %" if 0 < value < 0.005 else f"{100 * value:.0f} %"
