"""Matches of a log played again from their seeds, with the bots that the log keeps, and compared move by move."""

from __future__ import annotations

import functools
import hashlib
import heapq
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal

from arena.core.errors import BotError, ConfigError, WorkerError
from arena.core.limits import Isolation
from arena.match.faults import CLOCK_CAUSES
from arena.match.json_lines import bare
from arena.match.replay import replay
from arena.match.stored import StoredMatch
from arena.plan.adaptive import with_stages
from arena.plan.coverage import looked_up
from arena.plan.disqualification import disqualified, in_plan
from arena.plan.resolve import Plan, ResolvedBot
from arena.registry.bundles import Bundle
from arena.registry.discovery import Source
from arena.runner.single import play_specs
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.store import Store
from arena.verify.findings import Findings
from arena.verify.plans import Contents, LoggedPlan
from arena.workers.process import WorkerProcess
from arena.workers.sandbox.levels import lacking

ENOUGH = 4
"""Blocks that are looked at for each one that is chosen."""
NOBODY = -1
Told = Callable[[int, int], None]
Pair = tuple[MatchSpec, StoredMatch]


@dataclass
class Verdict:
    """What is known of a bot."""

    bot: str
    """Its label."""
    deterministic: bool | None
    """None when no match of it was compared."""
    matches: int
    """That were compared; without those in which a clock had a say."""
    differing: str | None = None
    """The first match in which it moved otherwise."""
    ply: int | None = None
    """The ply there, counted from 1."""


@dataclass
class Again:
    """What playing again came to."""

    matches: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Difference:
    """Where a match that was played again first went otherwise."""

    spec: MatchSpec
    logged: StoredMatch
    played: StoredMatch
    ply: int
    seat: int
    """Whose bot it was; `NOBODY` when it was no bot."""

    @property
    def entry(self) -> int:
        """The bot in that seat."""
        return NOBODY if self.seat == NOBODY else self.spec.seats[self.seat]


def rerun_matches(
    store: Store,
    logged: LoggedPlan,
    contents: Contents,
    findings: Findings,
    rerun: int | Literal["all"],
    seed: int,
    workers: int,
    isolation: Isolation | None,
    told: Told,
) -> Again:
    """Play matches of the latest plan again; a difference that no bot is known to make is a finding."""
    again = Again()
    schedule = with_stages(store, logged.schedule)
    plan = plan_again(replace(logged, schedule=schedule), contents, isolation)
    chosen = chosen_blocks(store, schedule, plan, rerun, seed)
    pairs = [pair for block in chosen for pair in _pairs(store, schedule, block)]
    again.matches = len(pairs)
    played = _play(plan, [spec for spec, _ in pairs], workers, told)
    done = [(spec, old, new) for (spec, old), new in zip(pairs, played, strict=True) if new is not None]
    compared = [each for each in done if not _timed(*each[1:])]
    _remark(again.remarks, len(pairs) - len(done), len(done) - len(compared))
    differences = [found for each in compared if (found := _difference(*each)) is not None]
    second = _play(plan, [each.spec for each in differences], workers)
    wavering = {each.entry for each, new in zip(differences, second, strict=True) if not _same(each.played, new)}
    counts = Counter(entry for spec, _, _ in compared for entry in set(spec.seats))
    by_entry = Counter(each.entry for each in differences)
    wavering |= {entry for entry, count in by_entry.items() if 2 <= count == counts[entry]}
    wavering.discard(NOBODY)
    for each in differences:
        if each.entry not in wavering:
            name = store.short_id(each.spec.block.identity, each.spec.lineup)
            findings.add(f"goes another way from ply {each.ply + 1} on when it is played again", match=name)
    again.verdicts = [
        _verdict(store, schedule, entry, counts[entry], wavering, differences) for entry in range(len(plan.bots))
    ]
    lost = [schedule.entries[entry].label for entry, bot in enumerate(plan.bots) if not bot.bundle.files]
    if lost:
        again.remarks.append(f"the log has no source of {', '.join(lost)}: their matches cannot be played again")
    return again


def _remark(remarks: list[str], lost: int, timed: int) -> None:
    if timed:
        remarks.append(f"in {timed:,} of the matches played again a clock had a say: they were not compared")
    if lost:
        remarks.append(f"{lost:,} matches could not be played again: their worker process ended")


def _verdict(
    store: Store, schedule: Schedule, entry: int, count: int, wavering: set[int], differences: Sequence[Difference]
) -> Verdict:
    label = schedule.entries[entry].label
    if entry not in wavering:
        return Verdict(label, True if count else None, count)
    first = next(each for each in differences if each.entry == entry)
    match = store.short_id(first.spec.block.identity, first.spec.lineup)
    return Verdict(label, False, count, match, first.ply + 1)


def plan_again(logged: LoggedPlan, contents: Contents, isolation: Isolation | None) -> Plan:
    """The plan of a run with its bots as the log keeps them; those whose sources it lacks have no files."""
    resolved, schedule = logged.resolved, logged.schedule
    bots = []
    for planned in resolved.bots:
        row = contents.bots[planned.identity]
        files = contents.bundles.get(row.bundle, Bundle("", {})).files
        bundle = Bundle(row.module, files)
        try:
            bundle.check_api(row.spec)
        except BotError as error:  # of this machine, not of the log
            raise ConfigError(str(error)) from None
        level: Isolation = isolation or planned.isolation
        if bundle.is_program and level == "none":
            level = "process"
        name = planned.identity.rpartition("@")[0]
        source = Source(name, row.module, row.class_name, None, "log")
        bots.append(ResolvedBot(source, bundle, planned.params, row.spec, "", None, None, [], [], level))
    if any(bot.isolation == "sandbox" for bot in bots) and lacking():
        raise ConfigError(
            f"the bots are for the sandbox, and this machine has none: {lacking()}; `arena doctor` tells more; "
            "--isolation process runs them all the same, with your rights"
        )
    keys = [contents.secret[hash].checked() for hash in schedule.keys if hash in contents.secret]
    return replace(Plan(resolved.name, schedule, tuple(bots), (), ()), secret_keys=tuple(keys))


def chosen_blocks(store: Store, schedule: Schedule, plan: Plan, rerun: int | Literal["all"], seed: int) -> list[Block]:
    """Blocks with so many matches or a few more: whichever `seed` puts first, spread over boards and bots."""
    lost = {entry for entry, bot in enumerate(plan.bots) if not bot.bundle.files}
    boards = [_there(store, schedule, board, lost) for board in range(len(schedule.boards))]
    if rerun == "all":
        return [block for blocks in boards for block in blocks]
    near = ENOUGH * len(plan.bots)
    waiting = [heapq.nsmallest(rerun + near, blocks, key=functools.partial(_draw, seed)) for blocks in boards]
    chosen: list[Block] = []
    bots: Counter[int] = Counter()
    matches = 0
    while matches < rerun and any(waiting):
        for board, blocks in enumerate(waiting):
            if blocks and matches < rerun:
                block = min(blocks[:near], key=lambda block: sorted(bots[entry] for entry in block.table))
                blocks.remove(block)
                chosen.append(block)
                bots.update(block.table)
                matches += schedule.lineups(schedule.boards[board])
    return chosen


def _there(store: Store, schedule: Schedule, board: int, lost: set[int]) -> Iterator[Block]:
    """The blocks of a board that have matches in the log, but for those of bots without a source."""
    out = disqualified(store, schedule, board)
    blocks = (
        block
        for block in schedule.blocks_of(board)
        if in_plan(out, block.round, block.table) and not lost & set(block.table)
    )
    return (block for block, lineups in looked_up(store, blocks) if lineups)


def _draw(seed: int, block: Block) -> bytes:
    return hashlib.blake2b(str(seed).encode() + block.identity, digest_size=8).digest()


def _pairs(store: Store, schedule: Schedule, block: Block) -> Iterator[Pair]:
    specs = schedule.matches(block)
    for match in store.matches([block.identity])[block.identity]:
        if match.lineup < len(specs):
            yield specs[match.lineup], match


def _play(
    plan: Plan, specs: Sequence[MatchSpec], workers: int, told: Told = lambda done, total: None
) -> list[StoredMatch | None]:
    """Play matches in so many processes, those of a block one after the other; None for what cannot be played."""
    parts = [list(part) for _, part in itertools.groupby(specs, key=lambda spec: spec.block.identity)]
    done: list[list[StoredMatch | None]] = [[] for _ in parts]
    processes = [WorkerProcess() for _ in range(min(workers, len(parts)))]
    message = plan.message()
    stopping = threading.Event()

    def serve(number: int) -> None:
        processes[number].start()
        processes[number].give_plan(message)
        for part in range(number, len(parts), len(processes)):
            if stopping.is_set():
                return
            try:
                done[part] = [*play_specs(plan, parts[part], processes[number])]
            except WorkerError:
                done[part] = [None] * len(parts[part])
            told(sum(map(len, done)), len(specs))

    try:
        with ThreadPoolExecutor(max(len(processes), 1)) as pool:
            try:
                for served in [pool.submit(serve, number) for number in range(len(processes))]:
                    served.result()
            finally:
                stopping.set()
                for process in processes:
                    process.stop()
    finally:
        for process in processes:
            process.stop()
    return [match for part in done for match in part]


def _timed(logged: StoredMatch, played: StoredMatch) -> bool:
    """Whether a clock or the machine's memory had a say, so that two tries may differ."""
    causes = {cause for cause, _ in (*logged.forfeits.values(), *played.forfeits.values())}
    return bool(causes & set(CLOCK_CAUSES)) or (logged.timed and played.timed)


def _same(one: StoredMatch, other: StoredMatch | None) -> bool:
    return other is not None and bare(one) == bare(other)


def _difference(spec: MatchSpec, logged: StoredMatch, played: StoredMatch) -> Difference | None:
    """Where two tries of a match part; None when they do not."""
    if _same(logged, played):
        return None
    plies = list(replay(played))
    places = [
        ply for ply, (one, other) in enumerate(itertools.zip_longest(logged.moves, played.moves)) if one != other
    ][:1]
    places += [ply for ply, _ in set(logged.notes) ^ set(played.notes)]
    found = [(ply, plies[ply].seat if ply < len(plies) and plies[ply].by == "bot" else NOBODY) for ply in places]
    forfeits = set(logged.forfeits.items()) ^ set(played.forfeits.items())
    found += [(ply, seat) for seat, (_, ply) in forfeits]
    ply, seat = min(found, default=(len(plies), NOBODY), key=lambda each: (each[0], -each[1]))
    return Difference(spec, logged, played, ply, seat)
