"""Figures of a board as Vega-Lite, each with its table and a sentence that says what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import cycle, islice
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.core.errors import ConfigError
from arena.core.limits import Limits
from arena.results.crosstable import Crosstable
from arena.results.leaderboards import DECIMALS, ratings_with_intervals
from arena.results.matches import BoardMatches, returns
from arena.stats.means import interval, over_blocks
from engine.errors import did_you_mean
from engine.svg import FAINT, INK, LINE, MARK, SEAT_COLOURS

if TYPE_CHECKING:
    import altair

WIDTH = 440
"""Pixels of a figure, labels included; those of many bots may be wider."""
BESIDE = 60
"""Pixels beside a plot for the labels of numbers."""
ROW = 22
"""Pixels of a bot's row."""
LETTER = 7.3
"""Pixels of a letter in labels: browsers have other fonts than the one that measures."""
LONGEST = 22
"""Letters of a label; longer ones are cut in the middle."""
STEPS = 5
"""Points of convergence, each of twice as many blocks as the one before."""
REPLICATES = 250
"""Of the bootstrap behind all of those points but the last."""
MOST_LINES = 8
"""Bots whose convergence is drawn, the best ones."""
MOST_WORDS = 16
"""Bots of a heat map whose cells have numbers in them."""
BLUE, ORANGE, GREEN, SKY = SEAT_COLOURS[0], MARK, SEAT_COLOURS[2], SEAT_COLOURS[4]
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first one comes with the library that draws, so that figures are alike on all machines."""
CUT = f"length(datum.label) > {LONGEST} ? slice(datum.label, 0, 12) + '…' + slice(datum.label, -9) : datum.label"
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
        return self.spec["width"] > WIDTH - BESIDE


def figures(board: BoardResults) -> dict[str, Figure]:
    """Return the figures of a board that have something to show, by name."""
    drawn = {name: draw(board) for name, draw in FIGURES.items()}
    return {name: figure for name, figure in drawn.items() if figure is not None}


def figure(board: BoardResults, name: str) -> Figure | None:
    """Return one figure; None when there is nothing to draw."""
    return FIGURES[name](board)


def check_figure(name: str) -> None:
    """Raise `ConfigError` for a name of no figure."""
    if name not in FIGURES:
        hint = did_you_mean(name, FIGURES)
        raise ConfigError(f"no figure '{name}'{hint if hint.endswith('?') else '; there are ' + ', '.join(FIGURES)}")


def render(spec: dict[str, Any], kind: str) -> bytes:
    """Return a figure as svg, png or pdf; the latter two on white."""
    import vl_convert

    if kind == "svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    spec = {**spec, "config": {**spec["config"], "background": "white"}}
    return vl_convert.vegalite_to_png(spec, scale=2) if kind == "png" else vl_convert.vegalite_to_pdf(spec)


def shortened(label: str) -> str:
    """Return a label as figures show it."""
    return label if len(label) <= LONGEST else f"{label[:12]}…{label[-9:]}"


_drawing = Lock()
"""Held while the options of altair, which are those of the whole process, are ours."""


@cache
def _altair() -> Any:
    import altair  # takes a while, and commands without figures do without

    return altair


def _spec(chart: altair.TopLevelMixin) -> dict[str, Any]:
    """Return a chart with the look of all figures as Vega-Lite."""
    quiet = {"domain": False, "ticks": False, "labelColor": INK, "titleColor": FAINT, "gridColor": LINE}
    words = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    styled = chart.configure(background="transparent", font=FONT, padding=4)
    styled = styled.configure_axis(**quiet, **words, gridOpacity=0.5, tickCount=5)
    legend = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "labelLimit": 180}
    styled = styled.configure_view(stroke=None).configure_legend(**legend)
    with _drawing, _altair().data_transformers.enable("default", max_rows=None):  # else 5,000: 72 bots' crosstable
        found: dict[str, Any] = styled.to_dict(validate=False)  # tests do
    return found


def _label_width(labels: Any) -> int:
    return round(LETTER * max((min(len(label), LONGEST) for label in labels), default=0)) + 10


def _rows(field: str, labels: Any, **options: Any) -> Any:
    """Return the encoding of rows, with room for their labels."""
    alt, room = _altair(), _label_width(labels)
    axis = alt.Axis(minExtent=room, maxExtent=room, labelExpr=CUT, labelLimit=room, labelPadding=6)
    return alt.Y(field, type="nominal", sort=None, title=None, axis=axis, **options)


def _size(labels: Any, beside: int = 8) -> dict[str, int]:
    """Return the size of a plot of rows with these labels and as many pixels beside it."""
    return {"width": WIDTH - _label_width(labels) - beside, "height": ROW * len(labels)}


def _most(frame: pd.DataFrame, values: pd.Series) -> Mapping[Any, Any]:
    """Return the row of a frame where the values are largest."""
    return frame.iloc[int(np.nanargmax(values.to_numpy()))].to_dict()


def _share(value: float) -> str:
    return "under 1 %" if 0 < value < 0.005 else f"{100 * value:.0f} %"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}{'es' * noun.endswith('ch') or 's'}"


def ratings(board: BoardResults) -> Figure | None:
    """Draw a forest plot: the rating of every bot with its interval, its range of ranks and its groups."""
    names = ["rank", "bot", "rating", "rating_ci_low", "rating_ci_high", "rank_ci_low", "rank_ci_high", "group"]
    names += ["lead_over_next", "matches", "disqualified"]
    table = board.leaderboard
    if table.empty:
        return None
    table = table[[name for name in names if name in table]]
    shown = table.assign(place=[_place(row) for row in table.to_dict("records")])
    alt, size = _altair(), _size(table["bot"], 86)
    base = alt.Chart(shown).encode(y=_rows("bot", table["bot"]))
    axis = alt.X("rating_ci_low:Q", title="rating, TrueSkill points", scale=alt.Scale(zero=False))
    known = base.transform_filter("isValid(datum.rating_ci_low)")  # below two blocks there is no interval
    bars = known.mark_rule(color=INK, strokeWidth=2).encode(x=axis, x2="rating_ci_high")
    points = base.mark_point(filled=True, size=70, color=BLUE, opacity=1).encode(x="rating:Q")
    words = base.mark_text(align="left", color=INK, fontSize=12).encode(x=alt.value(size["width"] + 10), text="place")
    chart = (bars + points + words).properties(**size)
    return Figure("Ratings", _ratings_in_words(table), table, _spec(chart))


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


def crosstable(board: BoardResults) -> Figure | None:
    """Draw the head-to-head differences of all pairs as a heat map."""
    found = board.crosstable
    if found.pairs.empty:
        return None
    names = ["bot", "opponent", "matches", "blocks", "wins", "ties", "losses"]
    pairs = found.pairs[[*names, "difference", "difference_ci_low", "difference_ci_high"]]
    mirrored = pairs.rename(columns={"bot": "opponent", "opponent": "bot"}).assign(difference=0.0 - pairs["difference"])
    cells = pd.concat([pairs, mirrored])[["bot", "opponent", "difference"]]
    leads = cells["difference"]
    cells = cells.assign(lead=np.where(leads < 0, "behind", "ahead"), size=leads.abs().round(2))
    alt, bots = _altair(), found.bots
    has_words, room = len(bots) <= MOST_WORDS, _label_width(bots)
    cell = max(44, min(72, (WIDTH - room) // len(bots))) if has_words else 14
    words = {"labelExpr": CUT, "labelLimit": room, "labelFontSize": 12 if has_words else 10}
    across = alt.Axis(
        labelAngle=-35 if has_words else -90, minExtent=round(0.65 * room) if has_words else room, **words
    )
    base = alt.Chart(cells).encode(
        x=alt.X("opponent:N", sort=bots, title=None, axis=across),
        y=alt.Y("bot:N", sort=bots, title=None, axis=alt.Axis(minExtent=room, maxExtent=room, **words)),
    )
    colours = alt.Scale(domain=["ahead", "behind"], range=[BLUE, ORANGE])
    chart = base.mark_rect().encode(  # paler where the lead is small, on light and on dark pages
        color=alt.Color("lead:N", scale=colours, legend=None),
        opacity=alt.Opacity("size:Q", scale=alt.Scale(domain=[0, 2], range=[0.04, 0.7]), legend=None),
    )
    if has_words:
        chart += base.mark_text(fontSize=11, color=INK).encode(text=alt.Text("difference:Q", format="+.2f"))
    chart = chart.properties(width=cell * len(bots), height=(ROW if has_words else cell) * len(bots))
    return Figure("Head to head", _crosstable_in_words(pairs), pairs, _spec(chart))


def _crosstable_in_words(pairs: pd.DataFrame) -> str:
    apart = int(((pairs["difference_ci_low"] > 0) | (pairs["difference_ci_high"] < 0)).sum())
    widest = _most(pairs, pairs["difference"].abs())
    lead = widest["difference"]
    winner, loser = (widest["bot"], widest["opponent"])[:: 1 if lead >= 0 else -1]
    return (
        "Mean return of the row's bot minus that of the column's, where both played: blue where the row leads, orange "
        "where it trails. Significant leads, whose intervals leave out 0: "
        f"{apart:,} of {_counted(len(pairs), 'pair')}. "
        f"The widest is that of {winner} over {loser}, {abs(lead):+.2f}."
    )


def seats(board: BoardResults) -> Figure | None:
    """Draw the mean return of every bot in each seat, and of all bots, with intervals."""
    if board.leaderboard.empty or not board.played.has_seats:
        return None
    table = _seat_returns(board)
    labels, names = list(dict.fromkeys(table["bot"])), [f"seat {seat}" for seat in range(board.players)]
    alt = _altair()
    colours = alt.Scale(domain=names, range=[*islice(cycle(SEAT_COLOURS), board.players)])
    shapes = alt.Scale(domain=names, range=[*islice(cycle(SHAPES[:5]), board.players)])
    legend = alt.Legend(orient="top", direction="horizontal", offset=2)
    base = alt.Chart(table).encode(
        y=_rows("bot", labels),
        yOffset=alt.YOffset("seat:N", sort=names),
        color=alt.Color("seat:N", scale=colours, title=None, legend=legend),
    )
    axis = alt.X("return_ci_low:Q", title="mean return, -1 to 1")
    known = base.transform_filter("isValid(datum.return_ci_low)")
    bars = known.mark_rule(strokeWidth=1.5).encode(x=axis, x2="return_ci_high")
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        x="return:Q", shape=alt.Shape("seat:N", scale=shapes, title=None, legend=legend)
    )
    size = {**_size(labels), "height": max(ROW, 7 * board.players + 6) * len(labels)}
    return Figure("Returns by seat", _seats_in_words(table), table, _spec((bars + points).properties(**size)))


ALL_BOTS = "all bots"


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
    best, worst = _most(overall, overall["return"]), _most(overall, -overall["return"])
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
    alt = _altair()
    base = alt.Chart(table).encode(y=_rows("part", table["part"]))
    shown = alt.X(
        "value:Q",
        title="share of the variance of a return",
        axis=alt.Axis(format=".0%"),
        scale=alt.Scale(domain=[min(0.0, float(table["value"].min())), 1.0], nice=False),
    )
    bars = base.mark_bar(color=SKY, height=12).encode(x=shown)
    known = base.transform_filter("isValid(datum.value_ci_low)")
    rules = known.mark_rule(color=INK).encode(x="value_ci_low:Q", x2="value_ci_high")
    chart = (bars + rules).properties(**_size(table["part"], 24))
    return Figure("Sources of variance", _variance_in_words(table), table.reset_index(drop=True), _spec(chart))


def _variance_in_words(table: pd.DataFrame) -> str:
    first = _most(table, table["value"])
    most = f"{_share(first['value'])} of the variance of a return"
    if not pd.isna(first["value_ci_low"]):
        most += f" (95 % interval {_share(first['value_ci_low'])} to {_share(first['value_ci_high'])})"
    sources = {"bots": "who plays", "seats": "who sits where", "bots by seat": "which bot has which seat"}
    sources |= {"dice and opening": "dice and opening", "rest": "none of these sources: chance within matches"}
    source = sources.get(first["part"], first["part"])
    certain = [row["part"] for row in table.to_dict("records") if row["value_ci_low"] > 0]
    words = f"{most} comes from {source}."
    return f"{words} Significantly above 0: {', '.join(certain)}." if certain else words


def convergence(board: BoardResults) -> Figure | None:
    """Draw how ratings and their intervals settle with more blocks."""
    rounds = np.unique(board.played.round)
    counts = sorted({len(rounds) >> step for step in range(STEPS)} - {0, 1})
    if len(counts) < 2:
        return None
    parts = []
    for count in counts[:-1]:
        first = board.played.first(int(np.searchsorted(board.played.round, rounds[count])))
        parts.append(ratings_with_intervals(first, REPLICATES).assign(blocks=len(np.unique(first.block))))
    parts.append(board.leaderboard.assign(blocks=len(np.unique(board.played.block))))
    table = pd.concat(parts)[["bot", "blocks", "rating", "rating_ci_low", "rating_ci_high"]].reset_index(drop=True)
    order = board.leaderboard["bot"].tolist()[:MOST_LINES]
    shown = table[table["bot"].isin(order)]
    alt = _altair()
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
        labelExpr=CUT,
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
    chart = (band + line + points).properties(width=WIDTH - BESIDE, height=200)
    return Figure("Convergence", _convergence_in_words(table, len(order)), table, _spec(chart))


def _convergence_in_words(table: pd.DataFrame, lines: int) -> str:
    half = (table["rating_ci_high"] - table["rating_ci_low"]) / 2
    halves = half.groupby(table["blocks"]).mean()
    (first, last), (early, late) = (halves.index[[0, -1]], halves.iloc[[0, -1]])
    words = "Ratings with their 95 % bands after the first blocks: "
    words += f"± {late:.1f} points on average after {_counted(int(last), 'block')}"
    if not pd.isna(early):
        words += f", ± {early:.1f} after {int(first):,}"
    return f"{words}." if table["bot"].nunique() <= lines else f"{words}. Drawn are the best {lines} bots."


def lengths(board: BoardResults) -> Figure | None:
    """Draw how long matches were."""
    if not len(board.plies):
        return None
    plies, matches = np.unique(board.plies, return_counts=True)
    table = pd.DataFrame({"plies": plies, "matches": matches})
    alt = _altair()
    chart = (
        alt.Chart(table)
        .mark_bar(color=GREEN)
        .encode(
            x=alt.X("plies:Q", bin=alt.Bin(maxbins=24), title="plies, random ones included", axis=alt.Axis(grid=False)),
            y=alt.Y("sum(matches):Q", title="matches", axis=alt.Axis(tickMinStep=1, tickCount=4)),
        )
        .properties(width=WIDTH - BESIDE, height=130)
    )
    low, middle, high = np.quantile(board.plies, [0.1, 0.5, 0.9], method="inverted_cdf")
    sentence = (
        f"Half of {_counted(len(board.plies), 'match')} took {middle:g} plies or fewer, 8 in 10 between {low:g} and "
        f"{high:g}; the shortest took {plies[0]}, the longest {plies[-1]}."
    )
    return Figure("Lengths of matches", sentence, table, _spec(chart))


def endings(board: BoardResults) -> Figure | None:
    """Draw how matches ended."""
    if not len(board.ended):
        return None
    counts = pd.Series(board.ended).value_counts(sort=False).sort_values(ascending=False, kind="stable")
    table = counts.rename_axis("ended").reset_index(name="matches")
    alt = _altair()
    base = alt.Chart(table).encode(
        y=_rows("ended", table["ended"]), x=alt.X("matches:Q", axis=alt.Axis(tickMinStep=1, format=",d"))
    )
    chart = base.mark_bar(color=GREEN, height=12).properties(**_size(table["ended"], 24))
    total = len(board.ended)
    listed = [f"{_share(row['matches'] / total)} ended {_ending(row['ended'])}" for row in table.to_dict("records")]
    return Figure("Endings", f"Of {_counted(total, 'match')} {', '.join(listed[:4])}.", table, _spec(chart))


def _ending(word: str) -> str:
    return {"normal": "by the rules", "forfeit": "by a forfeit"}.get(word, f"by {word}")


def forfeits(board: BoardResults) -> Figure | None:
    """Draw the forfeits of bots by cause."""
    if board.forfeits.empty:
        return None
    counts = dict(zip(board.leaderboard["bot"], board.leaderboard["matches"], strict=True))
    known = list(dict.fromkeys([*board.leaderboard["bot"], *board.forfeits["bot"]]))
    place = {bot: number for number, bot in enumerate(known)}
    table = board.forfeits.assign(place=board.forfeits["bot"].map(place)).sort_values("place", kind="stable")
    table = table.drop(columns="place").reset_index(drop=True)
    labels, causes = list(dict.fromkeys(table["bot"])), list(dict.fromkeys(table["cause"]))
    alt = _altair()
    legend = alt.Legend(orient="top", direction="horizontal", columns=4, offset=2)
    colours = alt.Scale(domain=causes, range=[*islice(cycle(SEAT_COLOURS), len(causes))])
    base = alt.Chart(table).encode(
        y=_rows("bot", labels),
        x=alt.X("sum(matches):Q", title="matches forfeited", axis=alt.Axis(tickMinStep=1, format=",d")),
    )
    bars = base.mark_bar(height=12).encode(color=alt.Color("cause:N", scale=colours, title=None, legend=legend))
    totals = table.groupby("bot", sort=False)["matches"].sum()
    most = str(totals.idxmax())
    sentence = (
        f"{_counted(int(totals.sum()), 'forfeit')} by {_counted(len(totals), 'bot')}; most by {most}: "
        f"{int(totals.max()):,}, beside {counts.get(most, 0):,} matches that count."
    )
    return Figure("Forfeits by cause", sentence, table, _spec(bars.properties(**_size(labels, 24))))


def clocks(board: BoardResults) -> Figure | None:
    """Draw how long the bots took for a move: at least a microsecond, for clocks tell no less."""
    if board.calls.empty:
        return None
    table = _clock_table(board)
    alt = _altair()
    base = alt.Chart(table).encode(y=_rows("bot", table["bot"]))
    low, high = (float(edge) for edge in (table["ms_10"].min(), table["ms_longest"].max()))
    powers = [10.0**power for power in range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)]
    scale = alt.Scale(type="log", domain=[powers[0], powers[-1]] if len(powers) > 1 else [powers[0], 10 * powers[0]])
    ticks = alt.Axis(values=powers, labelExpr="'' + datum.value")
    axis = alt.X("ms_10:Q", scale=scale, axis=ticks, title="milliseconds a move, logarithmic")
    bars = base.mark_rule(color=INK, strokeWidth=2).encode(x=axis, x2="ms_90")
    points = base.mark_point(filled=True, size=60, color=BLUE, opacity=1).encode(x="ms_median:Q")
    ends = base.mark_tick(color=FAINT, thickness=2, height=10).encode(x="ms_longest:Q")
    chart = (bars + points + ends).properties(**_size(table["bot"], 24))
    return Figure("Time of moves", _clocks_in_words(table, board.limits), table, _spec(chart))


def _clock_table(board: BoardResults) -> pd.DataFrame:
    """Return by bot the times of its moves and the share of its limits that it used."""
    limits, moves = board.limits, board.calls.groupby("bot")["seconds"]
    found = (1000 * moves.quantile(np.array([0.1, 0.5, 0.9, 1.0])).unstack()).clip(lower=0.001)
    found = found.set_axis(["ms_10", "ms_median", "ms_90", "ms_longest"], axis=1)
    found.insert(0, "moves", moves.size())
    found["move_limit_used"] = moves.max() / limits.seconds_per_move
    if limits.seconds_per_match:
        totals = board.calls.groupby(["bot", "match", "seat"])["seconds"].agg(["sum", "size"])
        used = totals["sum"] / (limits.seconds_per_match + limits.increment * totals["size"])
        found["clock_used"] = used.groupby("bot").mean()
        found["clock_used_most"] = used.groupby("bot").max()
    order = [bot for bot in board.leaderboard["bot"] if bot in found.index]
    return found.loc[order].rename_axis("bot").reset_index().round(DECIMALS)


def _clocks_in_words(table: pd.DataFrame, limits: Limits) -> str:
    slow, fast = _most(table, table["ms_median"]), _most(table, -table["ms_median"])
    words = "Wall clock of a move where this was played: median, the range of 8 in 10 moves, and the longest. "
    words += f"{slow['bot']} is the slowest with {slow['ms_median']:.3g} ms in the median"
    if fast["bot"] != slow["bot"]:
        words += f", {fast['bot']} the fastest with {fast['ms_median']:.3g}"
    longest = _most(table, table["ms_longest"])
    words += f". The longest move took {longest['ms_longest'] / 1000:.3g} s of {limits.seconds_per_move:g} allowed"
    if "clock_used" in table:
        most = _most(table, table["clock_used_most"])
        words += f"; most of a match's clock was used by {most['bot']}, {_share(most['clock_used_most'])}"
    return f"{words}."


def misfits(board: BoardResults) -> Figure | None:
    """Draw the leads of all pairs against those that the ratings predict."""
    pairs = board.crosstable.pairs
    if pairs.empty:
        return None
    table = pairs[["bot", "opponent", "matches", "lead", "predicted", "z"]]
    found = set(zip(board.crosstable.misfits["bot"], board.crosstable.misfits["opponent"], strict=True))
    kinds = ["as predicted", "significantly not"]
    shown = table.assign(kind=[kinds[(row.bot, row.opponent) in found] for row in table.itertuples()])
    alt = _altair()
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
    return Figure("Ratings and results", _misfits_in_words(board.crosstable, len(table)), table, _spec(chart))


def _misfits_in_words(found: Crosstable, pairs: int) -> str:
    words = "A dot for every two bots; on the line results are what the ratings predict. "
    if found.misfits.empty:
        words += f"None of {_counted(pairs, 'pair')} deviates significantly"
    else:
        worst = _most(found.misfits, found.misfits["z"].abs())
        words += (
            f"Significantly off (diamonds): {len(found.misfits):,} of {_counted(pairs, 'pair')}, most of all "
            f"{worst['bot']} and {worst['opponent']} with {worst['lead']:+.2f}, predicted {worst['predicted']:+.2f}"
        )
    cycles = len(found.cycles)
    return f"{words}. Significant cycles of three bots: {cycles or 'none'}."


FIGURES: dict[str, Callable[[BoardResults], Figure | None]] = {
    "ratings": ratings,
    "crosstable": crosstable,
    "seats": seats,
    "variance": variance,
    "convergence": convergence,
    "misfits": misfits,
    "lengths": lengths,
    "endings": endings,
    "forfeits": forfeits,
    "clocks": clocks,
}
"""All figures by name, in the order of a report."""
