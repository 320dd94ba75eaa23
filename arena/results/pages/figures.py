"""Figures of a board as Vega-Lite, each with its table and a sentence that says what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.core.errors import ConfigError
from arena.results.crosstable import Crosstable
from arena.results.leaderboards import leaderboard
from arena.results.matches import BoardMatches
from engine.errors import did_you_mean
from engine.svg import FAINT, INK, LINE, SEAT_COLOURS

if TYPE_CHECKING:
    import altair

WIDTH = 520
ROW = 24
"""Pixels of a bot's row."""
STEPS = 5
"""Points of convergence, each of twice as many rounds as the one before."""
BEHIND, EVEN, AHEAD = "#D55E00", "#EFEFEF", "#0072B2"
BOT = {"type": "nominal", "sort": None, "title": None}


@dataclass(frozen=True)
class BoardResults:
    """Results of a board that figures are drawn from."""

    players: int
    played: BoardMatches
    matches: pd.DataFrame
    """As of `arena.results.matches.board_matches`."""
    leaderboard: pd.DataFrame
    crosstable: Crosstable
    variance: pd.DataFrame | None
    """As of `arena.stats.variance.variance_table`; None where it has nothing to decompose."""
    lengths: pd.DataFrame
    """Columns: plies, matches."""
    clocks: pd.DataFrame
    """Columns: bot, seconds; a row for each timed call."""
    out: Mapping[int, int]
    """Disqualified bots, by entry."""


@dataclass(frozen=True)
class Figure:
    """A figure, what it shows, and its table."""

    title: str
    sentence: str
    table: pd.DataFrame
    spec: dict[str, Any]
    """Vega-Lite, with its data."""


def figures(board: BoardResults) -> dict[str, Figure]:
    """Return the figures of a board that have something to show, by name."""
    drawn = {name: draw(board) for name, draw in FIGURES.items()}
    return {name: figure for name, figure in drawn.items() if figure is not None}


def figure(board: BoardResults, name: str) -> Figure:
    """Return one figure; raises `ConfigError` for a name that there is not, or when there is nothing to draw."""
    if name not in FIGURES:
        hint = did_you_mean(name, FIGURES)
        raise ConfigError(f"no figure '{name}'{hint if hint.endswith('?') else '; there are ' + ', '.join(FIGURES)}")
    drawn = FIGURES[name](board)
    if drawn is None:
        raise ConfigError(f"{name}: this board has nothing to draw there")
    return drawn


def render(spec: dict[str, Any], kind: str) -> bytes:
    """Return a figure as svg, png or pdf; its fonts are those of the machine."""
    import vl_convert

    if kind == "svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    return {"png": lambda: vl_convert.vegalite_to_png(spec, scale=2), "pdf": lambda: vl_convert.vegalite_to_pdf(spec)}[
        kind
    ]()


_drawing = Lock()
"""Held while the options of altair, which are those of the whole process, are ours."""


@cache
def _altair() -> Any:
    import altair  # takes a while, and commands without figures do without

    return altair


def _spec(chart: altair.TopLevelMixin) -> dict[str, Any]:
    """Return a chart with the look of all figures as Vega-Lite."""
    quiet = {"domainColor": LINE, "tickColor": LINE, "labelColor": INK, "titleColor": INK, "gridColor": LINE}
    styled = chart.configure(background="transparent", font="Helvetica, Arial, sans-serif", padding=4)
    styled = styled.configure_axis(
        **quiet, gridOpacity=0.5, labelFontSize=12, titleFontSize=12, titleFontWeight="normal"
    )
    styled = styled.configure_view(stroke=None).configure_legend(labelColor=INK, titleColor=INK, labelFontSize=12)
    with _drawing, _altair().data_transformers.enable("default", max_rows=None):  # else 5,000: 72 bots' crosstable
        found: dict[str, Any] = styled.to_dict()
    return found


def _bots(frame: pd.DataFrame) -> int:
    return ROW * len(frame)


def ratings(board: BoardResults) -> Figure | None:
    """Draw a forest plot: the rating of every bot with its interval."""
    names = [
        "rank",
        "bot",
        "rating",
        "rating_ci_low",
        "rating_ci_high",
        "rank_ci_low",
        "rank_ci_high",
        "group",
        "matches",
    ]
    table = board.leaderboard
    if table.empty:
        return None
    table = table[[name for name in names if name in table]]
    alt = _altair()
    base = alt.Chart(table).encode(y=alt.Y("bot", **BOT))
    axis = alt.X("rating_ci_low:Q", title="rating, TrueSkill points", scale=alt.Scale(zero=False))
    known = base.transform_filter("isValid(datum.rating_ci_low)")  # below two blocks there is no interval
    bars = known.mark_rule(color=INK, strokeWidth=2).encode(x=axis, x2="rating_ci_high")
    points = base.mark_point(filled=True, size=70, color=AHEAD, opacity=1).encode(x="rating:Q")
    letters = known.mark_text(align="left", dx=8, color=FAINT).encode(x="rating_ci_high:Q", text="group")
    chart = (bars + points + letters).properties(width=WIDTH, height=_bots(table))
    sentence = (
        "Ratings with 95 % intervals over blocks, best first; bots that share a letter are not significantly different."
    )
    return Figure("Ratings", sentence, table, _spec(chart))


def crosstable(board: BoardResults) -> Figure | None:
    """Draw the head-to-head differences of all pairs as a heat map."""
    found = board.crosstable
    if found.pairs.empty:
        return None
    names = [
        "bot",
        "opponent",
        "matches",
        "wins",
        "ties",
        "losses",
        "difference",
        "difference_ci_low",
        "difference_ci_high",
    ]
    pairs = found.pairs[names]
    mirrored = pairs.rename(columns={"bot": "opponent", "opponent": "bot"}).assign(difference=0.0 - pairs["difference"])
    cells = pd.concat([pairs, mirrored])[["bot", "opponent", "difference"]]
    alt = _altair()
    scale = alt.Scale(domain=[-2, 0, 2], range=[BEHIND, EVEN, AHEAD])
    base = alt.Chart(cells).encode(
        x=alt.X("opponent:N", sort=found.bots, title="opponent", axis=alt.Axis(labelAngle=-35)),
        y=alt.Y("bot:N", sort=found.bots, title=None),
    )
    squares = base.mark_rect().encode(color=alt.Color("difference:Q", scale=scale, legend=None))
    words = base.mark_text(fontSize=11, color="#232323").encode(text=alt.Text("difference:Q", format="+.2f"))
    side = max(44, min(72, WIDTH // len(found.bots)))
    chart = (squares + words).properties(width=side * len(found.bots), height=ROW * len(found.bots))
    sentence = (
        "Mean return of the row's bot minus that of the column's in the matches both played: "
        "blue where the row leads, orange where it trails."
    )
    return Figure("Head to head", sentence, pairs, _spec(chart))


def seats(board: BoardResults) -> Figure | None:
    """Draw the mean return of every bot in each seat."""
    table = board.leaderboard
    columns = [f"return_seat_{seat}" for seat in range(board.players)]
    if table.empty:
        return None
    table = table[["bot", *columns]]
    long = table.melt("bot", var_name="seat", value_name="return").assign(
        seat=lambda frame: "seat " + frame["seat"].str.removeprefix("return_seat_")
    )
    alt = _altair()
    colours = alt.Scale(
        domain=[f"seat {seat}" for seat in range(board.players)], range=[*SEAT_COLOURS[: board.players]]
    )
    shapes = alt.Scale(
        domain=colours.domain, range=["circle", "square", "triangle-up", "diamond", "cross"][: board.players]
    )
    chart = (
        alt.Chart(long)
        .mark_point(filled=True, size=60, opacity=0.9)
        .encode(
            y=alt.Y("bot", **BOT),
            x=alt.X("return:Q", title="mean return, -1 to 1"),
            color=alt.Color("seat:N", scale=colours, title=None),
            shape=alt.Shape("seat:N", scale=shapes, title=None),
        )
        .properties(width=WIDTH, height=_bots(table))
    )
    sentence = "Mean return of every bot by the seat it had; points that lie apart are an advantage of a seat."
    return Figure("Returns by seat", sentence, table, _spec(chart))


def variance(board: BoardResults) -> Figure | None:
    """Draw the shares of the variance of a return by source."""
    if board.variance is None:
        return None
    table = board.variance[board.variance["statistic"] == "share"].drop(columns="statistic").dropna(subset="value")
    if table.empty:
        return None
    alt = _altair()
    base = alt.Chart(table).encode(y=alt.Y("part:N", sort=None, title=None))
    shown = alt.X("value:Q", title="share of the variance of a return", axis=alt.Axis(format="%"))
    bars = base.mark_bar(color=SEAT_COLOURS[4]).encode(x=shown)
    known = base.transform_filter("isValid(datum.value_ci_low)")
    rules = known.mark_rule(color=INK).encode(x="value_ci_low:Q", x2="value_ci_high")
    chart = (bars + rules).properties(width=WIDTH, height=_bots(table))
    sentence = (
        "What the result of a match depends on, with 95 % intervals: who plays, in which seat, the dice, the rest."
    )
    return Figure("Sources of variance", sentence, table, _spec(chart))


def convergence(board: BoardResults) -> Figure | None:
    """Draw how ratings and their intervals settle with more rounds."""
    rounds = np.unique(board.played.round)
    counts = sorted({len(rounds) >> step for step in range(STEPS)} - {0, 1})
    if len(counts) < 2:
        return None
    parts = []
    for count in counts[:-1]:
        first = board.played.first(int(np.searchsorted(board.played.round, rounds[count])))
        parts.append(leaderboard(first, board.out).assign(rounds=count))
    parts.append(board.leaderboard.assign(rounds=counts[-1]))
    table = pd.concat(parts)[["bot", "rounds", "rating", "rating_ci_low", "rating_ci_high"]]
    order = board.leaderboard["bot"].tolist()
    alt = _altair()
    axis = alt.X(
        "rounds:Q", scale=alt.Scale(type="log", nice=False), title="rounds of blocks", axis=alt.Axis(values=counts)
    )
    colour = alt.Color("bot:N", sort=order, title=None, scale=alt.Scale(scheme="tableau10"))
    base = alt.Chart(table).encode(x=axis, color=colour)
    ends = alt.Y("rating_ci_low:Q", title="rating", scale=alt.Scale(zero=False))
    known = base.transform_filter("isValid(datum.rating_ci_low)")
    band = known.mark_area(opacity=0.15).encode(y=ends, y2="rating_ci_high")
    line = base.mark_line(point=True).encode(y="rating:Q")
    chart = (band + line).properties(width=WIDTH - 120, height=220)
    sentence = "Ratings with their 95 % bands after the first rounds: bands narrow as the square root of the rounds."
    return Figure("Convergence", sentence, table.reset_index(drop=True), _spec(chart))


def clocks(board: BoardResults) -> Figure | None:
    """Draw how long the bots took for a move: at least a microsecond, for clocks tell no less."""
    if board.clocks.empty:
        return None
    shares = board.clocks.groupby("bot")["seconds"].quantile(np.array([0.1, 0.5, 0.9, 1.0])).unstack()
    table = (1000 * shares).clip(lower=0.001).set_axis(["ms_10", "ms_median", "ms_90", "ms_longest"], axis=1)
    order = [bot for bot in board.leaderboard["bot"] if bot in table.index]
    table = table.loc[order].rename_axis("bot").reset_index().round(4)
    alt = _altair()
    base = alt.Chart(table).encode(y=alt.Y("bot", **BOT))
    axis = alt.X("ms_10:Q", scale=alt.Scale(type="log"), title="milliseconds a move, logarithmic")
    bars = base.mark_rule(color=INK, strokeWidth=2).encode(x=axis, x2="ms_90")
    points = base.mark_point(filled=True, size=60, color=AHEAD, opacity=1).encode(x="ms_median:Q")
    ends = base.mark_tick(color=FAINT).encode(x="ms_longest:Q")
    chart = (bars + points + ends).properties(width=WIDTH, height=_bots(table))
    sentence = "Wall clock of a move: median, the range of 8 in 10 moves, and the longest, where this log was played."
    return Figure("Time of moves", sentence, table, _spec(chart))


def lengths(board: BoardResults) -> Figure | None:
    """Draw how long matches were."""
    if board.lengths.empty:
        return None
    alt = _altair()
    plies = alt.X("plies:Q", bin=alt.Bin(maxbins=30), title="plies, random ones included")
    chart = (
        alt.Chart(board.lengths)
        .mark_bar(color=SEAT_COLOURS[2])
        .encode(x=plies, y=alt.Y("sum(matches):Q", title="matches"))
        .properties(width=WIDTH, height=120)
    )
    return Figure("Lengths of matches", "How many plies matches had.", board.lengths, _spec(chart))


def endings(board: BoardResults) -> Figure | None:
    """Draw how matches ended."""
    if board.matches.empty:
        return None
    first = board.matches[board.matches["seat"] == 0]
    table = first["ended"].value_counts().rename_axis("ended").reset_index(name="matches")
    forfeits = board.matches["cause"].dropna().value_counts().rename_axis("ended").reset_index(name="matches")
    if len(forfeits):
        table = pd.concat([table, forfeits.assign(ended="forfeit by " + forfeits["ended"])], ignore_index=True)
    alt = _altair()
    chart = (
        alt.Chart(table)
        .mark_bar(color=SEAT_COLOURS[2])
        .encode(y=alt.Y("ended:N", sort=None, title=None), x=alt.X("matches:Q", axis=alt.Axis(tickMinStep=1)))
        .properties(width=WIDTH, height=_bots(table))
    )
    return Figure("Endings", "How matches ended, and forfeits by cause.", table, _spec(chart))


FIGURES: dict[str, Callable[[BoardResults], Figure | None]] = {
    "ratings": ratings,
    "crosstable": crosstable,
    "seats": seats,
    "variance": variance,
    "convergence": convergence,
    "lengths": lengths,
    "endings": endings,
    "clocks": clocks,
}
"""All figures by name, in the order of a report."""
