"""Messages between drivers and workers, and their one encoding.

A frame is the name of the message's class, a space, and its fields as `arena.core.records` encodes them. Code that
only passes frames on asks `is_kind` and never parses them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from arena.core import records
from arena.core.limits import Limits
from arena.isolation import Isolation
from arena.isolation.launched import LaunchedBot
from arena.match.faults import KnownFault
from arena.match.game_faults import GameFault
from arena.match.replay import ReplayedPly
from arena.match.result import MatchRow
from arena.match.stored import StoredMatch
from arena.registry.bundles import Bundle
from arena.schedule.blocks import MatchSpec
from arena.schedule.boards import Board, Budget
from engine.specs import Value

RULES = -1
"""In place of an entry: the rules of a board's game."""


RATINGS = -1
"""In place of a board, with `RULES`: what rates results."""


class Start(NamedTuple):
    """First message to the supervisor of a worker: folder and environment of the worker."""

    folder: str
    """To work in."""
    environment: dict[str, str]


class Hello(NamedTuple):
    """Ask a worker for its code version, library versions and process."""


class Greeting(NamedTuple):
    """Reply to `Hello`."""

    code: str
    """Hash of the code that it runs."""
    versions: dict[str, str]
    process: int
    host: str


class Describe(NamedTuple):
    """Ask what a bot declares of itself."""

    bot: LaunchedBot
    boards: Sequence[tuple[str, int]]
    """Game and number of players."""


class Description(NamedTuple):
    """Reply to `Describe`."""

    content: Any
    """As the bot gave it, unchecked: `arena.registry.declarations.read_declaration` is to look at it."""


class ReplayRequest(NamedTuple):
    """Ask for the plies of a match."""

    match: StoredMatch
    keys: tuple[bytes, bytes] | None
    """Of its dice and bots' seeds, to recompute every draw."""
    drawn: bool
    """Whether states are to be drawn."""


class ReplayReply(NamedTuple):
    """Reply to `ReplayRequest`."""

    plies: Sequence[ReplayedPly]
    refusal: str
    """Why the match cannot be replayed; empty when it can."""


class PlannedBot(NamedTuple):
    """A contestant as a worker sees it."""

    name: str
    module: str
    class_name: str
    bundle: str
    """Hash of its bundle."""
    params: Mapping[str, Value]
    options: str
    """Those of its spec."""
    isolation: Isolation

    def with_budget(self, budget: Budget) -> PlannedBot:
        """Return the bot as it plays where its time was calibrated."""
        name, count = budget.parameter, budget.number
        options = [*filter(None, self.options.split(","))]
        if self.params[name] != count:
            options = sorted([*options, f"{name}={count}"], key=lambda option: option.partition("=")[0])
        return self._replace(params={**self.params, name: count}, options=",".join(options))


class WorkerPlan(NamedTuple):
    """A plan as workers get it, before the first chunk of matches."""

    keys: dict[str, tuple[bytes, bytes]]
    """Keys of the dice and of bots' seeds, by the hash of a secret key, or "" for public dice."""
    limits: Limits
    boards: Sequence[Board]
    bots: Sequence[PlannedBot]
    """By entry of the schedule."""
    bundles: dict[str, Mapping[str, bytes]]
    """Files of bundles, by hash and path."""
    games: dict[str, bytes]
    """Files of plug-in games, by path."""
    names_refusals: bool = False
    """Whether faults in the sandbox name the system calls that were refused."""

    def bundle_of(self, bot: PlannedBot) -> Bundle:
        """Return a bot's bundle; raises `BotError` for a path that leads elsewhere."""
        return Bundle(bot.module, self.bundles[bot.bundle])


class PlanReply(NamedTuple):
    """Reply to a plan."""

    refusal: str
    """Why this machine cannot play it; empty when it can."""


class MatchOrder(NamedTuple):
    """A match to be played."""

    spec: MatchSpec
    charges: Sequence[KnownFault] = ()
    """Faults of earlier tries, which ended their workers."""


class PlayChunk(NamedTuple):
    """Order to play matches, one after the other."""

    matches: Sequence[MatchOrder]
    out_of_replays: Sequence[int]
    """Entries for which no match is replayed any more when their process is killed."""
    listens: bool
    """Whether to report what bots printed."""


class StartSession(NamedTuple):
    """Order to play a match with persons in some seats; `SessionUpdate` and `MoveRequest` come before its `Played`."""

    order: MatchOrder
    persons: Sequence[int]
    """Seats of persons; the plan's bots there are never loaded."""
    position: str | None
    """Position string that the match starts from; None for the start of the game."""
    actions: Sequence[int]
    """All plies that were played before."""


class SessionUpdate(NamedTuple):
    """What has happened in a session so far, sent when a bot begins to think."""

    seat: int
    """Whose move is awaited."""
    actions: Sequence[int]
    """All plies so far."""
    notes: Sequence[tuple[int, str]]
    """Ply and text of bots' notes."""
    forfeits: Mapping[int, tuple[str, int, str]]
    """By seat: cause, ply and detail."""


class MoveRequest(SessionUpdate):
    """The same when a person is to move: `MoveReply` or `EndSession` is awaited."""

    __slots__ = ()


class MoveReply(NamedTuple):
    """A person's move, or why there is none."""

    action: int
    cause: str
    """Why the seat forfeits; empty when it does not."""
    detail: str


class EndSession(NamedTuple):
    """End the match in place of a person's move; the reply is a `Played` without rows."""


class StartSearch(NamedTuple):
    """Order to look at a position with the plan's only bot, which has to be `uct`."""

    position: str | None
    actions: Sequence[int]
    """Plies since."""


class ContinueSearch(NamedTuple):
    """Order to go on with the search for a while."""

    simulations: int
    """At most."""
    seconds: float
    """At most, about."""


class SearchCandidate(NamedTuple):
    """What a search found of one action."""

    action: int
    visits: int
    value: float | None
    """Expected return of the seat to move, in [-1, 1]; None before the first visit."""
    proven: bool
    """Whether the value is what the action is worth if nobody errs."""
    line: Sequence[int]
    """The plies that the search expects from this action on, as far as no dice are due."""


class SearchReport(NamedTuple):
    """Reply to `StartSearch` and `ContinueSearch`."""

    simulations: int
    """In all."""
    finished: bool
    """Whether more simulations would change nothing."""
    values: Sequence[float]
    """Expected return by seat; empty before the first simulation."""
    candidates: Sequence[SearchCandidate]
    """The best first."""
    refusal: str
    """Why the position cannot be searched; empty when it can."""


class Compile(NamedTuple):
    """Order to compile what matches of the plan will call."""

    code: Sequence[tuple[int, int]]
    """Boards, each with an entry that plays there or `RULES`; or `RATINGS`."""


class Compiled(NamedTuple):
    """Reply to `Compile`; code that cannot be compiled fails in its first match."""


class Played(NamedTuple):
    """Reply to a chunk: results in order."""

    rows: Sequence[MatchRow]
    killed: Mapping[int, Sequence[int]]
    """By number of the match in the chunk: entries whose processes were killed."""
    printed: Mapping[int, Mapping[int, str]]
    """By number of the match and by seat: the end of what its bot printed, where that was asked for."""


class PlayedLast(Played):
    """The same from a worker that is to play no further match; results of the last ones of the chunk may be missing."""

    __slots__ = ()


class GameStopped(NamedTuple):
    """Reply to a chunk in which a game failed."""

    number: int
    """Of the match in the chunk."""
    fault: GameFault


class DiskFull(NamedTuple):
    """Reply to a chunk when a disk is full."""

    what: str
    remedy: str


class WorkerDeath(NamedTuple):
    """End of a worker process before its reply."""

    number: int
    """Of the match in its chunk."""
    seat: int
    """Whose bot was at work; `NOBODY` between moves."""
    ply: int
    cause: str
    starved: bool = False
    """Whether the worker had little processor time for what it did not finish in time."""
    how: str = ""
    """How the process ended, in words."""
    killed: bool = False
    """Whether by a signal that anybody may have sent."""

    def charge(self) -> KnownFault:
        """Return the fault that the seat at work is charged with."""
        return KnownFault(self.seat, self.ply, self.cause, self.how)


class WorkerLost(NamedTuple):
    """Loss of a worker with its machine; no reply will come."""

    in_play: bool = True
    """Whether its chunk was being played, not waiting behind another one."""


Message = (
    Hello
    | Greeting
    | Describe
    | Description
    | ReplayRequest
    | ReplayReply
    | WorkerPlan
    | PlanReply
    | PlayChunk
    | StartSession
    | SessionUpdate
    | MoveRequest
    | MoveReply
    | EndSession
    | StartSearch
    | ContinueSearch
    | SearchReport
    | Compile
    | Compiled
    | Played
    | PlayedLast
    | GameStopped
    | DiskFull
)
_KINDS: dict[bytes, type[Message]] = {kind.__name__.encode(): kind for kind in get_args(Message)}


def encode(message: Message) -> bytes:
    """Return the frame of a message."""
    return type(message).__name__.encode() + b" " + records.encode(message)


def decode(frame: bytes) -> Message:
    """Return the message of a frame; raises `ValueError` for anything else."""
    name, _, content = frame.partition(b" ")
    if name not in _KINDS:
        raise ValueError(f"no kind of message: {name[:40]!r}")
    return records.decode(_KINDS[name], content)


def is_kind(frame: bytes, kind: type[Message]) -> bool:
    """Return whether a frame holds a message of a kind, without parsing it."""
    return frame.startswith(kind.__name__.encode() + b" ")
