"""Results of matches: as the referee returns them, and as the flat record that workers send and the log keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from arena.match.estimates import PackedEstimate, pack_estimates
from engine import State


@dataclass
class Forfeit:
    """A seat's forfeit: why, at which ply (-1: before play), and what the bot said of it."""

    cause: str
    ply: int
    detail: str = ""


class CallDuration(NamedTuple):
    """Duration of one call of a bot, in seconds."""

    seat: int
    ply: int
    """-1: preparations."""
    wall: float
    cpu: float
    between: float = 0.0
    """Processor time that the bot used since its answer before."""


NUMBERS_PER_CALL = len(CallDuration._fields)
"""Numbers by which a call of a bot is kept."""


def call_duration(seat: int, ply: int, wall: int, cpu: int, between: int) -> CallDuration:
    """Return a call's durations, given in microseconds."""
    return CallDuration(seat, ply, wall / 1e6, cpu / 1e6, between / 1e6)


@dataclass
class Result:
    """One finished match. `moves` holds every ply in notation, dice and opening included."""

    ranks: list[int]
    scores: Sequence[float] | None
    """As `final_scores`."""
    ended: str
    moves: list[str]
    final_hash: str
    timed: bool
    forfeits: dict[int, Forfeit]
    notes: list[tuple[int, str]]
    calls: list[int]
    """Durations of all calls of bots, flat: seat, ply, microseconds of wall clock, of processor time and between."""
    retried: bool = False
    """Whether it was played once more because a bot overran its time while it had little of the processor."""
    killed: tuple[int, ...] = ()
    """Seats whose processes were killed: for each of them the match was played again."""
    estimates: list[PackedEstimate] = field(default_factory=list)
    """What bots expected at their moves."""
    dropped: Mapping[int, int] = field(default_factory=dict)
    """By seat: evaluations, lines and visit counts that were wrong, and are not kept."""

    @property
    def clocks(self) -> list[CallDuration]:
        """Durations of all calls of bots."""
        return [call_duration(*call) for call in zip(*[iter(self.calls)] * NUMBERS_PER_CALL, strict=True)]


class SeatRow(NamedTuple):
    """Result of one seat."""

    rank: int
    score: int | float | None
    cause: str | None = None
    """Why it forfeited, if it did."""
    forfeit_ply: int | None = None

    @property
    def forfeit(self) -> tuple[str, int] | None:
        """Cause and ply of its forfeit, if it did."""
        return None if self.cause is None or self.forfeit_ply is None else (self.cause, self.forfeit_ply)


class MatchRow(NamedTuple):
    """One finished match as a worker sends it and the log keeps it."""

    lineup: int
    ended: str
    plies: int
    timed: bool
    final: str
    moves: str
    notes: Sequence[tuple[int, str]]
    """Ply and text."""
    seats: Sequence[SeatRow]
    details: Mapping[int, str] = MappingProxyType({})
    """By seat that forfeited: what its bot said of it."""
    seconds: float = 0.0
    clocks: str = ""
    """Durations of all calls of bots: `seat,ply,wall,cpu,between`, times in microseconds, separated by spaces."""
    retried: bool = False
    """Whether it was played once more, because the machine starved a bot."""
    estimates: str = ""
    """What bots expected at their moves, packed by `arena.match.estimates`."""
    dropped: Mapping[int, int] = MappingProxyType({})
    """By seat: evaluations, lines and visit counts that were wrong, and are not kept."""


def row_of(result: Result, lineup: int, seconds: float) -> MatchRow:
    """Return a result as a flat record; `seconds` is what the match took."""
    scores: Sequence[float | None] = result.scores or [None for _ in result.ranks]
    seats = list(map(SeatRow, result.ranks, scores))
    for seat, forfeit in result.forfeits.items():
        seats[seat] = seats[seat]._replace(cause=forfeit.cause, forfeit_ply=forfeit.ply)
    return MatchRow(
        lineup,
        result.ended,
        len(result.moves),
        result.timed,
        result.final_hash,
        " ".join(result.moves),
        result.notes,
        seats,
        {seat: forfeit.detail for seat, forfeit in result.forfeits.items()},
        round(seconds, 6),
        ("%d,%d,%d,%d,%d " * (len(result.calls) // NUMBERS_PER_CALL) % tuple(result.calls)).rstrip(),
        result.retried,
        pack_estimates(result.estimates) if result.estimates else "",
        dict(result.dropped),
    )


def final_hash(state: State) -> str:
    """Return 16 hexadecimal digits over the final position; over the moves where a game has no position strings."""
    text = state.position if state.game.position else " ".join(map(str, state.history()))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def final_scores(state: State) -> Sequence[float] | None:
    """Return what the log keeps of each seat beside its rank, in the game's own terms; None where there is nothing.

    Of a game with utilities of its own it is these, and nothing when a forfeit has ended the match before the game did.
    """
    if not state.game.type.own_utilities:
        return state.scores()
    utilities = state.utilities() if state.is_terminal() else None
    return None if utilities is None else [int(value) if value.is_integer() else value for value in utilities]


def ranks_with_forfeits(game_ranks: Sequence[int], forfeit_plies: Mapping[int, int]) -> list[int]:
    """Rank seats that kept playing by the game, before all that forfeited; of those the last to forfeit ranks best."""
    keys = [(1, -forfeit_plies[seat]) if seat in forfeit_plies else (0, rank) for seat, rank in enumerate(game_ranks)]
    return [sum(other < key for other in keys) for key in keys]
