"""What a tuning run is asked for, and its first plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from arena.core.adjudication import AdjudicationRules
from arena.core.errors import ConfigError
from arena.core.limits import Limits
from arena.core.match_ids import DiceKind
from arena.core.models import checked
from arena.isolation import Isolation
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import ResolvedBot, bot_identity, resolve_bots
from arena.plan.config import adjudicable, tournament_name
from arena.plan.resolve import Plan
from arena.registry.game_rules import rules_of_plugins
from arena.runner.options import BLOCKS_LIMIT, check_seed
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board, Entry
from arena.schedule.kinds.tuning import ROLES, START, Tuning
from arena.schedule.openings import chosen_plies
from arena.schedule.tuning import bayes
from arena.schedule.tuning.space import TunedParameter, number_of
from arena.schedule.tuning.spsa import Gains
from arena.schedule.tuning_iterations import Identify, compared_values, with_bots
from arena.workers.process import WorkerProcess
from engine import EngineError, Game, game_type, load_game
from engine.errors import did_you_mean
from engine.specs import Parameter

Method = Literal["spsa", "optuna"]
SCALES = ("linear", "log")
MAX_ITERATIONS = 100_000
DELAY_SHARE = 10
"""A tenth of the iterations is the delay of steps, as Spall advises."""


@dataclass(frozen=True)
class TuneRequest:
    """A bot to tune, and the matches in which its parameters are compared."""

    bot: str
    params: Sequence[str]
    """Each `name=low:high`, or `name=low:high:log`."""
    games: Sequence[str]
    players: Sequence[int] = ()
    """Numbers of players on each game's boards; the fewest of each by default."""
    against: Sequence[str] = ()
    """Bots for the other seats where more than two play; the bot as it is by default."""
    method: Method = "spsa"
    iterations: int = 100
    blocks: int = 32
    """Of an iteration, on each board."""
    final_blocks: int = 1000
    """Of the comparison at the end, on each board."""
    seed: int = 0
    opening: str | None = None
    isolation: Isolation | None = None
    step: float = 0.4
    reach: float = 0.2
    name: str | None = None
    """Of the log; made of the bot's name by default."""
    adjudication: AdjudicationRules | None = None
    """When matches are ended early, those of the final comparison too; None for never."""

    def __post_init__(self) -> None:
        check_seed(self.seed)
        for name, most in (("iterations", MAX_ITERATIONS), ("blocks", BLOCKS_LIMIT), ("final_blocks", BLOCKS_LIMIT)):
            if not 1 <= (given := getattr(self, name)) <= most:
                raise ConfigError(f"{name} = {given}: must be from 1 to {most:,}")
        for name, end in (("step", 100.0), ("reach", 0.5)):
            if not 0 < (given := getattr(self, name)) <= end:
                raise ConfigError(f"{name} = {given:g}: must be above 0 and at most {end:g}")
        if not self.games:
            raise ConfigError("game: is missing; name the games that the bot is tuned on")
        if not self.params:
            raise ConfigError("param: is missing; name what is tuned, as in exploration=0.2:2")
        if self.method not in ("spsa", "optuna"):
            raise ConfigError(f"method = '{self.method}': must be spsa or optuna")


@dataclass(frozen=True)
class FirstPlan:
    """The plan of a run's first iteration, and what later ones are made of."""

    plan: Plan
    tuned: ResolvedBot
    """The bot with the values that it starts with."""
    others: dict[str, ResolvedBot] = field(default_factory=dict)
    """Bots of other seats, by label."""

    @property
    def identify(self) -> Identify:
        """What names the tuned bot with any parameters."""
        bot = self.tuned
        return lambda params: bot_identity(bot.source.name, bot.bundle.hash, bot.source.class_name, params)

    def plan_of(self, schedule: Schedule) -> Plan:
        """Return the plan of an iteration."""
        return replace(self.plan, schedule=schedule, bots=tuple(map(self._bot, schedule.entries)))

    def _bot(self, entry: Entry) -> ResolvedBot:
        if entry.label in self.others:
            return self.others[entry.label]
        return replace(self.tuned, params=entry.params, spec=entry.spec)


def first_plan(request: TuneRequest, worker: WorkerProcess, home: str | Path | None) -> FirstPlan:
    """Return the plan of the first iteration; raises a `ConfigError` of one line."""
    games = games_of(request)
    if request.against and all(game.players == 2 for game in games):
        raise ConfigError("against: is of boards with more than two players, and here is none; leave it out")
    wanted = [request.bot, *request.against]
    asked = [BotEntry(bot=spec, isolation=request.isolation) for spec in wanted]
    named = ["BOT", *(f"against: {spec}" for spec in request.against)]
    start, *others = resolve_bots(asked, games, (), worker, lambda at: f"{named[at]}: ", home)
    for name, bot in zip(named, (start, *others), strict=True):
        for game, refusal in zip(games, bot.refusals, strict=True):
            if refusal is not None and (bot is start or game.players > 2):
                raise ConfigError(f"{name}: {bot.label} on {game.spec}, {game.players} players: it {refusal}")
    parameters = tuple(tuned_parameter(text, start) for text in request.params)
    by_label = {bot.label: bot for bot in others}
    if clash := sorted(by_label.keys() & {*ROLES}):
        raise ConfigError(f"against: {clash[0]}: is a name that tuning gives to bots of its own; rename the file")
    fillers = sorted(by_label) or ([START] if any(game.players > 2 for game in games) else [])
    tuning: dict[str, Any] = {
        "method": request.method,
        "parameters": [each.model_dump() for each in parameters],
        "start_values": [start.params[each.name] for each in parameters],
        "iterations": request.iterations,
        "iteration_blocks": request.blocks,
        "final_blocks": request.final_blocks,
        "gains": None,
        "sampler": "",
        "fillers": fillers,
    }
    if request.method == "spsa":
        delay = request.iterations // DELAY_SHARE
        tuning["gains"] = Gains(step=request.step, reach=request.reach, delay=delay).model_dump()
    else:
        tuning["sampler"] = bayes.version()
    try:
        scheduler = checked(Tuning, tuning)
    except ValueError as error:
        raise ConfigError(f"param: {str(error).removeprefix('tuning: ')}") from None
    openings = [chosen_plies(request.opening, game.default_opening) for game in games]
    schedule = Schedule(
        seed=request.seed,
        entries=(start.entry(START, START), *(bot.entry(label, label) for label, bot in by_label.items())),
        boards=tuple(
            Board.of(game, (), request.blocks, opening, adjudicable(request.adjudication, game))
            for game, opening in zip(games, openings, strict=True)
        ),
        permutations=False,
        scheduler=scheduler,
        limits=Limits(),
        secret_dice=DiceKind.COMMON,
    )
    plan = Plan(_name(request, start), schedule, (), (), (), rules_of_plugins(game.spec for game in games))
    found = FirstPlan(plan, start, by_label)
    return replace(found, plan=found.plan_of(with_bots(schedule, scheduler, compared_values(schedule), found.identify)))


def games_of(request: TuneRequest) -> list[Game]:
    """Return the games of all boards, loaded; raises `ConfigError`."""
    found: list[Game] = []
    for spec in request.games:
        try:
            kind = game_type(spec)
            found += [load_game(spec, players) for players in request.players or (kind.min_players,)]
        except EngineError as error:
            raise ConfigError(f"game: {error}") from None
    boards = [(game.spec, game.players) for game in found]
    for board in boards:
        if boards.count(board) > 1:
            raise ConfigError(f"game: {board[0]} with {board[1]} players is listed twice")
    return found


def tuned_parameter(text: str, bot: ResolvedBot) -> TunedParameter:
    """Return what is to be tuned, `name=low:high` or `name=low:high:log`; raises `ConfigError`.

    The bot must declare the parameter as a number, allow both ends, and have a value between them.
    """
    name, equals, ends = (part.strip() for part in text.partition("="))
    parts = ends.split(":")
    if not equals or len(parts) not in (2, 3) or (parts[2:] and parts[2] not in SCALES):
        raise ConfigError(f"param: '{text}' cannot be read; write name=low:high, or name=low:high:log")
    known: dict[str, Any] = {each["name"]: each for each in bot.parameters}
    if name not in known:
        hint = did_you_mean(name, known) if known else "; it has none"
        raise ConfigError(f"param: {bot.source.name} has no option '{name}'{hint}")
    declared = known[name]
    kind = {"int": int, "float": float}.get(declared["kind"])
    if kind is None or declared["choices"]:
        raise ConfigError(f"param: {name}: is no number in a range, and cannot be tuned")
    option = Parameter(name, kind, declared["default"], "", declared["minimum"], declared["maximum"])
    try:
        low, high = (option.read(part, bot.source.name) for part in parts[:2])
        scale, default = parts[2] if parts[2:] else "linear", declared["default"]
        fields = {"low": low, "high": high, "whole": kind is int, "scale": scale, "default": default}
        found = checked(TunedParameter, {"name": name, **fields})
    except ValueError as error:  # an error of the engine is one
        raise ConfigError(f"param: {error}") from None
    if not found.low <= (value := number_of(bot.params, name)) <= found.high:
        inside = f"{bot.source.name}:{name}={found.low:g}"
        raise ConfigError(
            f"param: {text}: the bot begins with {name}={value}, which is not in that range; "
            f"name the bot with a value that is, such as {inside}"
        )
    return found


def _name(request: TuneRequest, bot: ResolvedBot) -> str:
    name = f"tune-{bot.source.name}"[:64] if request.name is None else request.name
    try:
        return tournament_name(name)
    except ValueError as error:
        raise ConfigError(f"name = '{name}': {error}") from None
