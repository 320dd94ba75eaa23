"""Resolve configurations: look names up, spell defaults out, snapshot bots' sources.

The driver reads sources but never runs them: a worker process asks bots for their parameters and games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.core.errors import ConfigError
from arena.core.limits import Limits
from arena.core.match_ids import DiceKind
from arena.match.dice import key_hash, key_pair, single_key
from arena.plan.bots import ResolvedBot, entrants_of, entries_of, resolve_bots
from arena.plan.config import Config, DatasetFormat, GameEntry, read_config
from arena.plan.model import ResolvedPlan
from arena.registry.game_rules import RulesRecord, rules_of_plugins
from arena.registry.plugin_games import snapshot
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board
from arena.schedule.kinds.round_robin import RoundRobin
from arena.schedule.openings import check_opening, checked_plies
from arena.workers.messages import PlannedBot, WorkerPlan
from arena.workers.process import WorkerProcess
from engine import Game


@dataclass(frozen=True, repr=False)
class Plan:
    """A tournament ready to be played."""

    name: str
    schedule: Schedule
    bots: tuple[ResolvedBot, ...]
    """By entry of the schedule."""
    formats: tuple[str, ...]
    left_out: tuple[str, ...]
    """Lines for users: which bots do not play on which boards, and why."""
    rules: Mapping[str, RulesRecord] = field(default_factory=dict)
    """Rules of plug-in games, by name."""
    secret_keys: tuple[bytes, ...] = ()
    """Keys of secret dice drawn so far; `arena.tournament.dice_keys` keeps them in the log."""
    remarks: tuple[str, ...] = ()
    """Lines about its log and its dice, to be shown before anything is played."""
    report: bool = True
    """Whether a run ends by writing its report."""
    dataset: DatasetFormat | None = None
    """Format of the dataset that a run ends by writing, if any."""

    def __repr__(self) -> str:
        schedule = self.schedule
        return (
            f"<plan of {self.name}: {schedule.total_matches:,} matches of {len(self.bots)} bots "
            f"on {len(schedule.boards)} boards>"
        )

    def with_keys(self, keys: Sequence[bytes]) -> Plan:
        """Return the plan with keys of secret dice, of which the last one is in use."""
        hashes = tuple(map(key_hash, keys))
        return replace(self, secret_keys=tuple(keys), schedule=replace(self.schedule, keys=hashes))

    def key_pairs(self) -> dict[str, tuple[bytes, bytes]]:
        """Return, by the hash of a secret key or "" for public dice, the keys of dice and of bots' seeds.

        Raises `ConfigError` while secret dice have no key yet.
        """
        schedule = self.schedule
        if schedule.has_secret_dice and not self.secret_keys:
            raise ConfigError(f"{self.name}: the key of its secret dice is drawn when it is first run")
        pairs = {key_hash(key): key_pair(schedule.seed, key) for key in self.secret_keys}
        pairs[""] = key_pair(schedule.seed, None)
        return pairs

    def message(self) -> WorkerPlan:
        """Return what a worker needs to know of the plan."""
        schedule = self.schedule
        named = ((bot, bot.source, bot.bundle.hash) for bot in self.bots)
        return WorkerPlan(
            keys=self.key_pairs(),
            limits=schedule.limits,
            boards=schedule.boards,
            bots=[
                PlannedBot(
                    source.name, source.module, source.class_name, bundle, bot.params, bot.options, bot.isolation
                )
                for bot, source, bundle in named
            ],
            bundles={bot.bundle.hash: bot.bundle.files for bot in self.bots},
            games=snapshot({board.game.partition("(")[0] for board in schedule.boards}),
        )

    def resolved(self) -> ResolvedPlan:
        """Return the plan as it is kept in the log and beside the leaderboards; never with a secret key.

        The log's has no progress, which follows from the log.
        """
        return ResolvedPlan.of(self.name, self.schedule, self.formats, self.left_out, self.rules)


def load_plan(
    config: str | Path | Config | dict[str, Any],
    worker: WorkerProcess | None = None,
    home: str | Path | None = None,
    strict: bool = False,
) -> Plan:
    """Return the resolved plan of a file, a `Config` or plain data; raises an `ArenaError` of one line."""
    return make_plan(*read_config(config), worker, home, strict)


def make_plan(
    config: Config,
    source: str = "config",
    folder: Path | None = None,
    worker: WorkerProcess | None = None,
    home: str | Path | None = None,
    strict: bool = False,
) -> Plan:
    """Resolve a configuration. `folder` is what paths in it are relative to, by default the working folder.

    `home` is where submitted bots are kept. Bots that have been withdrawn are left out, with a remark; `strict` refuses
    them.
    """
    folder = folder or Path.cwd()
    folders = [folder, *(folder / path for path in config.bot_paths)]
    for path in folders[1:]:
        if not path.is_dir():
            raise ConfigError(f"{source}: bot_paths: no folder '{path}'")
    entrants, remarks = entrants_of(config, source, home, strict)
    games = config.boards(len(entrants), source)
    places = [*entrants]
    playable = [game for _, game in games]
    wanted = [entrant.entry for entrant in entrants.values()]
    bots = resolve_bots(wanted, playable, folders, worker, lambda number: f"{places[number]}: ", home, calibrates=True)
    entries = entries_of(entrants, bots, public_dice=config.dice != "secret")
    boards: list[Board] = []
    left_out: list[str] = []
    for index, (entry, game) in enumerate(games):
        where, refusals = f"{source}: games[{config.games.index(entry)}]", [bot.refusals[index] for bot in bots]
        playing = [number for number, refusal in enumerate(refusals) if refusal is None]
        board = _board(config, entry, game, sorted(playing, key=lambda number: entries[number].key), len(bots), where)
        if any((board.game, board.players) == (other.game, other.players) for other in boards):
            raise ConfigError(f"{source}: games: {board.title} is listed twice")
        if alike := [other.title for other in boards if other.slug == board.slug]:
            raise ConfigError(f"{source}: games: {board.title} would have the files of {alike[0]}")
        boards.append(board)
        refused = ((entry, refusal) for entry, refusal in zip(entries, refusals, strict=True) if refusal is not None)
        left_out += [f"{board.title}, without {entry.label}: it {refusal}" for entry, refusal in refused]
    try:
        scheduler = config.schedule.with_seed(config.seed).resolved(entries, boards)
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from None
    schedule = Schedule(
        seed=config.seed,
        entries=tuple(entries),
        boards=tuple(boards),
        permutations=config.line_ups == "permutations",
        scheduler=scheduler,
        limits=Limits(**config.limits.model_dump()),
        forfeit_limit=config.forfeit_limit,
        secret_dice=DiceKind.COMMON if config.common_dice else DiceKind.SECRET,
    )
    output = config.output
    return Plan(
        config.name,
        schedule,
        tuple(bots),
        output.formats,
        tuple(left_out),
        rules_of_plugins(board.game for board in boards),
        remarks=remarks,
        report=output.report,
        dataset=output.dataset,
    )


def single_plan(game: Game, bots: Sequence[ResolvedBot], seed: int, opening: int) -> Plan:
    """Return a plan of one match, with the bots in the order of their seats.

    Where one of them is not trusted, the key of its dice follows from the seed: whoever knows that can play it again.
    """
    keys = [f"{seat}: {bot.spec}" for seat, bot in enumerate(bots)]
    entries = tuple(bot.entry(key, key) for key, bot in zip(keys, bots, strict=True))
    check_opening(game, opening)
    board = Board.of(game, tuple(range(len(bots))), 1, opening)
    schedule = Schedule(seed, entries, (board,), False, RoundRobin(), Limits())
    plan = Plan("match", schedule, tuple(bots), (), ())
    return plan.with_keys([single_key(seed)]) if schedule.has_secret_dice else plan


def warm_plan(games: Sequence[Game], bots: Sequence[ResolvedBot]) -> Plan:
    """Return a plan of games with all bots that play them, in which nothing is to be played."""
    entries = tuple(replace(bot.entry(bot.spec, bot.spec), trusted=True) for bot in bots)
    boards = (
        Board.of(game, tuple(entry for entry, bot in enumerate(bots) if bot.refusals[number] is None), 1, 0)
        for number, game in enumerate(games)
    )
    return Plan("warm", Schedule(0, entries, tuple(boards), False, RoundRobin(), Limits()), tuple(bots), (), ())


def _board(config: Config, entry: GameEntry, game: Game, playing: list[int], number: int, where: str) -> Board:
    """Return a board of those of a `number` of bots that play there; raises `ConfigError` that begins with `where`."""
    if len(playing) < game.players:
        raise ConfigError(
            f"{where}: {game.spec} with {game.players} players needs at least {game.players} bots that play it; "
            f"{len(playing)} of {number} do"
        )
    try:
        opening = checked_plies(entry.opening or config.opening, game)
        rules = (entry.adjudication or config.adjudication).rules_on(game)
        return Board.of(game, tuple(playing), entry.blocks or config.blocks, opening, rules)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
