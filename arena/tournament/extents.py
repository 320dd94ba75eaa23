"""How far the boards of a plan go, and which rows of an index of its log are in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from arena.tournament.tournament import Tournament


class Extent(NamedTuple):
    """Which blocks of a board's tables are in the plan, as its log decides."""

    counts: Sequence[int] | None
    """Rounds by table; None where they are not decided yet, and for foreign results."""
    out: Mapping[int, int]
    """Last rounds of disqualified entries."""


Extents = Mapping[tuple[str, int], Extent]
"""By game and number of players."""
Columns = Mapping[str, np.ndarray]


def extents_of(tournament: Tournament, decided: bool) -> Extents:
    """Return the extents of all boards; `decided` is whether no stage follows on any."""
    schedule = tournament.schedule
    unknown = schedule.is_foreign or (schedule.scheduler.has_stages and not decided)
    return {
        (board.game, board.players): Extent(None if unknown else schedule.counts(index), tournament.disqualified(index))
        for index, board in enumerate(schedule.boards)
    }


def planned_matches(
    extents: Extents, boards: Mapping[int, tuple[str, int]], match: Columns, seat: Columns
) -> np.ndarray:
    """Return which matches are of the plan, in complete blocks or not.

    `boards` are names by key, `match` has board, table (`arena.tournament.seats`) and round, `seat` match and entry.
    The extents may be of an earlier run than the columns: boards and tables that they do not know are left out.
    """
    found = match["table"] >= 0
    for key, name in boards.items():
        extent, here = extents.get(name), match["board"] == key
        if extent is None:
            found &= ~here
            continue
        if extent.counts is not None and (rows := np.flatnonzero(found & here)).size:
            counts = np.append(extent.counts, 0)  # no rounds of a table that is not known
            found[rows] = match["round"][rows] < counts[np.minimum(match["table"][rows], len(counts) - 1)]
        for entry, last in extent.out.items():
            later = here & (match["round"] > last)
            found &= ~(later & with_seats(seat, seat["entry"] == entry, len(found)))
    return found


def with_seats(seat: Columns, seats: np.ndarray, total: int) -> np.ndarray:
    """Return which of so many matches have one of these seats."""
    found = np.zeros(total, bool)
    found[seat["match"][np.flatnonzero(seats)]] = True  # three times as fast as by the mask itself
    return found
