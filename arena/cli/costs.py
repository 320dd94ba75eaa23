"""`arena costs`: what a move of each bot took."""

from __future__ import annotations

import pandas as pd

from arena import api
from arena.cli.arguments import BoardOptions
from arena.cli.output import Output, fitted_table, print_boards
from arena.results.columns import COSTS
from arena.results.matches import BoardName


def print_costs(boards: BoardOptions) -> None:
    """Run `arena costs`."""
    found = api.costs(boards.target, boards.game, boards.players, boards.home)
    print_boards(found, "costs", boards.format, _print_board)


def _print_board(at: BoardName, frame: pd.DataFrame) -> None:
    out = Output()
    out.print(f"{at[0]}, {at[1]} players", style="bold")
    unknown = [name for name in ("search_steps_per_move", "visits_per_move") if frame[name].isna().all()]
    frame = frame.drop(columns=unknown)
    out.print(fitted_table(COSTS.cells(frame), ["bot"], (), out.width))
    out.print()
