"""A match as it is read back from a log or a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from arena.core.errors import StoreError
from arena.core.match_ids import DiceKind, match_id, stream_ids
from arena.match.dice import KeyPair, Streams, key_hash, key_pair
from arena.match.estimates import Estimate, estimate_of, unpack_estimates
from arena.match.result import CallDuration, MatchRow, call_duration


@dataclass(frozen=True)
class SecretKey:
    """The key of a log's secret dice as it is kept there."""

    key: bytes = field(repr=False)
    """Empty where only its hash is known."""
    hash: str
    created: str
    disclosed: str | None

    def checked(self) -> bytes:
        """Return the key; raises `StoreError` when its hash is another one."""
        if len(self.key) != 32 or key_hash(self.key) != self.hash:
            raise StoreError("the log is damaged: its dice key is not the one whose hash it holds")
        return self.key


@dataclass(frozen=True)
class PlannedMatch:
    """Where a match belongs in its plan, and what its chance is drawn from."""

    identity: bytes
    block_id: bytes
    lineup: int
    game: str
    players: int
    round: int
    opening: int
    seed: int
    dice: DiceKind = DiceKind.PUBLIC
    secret: SecretKey | None = None
    """What its dice were drawn with; None when that follows from the seed."""

    @property
    def id(self) -> str:
        """Its id: what its files and pages are named by."""
        return match_id(self.identity, self.lineup)

    @property
    def key_hash(self) -> str:
        """Hash of the key of its secret dice; empty when the dice are public."""
        return self.secret.hash if self.secret else ""

    def begins_with(self, prefix: str) -> bool:
        """Return whether the match has that id, or one whose part before the dash begins so."""
        stem, _, lineup = prefix.partition("-")
        return self.identity.hex().startswith(stem) and lineup in ("", str(self.lineup))


@dataclass(frozen=True, repr=False, kw_only=True)
class StoredMatch(PlannedMatch):
    """One match read back."""

    ended: str
    moves: list[str]
    final: str
    timed: bool
    notes: list[tuple[int, str]]
    bots: list[str]
    ranks: list[int]
    scores: Sequence[int | float | None]
    forfeits: dict[int, tuple[str, int]]
    details: dict[int, str]
    clocks: list[CallDuration]
    retried: bool
    """Played once more, because the machine starved a bot."""
    printed: dict[int, str] = field(default_factory=dict)
    """By seat: the end of what its bot printed; of matches outside any log."""
    packed_estimates: str = ""
    """What bots expected at their moves, as in `MatchRow.estimates`."""
    dropped: dict[int, int] = field(default_factory=dict)
    """By seat: evaluations, lines and visit counts that were wrong, and are not kept."""
    labels: list[str] = field(default_factory=list, compare=False)
    """Names of the bots in the plan, by seat; empty where the match is of no plan that is known."""
    identities: list[str] = field(default_factory=list)
    """`name@hash` of the bots, by seat; of matches that are written to or read from lines."""
    rules_version: int = 0
    """Of its game; of matches that are written to or read from lines."""

    def __repr__(self) -> str:
        places = ", ".join(f"{bot} {rank + 1}" for bot, rank in zip(self.names, self.ranks, strict=True))
        return f"<match {self.id} of {self.game}, {len(self.moves)} plies, ended {self.ended}; places: {places}>"

    @property
    def names(self) -> list[str]:
        """What persons call the bots: their labels, without the seat that those of single matches have, or specs."""
        if not self.labels:
            return self.bots
        marks = [f"{seat}: " for seat in range(len(self.labels))]
        of_single = all(map(str.startswith, self.labels, marks))
        return [*map(str.removeprefix, self.labels, marks)] if of_single else self.labels

    @cached_property
    def estimates(self) -> dict[int, Estimate]:
        """By ply: what its bot expected; raises `StoreError` when that is damaged."""
        kept = unpack_estimates(self.packed_estimates, self.players, len(self.moves))
        return {each[0]: estimate_of(*each[1:]) for each in kept}

    @property
    def keys(self) -> KeyPair:
        """Of its dice and of its bots' seeds; raises `StoreError` when a secret one is damaged."""
        return key_pair(self.seed, self.secret.checked() if self.secret else None)

    def streams(self, keys: KeyPair) -> Streams:
        """Return its random streams."""
        return Streams(*keys, *stream_ids(self.dice, self.block_id, self.identity, self.lineup))


def without_side_tables(match: StoredMatch) -> StoredMatch:
    """Return a match without what the log keeps in side tables or takes from the plan, and without a key."""
    kept = replace(match, labels=[], identities=[], rules_version=0, secret=None)
    return replace(kept, details={}, printed={}, clocks=[], retried=False, packed_estimates="", dropped={})


def stored_match(place: PlannedMatch, row: MatchRow, bots: Sequence[str] = ()) -> StoredMatch:
    """Return the match of a flat record; `bots` are specs by seat."""
    return StoredMatch(
        **vars(place),
        ended=row.ended,
        moves=row.moves.split(),
        final=row.final,
        timed=row.timed,
        notes=list(row.notes),
        bots=list(bots),
        ranks=[seat.rank for seat in row.seats],
        scores=[seat.score for seat in row.seats],
        forfeits={number: seat.forfeit for number, seat in enumerate(row.seats) if seat.forfeit is not None},
        details=dict(row.details),
        clocks=read_clocks(row.clocks),
        retried=row.retried,
        packed_estimates=row.estimates,
        dropped=dict(row.dropped),
    )


def read_clocks(text: str) -> list[CallDuration]:
    """Parse `MatchRow.clocks`: what each call of a bot took."""
    try:
        return [call_duration(*map(int, call.split(","))) for call in text.split()]
    except (ValueError, TypeError):
        raise StoreError("the log is damaged: a match's clocks cannot be read") from None
