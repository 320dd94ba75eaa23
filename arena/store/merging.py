"""Copy the rows of logs into another log; what several of them hold must be the same."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.core.errors import StoreError
from arena.store.digests import MatchRows, Row, block_keys, block_rows, damaged_rows, match_rows, timing_digest
from arena.store.reading import StoreReader, readable
from arena.store.rows import read_moves
from arena.store.writing import Store

BLOCK_FIELDS = (
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
MATCH_FIELDS = ("line-up", "ending", "length", "mark of a clock", "final position", "moves", "notes")
SEAT_FIELDS = ("number", "bot", "rank", "score", "cause", "ply of the forfeit")
Run = tuple[str, str, str]
"""Plan, versions, UTC start time."""


class MergeCounts(NamedTuple):
    """Numbers of matches that a merge copied, and that the target had already."""

    added: int
    known: int


def merge_logs(target: Store, sources: Sequence[StoreReader], base: StoreReader | None = None) -> MergeCounts:
    """Copy the matches of the sources that the target lacks, with all that belongs to them, within a transaction.

    All logs have passed `check_rows`. The plan that counts afterwards is that of the latest run of `base`, which comes
    whole, by default of the target's. Of matches in several sources the first source's rows in side tables (times,
    texts of faults, estimates) are kept. Raises `StoreError` for matches that are damaged, or differ between logs.
    """
    counting = _latest_run(base or target)
    if base is not None:
        with readable(base):
            _copy_run_data(target, base)
    added = known = 0
    for source in sources:
        with readable(source):
            counts = _copy_matches(target, source)
            _copy_sources(target, source)
            _disclose(target, source)
            _copy_uncounted(target, source)
        added, known = added + counts.added, known + counts.known
    latest = _latest_run(target)
    if counting and latest and latest[0][0] != counting[0][0]:
        _append(target, *counting)
    return MergeCounts(added, known)


def first_start(log: StoreReader) -> tuple[str, str, str]:
    """Return a sort key of logs: when the first run of a log started."""
    with readable(log):
        return min((_start_time(run) for run, _ in _runs_of(log).values()), default=("", "", ""))


def check_rows(log: StoreReader) -> None:
    """Raise `StoreError` for a damaged run, bot, bundle or key: its copy would get a digest that fits."""
    for name in damaged_rows(log._db):
        raise StoreError(f"{log.path}: {name} is damaged; `arena verify` tells more")


def _runs_of(log: StoreReader) -> dict[int, tuple[Run, str | None]]:
    """Return a log's runs by number, each with its finishing time."""
    query = "SELECT run, plan, versions, started, finished FROM runs ORDER BY run"
    return {row[0]: (tuple(row[1:4]), row[4]) for row in log._db.execute(query)}


def _start_time(run: Run) -> tuple[str, str, str]:
    """Return a sort key of runs: their start."""
    plan, versions, started = run
    return started, plan, versions


def _latest_run(log: StoreReader) -> tuple[Run, str | None] | None:
    """Return the run whose plan counts, with its finishing time: the last one; a merge may have repeated it."""
    return next(reversed(_runs_of(log).values()), None)


def _copy_run_data(target: Store, source: StoreReader) -> dict[int, int]:
    """Copy runs, keys and bots that the target lacks, in the source's order; return the new numbers of its runs."""
    _copy_keys(target, source)
    _copy_bots(target, source)
    numbers = {run: number for number, (run, _) in reversed(_runs_of(target).items())}
    theirs = _runs_of(source)
    for run, finished in theirs.values():
        if run not in numbers:
            numbers[run] = _append(target, run, finished)
    return {number: numbers[run] for number, (run, _) in theirs.items()}


def _append(target: Store, run: Run, finished: str | None) -> int:
    number = target._next("runs", "run")
    target.insert_new("runs", number, *run, finished)
    return number


def _copy_keys(target: Store, source: StoreReader) -> None:
    """Copy the keys of secret dice that the target lacks."""
    ours = {key.checked() for key in target.keys.all()}
    for key in source.keys.all():
        if key.checked() not in ours:
            target.keep_key(key.key, key.created, key.disclosed)


def _disclose(target: Store, source: StoreReader) -> None:
    """Note of the target's keys which ones the source has disclosed."""
    for key in source.keys.all():
        if key.disclosed is not None and key.checked():
            target._set("keys", "disclosed", key.disclosed, f"hash = '{key.hash}'")


def _copy_uncounted(target: Store, source: StoreReader) -> None:
    """Copy which blocks did not count when their key was disclosed."""
    for (identity,) in source._db.execute("SELECT identity FROM uncounted ORDER BY identity").fetchall():
        target.insert_new("uncounted", identity)


def _copy_bots(target: Store, source: StoreReader) -> None:
    """Copy the bots and bundles that the target lacks."""
    for key, files in source._db.execute("SELECT bundle, files FROM bundles ORDER BY bundle"):
        target.insert_new("bundles", key, files)
    ours = {identity for (identity,) in target._db.execute("SELECT identity FROM bots")}
    for _, *row, _ in source._db.execute("SELECT * FROM bots ORDER BY bot"):
        if row[0] not in ours:
            target.insert_new("bots", target._next("bots", "bot"), *row)


def _copy_sources(target: Store, source: StoreReader) -> None:
    """Give the target's bots of imported matches, which have no bundle, those of the source."""
    lacking = dict(target._db.execute("SELECT identity, bot FROM bots WHERE bundle = ''"))
    query = "SELECT o.*, files FROM bots o JOIN bundles USING (bundle) ORDER BY bot"
    for _, identity, *rest, _, files in source._db.execute(query).fetchall() if lacking else ():
        if identity in lacking:
            target.insert_new("bundles", rest[-1], files)
            target._db.execute("DELETE FROM bots WHERE bot = ?", (lacking[identity],))
            target.insert_new("bots", lacking[identity], identity, *rest)


def _copy_matches(target: Store, source: StoreReader) -> MergeCounts:
    """Copy missing matches; raises `StoreError` for one that is damaged or differs from the target's."""
    added = known = 0
    runs: dict[int, int] | None = None
    for keys in block_keys(source._db):
        blocks = block_rows(source._db, keys)
        places = _known_places(target, source, blocks)
        there = {(match.key, match.lineup): match for match in match_rows(target._db, [*places.values()])}
        new = []
        for match in match_rows(source._db, keys):
            ours = there.get((places.get(match.key, -1), match.lineup))
            if not match.is_sound:
                raise StoreError(f"{source.path}: match {match.id} is damaged; `arena verify` tells more")
            if ours is None:
                new.append(match)
                continue
            known += 1
            if ours.digest != match.digest:
                _check_same(source, match, ours)
        if new and runs is None:
            runs = _copy_run_data(target, source)
        for match in new:
            if match.key not in places:
                places[match.key] = target._insert_block(*blocks[match.key])
        _insert(target, new, places, runs or {})
        added += len(new)
    return MergeCounts(added, known)


def _known_places(target: Store, source: StoreReader, blocks: dict[int, Row]) -> dict[int, int]:
    """Return the target's keys of a source's blocks that it has; raises `StoreError` for other content."""
    places = {}
    for key, row in blocks.items():
        identity = row[0]
        found = target._db.execute("SELECT block FROM blocks WHERE identity = ?", (identity,)).fetchone()
        if found is None:
            continue
        places[key] = found[0]
        ours = block_rows(target._db, found)[found[0]]
        for what, theirs, mine in itertools.zip_longest(BLOCK_FIELDS, row, ours):
            if theirs != mine:
                raise StoreError(f"{source.path}: block {identity.hex()} is in the logs twice, with another {what}")
    return places


def _check_same(source: StoreReader, match: MatchRows, ours: MatchRows) -> None:
    """Raise `StoreError` that names what differs; moves may be compressed by different versions of zlib."""
    if not ours.is_sound:
        raise StoreError(f"match {ours.id} is damaged in the other log; `arena verify` tells more")
    assert match.match is not None and ours.match is not None
    pairs: list[tuple[str, Any, Any]] = [*zip(MATCH_FIELDS, match.match, ours.match, strict=True)]
    for theirs, mine in zip(match.seats, ours.seats, strict=True):
        pairs += [(f"{what} of seat {mine[0]}", *both) for what, *both in zip(SEAT_FIELDS, theirs, mine, strict=True)]
    for what, first, second in pairs:
        if what == "moves":
            first, second = read_moves(first), read_moves(second)
        if first != second:
            raise StoreError(
                f"{source.path}: match {match.id} is in the logs twice, with another {what}; nothing is merged"
            )


def _insert(target: Store, matches: Sequence[MatchRows], places: dict[int, int], runs: dict[int, int]) -> None:
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
