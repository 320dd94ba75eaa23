"""Comparison of two bots: blocks are played until a sequential test decides, or a fixed number of them.

With two players a block is a seat-swapped pair of matches, with more a duel; either way both meet the same opening and,
unless a sandboxed or submitted bot sits there and nobody asked for common dice, the same dice.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from arena.core.errors import ConfigError
from arena.core.limits import Limits
from arena.core.machine import cores
from arena.core.match_ids import Kind
from arena.core.names import COMPARISONS
from arena.core.paths import home_folder
from arena.plan.dice_keys import has_own_dice, now, with_dice_keys, with_disclosed_keys
from arena.plan.logs import LOG
from arena.plan.model import ResolvedPlan
from arena.plan.resolve import Plan, ResolvedBot, Wanted, entry_keys, resolve_bots, single_plan
from arena.runner.options import Matchup, RunOptions, StopRule
from arena.runner.outbox import Outbox
from arena.runner.run import Outcome, Progress, Run
from arena.runner.sequential import SequentialGate
from arena.runner.tally import Tally
from arena.schedule.blocks import Board, Entry, Schedule
from arena.schedule.duels import Duel
from arena.schedule.openings import chosen_plies
from arena.stats.estimates import Estimate, fixed_estimate, mean_and_variance, stopped_estimate
from arena.stats.paired import Saving, dice_saving
from arena.stats.sprt import NORMALIZED, Sprt, elo_from_score
from arena.store import Store
from arena.workers.process import WorkerProcess
from engine import Game, game_type, load_game

FILLERS = ("greedy", "random")
"""Default bots for the other seats."""

End = Literal["decided", "fixed", "max_blocks", "openings", "interrupted", "not_played"]


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison. Scores are A's, from 0 to 1, 1/2 for equal strength."""

    plan: Plan
    entries: tuple[int, int]
    """A and B in the plan."""
    test: Sprt | None
    """None when the number of blocks was fixed."""
    end: End
    tally: Tally
    estimate: Estimate | None
    """None without a block."""
    saving: Saving
    """By what the matches of a block share: dice, opening and seeds; with `own_dice` the opening alone."""
    outcome: Outcome
    folder: Path

    @property
    def a(self) -> str:
        """Label of A."""
        return self.plan.schedule.entries[self.entries[0]].label

    @property
    def b(self) -> str:
        """Label of B."""
        return self.plan.schedule.entries[self.entries[1]].label

    @property
    def board(self) -> Board:
        """The game, its number of players and its opening."""
        return self.plan.schedule.boards[0]

    @property
    def fillers(self) -> tuple[str, ...]:
        """Labels of the bots in the other seats."""
        duel = self.plan.schedule.duel
        return tuple(self.plan.schedule.entries[entry].label for entry in duel.fillers) if duel else ()

    @property
    def own_dice(self) -> bool:
        """Whether the matches of a block have dice of their own."""
        return has_own_dice(self.plan.schedule, 0)

    @property
    def duel(self) -> bool:
        """Whether the blocks are duels, not seat-swapped pairs."""
        return self.plan.schedule.duel is not None

    @property
    def elo(self) -> Estimate | None:
        """The estimate as logistic Elo."""
        return self._as(elo_from_score)

    @property
    def difference(self) -> Estimate | None:
        """The estimate as A's mean return minus B's, from -2 to 2."""
        return self._as(lambda score: 4 * (score - 0.5))

    @property
    def normalized_elo(self) -> Estimate | None:
        """The estimate in deviations of a match's score: (score - 1/2) / (sqrt(2) deviation) * 800 / ln 10."""
        deviation = math.sqrt(2 * mean_and_variance(self.tally.counts)[1]) if self.estimate else 0.0
        return self._as(lambda score: (score - 0.5) / deviation * NORMALIZED) if deviation else None

    def _as(self, unit: Callable[[float], float]) -> Estimate | None:
        each = self.estimate
        return Estimate(unit(each.score), unit(each.low), unit(each.high)) if each else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data (docs/reference/json.md), a function of the log and of what was asked alone."""
        tally, test = self.tally, self.test
        return {
            "a": self.a,
            "b": self.b,
            "game": self.board.game,
            "players": self.board.players,
            "fillers": list(self.fillers),
            "block": "duel" if self.duel else "pair",
            "seed": self.plan.schedule.seed,
            "opening": self.board.opening,
            "test": {**asdict(test), "lower": test.lower, "upper": test.upper, "llr": tally.llr} if test else None,
            "end": self.end,
            "decision": tally.verdict,
            "blocks": len(tally.blocks),
            "repeated_blocks": tally.repeats,
            "matches": 2 * len(tally.blocks),
            "score_counts": [int(count) for count in tally.counts],
            "estimate": "median-unbiased" if self.end == "decided" else "mean",
            "score": _plain(self.estimate),
            "return_difference": _plain(self.difference),
            "elo": _plain(self.elo),
            "normalized_elo": _plain(self.normalized_elo),
            "forfeits": {"a": tally.forfeits[0], "b": tally.forfeits[1]},
            "common_dice": None if self.own_dice or math.isnan(self.saving.factor) else asdict(self.saving),
        }


def _plain(estimate: Estimate | None) -> dict[str, float] | None:
    return {"value": estimate.score, "low": estimate.low, "high": estimate.high} if estimate else None


def compare(
    matchup: Matchup,
    stop: StopRule | None = None,
    workers: int | None = None,
    home: str | Path | None = None,
    show: Callable[[Progress, Tally], None] = lambda progress, tally: None,
    planned: Callable[[Plan], None] = lambda plan: None,
) -> Comparison:
    """Play what the comparison's log is missing until it is decided, by default by a sequential test.

    The log lies under the home folder, one for each two bots, game, number of players and fillers, whatever the
    test: another alpha reads the same blocks. `show` is called with the progress, `planned` with the plan before the
    first match.
    """
    home_folder(home)
    stop = stop or StopRule()
    options = RunOptions(cores() if workers is None else workers, "local")
    worker = WorkerProcess()
    try:
        plan, entries = comparison_plan(matchup, stop.blocks, worker, home)
        folder = home_folder(home) / plan.name
        with Store.create(folder / LOG) as store:
            plan = with_dice_keys(plan, store)
            plan = replace(plan, remarks=(*store.remarks, *plan.remarks))
            (board,) = plan.schedule.boards
            opening = _setup_plies(load_game(board.game, board.players)) + board.opening
            tally = Tally(stop.test, board.players, opening)
            gate = SequentialGate(plan.schedule, tally, entries, Outbox(store, plan.schedule))
            planned(plan)
            run = Run(plan, store, options, worker, lambda progress: show(progress, tally), gate)
            outcome = run.play()
            if outcome.complete:
                store.finish_run(now(), disclose=plan.schedule.has_secret_dice)
            resolved = with_disclosed_keys(plan.resolved(), store)
        found = _comparison(plan, entries, tally, outcome, folder)
        _write(found, resolved)
        return found
    finally:
        worker.stop()


def comparison_plan(
    matchup: Matchup, blocks: int, worker: WorkerProcess | None = None, home: str | Path | None = None
) -> tuple[Plan, tuple[int, int]]:
    """Return the plan of a comparison and the entries of A and B. Swapping the two does not change the plan."""
    kind = game_type(matchup.game.partition("(")[0])
    game = load_game(matchup.game, kind.min_players if matchup.players is None else matchup.players)
    plies = chosen_plies(matchup.opening, game.default_opening)
    wanted = [matchup.a, matchup.b, *(matchup.fillers or (FILLERS if game.players > 2 else ()))]
    named = ["A", "B", *(f"filler {number}" for number in range(1, len(wanted) - 1))]
    bots = resolve_bots(
        [Wanted(spec, {}, matchup.isolation) for spec in wanted],
        [game],
        (),
        worker,
        lambda at: f"{named[at]}: ",
        home,
    )
    for name, bot in zip(named, bots, strict=True):
        if bot.refusals[0] is not None:
            raise ConfigError(f"{name}: {bot.spec} {bot.refusals[0]}")
    if bots[0].identity == bots[1].identity:
        raise ConfigError(f"A and B are the same bot, {bots[0].spec}: there is nothing to compare")
    unique = sorted({bot.identity: bot for bot in bots}.values(), key=lambda bot: (bot.spec, bot.identity))
    a, b, *others = [[each.identity for each in unique].index(bot.identity) for bot in bots]
    keys = entry_keys([bot.spec for bot in unique], [bot.identity for bot in unique])
    duel = Duel(min(a, b), max(a, b), tuple(sorted(set(others)))) if others else None
    board = single_plan(game, bots[: game.players], matchup.seed, plies).schedule.boards[0]
    schedule = Schedule(
        seed=matchup.seed,
        entries=tuple(
            Entry(key, key, bot.spec, bot.identity, bot.trusted) for key, bot in zip(keys, unique, strict=True)
        ),
        boards=(replace(board, entries=tuple(range(len(unique))), blocks=blocks),),
        permutations=False,
        max_tables=1,
        challenger=None,
        limits=Limits(),
        duel=duel,
        secret_dice=Kind.COMMON if matchup.common_dice else Kind.SECRET,
    )
    return Plan(_name(schedule, unique), schedule, tuple(unique), (), ()), (a, b)


def _name(schedule: Schedule, bots: Sequence[ResolvedBot]) -> str:
    """Return the folder of a comparison's log: readable, one for each question; editing a bot does not change it."""
    (board,), duel = schedule.boards, schedule.duel
    keys = [entry.key for entry in schedule.entries]
    two = [keys[entry] for entry in (duel[:2] if duel else (0, 1))]
    rest = [keys[entry] for entry in duel.fillers] if duel else []
    digest = hashlib.blake2b(json.dumps([board.game, board.players, two, rest]).encode(), digest_size=4).hexdigest()
    words = [re.sub(r"[^A-Za-z0-9]+", "_", key).strip("_")[:24] for key in two]
    return f"{COMPARISONS}/{board.slug}-{words[0]}-{words[1]}-{digest}"


def _setup_plies(game: Game) -> int:
    """Return the number of plies of chance before the first decision."""
    state, count = game.new_initial_state(), 0
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
        count += 1
    return count


def _comparison(plan: Plan, entries: tuple[int, int], tally: Tally, outcome: Outcome, folder: Path) -> Comparison:
    scale = plan.schedule.boards[0].players - 1
    units = np.array([(each.units_a, each.units_b, each.seat) for each in tally.evidence], float).reshape(-1, 3)
    estimate = None
    if tally.counts.any():
        decided = tally.test is not None and tally.verdict is not None
        estimate = (
            stopped_estimate(tally.counts, tally.test) if decided and tally.test else fixed_estimate(tally.counts)
        )
    saving = dice_saving(units[:, 0] / scale - 1, units[:, 1] / scale - 1, units[:, 2])
    return Comparison(plan, entries, tally.test, _end(tally, outcome), tally, estimate, saving, outcome, folder)


def _end(tally: Tally, outcome: Outcome) -> End:
    if tally.verdict is not None:
        return "decided"
    if tally.test is not None and tally.exhausted:
        return "openings"
    if outcome.interrupted:
        return "interrupted"
    if outcome.not_played:
        return "not_played"
    return "fixed" if tally.test is None else "max_blocks"


def _write(comparison: Comparison, resolved: ResolvedPlan) -> None:
    """Write comparison.json and plan.json beside the log."""
    from arena.core.files import write_file
    from arena.plan.files import write_plan

    write_plan(comparison.folder, resolved)
    content = json.dumps(comparison.as_dict(), indent=1, ensure_ascii=False) + "\n"
    write_file(comparison.folder / "comparison.json", [content.encode()])
