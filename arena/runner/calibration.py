"""Calibrate times a move, once for a log: into the number of simulations, nodes or playouts that takes as long.

A bot plays seeded matches of a board against itself in a worker, with the numbers 1, 2, 4, ... until its moves take
longer than asked, in processor time and as the mean over all moves that it is asked for, as in `arena.results.costs`.
The last two numbers are played more often, and the one between them is interpolated. What the machine did just then is
part of the number, which the plan keeps: from there on results follow from the plan alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from arena.core.errors import ConfigError, RecordError
from arena.core.files import read_json
from arena.core.limits import Limits
from arena.plan.bots import MoveTime, ResolvedBot
from arena.plan.model import ResolvedPlan
from arena.plan.resolve import Plan, single_plan
from arena.runner.single import play_specs
from arena.schedule.boards import Board, Budget, Entry
from arena.tournament.same_rules import plans_of
from arena.tournament.tournament import Tournament
from arena.workers.process import WorkerProcess
from engine import load_game

PLAYED_SECONDS = 2.0
"""Processor time after which the last two numbers have been played often enough."""
MIN_MATCHES, MAX_MATCHES = 3, 64
"""Of each of the last two numbers."""
LEAST_LIMIT_SECONDS = 60.0
LIMIT_FACTOR = 100
"""Times the asked time that a move may take before the bot counts as hanging."""

Place = tuple[str, str, str, int, int, str]
"""Identity of a bot; spec, options, players and version of the rules of a board; parameter."""


def with_budgets(
    plan: Plan,
    tournament: Tournament,
    worker: WorkerProcess,
    given: ResolvedPlan | None = None,
    anew: bool = False,
    show: Callable[[str], None] = lambda line: None,
) -> Plan:
    """Return a plan whose boards have the numbers that times a move stand for.

    They are those of a `given` plan, else of the latest plan in the log unless they are wanted `anew`; what is in none
    is calibrated, and `show` called with a line. Raises `ConfigError` where that fails.
    """
    if all(bot.time is None for bot in plan.bots):
        return plan
    schedule, known = plan.schedule, _known([given] if given else [])
    if not anew:
        store = tournament.store
        latest = [Tournament(store).plan] if store.runs.has_run() else []
        known = _known([*plans_of(store), *latest]) | known
    boards = []
    for board in schedule.boards:
        budgets = []
        for number in board.entries:
            entry, time = schedule.entries[number], plan.bots[number].time
            if time is None:
                continue
            if time.seconds > schedule.limits.seconds_per_move:
                raise ConfigError(
                    f"{entry.label}: {time.text} a move is more than seconds_per_move = "
                    f"{schedule.limits.seconds_per_move:g}, its limit"
                )
            place = _place(entry, board, time.parameter)
            if place not in known:
                ladder = _Ladder(plan, number, board, time, worker)
                known[place] = ladder.count()
                show(
                    f"{entry.label} on {board.title}: calibrated to {time.parameter} = {known[place]:,}{ladder.remark}"
                )
            if not time.least <= known[place] <= time.most:
                raise ConfigError(
                    f"{entry.label} on {board.title}: {time.parameter} = {known[place]:,} in the plan that was given "
                    f"must be from {time.least:,} to {time.most:,}"
                )
            budgets.append(Budget(number, time.parameter, known[place]))
        boards.append(replace(board, budgets=tuple(budgets)))
    return replace(plan, schedule=replace(schedule, boards=tuple(boards)))


def given_plan(source: str | Path, home: str | Path | None = None) -> ResolvedPlan:
    """Return the plan of a plan.json, or of a tournament as `Tournament.open` finds it."""
    if Path(source).suffix != ".json":
        with Tournament.open(source, home) as tournament:
            return tournament.plan
    try:
        return ResolvedPlan.read(read_json(Path(source)), f"{source}: is no plan.json")
    except OSError as error:
        raise ConfigError(f"{source}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise RecordError(f"{source}: is no plan.json: {error}") from None


def _known(plans: Iterable[ResolvedPlan]) -> dict[Place, int]:
    """Return the numbers in plans, of which the last counts most."""
    found: dict[Place, int] = {}
    for plan in plans:
        schedule = plan.schedule()
        for board in schedule.boards:
            for number, parameter, count in board.budgets:
                found[_place(schedule.entries[number], board, parameter)] = count
    return found


def _place(entry: Entry, board: Board, parameter: str) -> Place:
    return entry.identity, board.game, board.params, board.players, board.rules_version, parameter


class _Ladder:
    """Matches of a bot against itself on a board, with a number for each rung: 1, 2, 4, ..."""

    def __init__(self, plan: Plan, number: int, board: Board, time: MoveTime, worker: WorkerProcess) -> None:
        self._label, self._board, self._time, self._worker = plan.schedule.entries[number].label, board, time, worker
        self._counts = [1 << power for power in range(time.most.bit_length()) if 1 << power >= time.least]
        self._plan = _trial_plan(plan.bots[number], plan.schedule.seed, board, time, self._counts)
        self._seconds: dict[int, list[float]] = {}
        """Processor time of moves, by rung."""
        self._played: dict[int, int] = {}
        """Matches, by rung."""
        self.remark = ""
        """What is said beside the number where none takes as long as asked."""
        worker.give_plan(self._plan.message())

    def count(self) -> int:
        """Return the number of which a move takes as long as asked; the nearest one where none does."""
        asked, rung, last = self._time.seconds, 0, len(self._counts) - 1
        self._play(0)
        del self._seconds[0], self._played[0]  # in its first match a bot gets ready
        while True:
            while self._mean(rung) < asked and rung < last:
                rung += 1
            low, high = max(0, rung - 1), rung
            self._play_often(low, high)
            if self._mean(high) >= asked or high == last:  # one match alone may take long by chance
                break
        if asked < self._mean(low) if high == 0 else self._mean(high) < asked and high == last:
            self.remark = f", of which a move takes {1000 * self._mean(high):.3g} ms"
        before, after = self._mean(low), self._mean(high)
        share = math.log(asked / before) / math.log(after / before) if 0 < before < after else float(after < asked)
        chosen = self._counts[low] * 2 ** min(max(share, -1.0), 2.0)
        return min(max(round(chosen), self._time.least), self._time.most)

    def _play_often(self, *rungs: int) -> None:
        """Play with the numbers of rungs in turns, so that what else the machine does is shared."""
        while any(map(self._needs_more, rungs)):
            for each in dict.fromkeys(rungs):
                self._play(each)

    def _needs_more(self, rung: int) -> bool:
        played = self._played[rung]
        return played < MIN_MATCHES or (sum(self._seconds[rung]) < PLAYED_SECONDS and played < MAX_MATCHES)

    def _mean(self, rung: int) -> float:
        """Return the mean processor time of a move, playing a first match where there is none."""
        if rung not in self._seconds:
            self._play(rung)
        return sum(self._seconds[rung]) / len(self._seconds[rung])

    def _play(self, rung: int) -> None:
        """Play one more match with the number of a rung."""
        schedule, played = self._plan.schedule, self._played.get(rung, 0)
        block = schedule.block(rung, played, schedule.boards[rung].entries)
        (match,) = play_specs(self._plan, schedule.matches(block)[:1], self._worker)
        where = f"{self._label} on {self._board.title}: {self._time.text} a move cannot be calibrated"
        if match.forfeits:
            detail = next(iter(match.details.values()), "").strip().splitlines()[-1:]
            raise ConfigError(
                f"{where}, since it forfeits by {next(iter(match.forfeits.values()))[0]}: {''.join(detail)}"
            )
        if match.timed:
            raise ConfigError(f"{where}, since it looks at a clock besides")
        self._played[rung] = played + 1
        self._seconds.setdefault(rung, []).extend(call.cpu for call in match.clocks if call.ply >= 0)
        if not self._seconds[rung]:
            raise ConfigError(f"{where}: nobody moves in its matches")


def _trial_plan(bot: ResolvedBot, seed: int, board: Board, time: MoveTime, counts: Iterable[int]) -> Plan:
    """Return a plan of a bot against itself, with a board for each number."""
    trial = single_plan(load_game(board.game, board.players), [bot] * board.players, seed, board.opening)
    (alone,) = trial.schedule.boards
    boards = tuple(
        replace(alone, budgets=tuple(Budget(seat, time.parameter, count) for seat in alone.entries)) for count in counts
    )
    limits = Limits(seconds_per_move=max(LEAST_LIMIT_SECONDS, LIMIT_FACTOR * time.seconds))
    return replace(trial, schedule=replace(trial.schedule, boards=boards, limits=limits))
