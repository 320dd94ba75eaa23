"""What the author of a bot sees of it: its versions side by side, and the matches most worth a look.

All of it is of matches that the author may see; who else may see them does not see why they were chosen, nor what a bot
said when it failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from arena.accounts import BotVersion
from arena.match.stored import StoredMatch
from arena.results.match_filter import IndexView
from arena.results.pages.templates import board_name
from arena.stats.means import interval, over_blocks
from arena.store import Store, readable
from arena.web.catalog import Log, LogCatalog, LogPlan
from arena.web.highlights import largest_drops
from arena.web.pages.matches import MatchLine, lines_of

MATCHES_CHOSEN = 10
MAX_SEARCHED_MATCHES = 200
"""Newest matches of a version whose evaluations and clocks are read."""
VERSIONS_COMPARED = 5
"""Newest versions that have played."""
OPPONENTS_SHOWN = 10
FORFEIT, AHEAD, SWING = "forfeit", "lost though ahead", "largest swing"
NARROWEST, FASTEST, LONGEST = "narrowest loss", "fastest loss", "longest loss"
KINDS = (FORFEIT, AHEAD, SWING, NARROWEST, FASTEST, LONGEST)
"""Reasons to look at a match, which take turns in this order."""


class VersionScore(NamedTuple):
    """What a version has reached on a board."""

    board: str
    number: int
    matches: int
    score: float
    """Mean share of opponents beaten, ties as halves, in percent."""
    low: float | None
    high: float | None
    """95 % interval of it; None with one block."""
    change: float | None
    """Score minus that of the version before on the same board; None without one."""
    forfeits: int


class Against(NamedTuple):
    """How two versions have done against the same opponent, over all boards."""

    opponent: str
    """Its label."""
    name: str
    older: tuple[int, int, int]
    """Times ahead, even, behind."""
    newer: tuple[int, int, int]
    change: float
    """Share of times ahead, ties as halves, of the newer minus the older one, in percent."""


class ChosenMatch(NamedTuple):
    """A match worth a look, and why."""

    line: MatchLine
    kind: str
    why: str
    ply: int | None
    """After which it happened; None for the end."""
    said: str
    """What the bot said when it failed: traceback and stderr."""


class OwnBot(NamedTuple):
    """A bot as its author sees it."""

    scores: list[VersionScore]
    """By board, the newest version first."""
    compared: tuple[str, str] | None
    """Labels of the older and the newer version that opponents are compared for."""
    against: list[Against]
    """Those where most has changed first."""
    chosen: list[ChosenMatch]
    slowest: float | None
    """Seconds of the longest answer in the matches of the newest version that were searched."""


def own_bot(catalog: LogCatalog, log: Log, versions: Sequence[BotVersion]) -> OwnBot:
    """Return what a season's log has of the versions of a bot, which are given the newest first."""
    (_, view), plan = catalog.view(log), catalog.plan(log)
    played = [(each, _rows_of(view, each.label)) for each in versions]
    played = [(each, rows) for each, rows in played if len(rows)][:VERSIONS_COMPARED]
    if not played:
        return OwnBot([], None, [], [], None)
    newest, rows = played[0]
    key, version = (log.path, "own", newest.label), (view.run, len(rows), plan.names.version)
    found = catalog.results.get(key, version, lambda: _chosen(log, view, plan, newest.label, rows))
    assert found is not None  # nothing gives up waiting
    compared = (played[1][0].label, newest.label) if len(played) > 1 else None
    against = _against(view, plan, played[1][1], rows) if compared else []
    return OwnBot(_scores(view, played), compared, against, *found.value)


def _rows_of(view: IndexView, label: str) -> np.ndarray:
    """Return the rows of seats of a bot, of all rounds: an older version is not in the plan of the latest one."""
    return np.flatnonzero(np.isin(view.seat["entry"], view.entries(label)))


def _shares(view: IndexView, rows: np.ndarray) -> np.ndarray:
    """Return by seat the share of opponents that it beat, ties as halves."""
    match, rank = view.seat["match"], view.seat["rank"].astype(np.int64)
    first, last = (np.searchsorted(match, match[rows], side) for side in ("left", "right"))
    shares = np.empty(len(rows))
    for place, (row, begin, end) in enumerate(zip(rows.tolist(), first.tolist(), last.tolist(), strict=True)):
        others = rank[begin:end] - rank[row]
        shares[place] = (np.count_nonzero(others > 0) + (np.count_nonzero(others == 0) - 1) / 2) / (end - begin - 1)
    return shares


def _scores(view: IndexView, played: Sequence[tuple[BotVersion, np.ndarray]]) -> list[VersionScore]:
    found: list[VersionScore] = []
    boards = view.match["board"]
    of = [(each, rows, boards[view.seat["match"][rows]], _shares(view, rows)) for each, rows in played]
    for number in sorted({int(board) for _, _, at, _ in of for board in np.unique(at)}):
        before: float | None = None
        lines = []
        for version, rows, at, shares in reversed(of):
            here = at == number
            if not here.any():
                continue
            blocks = np.unique(view.match["block"][view.seat["match"][rows[here]]], return_inverse=True)[1]
            score, low, high = _mean(100 * shares[here], blocks)
            forfeits = int(np.count_nonzero(view.seat["cause"][rows[here]]))
            change = None if before is None else score - before
            title = board_name(*view.boards[number])
            lines.append(VersionScore(title, version.number, int(here.sum()), score, low, high, change, forfeits))
            before = score
        found += reversed(lines)
    return found


def _mean(values: np.ndarray, blocks: np.ndarray) -> tuple[float, float | None, float | None]:
    """Return the mean of percentages and its interval, over blocks."""
    group = np.zeros(len(values), np.int64)
    mean, error, count, _ = over_blocks(group, blocks, values - 50.0, 1, np.ones(blocks.max() + 1))
    low, high = interval(mean, error, count, 50.0)
    known = not np.isnan(low[0])
    return float(mean[0]) + 50, float(low[0]) + 50 if known else None, float(high[0]) + 50 if known else None


def _against(view: IndexView, plan: LogPlan, older: np.ndarray, newer: np.ndarray) -> list[Against]:
    before, after = _meetings(view, older), _meetings(view, newer)
    found = []
    for label in before.keys() & after.keys():
        change = 100 * (_share_of(after[label]) - _share_of(before[label]))
        found.append(Against(label, plan.name(label), before[label], after[label], change))
    return sorted(found, key=lambda each: (-abs(each.change), each.opponent))[:OPPONENTS_SHOWN]


def _meetings(view: IndexView, rows: np.ndarray) -> Mapping[str, tuple[int, int, int]]:
    """Return by opponent's label how often seats were ahead of it, even with it, behind it."""
    match, rank, entry = view.seat["match"], view.seat["rank"].astype(np.int64), view.seat["entry"]
    counts: Counter[tuple[str, int]] = Counter()
    first, last = (np.searchsorted(match, match[rows], side) for side in ("left", "right"))
    for row, begin, end in zip(rows.tolist(), first.tolist(), last.tolist(), strict=True):
        for other in range(begin, end):
            if other != row:
                counts[view.label(int(entry[other])), int(np.sign(rank[row] - rank[other]))] += 1
    return {each: (counts[each, -1], counts[each, 0], counts[each, 1]) for each in {each for each, _ in counts}}


def _share_of(counts: tuple[int, int, int]) -> float:
    return (counts[0] + counts[1] / 2) / sum(counts)


class _Found(NamedTuple):
    number: int
    """Of the match, in the index."""
    kind: str
    why: str
    ply: int | None = None
    said: str = ""


def _chosen(
    log: Log, view: IndexView, plan: LogPlan, label: str, rows: np.ndarray
) -> tuple[list[ChosenMatch], float | None]:
    """Return the matches of a version that are most worth a look, and the seconds of its longest answer."""
    searched: dict[str, list[tuple[float, _Found]]] = {kind: [] for kind in KINDS}
    slowest: float | None = None
    with Store.open(log.path) as store, readable(store):
        for row in _read_rows(view, rows).tolist():
            number = int(view.seat["match"][row])
            seat = row - int(np.searchsorted(view.seat["match"], number))
            key = view.key(number)
            match = store.match(store.identity_of(key.block), key.lineup)
            for size, found in reasons(match, seat, number):
                searched[found.kind].append((size, found))
            own = [call.wall for call in match.clocks if call.seat == seat and call.ply >= 0]
            slowest = max([*([] if slowest is None else [slowest]), *own], default=None)
    ordered = {kind: [found for _, found in sorted(some, key=_by_size)] for kind, some in searched.items()}
    picked = _taking_turns(ordered)
    lines = lines_of(log, view, plan, [each.number for each in picked])
    chosen = [
        ChosenMatch(line, each.kind, each.why, each.ply, each.said) for line, each in zip(lines, picked, strict=True)
    ]
    return chosen, slowest


def _read_rows(view: IndexView, rows: np.ndarray) -> np.ndarray:
    """Return the seats whose matches are read: the newest, and beside them forfeits and the fastest losses of all."""
    match, rank = view.seat["match"][rows], view.seat["rank"][rows]
    plies = view.match["plies"][match]
    lost = np.flatnonzero(rank > 0)
    forfeits = np.flatnonzero(view.seat["cause"][rows] > 0)[-MATCHES_CHOSEN:]
    fastest = lost[np.argsort(plies[lost], kind="stable")[:MATCHES_CHOSEN]]
    newest = np.arange(len(rows))[-MAX_SEARCHED_MATCHES:]
    return rows[np.unique(np.concatenate([newest, forfeits, fastest]))]


def reasons(match: StoredMatch, seat: int, number: int) -> list[tuple[float, _Found]]:
    """Return why a match is worth a look from a seat, each with how much of its kind it is."""
    found = []
    lost, plies = match.ranks[seat] > 0, len(match.moves)
    if seat in match.forfeits:
        cause, ply = match.forfeits[seat]
        said = match.details.get(seat, "").strip()
        why = f"It forfeited at ply {ply + 1}: {cause.replace('_', ' ')}"
        found.append((float(number), _Found(number, FORFEIT, why, ply, said)))
    expected = _expected(match, seat)
    if lost and expected:
        value, ply = max((value, -ply) for ply, value in expected)
        if value > 0:
            why = f"It expected {value:+.2f} at ply {1 - ply}, and came in {match.ranks[seat] + 1}."
            found.append((value, _Found(number, AHEAD, why, -ply)))
    size, ply = largest_drops(match).get(seat, (0.0, 0))
    if size > 0:
        why = f"It expected {size:.2f} less at ply {ply + 1} than a move before"
        found.append((size, _Found(number, SWING, why, ply)))
    if lost and seat not in match.forfeits:
        found.append((-float(plies), _Found(number, FASTEST, f"It had lost after {plies:,} plies")))
        found.append((float(plies), _Found(number, LONGEST, f"It lost after {plies:,} plies")))
        next_rank = max(rank for rank in match.ranks if rank < match.ranks[seat])
        own, better = match.scores[seat], match.scores[match.ranks.index(next_rank)]
        if own is not None and better is not None:
            why = f"It had a score of {own:,}, and the place before it {better:,}"
            found.append((-float(abs(better - own)), _Found(number, NARROWEST, why)))
    return found


def _expected(match: StoredMatch, seat: int) -> list[tuple[int, float]]:
    """Return by ply what a seat's own bot expected for itself at its moves."""
    own = {call.ply for call in match.clocks if call.seat == seat}
    return [
        (ply, estimate.evaluation[seat])
        for ply, estimate in sorted(match.estimates.items())
        if estimate.evaluation is not None and ply in own
    ]


def _by_size(each: tuple[float, _Found]) -> tuple[float, int]:
    return -each[0], -each[1].number


def _taking_turns(by_kind: Mapping[str, Sequence[_Found]]) -> list[_Found]:
    """Return so many matches, the first of each kind, then the second of each, and so on; each match once."""
    found: dict[int, _Found] = {}
    queues = [list(reversed(each)) for each in by_kind.values()]
    while len(found) < MATCHES_CHOSEN and any(queues):
        for queue in queues:
            while queue and queue[-1].number in found:
                queue.pop()
            if queue and len(found) < MATCHES_CHOSEN:
                each = queue.pop()
                found[each.number] = each
    return sorted(found.values(), key=lambda each: KINDS.index(each.kind))
