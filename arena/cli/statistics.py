"""`arena pairs` and `arena luck`: who beats whom, cycles, what seats and chance are worth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.cells import cell_len

from arena import api
from arena.cli.output import GAP, Output, check_format, fitted_table, print_csv, print_json
from arena.results import analysis
from arena.results.analysis import Meetings
from arena.results.columns import CROSSTABLE
from arena.results.report import markdown, records
from arena.stats.cycles import alpha_rank
from arena.stats.head_to_head import DECIMALS, matrix

LESS_NEEDED = ("predicted", "matches", "lead", "z")
"""Columns of pairs that a narrow terminal does without, the first ones first."""
MOST_LINES = 10
"""Cycles and misfits that are told in words."""
OWN_DICE = (
    "Matches of a block do not share their dice where a sandboxed or submitted bot sits, so what dice decide cannot be "
    "told from the bots' own chance. common_dice = true in the plan lets them share."
)
CELL = len("+0.000")
NAME = 24
"""Columns that a matrix spends on bots' names at most."""


def print_pairs(
    target: str,
    game: str | None,
    players: int | None,
    bot: str | None,
    as_matrix: bool,
    with_alpha_rank: bool,
    format: str,
    home: Path | None,
) -> None:
    """`arena pairs`."""
    check_format(format)
    found = analysis.meetings(target, game, players, home)
    shown = {at: analysis.of_bot(board, bot) if bot is not None else board for at, board in found.items()}
    ranks = {at: ranked(board) for at, board in found.items()} if with_alpha_rank else {}
    views = {at: matrices(board, bot) for at, board in found.items()} if as_matrix else {}
    if format == "json":
        print_json([as_data(at, shown[at], views.get(at), ranks.get(at)) for at in shown])
    elif format == "csv":
        wide = {at: view[0].reset_index() for at, view in views.items()}
        print_csv(with_ranks(wide or {at: board.pairs for at, board in shown.items()}, ranks))
    else:
        for at, board in shown.items():
            if format == "md":
                print_markdown(at, board, views.get(at), ranks.get(at))
            else:
                print_meetings(at, board, views.get(at), ranks.get(at))


def ranked(board: Meetings) -> pd.Series:
    """alpha-rank of a board's bots, the largest first."""
    shares = alpha_rank(matrix(board.pairs, "lead").reindex(index=board.bots, columns=board.bots))
    return shares.round(DECIMALS).sort_values(ascending=False, kind="stable")


def matrices(board: Meetings, bot: str | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Differences and matches, bots by bots; with a bot its row alone."""
    whole = (
        matrix(board.pairs, name).reindex(index=board.bots, columns=board.bots) for name in ("difference", "matches")
    )
    difference, matches = (view if bot is None else view.loc[[bot]] for view in whole)
    return difference.rename_axis("bot"), matches.rename_axis("bot").astype("Int64")


def with_ranks(
    frames: dict[tuple[str, int], pd.DataFrame], ranks: dict[tuple[str, int], pd.Series]
) -> dict[tuple[str, int], pd.DataFrame]:
    """The frames with a column for the alpha-rank of each row's bot, where there is one."""
    return {
        at: frame.assign(alpha_rank=frame["bot"].map(ranks[at])) if at in ranks else frame
        for at, frame in frames.items()
    }


def as_data(
    at: tuple[str, int], board: Meetings, views: tuple[pd.DataFrame, pd.DataFrame] | None, ranks: pd.Series | None
) -> dict[str, Any]:
    """All about a board's meetings as plain data."""
    data: dict[str, Any] = {"game": at[0], "players": at[1], "pairs": records(board.pairs)}
    if views is not None:
        data["difference"], data["matches"] = (records(view.reset_index()) for view in views)
    data |= {"misfits": records(board.misfits), "cycles": records(board.cycles), "entangled": board.entangled}
    return data if ranks is None else data | {"alpha_rank": ranks.to_dict()}


def print_markdown(
    at: tuple[str, int], board: Meetings, views: tuple[pd.DataFrame, pd.DataFrame] | None, ranks: pd.Series | None
) -> None:
    """All about a board's meetings as Markdown."""
    frames = [board.pairs]
    if views is not None:
        frames = [signed(views[0]).reset_index(), views[1].reset_index()]
    if ranks is not None:
        frames.append(ranks.rename_axis("bot").reset_index())
    print(f"## {at[0]}, {at[1]} players\n")
    for frame in frames:
        print(markdown(frame))
    for line in findings(board) if len(board.pairs) else ["no complete block yet"]:
        print(f"- {line}")
    print()


def print_meetings(
    at: tuple[str, int], board: Meetings, views: tuple[pd.DataFrame, pd.DataFrame] | None, ranks: pd.Series | None
) -> None:
    """All about a board's meetings for a person."""
    out = Output()
    out.print(f"{at[0]}, {at[1]} players", style="bold")
    if board.pairs.empty:
        out.print("no complete block yet\n")
        return
    if views is None:
        out.print(fitted_table(CROSSTABLE.cells(board.pairs), ["bot", "opponent"], LESS_NEEDED, out.width))
    else:
        for columns in matrix_columns(views[0], board.bots, out.width):
            out.print(fitted_table(columns, ["bot"], [], out.width))
            out.print()
        out.print(met_in_words(views[1]))
    if ranks is not None:
        out.print()
        columns = {"bot": list(ranks.index), "alpha-rank": list(ranks.map("{:.3f}".format))}
        out.print(fitted_table(columns, ["bot"], [], out.width))
    out.print()
    for line in findings(board):
        out.print(line)
    out.print()


def plus_minus(mean: float, half: float) -> str:
    """A mean with half the width of its interval."""
    return f"{mean:+.3f} ± " + (f"{half:.3f}" if half == half else "?")


def matrix_columns(difference: pd.DataFrame, bots: list[str], width: int) -> Iterator[dict[str, list[str]]]:
    """The cells of the matrix for a person, opponents by number, in as many parts as the width asks for."""
    names = [f"{bots.index(bot) + 1} {bot}" for bot in difference.index]
    room = width - min(max(map(cell_len, names)), NAME)
    step = max(room // (CELL + GAP), 1)
    cells = signed(difference)
    for start in range(0, len(bots), step):
        columns = {"bot": names}
        for number in range(start, min(start + step, len(bots))):
            columns[str(number + 1)] = list(cells.iloc[:, number])
        yield columns


def met_in_words(matches: pd.DataFrame) -> str:
    """How often two bots met."""
    counts = matches.to_numpy(dtype=float, na_value=np.nan)
    least, most = np.nanmin(counts), np.nanmax(counts)
    return f"difference of mean returns in {least:,.0f} {'' if least == most else f'to {most:,.0f} '}matches a pair"


def signed(difference: pd.DataFrame) -> pd.DataFrame:
    """The matrix as text, empty where two never met."""
    return difference.map("{:+.3f}".format).where(difference.notna(), "")


def findings(board: Meetings) -> Iterator[str]:
    """Misfits and cycles in words."""
    told = [
        f"{row.bot} against {row.opponent}: lead {row.lead:+.2f}, by ratings {row.predicted:+.2f} (z {row.z:+.1f})"
        for row in board.misfits.itertuples()
    ]
    yield from shortened(told, "misfits") if told else ["every lead is as the ratings predict, but for chance"]
    named = [
        f"cycle: {row.first} > {row.second} > {row.third} > {row.first} (p = {row.p_value:.2g})"
        for row in board.cycles.itertuples()
    ]
    yield from shortened(named, "cycles")
    if not named:
        longer = [f"cycles of more than three link {', '.join(group)}" for group in board.entangled]
        yield from longer or ["no significant cycle"]


def shortened(lines: list[str], what: str) -> list[str]:
    """The first lines, and how many more there are."""
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"and {more:,} more {what}"]


def print_luck(target: str, game: str | None, players: int | None, format: str, home: Path | None) -> None:
    """`arena luck`."""
    check_format(format)
    found = api.luck(target, game, players, home)
    if format == "json":
        print_json([{"game": at[0], "players": at[1], "luck": records(frame)} for at, frame in found.items()])
    elif format == "csv":
        print_csv(found)
    else:
        for at, frame in found.items():
            if format == "md":
                print(f"## {at[0]}, {at[1]} players\n\n{markdown(frame)}")
            else:
                print_luck_of(at, frame)


def print_luck_of(at: tuple[str, int], frame: pd.DataFrame) -> None:
    """What seats and chance are worth on a board, for a person."""
    out = Output()
    seats, shares = (frame[frame["statistic"] == name] for name in ("mean_return", "share"))
    out.print(f"{at[0]}, {at[1]} players", style="bold")
    if seats["value"].isna().all():
        out.print("no complete block yet\n")
        return
    half = (seats["value_ci_high"] - seats["value_ci_low"]) / 2
    returns = [plus_minus(mean, width) for mean, width in zip(seats["value"], half, strict=True)]
    out.print(fitted_table({"": list(seats["part"]), "return ± 95 %": returns}, [""], [], out.width))
    out.print(seats_in_words(seats, shares))
    if shares["value"].isna().all():
        out.print("shares of luck need two blocks of the same bots, and results that differ\n")
        return
    out.print()
    out.print(fitted_table(share_columns(shares), ["variance of a return", ""], [], out.width))
    out.print(f"{shares_in_words(shares)}\n")
    if shares["value"].isna().any():
        out.print(f"{OWN_DICE}\n")


def share_columns(shares: pd.DataFrame) -> dict[str, list[str]]:
    """The cells of shares for a person, by column."""
    return {
        "variance of a return": list(shares["part"]),
        "share": [percent(value) if value == value else "" for value in shares["value"]],
        "95 %": [
            share_range(*row)
            for row in zip(shares["value"], shares["value_ci_low"], shares["value_ci_high"], strict=True)
        ],
    }


def share_range(value: float, low: float, high: float) -> str:
    """A share's interval for a person."""
    if value != value:
        return "not estimable"
    if low != low:
        return "?"
    return f"{percent(low)} to {percent(high)}" if low else f"at most {percent(high)}"


def percent(share: float) -> str:
    """A share for a person."""
    return f"{100 * share:.1f} %"


def seats_in_words(seats: pd.DataFrame, shares: pd.DataFrame) -> str:
    """The seats whose interval leaves 0 out, where seats have a share in the variance that is surely above 0."""
    if (shares.loc[shares["part"] == "seats", "value_ci_low"] == 0).any():
        return "no seat stands out"
    told = []
    for verb, where in (("gain", seats["value_ci_low"] > 0), ("lose", seats["value_ci_high"] < 0)):
        numbers = [part.removeprefix("seat ") for part in seats.loc[where, "part"]]
        if len(numbers) > 1:
            told.append(f"seats {', '.join(numbers[:-1])} and {numbers[-1]} {verb}")
        elif numbers:
            told.append(f"seat {numbers[0]} {verb}s")
    return "; ".join(told) or "no seat stands out"


def shares_in_words(shares: pd.DataFrame) -> str:
    """What decides a match."""
    reasons = {
        "bots": "because of who plays",
        "seats": "because of the seats",
        "bots by seat": "because of who sits where",
        "dice and opening": "by dice and opening that the matches of a block share",
        "rest": "by the bots' own chance and all the rest",
    }
    cells = zip(shares["part"], shares["value"], shares["value_ci_low"], shares["value_ci_high"], strict=True)
    told = [
        f"{f'at most {100 * high:.0f}' if low == 0 else f'{100 * value:.0f}'} % {reasons[part]}"
        for part, value, low, high in cells
        if value == value
    ]
    return f"Returns differ: {', '.join(told)}."
