"""Made-up schedules, results and logs for tests that need no bots."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from arena.core.limits import Limits
from arena.plan.model import ResolvedPlan
from arena.schedule.blocks import MatchSpec, Schedule
from arena.schedule.boards import Board, Entry
from arena.schedule.kinds.round_robin import RoundRobin
from arena.store import BotRow, FinishedMatch, MatchRow, SeatRow, Store

CAUSES = ("crash", "timeout", "illegal_action", "init")


def entry(name: str, identity: str | None = None, label: str | None = None, trusted: bool = True) -> Entry:
    return Entry(label or name, name, name, identity or f"{name}@{name.encode().hex():0<32}", trusted)


def board(
    players: int,
    entries: Iterable[int],
    blocks: int = 3,
    game: str = "epicycle",
    opening: int = 2,
    params: str = '{"setup": "standard"}',
    rules_version: int = 1,
) -> Board:
    return Board(game, params, players, rules_version, tuple(entries), blocks, opening)


def schedule(names: Iterable[str | Entry], players: Iterable[int] = (2,), blocks: int = 3, **changes) -> Schedule:
    """All bots on one board for each number of players; entries stand in the order given, boards have them by key."""
    entries = tuple(entry(name) if isinstance(name, str) else name for name in names)
    by_key = sorted(range(len(entries)), key=lambda place: entries[place].key)
    plan = {
        "seed": 5,
        "entries": entries,
        "boards": tuple(board(count, by_key, blocks) for count in players),
        "permutations": False,
        "scheduler": RoundRobin(),
        "limits": Limits(),
    }
    return Schedule(**(plan | changes))


def resolved(plan: Schedule) -> ResolvedPlan:
    """A schedule as the plan that a log keeps."""
    formats = ["csv", "json", "md", "parquet"]
    return ResolvedPlan.of("sample", plan, formats)


def begin(store: Store, plan: Schedule, versions: str = '{"python": "3"}', started: str = "2026-01-01") -> int:
    """Note a run of the schedule; its number."""
    bots = [BotRow(each.identity, each.spec, "module", "Class", "bundle") for each in plan.entries]
    return store.begin_run(resolved(plan).as_json(), versions, started, bots, {"bundle": "{}"})


def row(lineup: int, ranks: list[int], **changes) -> MatchRow:
    """A match in which nothing special happened."""
    plain = MatchRow(
        lineup=lineup,
        ended="normal",
        plies=3,
        timed=False,
        final="00" * 8,
        moves="S- L+ M-",
        notes=[],
        seats=[SeatRow(rank, None) for rank in ranks],
        details={},
        seconds=0.25,
        clocks="0,-1,100000,90000,70000",
        retried=False,
        dropped={},
    )
    return plain._replace(**changes)


def random_row(spec: MatchSpec, rng: random.Random, scored: bool = True) -> MatchRow:
    """Any result: ties, forfeits, scores."""
    players = len(spec.seats)
    keys = [rng.randrange(players) for _ in range(players)]
    ranks = [sum(other < key for other in keys) for key in keys]
    forfeits = {seat: rng.choice(CAUSES) for seat in range(players) if rng.random() < 0.1}
    return row(
        spec.lineup,
        ranks,
        timed="timeout" in forfeits.values(),
        ended="forfeit" if forfeits else rng.choice(["normal", "cap"]),
        moves=f"S- L+ M{rng.getrandbits(32)}",
        seats=[
            SeatRow(
                rank, rng.randrange(-5, 20) if scored else None, forfeits.get(seat), 2 if seat in forfeits else None
            )
            for seat, rank in enumerate(ranks)
        ],
        details={seat: "broken" for seat in forfeits},
    )


def finished(spec: MatchSpec, result: MatchRow, attempts: int = 1) -> FinishedMatch:
    return FinishedMatch(spec, result, "host:1", attempts)


def all_matches(plan: Schedule) -> list[MatchSpec]:
    return [spec for block in plan.blocks() for spec in plan.matches(block)]


def fill(path: Path, plan: Schedule, seed: int = 1, scored: bool = True, leave_out: Iterable[int] = ()) -> None:
    """A log with a random result for every match of the plan, but for those whose numbers are left out."""
    rng = random.Random(seed)
    made = [finished(spec, random_row(spec, rng, scored)) for spec in all_matches(plan)]
    kept = [each for number, each in enumerate(made) if number not in set(leave_out)]
    with Store.create(path) as store:
        store.add(plan, kept, begin(store, plan))
