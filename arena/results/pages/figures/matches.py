"""Figures of how matches went: lengths, endings, forfeits and the time that bots took."""

from __future__ import annotations

from itertools import cycle, islice

import numpy as np
import pandas as pd

from arena.core.adjudication import ADJUDICATED
from arena.core.limits import Limits
from arena.results.columns import DECIMALS
from arena.results.pages.figures.style import (
    AXIS_WIDTH,
    BLUE,
    FIGURE_WIDTH,
    GREEN,
    BoardResults,
    Figure,
    altair_module,
    largest,
    percent,
    row_axis,
    size_of,
    spec_of,
)
from engine.svg import FAINT, INK, SEAT_COLOURS
from engine.words import counted


def lengths(board: BoardResults) -> Figure | None:
    """Draw how long matches were."""
    if not len(board.plies):
        return None
    plies, matches = np.unique(board.plies, return_counts=True)
    table = pd.DataFrame({"plies": plies, "matches": matches})
    alt = altair_module()
    chart = (
        alt.Chart(table)
        .mark_bar(color=GREEN)
        .encode(
            x=alt.X("plies:Q", bin=alt.Bin(maxbins=24), title="plies, random ones included", axis=alt.Axis(grid=False)),
            y=alt.Y("sum(matches):Q", title="matches", axis=alt.Axis(tickMinStep=1, tickCount=4)),
        )
        .properties(width=FIGURE_WIDTH - AXIS_WIDTH, height=130)
    )
    low, middle, high = np.quantile(board.plies, [0.1, 0.5, 0.9], method="inverted_cdf")
    sentence = (
        f"Half of {counted(len(board.plies), 'match', 'matches')} took {middle:g} plies or fewer, 8 in 10 between "
        f"{low:g} and {high:g}; the shortest took {plies[0]}, the longest {plies[-1]}."
    )
    return Figure("Lengths of matches", sentence, table, spec_of(chart))


def endings(board: BoardResults) -> Figure | None:
    """Draw how matches ended."""
    if not len(board.ended):
        return None
    counts = pd.Series(board.ended).value_counts(sort=False).sort_values(ascending=False, kind="stable")
    table = counts.rename_axis("ended").reset_index(name="matches")
    alt = altair_module()
    base = alt.Chart(table).encode(
        y=row_axis("ended", table["ended"]), x=alt.X("matches:Q", axis=alt.Axis(tickMinStep=1, format=",d"))
    )
    chart = base.mark_bar(color=GREEN, height=12).properties(**size_of(table["ended"], 24))
    total = len(board.ended)
    listed = [f"{percent(row['matches'] / total)} ended {_ending(row['ended'])}" for row in table.to_dict("records")]
    return Figure("Endings", f"Of {counted(total, 'match', 'matches')} {', '.join(listed[:4])}.", table, spec_of(chart))


def _ending(word: str) -> str:
    words = {"normal": "by the rules", "forfeit": "by a forfeit"} | {each: each for each in ADJUDICATED}
    return words.get(word, f"by {word}")


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
    alt = altair_module()
    legend = alt.Legend(orient="top", direction="horizontal", columns=4, offset=2)
    colours = alt.Scale(domain=causes, range=[*islice(cycle(SEAT_COLOURS), len(causes))])
    base = alt.Chart(table).encode(
        y=row_axis("bot", labels),
        x=alt.X("sum(matches):Q", title="matches forfeited", axis=alt.Axis(tickMinStep=1, format=",d")),
    )
    bars = base.mark_bar(height=12).encode(color=alt.Color("cause:N", scale=colours, title=None, legend=legend))
    totals = table.groupby("bot", sort=False)["matches"].sum()
    most = str(totals.idxmax())
    sentence = (
        f"{counted(int(totals.sum()), 'forfeit')} by {counted(len(totals), 'bot')}; most by {most}: "
        f"{int(totals.max()):,}, beside {counts.get(most, 0):,} matches that count."
    )
    return Figure("Forfeits by cause", sentence, table, spec_of(bars.properties(**size_of(labels, 24))))


def clocks(board: BoardResults) -> Figure | None:
    """Draw how long the bots took for a move: at least a microsecond, for clocks tell no less."""
    if board.calls.empty:
        return None
    table = _clock_table(board)
    alt = altair_module()
    base = alt.Chart(table).encode(y=row_axis("bot", table["bot"]))
    low, high = (float(edge) for edge in (table["ms_10"].min(), table["ms_longest"].max()))
    powers = [10.0**power for power in range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)]
    scale = alt.Scale(type="log", domain=[powers[0], powers[-1]] if len(powers) > 1 else [powers[0], 10 * powers[0]])
    ticks = alt.Axis(values=powers, labelExpr="'' + datum.value")
    axis = alt.X("ms_10:Q", scale=scale, axis=ticks, title="milliseconds a move, logarithmic")
    bars = base.mark_rule(color=INK, strokeWidth=2).encode(x=axis, x2="ms_90")
    points = base.mark_point(filled=True, size=60, color=BLUE, opacity=1).encode(x="ms_median:Q")
    ends = base.mark_tick(color=FAINT, thickness=2, height=10).encode(x="ms_longest:Q")
    chart = (bars + points + ends).properties(**size_of(table["bot"], 24))
    return Figure("Time of moves", _clocks_in_words(table, board.limits), table, spec_of(chart))


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
    slow, fast = largest(table, table["ms_median"]), largest(table, -table["ms_median"])
    words = "Wall clock of a move where this was played: median, the range of 8 in 10 moves, and the longest. "
    words += f"{slow['bot']} is the slowest with {slow['ms_median']:.3g} ms in the median"
    if fast["bot"] != slow["bot"]:
        words += f", {fast['bot']} the fastest with {fast['ms_median']:.3g}"
    longest = largest(table, table["ms_longest"])
    words += f". The longest move took {longest['ms_longest'] / 1000:.3g} s of {limits.seconds_per_move:g} allowed"
    if "clock_used" in table:
        most = largest(table, table["clock_used_most"])
        words += f"; most of a match's clock was used by {most['bot']}, {percent(most['clock_used_most'])}"
    return f"{words}."
