"""`arena variance`: advantage of seats, sources of variance."""

from __future__ import annotations

import pandas as pd

from arena.cli.arguments import BoardOptions
from arena.cli.output import Output, fitted_table, print_boards
from arena.results.columns import VARIANCE
from arena.results.matches import BoardName
from arena.results.variance import variance

OWN_DICE = (
    "The matches of a block draw their own dice where a sandboxed or submitted bot sits, so the effect of dice cannot "
    "be separated from the bots' own chance. With common_dice = true in the plan they share dice."
)
VARIANCE_SOURCES = {
    "bots": "because of who plays",
    "seats": "because of the seats",
    "bots by seat": "because of who sits where",
    "dice and opening": "by dice and opening that the matches of a block share",
    "rest": "by the bots' own chance and all the rest",
}
"""Sources of variance in words."""


def print_variance(boards: BoardOptions) -> None:
    """Run `arena variance`."""
    found = variance(boards.target, boards.game, boards.players, boards.home)
    print_boards(found, "variance", boards.format, print_board_variance)


def print_board_variance(at: BoardName, frame: pd.DataFrame) -> None:
    """Print the decomposition of one board for a terminal."""
    out = Output()
    seats, shares = (frame[frame["statistic"] == name] for name in ("mean_return", "share"))
    out.print(f"{at[0]}, {at[1]} players", style="bold")
    if seats["value"].isna().all():
        out.print("no complete block yet\n")
        return
    out.print(fitted_table(VARIANCE.cells(seats), ["part"], [], out.width))
    out.print(seats_in_words(seats, shares))
    if shares["value"].isna().all():
        out.print("shares of variance need two blocks of the same bots, and results that differ\n")
        return
    out.print()
    out.print(fitted_table(share_columns(shares), ["variance of a return", ""], [], out.width))
    out.print(f"{shares_in_words(shares)}\n")
    if shares["value"].isna().any():
        out.print(f"{OWN_DICE}\n")


def share_columns(shares: pd.DataFrame) -> dict[str, list[str]]:
    """Return the cells of shares by heading."""
    ends = zip(shares["value"], shares["value_ci_low"], shares["value_ci_high"], strict=True)
    return {
        "variance of a return": list(shares["part"]),
        "share": [percent(value) if value == value else "" for value in shares["value"]],
        "95 %": [share_range(*row) for row in ends],
    }


def share_range(value: float, low: float, high: float) -> str:
    """Return the interval of a share as text."""
    if value != value:
        return "not estimable"
    if low != low:
        return "?"
    return f"{percent(low)} to {percent(high)}" if low else f"at most {percent(high)}"


def percent(share: float) -> str:
    """Return a share as text."""
    return f"{100 * share:.1f} %"


def seats_in_words(seats: pd.DataFrame, shares: pd.DataFrame) -> str:
    """Return the seats whose interval excludes 0, if the share of seats is significantly above 0."""
    if (shares.loc[shares["part"] == "seats", "value_ci_low"] == 0).any():
        return "no seat stands out"
    parts = []
    for verb, where in (("gain", seats["value_ci_low"] > 0), ("lose", seats["value_ci_high"] < 0)):
        numbers = [part.removeprefix("seat ") for part in seats.loc[where, "part"]]
        if len(numbers) > 1:
            parts.append(f"seats {', '.join(numbers[:-1])} and {numbers[-1]} {verb}")
        elif numbers:
            parts.append(f"seat {numbers[0]} {verb}s")
    return "; ".join(parts) or "no seat stands out"


def shares_in_words(shares: pd.DataFrame) -> str:
    """Return the sources of variance in a sentence."""
    cells = zip(shares["part"], shares["value"], shares["value_ci_low"], shares["value_ci_high"], strict=True)
    parts = [
        f"{f'at most {100 * high:.0f}' if low == 0 else f'{100 * value:.0f}'} % {VARIANCE_SOURCES[part]}"
        for part, value, low, high in cells
        if value == value
    ]
    return f"Returns differ: {', '.join(parts)}."
