"""Matches of a tournament worth a look: a bounded number of them, chosen from its index, ratings and evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from arena import api
from arena.match.stored import StoredMatch
from arena.results.match_filter import IndexView
from arena.store import Store
from arena.web.catalog import Log, LogCatalog

MAX_SEARCHED_MATCHES = 300
"""Newest matches of a board that are searched for mistakes; for a page of all boards, of all of them together."""
UPSETS, LONGEST, BEST, MISTAKES = "Upsets", "Longest", "Best against best", "Worst mistakes"
FORFEITS = "Forfeits"
FEATURED = {
    MISTAKES: "The turning point",
    UPSETS: "The favourite lost",
    FORFEITS: "A forfeit",
    BEST: "Best against best",
    LONGEST: "The longest match",
}
"""Titles of matches that are shown before all others, by kind, in this order."""


class Highlight(NamedTuple):
    """A match, and why it was chosen."""

    number: int
    """In the index of the log."""
    kind: str
    why: str
    size: float = 0.0
    """How much of its kind it is; those of one kind can be compared."""
    ply: int | None = None
    """After which it happened; None for the end."""

    @property
    def title(self) -> str:
        """What it is called where it is shown before all others."""
        return FEATURED[self.kind]


def featured(catalog: LogCatalog, log: Log, ratings: Sequence[Mapping[str, float]]) -> list[Highlight]:
    """Return at most one match of every kind, the one that is most of it; `ratings` are those of each board."""
    searched = max(1, MAX_SEARCHED_MATCHES // max(1, len(ratings)))
    found = highlights(catalog, log, 1, ratings, searched)
    best = {each.kind: each for each in sorted(found, key=lambda each: (each.size, each.number))}
    return [best[kind] for kind in FEATURED if kind in best]


def highlights(
    catalog: LogCatalog,
    log: Log,
    each: int,
    ratings: Sequence[Mapping[str, float]] | None = None,
    searched: int = MAX_SEARCHED_MATCHES,
) -> list[Highlight]:
    """Return up to `each` matches of every kind for every board, and the worst mistake of every bot.

    A match has one reason at most: the first that applies. `ratings` are those of each board by label, where a caller
    has them; of each board the newest `searched` matches are searched for mistakes.
    """
    _, view = catalog.view(log)
    plan, planned = catalog.plan(log), catalog.planned(log)
    found: dict[int, Highlight] = {}
    for place, board in enumerate(plan.schedule.boards):
        numbers = [number for number, name in view.boards.items() if name == (board.game, board.players)]
        rows = np.flatnonzero(np.isin(view.match["board"], numbers) & planned)
        if not each or not len(rows):
            continue
        rated = _ratings(catalog, log, place) if ratings is None else ratings[place]
        chosen = [*_by_ratings(view, rows, rated, each), *_forfeits(view, rows, each)]
        if not plan.schedule.is_foreign:  # else nobody knows moves
            chosen += [*_longest(view, rows, each), *_mistakes(log, view, rows[-searched:])]
        for highlight in chosen:
            found.setdefault(highlight.number, highlight)
    return list(found.values())


def _ratings(catalog: LogCatalog, log: Log, board: int) -> Mapping[str, float]:
    known = catalog.kept(log, ("leaderboard", board), partial(api.board_leaderboard, log.path, board))
    frame = known.value[0] if known else None
    return {} if frame is None or frame.empty else dict(zip(frame["bot"], frame["rating"], strict=True))


def _by_ratings(view: IndexView, rows: np.ndarray, ratings: Mapping[str, float], each: int) -> list[Highlight]:
    """Return matches that a bot of lower rating won, and those among the best bots."""
    rating = np.array([ratings.get(label, np.nan) for label in view.labels])
    first = np.searchsorted(view.seat["match"], rows)
    players = np.searchsorted(view.seat["match"], rows, side="right") - first
    if not len(rows) or players.min() != players.max():
        return []
    at = first[:, None] + np.arange(players[0])
    values, ranks = rating[view.seat["entry"][at]], view.seat["rank"][at]
    whole = ~np.isnan(values).any(axis=1) & (ranks.min(axis=1) < ranks.max(axis=1))
    winner = np.take_along_axis(values, ranks.argmin(axis=1)[:, None], axis=1)[:, 0]
    gap = np.where(whole, np.where(ranks > ranks.min(axis=1)[:, None], values, -np.inf).max(axis=1) - winner, -np.inf)
    upsets = [
        Highlight(
            int(rows[row]), UPSETS, f"The winner was rated {gap[row]:.1f} points below the best loser", float(gap[row])
        )
        for row in np.argsort(-gap, kind="stable")[:each].tolist()
        if gap[row] > 0
    ]
    weakest = np.where(np.isnan(values).any(axis=1), -np.inf, values.min(axis=1))
    best = [
        Highlight(int(rows[row]), BEST, f"No bot here is rated below {weakest[row]:.1f} points", float(weakest[row]))
        for row in np.argsort(-weakest, kind="stable")[:each].tolist()
        if np.isfinite(weakest[row])
    ]
    return [*upsets, *best]


def _longest(view: IndexView, rows: np.ndarray, each: int) -> list[Highlight]:
    plies = view.match["plies"][rows]
    longest = np.argsort(-plies, kind="stable")[:each].tolist()
    return [Highlight(int(rows[row]), LONGEST, f"{plies[row]:,} plies", float(plies[row])) for row in longest]


def _forfeits(view: IndexView, rows: np.ndarray, each: int) -> list[Highlight]:
    """Return the newest matches that a bot forfeited."""
    at = np.flatnonzero(view.seat["cause"] > 0)
    found: dict[int, Highlight] = {}
    chosen = at[np.isin(view.seat["match"][at], rows)][::-1]
    for seat in chosen.tolist():
        number = int(view.seat["match"][seat])
        if number not in found and len(found) == each:
            break
        why = f"{view.label(int(view.seat['entry'][seat]))} forfeited: {view.causes[view.seat['cause'][seat]]}"
        found[number] = Highlight(number, FORFEITS, why, float(number))
    return list(found.values())


def _mistakes(log: Log, view: IndexView, rows: np.ndarray) -> list[Highlight]:
    """Return the match of every bot in which its own evaluation fell most between two of its moves."""
    worst: dict[str, Highlight] = {}
    with Store.open(log.path) as store:
        for number in rows.tolist():
            key = view.key(number)
            match = store.match(store.identity_of(key.block), key.lineup)
            first = int(np.searchsorted(view.seat["match"], number))
            for seat, (size, ply) in largest_drops(match).items():
                bot = view.label(int(view.seat["entry"][first + seat]))
                if size > (worst[bot].size if bot in worst else 0.0):
                    why = f"{bot} expected {size:.2f} less at ply {ply + 1} than a move before"
                    worst[bot] = Highlight(number, MISTAKES, why, size, ply + 1)
    return [mistake for _, mistake in sorted(worst.items())]


def largest_drops(match: StoredMatch) -> dict[int, tuple[float, int]]:
    """Return by seat how far its bot's expected return fell at most between two of its moves, and at which ply."""
    found: dict[int, tuple[float, int]] = {}
    last: dict[int, float] = {}
    seats = {call.ply: call.seat for call in match.clocks}
    for ply, estimate in sorted(match.estimates.items()):
        if estimate.evaluation is None or ply not in seats:
            continue
        seat = seats[ply]
        value = estimate.evaluation[seat]
        if (drop := last.get(seat, value) - value) > found.get(seat, (0.0, 0))[0]:
            found[seat] = (drop, ply)
        last[seat] = value
    return found
