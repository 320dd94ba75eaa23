"""What the moves of bots cost: the time that they took, and what searches told of their steps and visits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.match.estimates import unpack_estimates
from arena.match.result import CallDuration
from arena.match.stored import StoredMatch
from arena.results.columns import COSTS
from arena.results.matches import BoardName, chosen_boards
from arena.results.parameters import with_parameters
from arena.store import Store
from arena.tournament.tournament import Tournament

MAX_MATCHES = 10_000
"""Matches of a board whose clocks are read for a table of costs."""
QUANTILE = 0.95


class SeatCost(NamedTuple):
    """What the moves of one seat of a match cost."""

    moves: int | None
    """Times are known of; None where the log has no times of the match."""
    seconds: float | None
    cpu_seconds: float | None
    search_steps: float | None
    """Mean of what the bot told of a move; None where it told nothing."""
    visits: float | None
    """Likewise."""


class SearchSizes(NamedTuple):
    """What bots told of the size of their searches, by ply; a ply is missing where they told nothing."""

    steps: Mapping[int, int]
    """Simulations, nodes or playouts."""
    visits: Mapping[int, int]
    """Tries of actions."""


def search_sizes(estimates: Iterable[tuple[int, int, Iterable[int]]]) -> SearchSizes:
    """Return the sizes of searches from plies, steps and visit counts."""
    steps, visits = {}, {}
    for ply, taken, counts in estimates:
        if taken:
            steps[ply] = taken
        if total := sum(counts):
            visits[ply] = total
    return SearchSizes(steps, visits)


def seat_costs(players: int, calls: Sequence[CallDuration], sizes: SearchSizes) -> list[SeatCost]:
    """Return what moves cost by seat."""
    found = []
    for seat in range(players):
        moves = [call for call in calls if call.seat == seat and call.ply >= 0]
        means = [_mean_or_none([told[call.ply] for call in moves if call.ply in told]) for told in sizes]
        wall, cpu = (round(sum(times), 6) for times in ([m.wall for m in moves], [m.cpu for m in moves]))
        found.append(SeatCost(len(moves), wall, cpu, *means) if calls else SeatCost(None, None, None, None, None))
    return found


def match_seat_costs(match: StoredMatch) -> list[SeatCost]:
    """Return what moves of a match that was read back cost by seat."""
    told = ((ply, each.search_steps, each.visit_counts.values()) for ply, each in match.estimates.items())
    return seat_costs(match.players, match.clocks, search_sizes(told))


class MatchCost(NamedTuple):
    """Calls of the bots of a match, and the sizes of their searches."""

    row: int
    """Place of the match among those of its board in the log."""
    calls: list[CallDuration]
    sizes: SearchSizes


def match_costs(store: Store, game: str, players: int, rows: Sequence[int]) -> Iterator[MatchCost]:
    """Yield what was told of matches of a board; `rows` are ascending places among them in the log."""
    for row, calls, plies, packed in store.board(game, players).costs(rows):
        told = unpack_estimates(packed, players, plies)
        yield MatchCost(row, calls, search_sizes((ply, steps, counts[1::2]) for ply, _, _, counts, steps in told))


def with_costs(frame: pd.DataFrame, tournament: Tournament, index: int) -> pd.DataFrame:
    """Return `arena.results.matches.board_matches` of a board with what the moves of each seat cost."""
    board, found = tournament.schedule.boards[index], tournament.counted(index)
    costs = {
        match.row: seat_costs(board.players, match.calls, match.sizes)
        for match in match_costs(tournament.store, board.game, board.players, sorted(found.rows.tolist()))
    }
    cells = [cost for row in found.rows.tolist() for cost in costs[row]]
    columns = zip(SeatCost._fields, zip(*cells, strict=True) if cells else [()] * len(SeatCost._fields), strict=True)
    return frame.assign(
        **{name: pd.array(values, "Int64" if name == "moves" else "Float64") for name, values in columns}
    )


def board_costs(tournament: Tournament, index: int) -> pd.DataFrame:
    """Return what a move of each bot of a board cost, in the order of the plan; columns: `COSTS`."""
    schedule = tournament.schedule
    board = schedule.boards[index]
    entries = [schedule.entries[entry] for entry in sorted(board.entries)]
    found = tournament.counted(index)
    first = np.sort(found.rows)[:MAX_MATCHES].tolist()
    at = dict(zip(found.rows.tolist(), found.labels[found.entries].tolist(), strict=True))
    wall: defaultdict[str, list[float]] = defaultdict(list)
    cpu: defaultdict[str, list[float]] = defaultdict(list)
    steps: defaultdict[str, list[int]] = defaultdict(list)
    visits: defaultdict[str, list[int]] = defaultdict(list)
    for row, calls, sizes in match_costs(tournament.store, board.game, board.players, first):
        for call in calls:
            if call.ply >= 0:
                label = at[row][call.seat]
                wall[label].append(call.wall)
                cpu[label].append(call.cpu)
                for kept, told in zip((steps, visits), sizes, strict=True):
                    if call.ply in told:
                        kept[label].append(told[call.ply])
    rows = [
        (
            entry.label,
            entry.spec,
            len(wall[entry.label]),
            _mean(wall[entry.label]),
            float(np.quantile(wall[entry.label], QUANTILE, method="inverted_cdf")) if wall[entry.label] else np.nan,
            _mean(cpu[entry.label]),
            _mean(steps[entry.label]),
            _mean(visits[entry.label]),
        )
        for entry in entries
    ]
    frame = pd.DataFrame(rows, columns=COSTS.names[:-1])
    times = [name for name in COSTS.names if "seconds" in name]
    frame[times] = frame[times].astype(float).round(6)
    counts = ["search_steps_per_move", "visits_per_move"]
    frame[counts] = frame[counts].astype(float).round(1)
    return with_parameters(frame, schedule, index)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else np.nan


def _mean_or_none(values: Sequence[int]) -> float | None:
    return sum(values) / len(values) if values else None


def costs(tournament: Tournament, game: str | None = None, players: int | None = None) -> dict[BoardName, pd.DataFrame]:
    """Return `board_costs` of a tournament's boards, or of those of a game or number of players."""
    boards = tournament.schedule.boards
    chosen = chosen_boards(tournament.plan.name, tournament.schedule, game, players)
    return {(boards[index].game, boards[index].players): board_costs(tournament, index) for index in chosen}
