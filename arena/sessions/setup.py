"""What a session plays: the game, who sits in which seat, the dice, and the clock of persons."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from arena.core.errors import ConfigError
from arena.core.names import shown_name
from arena.match.person import PERSON, is_person
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import ResolvedBot, resolve_bots
from arena.plan.resolve import Plan, single_plan
from arena.registry.bundles import Bundle
from arena.registry.discovery import Source
from arena.runner.options import check_seed
from arena.runner.single import random_seed, single_match
from arena.schedule.openings import chosen_plies
from arena.store import BotRow
from arena.workers.messages import MatchOrder
from arena.workers.process import WorkerProcess
from engine import Game, load_game

DEFAULT_NAME = "you"
MAX_NAME_CHARS = 40
MAX_POSITION_CHARS = 3500
"""Characters of a position string."""
MAX_START_PLIES = 2000
"""Plies that a session or a search may begin with."""
MAX_CLOCK_SECONDS = 86_400.0


class PersonClock(NamedTuple):
    """The clock of each person; bots have their own limits."""

    seconds: float = 0.0
    """For all moves of a match; 0 for no clock."""
    increment: float = 0.0
    """Added after each move."""


@dataclass(frozen=True)
class SessionSetup:
    """A session as somebody asks for it."""

    game: str
    seats: tuple[str, ...]
    """By seat: the spec of a bot, or `PERSON`."""
    seed: int | None = None
    """Of all chance; None for one drawn at random."""
    opening: str | None = None
    """Random plies as in configurations; None for what the game says."""
    position: str | None = None
    """Position string to start from; None for the start of the game."""
    actions: tuple[int, ...] = ()
    """Plies that were played from there before; seats' bots are asked for theirs all the same."""
    clock: PersonClock = field(default_factory=PersonClock)
    keeps: bool = False
    """Whether to keep the match in a log when it is over."""

    @property
    def persons(self) -> tuple[int, ...]:
        """Seats of persons."""
        return tuple(seat for seat, who in enumerate(self.seats) if is_person(who))

    def load(self) -> Game:
        """Return the game; raises an `ArenaError` or `EngineError` for a session that cannot be."""
        game = load_game(self.game, len(self.seats))
        if self.seed is not None:
            check_seed(self.seed)
        if not all(0 <= value <= MAX_CLOCK_SECONDS for value in self.clock):
            raise ConfigError(f"the clock: must be 0 to {MAX_CLOCK_SECONDS:,.0f} seconds")
        for seat in self.persons:
            person_name(self.seats[seat])
        if self.position is not None:
            check_position(game, self.position)
        if self.keeps and self.starts_elsewhere:
            raise ConfigError(
                "a match that starts from a position cannot be kept in a log: the log has no place for it"
            )
        chosen_plies(self.opening, game.default_opening)
        return game

    @property
    def starts_elsewhere(self) -> bool:
        """Whether it starts from a position, or in the middle of a match."""
        return self.position is not None or bool(self.actions)

    @property
    def opening_plies(self) -> int:
        """Random plies at the start; none where it starts elsewhere."""
        return 0 if self.starts_elsewhere else chosen_plies(self.opening, self.load().default_opening)


def check_position(game: Game, text: str) -> None:
    """Raise an `ArenaError` or `EngineError` unless a text is a position of the game."""
    if len(text) > MAX_POSITION_CHARS:
        raise ConfigError(f"a position has at most {MAX_POSITION_CHARS:,} characters, this one {len(text):,}")
    game.state_from_position(text)


def person_name(seat: str) -> str:
    """Return a person's name; raises `ConfigError` for one with markup."""
    name = seat.partition(":")[2]
    if not name:
        return DEFAULT_NAME
    try:
        if set(name) & set(",()=:"):
            raise ValueError("must have no , ( ) = or :")
        return shown_name(name, MAX_NAME_CHARS)
    except ValueError as error:
        raise ConfigError(f"the name of a person {error}") from None


def resolve(setup: SessionSetup, game: Game, worker: WorkerProcess, home: Path | None) -> Plan:
    """Return the plan of one match; raises an `ArenaError` for bots that are not there or do not play this."""
    bots = [seat for seat, who in enumerate(setup.seats) if not is_person(who)]
    wanted = [BotEntry(bot=setup.seats[seat]) for seat in bots]
    found = resolve_bots(wanted, [game], (), worker, lambda number: f"seat {bots[number]}: ", home)
    for bot in found:
        if bot.refusals[0] is not None:
            raise ConfigError(f"{bot.spec} {bot.refusals[0]}")
    by_seat = dict(zip(bots, found, strict=True))
    session = [by_seat[seat] if seat in by_seat else _as_bot(who) for seat, who in enumerate(setup.seats)]
    seed = random_seed() if setup.seed is None else setup.seed
    return single_plan(game, session, seed, setup.opening_plies)


def without_persons(plan: Plan, persons: tuple[int, ...]) -> Plan:
    """Return a plan that leaves the persons out, for what only bots need: compiling."""
    board = plan.schedule.boards[0]
    entries = tuple(entry for entry in board.entries if entry not in persons)
    return replace(plan, schedule=replace(plan.schedule, boards=(replace(board, entries=entries),)))


def match_order(plan: Plan) -> MatchOrder:
    """Return the order for the match of a session, without charges; line-up 0 has the entries in the order of seats."""
    return MatchOrder(single_match(plan))


def bot_row(plan: Plan, entry: int) -> BotRow:
    """Return the row of a seat's bot for a log; a person has no source."""
    bot = plan.bots[entry]
    return BotRow(bot.identity, bot.spec) if is_person(bot.spec) else bot.row


def _as_bot(who: str) -> ResolvedBot:
    """Return a person in the form that plans have for bots, with nothing that could be loaded."""
    name = person_name(who)
    spec = PERSON if name == DEFAULT_NAME else f"{PERSON}:name={name.replace(' ', '_')}"
    source = Source(PERSON, "", "", None, PERSON)
    return ResolvedBot(source, Bundle("", {}), {"name": name}, spec, refusals=[None])
