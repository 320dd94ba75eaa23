"""Comparison of two bots: blocks are played until a sequential test decides, or a fixed number of them.

With two players a block is a seat-swapped pair of matches, with more a duel; either way both meet the same opening and,
unless a sandboxed or submitted bot plays there and no common dice were asked for, the same dice.
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
from arena.core.files import write_file
from arena.core.limits import Limits
from arena.core.match_ids import DiceKind
from arena.core.names import COMPARISONS_FOLDER, shown_name
from arena.core.paths import home_folder
from arena.plan.bot_entry import MAX_LABEL_CHARS, BotEntry
from arena.plan.bots import ResolvedBot, entry_keys, resolve_bots
from arena.plan.config import adjudicable
from arena.plan.files import write_plan
from arena.plan.resolve import Plan, single_plan
from arena.registry.bundles import MANIFEST_FILE
from arena.registry.game_rules import rules_of_plugins
from arena.runner.calibration import with_budgets
from arena.runner.options import Matchup, RunOptions, StopRule
from arena.runner.run import Outcome, Progress, Run
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board
from arena.schedule.comparisons import ComparisonPlan
from arena.schedule.kinds.duel import Duel
from arena.schedule.kinds.round_robin import RoundRobin
from arena.schedule.openings import chosen_plies, setup_plies
from arena.stats.estimates import Lead, ScoreEstimate, fixed_estimate, lead, stopped_estimate
from arena.stats.paired import Saving, dice_saving
from arena.tournament.dice_keys import finish_log, has_own_dice, shared_in_blocks, with_dice_keys
from arena.tournament.log_keys import with_disclosed_keys
from arena.tournament.logs import LOG_FILE
from arena.tournament.same_rules import with_same_rules
from arena.tournament.sequential import tally_of
from arena.tournament.tally import Tally
from arena.tournament.tournament import Tournament
from arena.workers.process import WorkerProcess
from engine import game_type, load_game
from engine.specs import split_bot_spec

RESULT_FILE = "comparison.json"
"""What a comparison writes beside its log when it ends."""
DEFAULT_FILLERS = ("greedy", "random")
"""Default bots for the other seats."""

EndReason = Literal["decided", "fixed", "max_blocks", "openings", "interrupted", "not_played"]


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison. Scores are A's, from 0 to 1, 1/2 for equal strength."""

    plan: Plan
    end: EndReason
    tally: Tally
    estimate: ScoreEstimate | None
    """None without a block."""
    saving: Saving
    """By what the matches of a block share: dice, opening and seeds; with `own_dice` the opening alone."""
    outcome: Outcome
    folder: Path

    @property
    def entries(self) -> tuple[int, int]:
        """A and B in the plan."""
        compared = self.plan.schedule.comparison
        assert compared is not None
        return compared[:2]

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
        schedule = self.plan.schedule
        return tuple(schedule.entries[entry].label for entry in schedule.fillers(0))

    @property
    def own_dice(self) -> bool:
        """Whether the matches of a block have dice of their own."""
        return has_own_dice(self.plan.schedule, 0)

    @property
    def shared(self) -> list[str]:
        """What the matches of a block have in common: dice, opening, seeds."""
        return shared_in_blocks(self.plan.schedule, 0)

    @property
    def matches_per_block(self) -> int:
        """Matches of a block."""
        return 2

    @property
    def lead(self) -> Lead | None:
        """Which bot is stronger, and how sure that is; None without a block."""
        if self.estimate is None:
            return None
        return lead(self.tally.counts, self.tally.test if self.end == "decided" else None)

    @property
    def elo(self) -> ScoreEstimate | None:
        """The estimate as logistic Elo."""
        return self.estimate and self.estimate.elo

    @property
    def difference(self) -> ScoreEstimate | None:
        """The estimate as A's mean return minus B's, from -2 to 2."""
        return self.estimate and self.estimate.difference

    @property
    def normalized_elo(self) -> ScoreEstimate | None:
        """The estimate in deviations of a match's score; None where all blocks are equal."""
        return self.estimate and self.estimate.normalized_elo(self.tally.counts)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data (docs/reference/json.md), a function of the log and of what was asked alone."""
        tally, test, ahead = self.tally, self.tally.test, self.lead
        return {
            "a": self.a,
            "b": self.b,
            "game": self.board.game,
            "players": self.board.players,
            "fillers": list(self.fillers),
            "block": "duel" if self.fillers else "pair",
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
            "score": self.estimate and self.estimate.as_dict(),
            "return_difference": self.difference and self.difference.as_dict(),
            "stronger": None if ahead is None or ahead.sign == 0 else "a" if ahead.sign > 0 else "b",
            "confidence": ahead.confidence if ahead else None,
            "more_matches": None if ahead is None or ahead.more_blocks is None else 2 * ahead.more_blocks,
            "elo": self.elo and self.elo.as_dict(),
            "normalized_elo": self.normalized_elo and self.normalized_elo.as_dict(),
            "forfeits": {"a": tally.forfeits[0], "b": tally.forfeits[1]},
            "common_dice": None if self.own_dice or math.isnan(self.saving.factor) else asdict(self.saving),
        }


def compare(
    matchup: Matchup,
    stop: StopRule | None = None,
    workers: int | None = None,
    home: str | Path | None = None,
    show: Callable[[Progress, Tally], None] = lambda progress, tally: None,
    planned: Callable[[Plan], None] = lambda plan: None,
    same_rules: bool = False,
    calibrated: Callable[[str], None] = lambda line: None,
) -> Comparison:
    """Play what the comparison's log is missing until it is decided, by default by a sequential test.

    The log lies under the home folder, one for each two bots, game, number of players and fillers, whatever the
    test: another alpha reads the same blocks. `show` is called with the progress, `planned` with the plan before the
    first match. `same_rules` and `calibrated` are as for `arena.api.run`.
    """
    home_folder(home)
    stop = stop or StopRule()
    options = RunOptions.of(workers, "local", rated=False)
    worker = WorkerProcess()
    try:
        plan = comparison_plan(matchup, stop, worker, home)
        folder = home_folder(home) / plan.name
        with Tournament.create(folder / LOG_FILE) as tournament:
            _check_name(plan, tournament)
            store = tournament.store
            plan = with_budgets(with_same_rules(plan, store, same_rules), tournament, worker, show=calibrated)
            plan = with_dice_keys(plan, store)
            planned(plan)
            run = Run(
                plan,
                Tournament(store, plan.schedule),
                options,
                worker,
                lambda progress: show(progress, run.matches.tally),
            )
            outcome = run.play()
            if outcome.complete:
                finish_log(store, plan.schedule)
            schedule = Tournament(store, plan.schedule).schedule
            resolved = with_disclosed_keys(replace(plan, schedule=schedule).resolved(), store)
            tally = tally_of(store, schedule)
        found = _comparison(plan, tally, outcome, folder)
        write_plan(folder, resolved)
        _write(folder, found.as_dict())
        return found
    finally:
        worker.stop()


def _write(folder: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_file(folder / RESULT_FILE, [text.encode()])


def comparison_plan(
    matchup: Matchup, stop: StopRule, worker: WorkerProcess | None = None, home: str | Path | None = None
) -> Plan:
    """Return the plan of a comparison. Swapping the two changes none of its blocks."""
    kind = game_type(matchup.game)
    game = load_game(matchup.game, kind.min_players if matchup.players is None else matchup.players)
    plies, rules = chosen_plies(matchup.opening, game.default_opening), adjudicable(matchup.adjudication, game)
    asked_for = [matchup.a, matchup.b, *(matchup.fillers or (DEFAULT_FILLERS if game.players > 2 else ()))]
    given, wanted = zip(*map(split_label, asked_for), strict=True)
    named = ["A", "B", *(f"filler {number}" for number in range(1, len(wanted) - 1))]
    asked = [BotEntry(bot=spec, isolation=matchup.isolation) for spec in wanted]
    bots = resolve_bots(asked, [game], (), worker, lambda at: f"{named[at]}: ", home, calibrates=True)
    for name, bot in zip(named, bots, strict=True):
        if bot.refusals[0] is not None:
            raise ConfigError(f"{name}: {bot.label} {bot.refusals[0]}")
    if bots[0].identity == bots[1].identity:
        raise ConfigError(f"A and B are the same bot, {bots[0].spec}: there is nothing to compare")
    unique = sorted({bot.identity: bot for bot in bots}.values(), key=lambda bot: (bot.spec, bot.identity))
    a, b, *others = [[each.identity for each in unique].index(bot.identity) for bot in bots]
    labels = _labels(given, wanted, bots)
    named_by = {bot.identity: label or bot.identity for label, bot in reversed([*zip(given, bots, strict=True)])}
    keys = entry_keys([bot.spec for bot in unique], [named_by[bot.identity] for bot in unique])
    named_as = [labels[bot.identity] for bot in unique]
    duel = {"bots": [named_as[i] for i in sorted((a, b))], "fillers": [named_as[i] for i in sorted(set(others))]}
    board = single_plan(game, bots[: game.players], matchup.seed, plies).schedule.boards[0]
    schedule = Schedule(
        seed=matchup.seed,
        entries=tuple(bot.entry(label, key) for label, key, bot in zip(named_as, keys, unique, strict=True)),
        boards=(replace(board, entries=tuple(range(len(unique))), blocks=stop.blocks, adjudication=rules),),
        permutations=False,
        scheduler=Duel.model_validate(duel) if others else RoundRobin(),
        limits=Limits(),
        comparison=ComparisonPlan(a, b, stop.test, setup_plies(game) + plies),
        secret_dice=DiceKind.COMMON if matchup.common_dice else DiceKind.SECRET,
    )
    name = _name(schedule) if matchup.name is None else f"{COMPARISONS_FOLDER}/{matchup.name}"
    return Plan(name, schedule, tuple(unique), (), (), rules_of_plugins([game.spec]))


def split_label(text: str) -> tuple[str | None, str]:
    """Split `label=spec`, the label None for a spec alone. Raises `ConfigError` for a label that fits no table."""
    label, equals, spec = text.partition("=")
    if not equals or ":" in label or Path(text.partition(":")[0]).exists():
        return None, text
    try:
        return shown_name(label, MAX_LABEL_CHARS), spec
    except ValueError as error:
        raise ConfigError(f"'{text}': the label '{label}' {error}") from None


def _labels(given: Sequence[str | None], specs: Sequence[str], bots: Sequence[ResolvedBot]) -> dict[str, str]:
    """Return the labels of bots by identity: as given, else their names, or where these are equal the ends of paths."""
    asked: dict[str, tuple[str | None, str, ResolvedBot]] = {}
    for label, spec, bot in zip(given, specs, bots, strict=True):
        if bot.identity not in asked or (label and asked[bot.identity][0] is None):
            asked[bot.identity] = label, spec, bot
    labels = {identity: label or bot.label for identity, (label, _, bot) in asked.items()}
    chosen = [label for label, _, _ in asked.values() if label]
    if len(set(chosen)) < len(chosen):
        raise ConfigError(f"two bots have the label '{max(chosen, key=chosen.count)}'; give each its own")
    alike = [each for each in labels if list(labels.values()).count(labels[each]) > 1]
    ends = {each: _path_ends(asked[each][1]) for each in alike if asked[each][0] is None}
    for each, own in ends.items():
        others = [set(other) for identity, other in ends.items() if identity != each]
        taken = {label for identity, label in labels.items() if identity != each}
        end = next((end for end in own if end not in taken and not any(end in other for other in others)), None)
        options = f":{asked[each][2].options}" if asked[each][2].options else ""
        labels[each] = f"{end}{options}" if end else each[:-24]
    return labels


def _path_ends(spec: str) -> list[str]:
    """Return the ends of the path of a bot's file or program, the shortest first; none for a bot given by its name."""
    name = split_bot_spec(spec)[0].partition(":")[0]
    path = Path(name).resolve()
    if not path.exists():
        return []
    path = path.parent if path.name == MANIFEST_FILE else path.with_suffix("")
    return ["/".join(path.parts[start:]) for start in range(len(path.parts) - 1, 0, -1)]


def _check_name(plan: Plan, tournament: Tournament) -> None:
    """Raise `ConfigError` when a log of that name is of another comparison."""
    if not tournament.store.totals()[0]:
        return
    there, mine = tournament.planned, plan.schedule
    asked, had = (
        ({entry.key for entry in each.entries}, each.boards[0].game, each.boards[0].players, each.scheduler.kind)
        for each in (mine, there)
    )
    if asked != had:
        two = " and ".join(entry.label for entry in there.entries)
        name = plan.name.partition("/")[2]
        raise ConfigError(f"name = '{name}': is that of another comparison, {two} on {there.boards[0].title}")


def _name(schedule: Schedule) -> str:
    """Return the folder of a comparison's log: readable, one for each question; editing a bot does not change it."""
    (board,), keys = schedule.boards, [entry.key for entry in schedule.entries]
    two = [keys[entry] for entry in schedule.tables[0][0][:2]]
    rest = [keys[entry] for entry in schedule.fillers(0)]
    digest = hashlib.blake2b(json.dumps([board.game, board.players, two, rest]).encode(), digest_size=4).hexdigest()
    words = [re.sub(r"[^A-Za-z0-9]+", "_", key).strip("_")[:24] for key in two]
    return f"{COMPARISONS_FOLDER}/{board.slug}-{words[0]}-{words[1]}-{digest}"


def _comparison(plan: Plan, tally: Tally, outcome: Outcome, folder: Path) -> Comparison:
    scale = plan.schedule.boards[0].players - 1
    units = np.array([(each.units_a, each.units_b, each.seat) for each in tally.evidence], float).reshape(-1, 3)
    estimate = None
    if tally.counts.any():
        stopped = tally.test if tally.verdict is not None else None
        estimate = stopped_estimate(tally.counts, stopped) if stopped else fixed_estimate(tally.counts)
    saving = dice_saving(units[:, 0] / scale - 1, units[:, 1] / scale - 1, units[:, 2])
    end: EndReason = "fixed" if tally.test is None else "max_blocks"
    if tally.verdict is not None:
        end = "decided"
    elif tally.test is not None and tally.exhausted:
        end = "openings"
    elif outcome.interrupted:
        end = "interrupted"
    elif outcome.not_played:
        end = "not_played"
    return Comparison(plan, end, tally, estimate, saving, outcome, folder)
