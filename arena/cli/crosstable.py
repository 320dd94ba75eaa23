"""`arena crosstable`: head-to-head results, misfits, cycles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from rich.cells import cell_len

from arena.cli.arguments import BoardOptions
from arena.cli.output import COLUMN_GAP, Output, fitted_table, print_csv, print_json
from arena.results.columns import CROSSTABLE, as_text, format_of
from arena.results.crosstable import Crosstable, crosstables, of_bot
from arena.results.matches import BoardName
from arena.results.tables import markdown, records
from arena.stats.cycles import alpha_rank
from arena.stats.head_to_head import DECIMALS, matrix
from arena.stats.multiple import FAMILY_WISE_ERROR

OPTIONAL_COLUMNS = ("predicted", "matches", "lead", "z", "p (Holm)")
"""Columns left out in a narrow terminal, the first ones first."""
NOTHING_YET = "no complete block yet"
MAX_LISTED = 10
"""Cycles and misfits that are listed."""
CELL_CHARS = len("+0.000")
MAX_NAME_CHARS = 24
"""Largest width of the bots' names in a matrix."""


@dataclass(frozen=True)
class CrosstableView:
    """Part of a board's crosstable that is printed."""

    board: Crosstable
    matrices: tuple[pd.DataFrame, pd.DataFrame] | None
    """Differences and matches, bots by bots."""
    alpha_rank: pd.Series | None
    """Alpha-rank by bot, the largest first."""

    @property
    def frame(self) -> pd.DataFrame:
        """The matrix of differences or else the pairs, with alpha-rank."""
        frame = self.matrices[0].reset_index() if self.matrices else self.board.pairs
        return frame if self.alpha_rank is None else frame.assign(alpha_rank=frame["bot"].map(self.alpha_rank))

    def as_data(self, at: BoardName) -> dict[str, Any]:
        """Return all as plain data."""
        board = self.board
        data: dict[str, Any] = {"game": at[0], "players": at[1], "crosstable": records(board.pairs)}
        if self.matrices:
            data["difference"], data["matches"] = (records(view.reset_index()) for view in self.matrices)
        data |= {"misfits": records(board.misfits), "cycles": records(board.cycles)}
        data |= {"cyclic_groups": board.cyclic_groups}
        return data if self.alpha_rank is None else data | {"alpha_rank": self.alpha_rank.to_dict()}


def view_of(whole: Crosstable, bot: str | None, with_matrix: bool, with_alpha_rank: bool) -> CrosstableView:
    """Return what is printed of a crosstable, or of one bot in it."""

    def square(name: str) -> pd.DataFrame:
        return matrix(whole.pairs, name).reindex(index=whole.bots, columns=whole.bots)

    matrices = shares = None
    if with_matrix:
        rows = whole.bots if bot is None else [bot]
        difference, matches = (square(name).loc[rows].rename_axis("bot") for name in ("difference", "matches"))
        matrices = difference, matches.astype("Int64")
    if with_alpha_rank:
        shares = alpha_rank(square("lead")).round(DECIMALS).sort_values(ascending=False, kind="stable")
    return CrosstableView(whole if bot is None else of_bot(whole, bot), matrices, shares)


def print_crosstable(boards: BoardOptions, bot: str | None, matrix: bool, alpha_rank: bool) -> None:
    """Run `arena crosstable`."""
    found = crosstables(boards.target, boards.game, boards.players, boards.home)
    views = {at: view_of(board, bot, matrix, alpha_rank) for at, board in found.items()}
    if boards.format == "json":
        print_json([view.as_data(at) for at, view in views.items()])
    elif boards.format == "csv":
        print_csv({at: view.frame for at, view in views.items()})
    else:
        for at, view in views.items():
            (print_markdown if boards.format == "md" else print_view)(at, view)


def print_markdown(at: BoardName, view: CrosstableView) -> None:
    """Print a view as Markdown."""
    frames = [view.board.pairs]
    if view.matrices:
        frames = [signed(view.matrices[0]).reset_index(), view.matrices[1].reset_index()]
    if view.alpha_rank is not None:
        frames.append(view.alpha_rank.rename_axis("bot").reset_index())
    print(f"## {at[0]}, {at[1]} players\n")
    for frame in frames:
        print(markdown(frame))
    for line in [apart_in_words(view.board), *findings(view.board)] if len(view.board.pairs) else [NOTHING_YET]:
        print(f"- {line}")
    print()


def print_view(at: BoardName, view: CrosstableView) -> None:
    """Print a view for a terminal."""
    out, board = Output(), view.board
    out.print(f"{at[0]}, {at[1]} players", style="bold")
    if board.pairs.empty:
        out.print(f"{NOTHING_YET}\n")
        return
    if view.matrices is None:
        out.print(fitted_table(CROSSTABLE.cells(board.pairs), ["bot", "opponent"], OPTIONAL_COLUMNS, out.width))
    else:
        for columns in matrix_columns(view.matrices[0], board.bots, out.width):
            out.print(fitted_table(columns, ["bot"], [], out.width))
            out.print()
        out.print(meetings_in_words(view.matrices[1]))
    if view.alpha_rank is not None:
        out.print()
        columns = {"bot": list(view.alpha_rank.index), "alpha-rank": [as_text(share) for share in view.alpha_rank]}
        out.print(fitted_table(columns, ["bot"], [], out.width))
    out.print()
    for line in (apart_in_words(board), *findings(board)):
        out.print(line)
    out.print()


def matrix_columns(difference: pd.DataFrame, bots: list[str], width: int) -> Iterator[dict[str, list[str]]]:
    """Yield the cells of a matrix, opponents by number, in as many parts as the width requires."""
    names = [f"{bots.index(bot) + 1} {bot}" for bot in difference.index]
    room = width - min(max(map(cell_len, names)), MAX_NAME_CHARS)
    step = max(room // (CELL_CHARS + COLUMN_GAP), 1)
    cells = signed(difference)
    for start in range(0, len(bots), step):
        stop = min(start + step, len(bots))
        yield {"bot": names} | {str(number + 1): list(cells.iloc[:, number]) for number in range(start, stop)}


def meetings_in_words(matches: pd.DataFrame) -> str:
    """Return the number of matches that two bots played."""
    counts = matches.to_numpy(dtype=float, na_value=np.nan)
    least, most = np.nanmin(counts), np.nanmax(counts)
    return f"difference of mean returns in {least:,.0f} {'' if least == most else f'to {most:,.0f} '}matches a pair"


def signed(difference: pd.DataFrame) -> pd.DataFrame:
    """Return a matrix as text, empty for bots that never met."""
    return difference.map(lambda value: as_text(value, format_of("difference")))


def apart_in_words(board: Crosstable) -> str:
    """Return how many pairs differ significantly, in words."""
    return (
        f"{board.apart:,} of {len(board.pairs):,} pairs differ significantly when all are tested at once (Holm, "
        f"{100 * FAMILY_WISE_ERROR:g} %)"
    )


def findings(board: Crosstable) -> Iterator[str]:
    """Yield misfits and cycles in words."""
    misfits = [
        f"{row.bot} against {row.opponent}: lead {row.lead:+z.2f}, by ratings {row.predicted:+z.2f} (z {row.z:+z.1f})"
        for row in board.misfits.itertuples()
    ]
    yield from shortened(misfits, "misfits") if misfits else ["every lead is as the ratings predict, but for chance"]
    cycles = [
        f"cycle: {row.first} > {row.second} > {row.third} > {row.first} (p = {row.p_value:.2g})"
        for row in board.cycles.itertuples()
    ]
    yield from shortened(cycles, "cycles")
    if not cycles:
        longer = [f"cycles of more than three link {', '.join(group)}" for group in board.cyclic_groups]
        yield from longer or ["no significant cycle"]


def shortened(lines: list[str], what: str) -> list[str]:
    """Return the first lines and the number of the others."""
    more = len(lines) - MAX_LISTED
    return lines if more <= 0 else [*lines[:MAX_LISTED], f"and {more:,} more {what}"]
