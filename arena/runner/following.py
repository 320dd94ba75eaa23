"""A comparison from its log, block by block, while it runs or afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from arena.core.files import read_json
from arena.runner.outbox import Outbox
from arena.runner.sequential import SequentialGate
from arena.runner.tally import SeatResult, Tally
from arena.schedule.blocks import Board
from arena.schedule.openings import setup_plies
from arena.stats.estimates import Estimate, fixed_estimate, stopped_estimate
from arena.stats.sprt import Sprt
from arena.store import Store
from arena.tournament.tournament import Tournament
from engine import load_game

RESULT = "comparison.json"
"""What a comparison writes beside its log: what is asked when it begins, everything when it ends."""
MOST_POINTS = 2_000
"""Points of a course at most."""
FIELDS = ("elo0", "elo1", "alpha", "beta", "model")


class Point(NamedTuple):
    """A test after a block."""

    blocks: int
    llr: float


@dataclass(frozen=True)
class ComparisonSoFar:
    """How a comparison stands. Scores are A's, from 0 to 1."""

    a: str
    b: str
    board: Board
    test: Sprt | None
    """None where the number of blocks is fixed."""
    is_default: bool
    """Whether that is the default test, as nothing tells which one is asked."""
    tally: Tally
    course: list[Point]
    estimate: Estimate | None
    """None without a block."""

    @property
    def elo(self) -> Estimate | None:
        """The estimate as logistic Elo."""
        return self.estimate and self.estimate.elo


class _Course(Tally):
    """A tally that keeps its way."""

    course: list[Point]

    def add(self, key: tuple[object, ...], seat: int, a: SeatResult, b: SeatResult) -> None:
        """Add the next block."""
        super().add(key, seat, a, b)
        self.course.append(Point(len(self.blocks), self.llr))


def follow(tournament: Tournament) -> ComparisonSoFar:
    """Return how a comparison stands by its log."""
    store, schedule = tournament.store, tournament.schedule
    (board,) = schedule.boards
    first, second = schedule.duel[:2] if schedule.duel else (0, 1)
    written = _written(store)
    entries = (second, first) if written.get("a") == schedule.entries[second].label else (first, second)
    test, is_default = _test(written)
    tally = _Course(test, board.players, setup_plies(load_game(board.game, board.players)) + board.opening)
    tally.course = []
    gate = SequentialGate(schedule, tally, entries, Outbox(store, schedule))
    for block, lineups in tournament.looked_up(tournament.blocks()):
        if len(lineups) < 2 or tally.done:  # blocks count in the order of the plan
            break
        gate.find(block, (), len(lineups))
    estimate = None
    if tally.counts.any():
        decided = tally.verdict is not None and test is not None
        estimate = stopped_estimate(tally.counts, test) if decided and test else fixed_estimate(tally.counts)
    a, b = (schedule.entries[entry].label for entry in entries)
    step = -(-len(tally.course) // MOST_POINTS) or 1
    course = [*tally.course[:-1:step], *tally.course[-1:]]
    return ComparisonSoFar(a, b, board, test, is_default, tally, course, estimate)


def _written(store: Store) -> dict[str, Any]:
    """Return what the comparison wrote last; nothing where that cannot be read."""
    try:
        found = read_json(store.path.parent / RESULT)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _test(written: dict[str, Any]) -> tuple[Sprt | None, bool]:
    """Return the test of a comparison, and whether it is the default one for want of another."""
    if written and written.get("test") is None:
        return None, False
    try:
        return Sprt(**{field: written["test"][field] for field in FIELDS}), False
    except (KeyError, TypeError, ValueError):
        return Sprt(), True
