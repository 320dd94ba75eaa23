"""Taking the rows of one log into another: what both hold has to be the same."""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.core.errors import ArenaError, StoreError
from arena.store.digests import Row, WholeMatch, block_keys, block_rows, damaged_rows, timing_digest, whole_matches
from arena.store.reading import OF_CONTENT, StoreReader, primary
from arena.store.rows import read_moves
from arena.store.writing import Store

BLOCK = (
    "identity",
    "id of the dice",
    "game",
    "number of players",
    "round",
    "opening",
    "seed",
    "kind of dice",
    "key of the dice",
)
MATCH = ("line-up", "ending", "length", "mark of a clock", "final position", "moves", "notes")
SEAT = ("number", "bot", "rank", "score", "cause", "forfeit")
Run = tuple[str, str, str]
"""Plan, versions, UTC time of the start."""


class Taken(NamedTuple):
    """Matches that were new, and that were there."""

    added: int
    known: int


@contextlib.contextmanager
def readable(log: StoreReader) -> Iterator[None]:
    """Whatever the rows of a damaged log make fail within, as a `StoreError` that names the log."""
    try:
        yield
    except (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        ours = isinstance(error, sqlite3.Error) and primary(error) not in OF_CONTENT
        if ours or isinstance(error, ArenaError):
            raise
        raise StoreError(f"{log.path}: is damaged: {error}; `arena verify` tells more") from None


def check_rows(log: StoreReader) -> None:
    """Raise `StoreError` for a run, bot, bundle or key that has changed: a copy would have a digest that fits."""
    for name in damaged_rows(log._db):
        raise StoreError(f"{log.path}: {name} is damaged; `arena verify` tells more")


def runs_of(log: StoreReader) -> dict[int, tuple[Run, str | None]]:
    """A log's runs by number, each with when it was finished."""
    query = "SELECT run, plan, versions, started, finished FROM runs ORDER BY run"
    return {row[0]: (tuple(row[1:4]), row[4]) for row in log._db.execute(query)}


def age(run: Run) -> tuple[str, str, str]:
    """Runs are ordered by it: by their start."""
    plan, versions, started = run
    return started, plan, versions


def take_runs(target: Store, sources: Sequence[StoreReader]) -> list[dict[int, int]]:
    """Take the runs of all sources, the oldest first, so that the latest of all is the latest again.

    For each source: the numbers of its runs in the target.
    """
    theirs = [runs_of(source) for source in sources]
    finished: dict[Run, str | None] = {}
    for run, when in itertools.chain.from_iterable(runs.values() for runs in theirs):
        finished[run] = min(filter(None, (when, finished.get(run))), default=None)
    ours = runs_of(target)
    numbers = {run: number for number, (run, _) in reversed(ours.items())}
    for run in sorted(finished, key=age):
        if run not in numbers:
            numbers[run] = _append(target, run, finished[run])
        elif finished[run] is not None:
            target._set("runs", "finished", str(finished[run]), f"run = {numbers[run]}")
    _repeat_latest(target)
    return [{number: numbers[run] for number, (run, _) in runs.items()} for runs in theirs]


def _append(target: Store, run: Run, finished: str | None) -> int:
    number = target._next("runs", "run")
    target._insert_new("runs", number, *run, finished)
    return number


def _repeat_latest(target: Store) -> None:
    """Note the run that started last once more when older ones have come after it: the last one's plan counts."""
    runs = runs_of(target)
    if runs:
        latest, finished = max(runs.values(), key=lambda run: age(run[0]))
        if runs[max(runs)][0] != latest:
            _append(target, latest, finished)


def take_keys(target: Store, source: StoreReader) -> None:
    """Take the keys of secret dice; what either log has disclosed is disclosed."""
    ours = {key.checked() for key in target.secret_keys()}
    for key in source.secret_keys():
        if key.checked() not in ours:
            target.keep_key(key.key, key.created, key.disclosed)
        elif key.disclosed is not None:
            target._set("keys", "disclosed", key.disclosed, f"hash = '{key.hash}'")


def take_bots(target: Store, source: StoreReader) -> None:
    """Take bots and their sources; a bot that came with imported records has none until now."""
    for key, files in source._db.execute("SELECT bundle, files FROM bundles ORDER BY bundle"):
        target._insert_new("bundles", key, files)
    ours = {row[1]: row for row in target._db.execute("SELECT * FROM bots")}
    for _, *row, _ in source._db.execute("SELECT * FROM bots ORDER BY bot"):
        known = ours.get(row[0])
        if known is None:
            target._insert_new("bots", target._next("bots", "bot"), *row)
        elif row[-1] and not known[5]:
            target._db.execute("DELETE FROM bots WHERE bot = ?", known[:1])
            target._insert_new("bots", known[0], *row)


def take_matches(target: Store, source: StoreReader, runs: dict[int, int]) -> Taken:
    """Take the matches that the target lacks; raises `StoreError` for one that it has otherwise, or that is damaged."""
    added = known = 0
    for keys in block_keys(source._db):
        places = _places(target, source, block_rows(source._db, keys))
        there = {(match.key, match.lineup): match for match in whole_matches(target._db, [*places.values()])}
        new = []
        for match in whole_matches(source._db, keys):
            ours = there.get((places.get(match.key, -1), match.lineup))
            if not match.is_sound:
                raise StoreError(f"{source.path}: match {match.id} is damaged; `arena verify` tells more")
            if ours is None:
                new.append(match)
                continue
            known += 1
            if ours.digest != match.digest:
                _check_same(source, match, ours)
        _insert(target, new, places, runs)
        added += len(new)
    return Taken(added, known)


def _places(target: Store, source: StoreReader, blocks: dict[int, Row]) -> dict[int, int]:
    """The target's keys of a source's blocks, made if need be; the blocks are the same or refused."""
    places = {}
    for key, row in blocks.items():
        identity, id, game, players, *rest = row
        found = target._db.execute("SELECT block FROM blocks WHERE identity = ?", (identity,)).fetchone()
        if found is None:
            query = (
                "INSERT INTO blocks (identity, id, board, round, opening, seed, dice, key) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            )
            number = target._number(*rest[4:]) if len(rest) > 4 else None
            cursor = target._db.execute(query, (identity, id, target._board_key(game, players), *rest[:4], number))
            places[key] = int(cursor.lastrowid or 0)
            continue
        places[key] = found[0]
        ours = block_rows(target._db, found)[found[0]]
        for what, theirs, mine in itertools.zip_longest(BLOCK, row, ours):
            if theirs != mine:
                raise StoreError(f"{source.path}: block {identity.hex()} is in the logs twice, with another {what}")
    return places


def _check_same(source: StoreReader, match: WholeMatch, ours: WholeMatch) -> None:
    """Raise `StoreError` that names what differs; moves may have been packed by another version of zlib."""
    if not ours.is_sound:
        raise StoreError(f"match {ours.id} is damaged in the other log; `arena verify` tells more")
    assert match.match is not None and ours.match is not None
    pairs: list[tuple[str, Any, Any]] = [*zip(MATCH, match.match, ours.match, strict=True)]
    for theirs, mine in zip(match.seats, ours.seats, strict=True):
        pairs += [(f"{what} of seat {mine[0]}", *both) for what, *both in zip(SEAT, theirs, mine, strict=True)]
    for what, first, second in pairs:
        if what == "moves":
            first, second = read_moves(first), read_moves(second)
        if first != second:
            raise StoreError(
                f"{source.path}: match {match.id} is in the logs twice, with another {what}; nothing is merged"
            )


def _insert(target: Store, matches: Sequence[WholeMatch], places: dict[int, int], runs: dict[int, int]) -> None:
    rows: dict[str, list[Row]] = {"matches": [], "seats": [], "timings": [], "faults": []}
    for match in matches:
        assert match.match is not None and match.timing is not None
        at = (places[match.key], match.lineup)
        rows["matches"].append((at[0], *match.match, match.digest))
        rows["seats"] += [(*at, seat[0], target._bot_key(seat[1]), *seat[2:]) for seat in match.seats]
        timing = (runs.get(match.timing[0], match.timing[0]), *match.timing[1:])
        faults = itertools.chain.from_iterable(match.faults)
        rows["timings"].append((*at, *timing, timing_digest(match.digest, timing, faults)))
        rows["faults"] += [(*at, *fault) for fault in match.faults]
    for table, made in rows.items():
        if made:
            target._db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(made[0]))})", made)
