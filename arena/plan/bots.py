"""Resolve the bots of a configuration: who enters, where their sources are, what they declare.

The driver reads sources but never runs them: a worker process asks bots for their parameters and games.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from arena.core.errors import ArenaError, BotError, ConfigError, UnwritableError
from arena.core.paths import home_folder
from arena.isolation import LEVELS, OWN_BOT_LEVEL, PROGRAM_LEVEL, Isolation, default_level, launcher
from arena.plan.bot_entry import MAX_LABEL_CHARS, BotEntry
from arena.plan.config import Config
from arena.plan.grids import Entrant
from arena.registry.bundles import Bundle
from arena.registry.discovery import Source, find_bot, is_withdrawn
from arena.registry.models import MODEL_OPTION
from arena.registry.submissions import open_submissions, submitted
from arena.schedule.boards import Entry
from arena.store import BotRow
from arena.workers.declarations import declaration_of
from arena.workers.process import WorkerProcess
from engine import EngineError, Game, ParameterError
from engine.specs import Value, canonical_options, refuse_times, resolve, seconds_of, split_bot_spec


class MoveTime(NamedTuple):
    """A time a move, to be calibrated for each board into a number."""

    text: str
    seconds: float
    parameter: str
    """Gets the number."""
    least: int
    most: int


@dataclass(frozen=True)
class ResolvedBot:
    """A contestant with its source and its description of itself."""

    source: Source
    bundle: Bundle
    params: Mapping[str, Value]
    spec: str
    about: str = ""
    """Its docstring."""
    games: list[str] | None = None
    players: list[int] | None = None
    parameters: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[str | None] = field(default_factory=list)
    """Why it does not play on a board, by board."""
    isolation: Isolation = OWN_BOT_LEVEL

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
        return label.replace(f"{MODEL_OPTION}={self.params[MODEL_OPTION]}", f"{MODEL_OPTION}={self.source.file}")

    @property
    def options(self) -> str:
        """Its parameters other than the defaults, as in its spec."""
        return self.spec.removeprefix(self.source.name).removeprefix(":")

    @property
    def time(self) -> MoveTime | None:
        """The time that it was given in place of a number; None without one, and for bots out of logs."""
        known = {each["name"]: each for each in self.parameters}
        for name, each in known.items():
            if each.get("stands_for") and (text := str(self.params[name])):
                count = known[each["stands_for"][0]]
                return MoveTime(text, seconds_of(text), count["name"], int(count["minimum"]), int(count["maximum"]))
        return None

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
        return Entry(label, key, self.spec, self.identity, self.trusted, self.params, self.isolation)

    @property
    def row(self) -> BotRow:
        """Its row in the log."""
        return BotRow(self.identity, self.spec, self.source.module, self.source.class_name, self.bundle.hash)


def bot_identity(name: str, bundle: str, class_name: str, params: Mapping[str, Value]) -> str:
    """Return `name@hash` over the hash of a bot's bundle, its class and its resolved parameters."""
    key = json.dumps([bundle, class_name, params], sort_keys=True)
    return f"{name}@{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"


def logged_bot(entry: Entry, row: BotRow, files: Mapping[str, bytes], isolation: Isolation) -> ResolvedBot:
    """Return a bot of a plan with its source as it is in a log; bots that have none there have no `files`."""
    name = row.identity.rpartition("@")[0]
    source = Source(name, row.module, row.class_name, None, "the log", submitted=not entry.trusted)
    return ResolvedBot(source, Bundle(row.module, files), entry.params, entry.spec, isolation=isolation)


def entrants_of(
    config: Config, source: str, home: str | Path | None, strict: bool
) -> tuple[dict[str, Entrant], tuple[str, ...]]:
    """Return the bots of a configuration by their places in it, which errors name, and remarks on withdrawn ones.

    Submitted bots are among them. Withdrawn ones are left out; `strict` keeps them, to be refused when they are
    resolved. Raises `ConfigError` when none is left.
    """
    known = submitted(home_folder(home))
    entrants = config.entrants(source)
    names = [split_bot_spec(each.entry.bot)[0] for each in entrants.values()]
    if config.submissions is not None:
        try:
            found = open_submissions(config.submissions, known)
        except BotError as error:
            raise ConfigError(f"{source}: submissions: {error}") from None
        listed = {name.partition("@")[0] for name in names}
        own = {f"{source}: submissions: {name}": BotEntry(bot=name) for name in found if name not in listed}
        entrants |= {place: Entrant(entry) for place, entry in own.items()}
    withdrawn = {place for name, place in zip(names, entrants, strict=False) if is_withdrawn(name, known)}
    kept = {place: entry for place, entry in entrants.items() if strict or place not in withdrawn}
    remarks = tuple(
        f"{entry.label or entry.bot} is left out, since it has been withdrawn; --strict refuses such an entry"
        for place, (entry, *_) in entrants.items()
        if place in withdrawn and not strict
    )
    if not kept:
        why = remarks or (("nobody has submitted one: `arena submit`",) if config.submissions else ())
        raise ConfigError(f"{source}: no bot is left to play{''.join(f'; {line}' for line in why)}")
    return kept, remarks


def resolve_bots(
    wanted: Sequence[BotEntry],
    games: Sequence[Game],
    folders: Sequence[Path] = (),
    worker: WorkerProcess | None = None,
    where: Callable[[int], str] = lambda number: "",
    home: str | Path | None = None,
    calibrates: bool = False,
) -> list[ResolvedBot]:
    """Find, snapshot and describe bots; raises `ConfigError` that begins with `where` of the bot's number.

    Times a move are refused unless they are calibrated afterwards, by `arena.runner.calibration`.
    """
    found = []
    for number, entry in enumerate(wanted):
        try:
            found.append(_find(entry, folders, home))
        except UnwritableError:  # a full disk is nobody's mistake
            raise
        except ArenaError as error:
            raise ConfigError(f"{where(number)}{error}") from None
    boards = [(game.spec, game.players) for game in games]
    own, bots = worker or WorkerProcess(), []
    try:
        if not own.name:
            own.start()
        for number, bot in enumerate(found):
            try:
                bots.append(describe_bot(*bot, boards, own, calibrates))
            except (BotError, EngineError) as error:
                raise ConfigError(f"{where(number)}{error}") from None
        return bots
    finally:
        if worker is None:
            own.stop()


def _find(
    entry: BotEntry, folders: Sequence[Path], home: str | Path | None
) -> tuple[Source, Bundle, dict[str, Any], Isolation]:
    """Return the source of a bot with a snapshot, its options as given and its isolation.

    Raises an `ArenaError` where there is no source, or this machine lacks the isolation.
    """
    source, options = find_bot(entry.bot, folders, home, entry.params)
    isolation = entry.isolation or default_level(source)
    if source.is_program and not launcher(isolation).runs_programs:
        suitable = [level for level in LEVELS if launcher(level).runs_programs]
        raise BotError(f"'{entry.bot}' is a program: isolation must be {' or '.join(suitable)}")
    if missing := launcher(isolation).missing_requirements():
        raise BotError(
            f"'{entry.bot}' is for the {isolation}, and this machine has none: {missing}; `arena doctor` tells more; "
            f'isolation = "{PROGRAM_LEVEL}" (in a command: --isolation {PROGRAM_LEVEL}) runs it all the same, '
            "with your rights"
        )
    return source, source.bundle(), options, isolation


def describe_bot(
    source: Source,
    bundle: Bundle,
    options: dict[str, Any],
    isolation: Isolation,
    boards: Sequence[tuple[str, int]],
    worker: WorkerProcess,
    calibrates: bool = False,
) -> ResolvedBot:
    """Return a bot with what it declares; `boards` are specs of games with numbers of players.

    Times a move are refused unless the caller `calibrates` them. Raises `BotError` or `EngineError` where it cannot be
    used.
    """
    declaration = declaration_of(source, bundle, isolation, boards, worker)
    params = resolve(declaration.settings, options, source.name)
    if not calibrates:
        refuse_times(declaration.settings, params, source.name)
    for time in declaration.settings:
        if params[time.name] and (both := options.keys() & set(time.stands_for)):
            raise ParameterError(
                f"{source.name}: {time.name}={params[time.name]} stands for {min(both)}, which is given too; give one"
            )
    changed = canonical_options(declaration.settings, params)
    spec = f"{source.name}:{changed}" if changed else source.name
    fields = declaration.model_dump(include={"about", "games", "players", "parameters", "refusals"})
    return ResolvedBot(source, bundle, params, spec, isolation=isolation, **fields)


def entries_of(entrants: Mapping[str, Entrant], bots: Sequence[ResolvedBot], public_dice: bool) -> list[Entry]:
    """Return the entries of resolved bots; raises `ConfigError` for two of one label."""
    given = [entrant.label(bot.source.title, bot.params) for entrant, bot in zip(entrants.values(), bots, strict=True)]
    labels = [label or bot.label for label, bot in zip(given, bots, strict=True)]
    shown = set[str]()
    for place, label in zip(entrants, labels, strict=True):
        if (look := unicodedata.normalize("NFC", label)) in shown:
            raise ConfigError(f"{place}: a second '{label}'; give it a label of its own")
        shown.add(look)
        if entrants[place].entry.label and len(label) > MAX_LABEL_CHARS:
            raise ConfigError(f"{place}: label '{label}' has more than {MAX_LABEL_CHARS} characters; shorten its label")
    keys = entry_keys([bot.spec for bot in bots], given)
    entries = (bot.entry(label, key) for label, key, bot in zip(labels, keys, bots, strict=True))
    return [replace(entry, trusted=entry.trusted and public_dice) for entry in entries]


def entry_keys(specs: Sequence[str], labels: Sequence[str | None]) -> list[str]:
    """Return names for block ids: the spec, and where it enters more than once `spec#label` for all but one.

    That one is the entry without a label, else the first by label. So the order of the list does not matter, and labels
    matter only among entries of one spec.
    """
    named = [(spec, label or "") for spec, label in zip(specs, labels, strict=True)]
    first = {spec: min(label for other, label in named if other == spec) for spec in specs}
    return [spec if label == first[spec] else f"{spec}#{label}" for spec, label in named]
