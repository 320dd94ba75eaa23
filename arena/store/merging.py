"""Copy the rows of logs into another log; what several of them hold must be the same."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.core.errors import StoreError
from arena.store.digests import Row, WholeMatch, block_keys, block_rows, damaged_rows, timing_digest, whole_matches
from arena.store.reading import StoreReader, readable
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
SEAT = ("number", "bot", "rank", "score", "cause", "ply of the forfeit")
Run = tuple[str, str, str]
"""Plan, versions, UTC start time."""


class Counts(NamedTuple):
    """Numbers of matches that a merge copied, and that the target had already."""

    added: int
    known: int


def merge_logs(target: Store, sources: Sequence[StoreReader]) -> Counts:
    """Copy everything in the sources into a log, within a transaction of the caller.

    All logs have passed `check_rows`. Of matches in several sources the first source's rows in side tables (times,
    texts of faults, estimates) are kept. Raises `StoreError` for matches that are damaged, or differ between logs.
    """
    added = known = 0
    for source, runs in zip(sources, _take_runs(target, sources), strict=True):
        with readable(source):
            _take_keys(target, source)
            _take_bots(target, source)
            counts = _take_matches(target, source, runs)
        added, known = added + counts.added, known + counts.known
    return Counts(added, known)


def first_start(log: StoreReader) -> tuple[str, str, str]:
    """Return a sort key of logs: when the first run of a log started."""
    with readable(log):
        return min((_age(run) for run, _ in _runs_of(log).values()), default=("", "", ""))


def check_rows(log: StoreReader) -> None:
    """Raise `StoreError` for a damaged run, bot, bundle or key: its copy would get a digest that fits."""
    for name in damaged_rows(log._db):
        raise StoreError(f"{log.path}: {name} is damaged; `arena verify` tells more")


def _runs_of(log: StoreReader) -> dict[int, tuple[Run, str | None]]:
    """Return a log's runs by number, each with its finishing time."""
    query = "SELECT run, plan, versions, started, finished FROM runs ORDER BY run"
    return {row[0]: (tuple(row[1:4]), row[4]) for row in log._db.execute(query)}


def _age(run: Run) -> tuple[str, str, str]:
    """Return the sort key of runs: their start."""
    plan, versions, started = run
    return started, plan, versions


def _take_runs(target: Store, sources: Sequence[StoreReader]) -> list[dict[int, int]]:
    """Copy the runs of all sources in the order of their starts; return the new numbers of each source's runs."""
    theirs = [_runs_of(source) for source in sources]
    finished: dict[Run, str | None] = {}
    for run, when in itertools.chain.from_iterable(runs.values() for runs in theirs):
        finished[run] = min(filter(None, (when, finished.get(run))), default=None)
    ours = _runs_of(target)
    numbers = {run: number for number, (run, _) in reversed(ours.items())}
    for run in sorted(finished, key=_age):
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
    """Repeat the run that started last if older ones were appended after it: the plan of the last row counts."""
    runs = _runs_of(target)
    if runs:
        latest, finished = max(runs.values(), key=lambda run: _age(run[0]))
        if runs[max(runs)][0] != latest:
            _append(target, latest, finished)


def _take_keys(target: Store, source: StoreReader) -> None:
    """Copy the keys of secret dice; a key that either log has disclosed is disclosed."""
    ours = {key.checked() for key in target.secret_keys()}
    for key in source.secret_keys():
        if key.checked() not in ours:
            target.keep_key(key.key, key.created, key.disclosed)
        elif key.disclosed is not None:
            target._set("keys", "disclosed", key.disclosed, f"hash = '{key.hash}'")


def _take_bots(target: Store, source: StoreReader) -> None:
    """Copy bots and their bundles; a bot of imported matches gets its bundle if the source has it."""
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


def _take_matches(target: Store, source: StoreReader, runs: dict[int, int]) -> Counts:
    """Copy missing matches; raises `StoreError` for one that is damaged or differs from the target's."""
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
    return Counts(added, known)


def _places(target: Store, source: StoreReader, blocks: dict[int, Row]) -> dict[int, int]:
    """Return the target's keys of a source's blocks, inserting missing ones; raises `StoreError` for other content."""
    places = {}
    for key, row in blocks.items():
        identity = row[0]
        found = target._db.execute("SELECT block FROM blocks WHERE identity = ?", (identity,)).fetchone()
        if found is None:
            places[key] = target._insert_block(*row)
            continue
        places[key] = found[0]
        ours = block_rows(target._db, found)[found[0]]
        for what, theirs, mine in itertools.zip_longest(BLOCK, row, ours):
            if theirs != mine:
                raise StoreError(f"{source.path}: block {identity.hex()} is in the logs twice, with another {what}")
    return places


def _check_same(source: StoreReader, match: WholeMatch, ours: WholeMatch) -> None:
    """Raise `StoreError` that names what differs; moves may be compressed by different versions of zlib."""
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
    rows: dict[str, list[Row]] = {"matches": [], "seats": [], "timings": [], "faults": [], "estimates": []}
    for match in matches:
        assert match.match is not None and match.timing is not None
        at = (places[match.key], match.lineup)
        rows["matches"].append((at[0], *match.match, match.digest))
        rows["seats"] += [(*at, seat[0], target._bot_key(seat[1]), *seat[2:]) for seat in match.seats]
        timing = (runs.get(match.timing[0], match.timing[0]), *match.timing[1:])
        faults = itertools.chain.from_iterable(match.faults)
        rows["timings"].append((*at, *timing, timing_digest(match.digest, timing, faults, match.estimates)))
        rows["faults"] += [(*at, *fault) for fault in match.faults]
        rows["estimates"] += [(*at, *match.estimates)] * bool(match.estimates)
    for table, made in rows.items():
        if made:
            target._db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(made[0]))})", made)
