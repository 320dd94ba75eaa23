"""Matches as JSON Lines: a line a match, with all that is needed to replay it and to find its place in its plan.

Anybody may have written such a file: reading runs nothing of it, and every size is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from arena.core.errors import ArenaError, ConfigError, RecordError, StoreError
from arena.core.files import open_regular
from arena.core.match_ids import DiceKind
from arena.core.models import Model, as_tuple, validated
from arena.match.estimates import EVALUATION_STEPS, MAX_LINE_PLIES, PackedEstimate, check_estimates, pack_estimates
from arena.match.result import MatchRow, SeatRow
from arena.match.stored import PlannedMatch, SecretKey, StoredMatch, stored_match
from arena.schedule.boards import Entry

MAX_LINE_BYTES = 2**24
"""Bytes of a line that is read."""

LineEstimate = tuple[
    int,
    list[Annotated[float, Field(allow_inf_nan=False)]] | None,
    list[int],
    list[Annotated[tuple[int, int], BeforeValidator(as_tuple)]],
    int,
]
"""Ply, evaluation, line, visit counts by action, and steps of the search."""


def with_steps(value: object) -> object:
    """Return a list of an estimate as a tuple, without steps of the search where they are left out."""
    return (*value, 0)[:5] if isinstance(value, list) and len(value) in (4, 5) else value


Count = Annotated[int, Field(ge=0, lt=2**63)]
Score = Annotated[int, Field(gt=-(2**63), lt=2**63)] | Annotated[float, Field(allow_inf_nan=False)] | None


class Forfeit(Model):
    """A seat that forfeited."""

    seat: Count
    cause: Annotated[str, Field(pattern="^[a-z_]{1,40}$")]
    ply: Annotated[int, Field(ge=-1, lt=2**31)]


class PlannedLine(Model):
    """The keys of a line that say which match of its plan it is."""

    match: Annotated[str, Field(pattern="^[0-9a-f]{32}-[0-9]{1,9}$")]
    block: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    game: str
    players: Annotated[int, Field(ge=2, le=20)]
    rules_version: Count
    round: Count
    lineup: Count
    opening: Count
    seed: Count
    dice: Literal["public", "secret", "common"]
    dice_key_hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None


class Line(PlannedLine):
    """The keys of a line; docs/reference/json.md describes them."""

    bots: list[str]
    specs: list[str]
    identities: list[str]
    ranks: list[Count]
    scores: list[Score] | None
    ended: str
    moves: str
    final: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    timed: bool
    forfeits: list[Forfeit]
    notes: list[Annotated[tuple[int, str], BeforeValidator(as_tuple)]]
    evaluations: list[Annotated[LineEstimate, BeforeValidator(with_steps)]]

    @model_validator(mode="after")
    def _fits_together(self) -> Line:
        for name in ("bots", "specs", "identities", "ranks", "scores"):
            given = getattr(self, name)
            if given is not None and len(given) != self.players:
                raise ValueError(f"{name}: must be {self.players}, one for each seat")
        seats = [forfeit.seat for forfeit in self.forfeits]
        if max(self.ranks) >= self.players or max(seats, default=0) >= self.players or len(set(seats)) < len(seats):
            raise ValueError(f"ranks and seats of forfeits: must be 0 to {self.players - 1}, each seat at most once")
        if (self.dice == "public") != (self.dice_key_hash is None):
            raise ValueError("dice_key_hash: belongs to secret dice, and to no others")
        if self.match.partition("-")[2] != str(self.lineup):
            raise ValueError("match: must end in the number of the line-up")
        moves = self.moves.split()
        if " ".join(moves) != self.moves:
            raise ValueError("moves: must have single spaces between moves")
        plies = [ply for ply, _ in self.notes]
        if plies != sorted(set(plies)) or not set(plies) <= set(range(len(moves))):
            raise ValueError("notes: must belong to plies, one each in their order")
        try:
            check_estimates(packed_estimates_of(self.evaluations), self.players, len(moves))
        except (StoreError, OverflowError):
            raise ValueError(
                f"evaluations: must belong to plies, one each in their order, with {self.players} returns from -1 to 1 "
                f"or null, a line of at most {MAX_LINE_PLIES} actions, visit counts by action, and steps of the search"
            ) from None
        return self


LINE_KEYS = tuple(Line.model_fields)


def with_entries(match: StoredMatch, seats: Sequence[Entry], rules_version: int) -> StoredMatch:
    """Return a match of a log with what its line says, no more and no less; `seats` are the entries by seat."""
    labels, identities = [entry.label for entry in seats], [entry.identity for entry in seats]
    secret = SecretKey(b"", match.key_hash, "", None) if match.secret else None
    plain = replace(match, details={}, printed={}, clocks=[], retried=False, dropped={}, secret=secret)
    return replace(plain, labels=labels, identities=identities, rules_version=rules_version)


def match_as_data(match: StoredMatch) -> dict[str, Any]:
    """Return a match as plain data, by the keys of a line."""
    return {
        "match": match.id,
        "block": match.block_id.hex(),
        "game": match.game,
        "players": match.players,
        "rules_version": match.rules_version,
        "round": match.round,
        "lineup": match.lineup,
        "opening": match.opening,
        "seed": match.seed,
        "dice": match.dice.name.lower(),
        "dice_key_hash": match.key_hash or None,
        "bots": match.labels,
        "specs": match.bots,
        "identities": match.identities,
        "ranks": match.ranks,
        "scores": match.scores if any(score is not None for score in match.scores) else None,
        "ended": match.ended,
        "moves": " ".join(match.moves),
        "final": match.final,
        "timed": match.timed,
        "forfeits": [{"seat": seat, "cause": cause, "ply": ply} for seat, (cause, ply) in match.forfeits.items()],
        "notes": match.notes,
        "evaluations": [
            [ply, evaluation, line, [*counts.items()], *([steps] if steps else [])]
            for ply, (evaluation, line, counts, steps) in match.estimates.items()
        ],
    }


def match_as_line(match: StoredMatch, keys: Sequence[str] = ()) -> str:
    """Return a match as a line of JSON with the wanted keys; what cannot be printed is escaped."""
    data = match_as_data(match)
    wanted = {key: data[key] for key in keys or LINE_KEYS}
    text = json.dumps(wanted, separators=(",", ":"), ensure_ascii=False)
    return (text if text.isprintable() else json.dumps(wanted, separators=(",", ":"))) + "\n"


def read_matches(path: Path) -> Iterator[tuple[int, StoredMatch]]:
    """Yield the matches of a file, each with the number of its line; raises `RecordError` for anything else."""
    try:
        with open_regular(path) as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if line.strip():
                    yield number, _match(line, f"{path}, line {number}")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from None


def _match(content: bytes, where: str) -> StoredMatch:
    if len(content) > MAX_LINE_BYTES:
        raise RecordError(f"{where}: more than {MAX_LINE_BYTES >> 20} MiB")
    try:
        data = json.loads(content, object_pairs_hook=_unique_keys)
        if not isinstance(data, dict):
            raise ValueError("not a match, which is a table of keys and values")
    except RecursionError:
        raise RecordError(f"{where}: nested too deep") from None
    except ValueError as error:  # no JSON, no UTF-8, a number of thousands of digits
        raise RecordError(f"{where}: {error}") from None
    try:
        return _match_of_line(validated(Line, data, where, {"forfeits": Forfeit}))
    except ArenaError as error:
        raise RecordError(str(error)) from None


def packed_estimates_of(given: Sequence[LineEstimate]) -> list[PackedEstimate]:
    """Return evaluations of a line as they are packed."""
    return [
        (
            ply,
            [round(EVALUATION_STEPS * value) for value in evaluation or ()],
            line,
            [*chain.from_iterable(counts)],
            steps,
        )
        for ply, evaluation, line, counts, steps in given
    ]


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _match_of_line(line: Line) -> StoredMatch:
    place = PlannedMatch(
        bytes.fromhex(line.match.partition("-")[0]),
        bytes.fromhex(line.block),
        *(line.lineup, line.game, line.players, line.round, line.opening, line.seed),
        DiceKind[line.dice.upper()],
        SecretKey(b"", line.dice_key_hash, "", None) if line.dice_key_hash else None,
    )
    seats = list(map(SeatRow, line.ranks, line.scores or [None] * line.players))
    for forfeit in line.forfeits:
        seats[forfeit.seat] = seats[forfeit.seat]._replace(cause=forfeit.cause, forfeit_ply=forfeit.ply)
    plies = len(line.moves.split())
    row = MatchRow(line.lineup, line.ended, plies, line.timed, line.final, line.moves, line.notes, seats)
    row = row._replace(estimates=pack_estimates(packed_estimates_of(line.evaluations)))
    match = stored_match(place, row, line.specs)
    return replace(match, labels=line.bots, identities=line.identities, rules_version=line.rules_version)
