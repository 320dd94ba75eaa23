"""Resolve configurations: look names up, spell defaults out, snapshot bots' sources.

The driver reads sources but never runs them: a worker process asks bots for their parameters and games.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.core.errors import ArenaError, BotError, ConfigError, UnwritableError
from arena.core.limits import Limits
from arena.core.match_ids import Kind
from arena.core.paths import home_folder
from arena.isolation import LEVELS, OWN, PROGRAMS, Isolation, default_level, launcher
from arena.match.dice import key_hash, key_pair, single_key
from arena.plan.config import BotEntry, Config, DatasetFormat, config_from, load_config
from arena.plan.model import ResolvedPlan
from arena.registry.bundles import Bundle
from arena.registry.discovery import Source, find_bot, is_withdrawn, with_model
from arena.registry.game_rules import RulesRecord, rules_of_plugins
from arena.registry.models import OPTION
from arena.registry.plugin_games import snapshot
from arena.registry.submissions import open_submissions, submitted
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board, Entry
from arena.schedule.kinds.round_robin import RoundRobin
from arena.schedule.openings import check_opening, opening_plies
from arena.store import BotRow
from arena.workers.declarations import declaration_of
from arena.workers.messages import PlannedBot, WorkerPlan
from arena.workers.process import WorkerProcess
from engine import EngineError, Game
from engine.specs import canonical_options, resolve, split_bot_spec


@dataclass(frozen=True)
class ResolvedBot:
    """A contestant with its source and its description of itself."""

    source: Source
    bundle: Bundle
    params: dict[str, Any]
    spec: str
    about: str
    """Its docstring."""
    games: list[str] | None
    players: list[int] | None
    parameters: list[dict[str, Any]]
    refusals: list[str | None]
    """Why it does not play on a board, by board."""
    isolation: Isolation = OWN

    @property
    def summary(self) -> str:
        """First line of its docstring."""
        return self.about.partition("\n")[0]

    @property
    def label(self) -> str:
        """Its name on boards unless the plan gives it another: its spec under its own name, and its file's."""
        label = self.source.title + self.spec.removeprefix(self.source.name)
        if not self.source.file:
            return label
        return label.replace(f"{OPTION}={self.params[OPTION]}", f"{OPTION}={self.source.file}")

    @property
    def options(self) -> str:
        """Its parameters other than the defaults, as in its spec."""
        return self.spec.removeprefix(self.source.name).removeprefix(":")

    @property
    def trusted(self) -> bool:
        """Whether it may play with public dice: it was not submitted, and is not planned for a level for strangers.

        The isolation that its matches are replayed with does not count.
        """
        return not self.source.submitted and not launcher(self.isolation).for_strangers

    @property
    def identity(self) -> str:
        """`name@hash` over resolved parameters and source."""
        return bot_identity(self.source.name, self.bundle.hash, self.source.class_name, self.params)

    def entry(self, label: str, key: str) -> Entry:
        """Return its record in a schedule."""
        params = json.dumps(self.params, sort_keys=True)
        return Entry(label, key, self.spec, self.identity, self.trusted, params, self.isolation)

    @property
    def row(self) -> BotRow:
        """Its row in the log."""
        return BotRow(self.identity, self.spec, self.source.module, self.source.class_name, self.bundle.hash)


def bot_identity(name: str, bundle: str, class_name: str, params: dict[str, Any]) -> str:
    """Return `name@hash` over the hash of a bot's bundle, its class and its resolved parameters."""
    key = json.dumps([bundle, class_name, params], sort_keys=True)
    return f"{name}@{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"


@dataclass(frozen=True, repr=False)
class Plan:
    """A tournament ready to be played."""

    name: str
    schedule: Schedule
    bots: tuple[ResolvedBot, ...]
    """By entry of the schedule."""
    formats: tuple[str, ...]
    left_out: tuple[str, ...]
    """Lines that tell which bots do not play on which boards, and why."""
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
    source, folder = "config", None
    if isinstance(config, dict):
        config = config_from(config)
    elif not isinstance(config, Config):
        source, folder = str(config), Path(config).parent
        config = load_config(config)
    return make_plan(config, source, folder, worker, home, strict)


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
    config, places, remarks = _contestants(config, source, home, strict)
    config.check_number_of_bots(source)
    games = list(config.boards())
    bots = resolve_bots(
        config.bots, [game for _, game in games], folders, worker, lambda number: f"{places[number]}: ", home
    )
    entries = _entries(config, bots, places)
    boards: list[Board] = []
    left_out: list[str] = []
    for index, (entry, game) in enumerate(games):
        where, refusals = f"{source}: games[{config.games.index(entry)}]", [bot.refusals[index] for bot in bots]
        playing = [number for number, refusal in enumerate(refusals) if refusal is None]
        board = _board(config, entry, game, sorted(playing, key=lambda number: entries[number].key), where)
        if any((board.game, board.players) == (other.game, other.players) for other in boards):
            raise ConfigError(f"{source}: games: {board.title} is listed twice")
        if alike := [other.title for other in boards if other.slug == board.slug]:
            raise ConfigError(f"{source}: games: {board.title} would have the files of {alike[0]}")
        boards.append(board)
        refused = ((entry, refusal) for entry, refusal in zip(entries, refusals, strict=True) if refusal is not None)
        left_out += [f"{board.title}, without {entry.label}: it {refusal}" for entry, refusal in refused]
    try:
        scheduler = config.schedule.resolved(entries, boards)
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
        secret_dice=Kind.COMMON if config.common_dice else Kind.SECRET,
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


def _contestants(
    config: Config, source: str, home: str | Path | None, strict: bool
) -> tuple[Config, list[str], tuple[str, ...]]:
    """Return a configuration with its submitted bots and without withdrawn ones, where each is from, and remarks."""
    known = submitted(home_folder(home))
    placed = [(entry, f"{source}: bots[{number}]") for number, entry in enumerate(config.bots)]
    if config.submissions is not None:
        try:
            found = open_submissions(config.submissions, known)
        except BotError as error:
            raise ConfigError(f"{source}: submissions: {error}") from None
        listed = {split_bot_spec(entry.bot)[0].partition("@")[0] for entry in config.bots}
        placed += [(BotEntry(bot=name), f"{source}: submissions: {name}") for name in found if name not in listed]
    gone = [] if strict else [entry for entry, _ in placed if is_withdrawn(entry.bot, known)]
    kept = [(entry, place) for entry, place in placed if entry not in gone]
    remarks = tuple(
        f"{entry.label or entry.bot} is left out, since it has been withdrawn; --strict refuses such an entry"
        for entry in gone
    )
    if not kept:
        raise ConfigError(f"{source}: no bot is left to play{''.join(f'; {line}' for line in remarks)}")
    return config.model_copy(update={"bots": tuple(entry for entry, _ in kept)}), [place for _, place in kept], remarks


def single_plan(game: Game, bots: Sequence[ResolvedBot], seed: int, opening: int) -> Plan:
    """Return a plan of one match, with the bots in the order of their seats.

    Where one of them is not trusted, the key of its dice follows from the seed: whoever knows that can play it again.
    """
    keys = [f"{seat}: {bot.spec}" for seat, bot in enumerate(bots)]
    entries = tuple(bot.entry(key, key) for key, bot in zip(keys, bots, strict=True))
    board = _make_board(game, tuple(range(len(bots))), 1, opening)
    schedule = Schedule(seed, entries, (board,), False, RoundRobin(), Limits())
    plan = Plan("match", schedule, tuple(bots), (), ())
    return plan.with_keys([single_key(seed)]) if schedule.has_secret_dice else plan


def warm_plan(games: Sequence[Game], bots: Sequence[ResolvedBot]) -> Plan:
    """Return a plan of games with all bots that play them, in which nothing is to be played."""
    entries = tuple(replace(bot.entry(bot.spec, bot.spec), trusted=True) for bot in bots)
    boards = (
        _make_board(game, tuple(entry for entry, bot in enumerate(bots) if bot.refusals[number] is None), 1, 0)
        for number, game in enumerate(games)
    )
    return Plan("warm", Schedule(0, entries, tuple(boards), False, RoundRobin(), Limits()), tuple(bots), (), ())


def resolve_bots(
    wanted: Sequence[BotEntry],
    games: Sequence[Game],
    folders: Sequence[Path] = (),
    worker: WorkerProcess | None = None,
    where: Callable[[int], str] = lambda number: "",
    home: str | Path | None = None,
) -> list[ResolvedBot]:
    """Find, snapshot and describe bots; raises `ConfigError` that begins with `where` of the bot's number."""
    found = []
    for number, entry in enumerate(wanted):
        spec = entry.bot
        try:
            source, options = find_bot(spec, folders, home)
            source, options = with_model(source, {**options, **entry.params}, folders)
            isolation = entry.isolation or default_level(source)
            if source.is_program and not launcher(isolation).runs_programs:
                suitable = [level for level in LEVELS if launcher(level).runs_programs]
                raise BotError(f"'{spec}' is a program: isolation must be {' or '.join(suitable)}")
            if missing := launcher(isolation).missing_requirements():
                raise BotError(
                    f"'{spec}' is for the {isolation}, and this machine has none: {missing}; "
                    "`arena doctor` tells more; "
                    f'isolation = "{PROGRAMS}" (in a command: --isolation {PROGRAMS}) runs it all the same, '
                    "with your rights"
                )
            found.append((source, source.bundle(), options, isolation))
        except UnwritableError:  # a full disk is nobody's mistake
            raise
        except ArenaError as error:
            raise ConfigError(f"{where(number)}{error}") from None
    boards = [(game.spec, game.players) for game in games]
    own, bots = worker or WorkerProcess(), []
    try:
        if not own.name:
            own.start()
        for number, (source, bundle, options, isolation) in enumerate(found):
            try:
                declaration = declaration_of(source, bundle, isolation, boards, own)
                params = resolve(declaration.settings, options, source.name)
            except (BotError, EngineError) as error:
                raise ConfigError(f"{where(number)}{error}") from None
            changed = canonical_options(declaration.settings, params)
            spec = f"{source.name}:{changed}" if changed else source.name
            fields = declaration.model_dump(include={"about", "games", "players", "parameters", "refusals"})
            bots.append(ResolvedBot(source, bundle, params, spec, isolation=isolation, **fields))
        return bots
    finally:
        if worker is None:
            own.stop()


def _entries(config: Config, bots: Sequence[ResolvedBot], places: Sequence[str]) -> list[Entry]:
    labels = [entry.label or bot.label for entry, bot in zip(config.bots, bots, strict=True)]
    for number, label in enumerate(labels):
        if label in labels[:number]:
            raise ConfigError(f"{places[number]}: a second '{label}'; give it a label of its own")
    keys = entry_keys([bot.spec for bot in bots], [entry.label for entry in config.bots])
    return [
        replace(entry, trusted=entry.trusted and config.dice != "secret")
        for entry in (bot.entry(label, key) for label, key, bot in zip(labels, keys, bots, strict=True))
    ]


def entry_keys(specs: Sequence[str], labels: Sequence[str | None]) -> list[str]:
    """Return names for block ids: the spec, and where it enters more than once `spec#label` for all but one.

    That one is the entry without a label, else the first by label. So the order of the list does not matter, and labels
    matter only among entries of one spec.
    """
    named = [(spec, label or "") for spec, label in zip(specs, labels, strict=True)]
    first = {spec: min(label for other, label in named if other == spec) for spec in specs}
    return [spec if label == first[spec] else f"{spec}#{label}" for spec, label in named]


def _board(config: Config, entry: Any, game: Game, playing: list[int], where: str) -> Board:
    if len(playing) < game.players:
        raise ConfigError(
            f"{where}: {game.spec} with {game.players} players needs at least {game.players} bots that play it; "
            f"{len(playing)} of {len(config.bots)} do"
        )
    opening = opening_plies(entry.opening or config.opening or game.default_opening)
    blocks = entry.blocks or config.blocks
    try:
        return _make_board(game, tuple(playing), blocks, opening)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _make_board(game: Game, entries: tuple[int, ...], blocks: int, opening: int) -> Board:
    check_opening(game, opening)
    return Board(
        game=game.spec,
        params=json.dumps(dict(game.params), sort_keys=True),
        players=game.players,
        rules_version=game.type.rules_version,
        entries=entries,
        blocks=blocks,
        opening=opening,
        utilities=game.type.own_utilities,
    )
