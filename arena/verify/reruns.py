"""Play matches of a log again from their seeds, with the bots that the log contains, and compare them move by move."""

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
from typing import Literal, NamedTuple

from arena.core.errors import BotError, ConfigError, WorkerError
from arena.core.exit_codes import mentions_external_kill
from arena.isolation import PROGRAM_LEVEL, Isolation, launcher
from arena.match.faults import CLOCK_CAUSES
from arena.match.replay import replay
from arena.match.stored import StoredMatch, without_side_tables
from arena.plan.bots import logged_bot
from arena.plan.resolve import Plan
from arena.registry.bundles import Bundle
from arena.runner.single import play_specs
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.store import Store
from arena.tournament.lookup import lineups_in_log
from arena.tournament.tournament import Tournament
from arena.verify.findings import Findings
from arena.verify.plans import LogContents, LoggedPlan
from arena.workers.process import WorkerProcess

CANDIDATES_PER_BLOCK = 4
"""Blocks that are considered for each one that is chosen."""
NO_BOT = -1
ShowProgress = Callable[[int, int], None]
"""Shows progress: matches played, and all of them."""
LoggedMatch = tuple[MatchSpec, StoredMatch]


class RerunOptions(NamedTuple):
    """Which matches are played again, and how."""

    rerun: int | Literal["all"]
    """Number of matches."""
    seed: int
    """Seed of the choice."""
    workers: int
    isolation: Isolation | None
    """None: as the plan says."""


@dataclass
class Determinism:
    """Whether a bot is deterministic, judged by its matches."""

    bot: str
    """Label of the bot."""
    deterministic: bool | None
    """None if no match was compared."""
    matches: int
    """Number of compared matches."""
    differing: str | None = None
    """Id of the first match with another move of the bot."""
    ply: int | None = None
    """Ply of that move, counted from 1."""


@dataclass
class RerunResult:
    """Result of playing matches again."""

    matches: int = 0
    verdicts: list[Determinism] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Difference:
    """First difference between a match in the log and its rerun."""

    spec: MatchSpec
    logged: StoredMatch
    played: StoredMatch
    ply: int
    seat: int
    """Seat of the bot that moved differently; `NO_BOT` if it was no bot."""

    @property
    def entry(self) -> int:
        """Number of the bot in that seat."""
        return NO_BOT if self.seat == NO_BOT else self.spec.seats[self.seat]


def rerun_matches(
    store: Store,
    logged: LoggedPlan,
    contents: LogContents,
    findings: Findings,
    options: RerunOptions,
    show: ShowProgress,
) -> RerunResult:
    """Play matches of the latest plan again; a difference that no nondeterministic bot explains is a finding."""
    result = RerunResult()
    tournament = Tournament(store, plan=logged.resolved)
    schedule = tournament.schedule
    plan = rerun_plan(logged.resolved.name, schedule, contents, options.isolation)
    chosen = chosen_blocks(tournament, plan, options.rerun, options.seed)
    pairs = [pair for block in chosen for pair in _pairs(store, schedule, block)]
    result.matches = len(pairs)
    played = _play(plan, [spec for spec, _ in pairs], options.workers, show)
    done = [(spec, old, new) for (spec, old), new in zip(pairs, played, strict=True) if new is not None]
    compared = [each for each in done if _comparable(*each[1:])]
    if skipped := len(done) - len(compared):
        result.remarks.append(
            f"{skipped:,} of the matches played again depended on a clock, or a bot's process was killed: "
            "they were not compared"
        )
    if lost := len(pairs) - len(done):
        result.remarks.append(f"{lost:,} matches could not be played again: their worker process ended")
    differences = [found for each in compared if (found := _difference(*each)) is not None]
    second = _play(plan, [each.spec for each in differences], options.workers)
    unstable = {each.entry for each, new in zip(differences, second, strict=True) if not _same(each.played, new)}
    counts = Counter(entry for spec, _, _ in compared for entry in set(spec.seats))
    by_entry = Counter(each.entry for each in differences)
    unstable |= {entry for entry, count in by_entry.items() if 2 <= count == counts[entry]}
    unstable.discard(NO_BOT)
    for each in differences:
        if each.entry not in unstable:
            name = store.short_id(each.spec.block.identity, each.spec.lineup)
            findings.add(f"differs from ply {each.ply + 1} on when it is played again", match=name)
    result.verdicts = [
        _determinism(store, schedule, entry, counts[entry], unstable, differences) for entry in range(len(plan.bots))
    ]
    without_source = [schedule.entries[entry].label for entry, bot in enumerate(plan.bots) if not bot.bundle.files]
    if without_source:
        names = ", ".join(without_source)
        result.remarks.append(f"the log has no source of {names}: their matches cannot be played again")
    return result


def _determinism(
    store: Store, schedule: Schedule, entry: int, count: int, unstable: set[int], differences: Sequence[Difference]
) -> Determinism:
    label = schedule.entries[entry].label
    if entry not in unstable:
        return Determinism(label, True if count else None, count)
    first = next(each for each in differences if each.entry == entry)
    match = store.short_id(first.spec.block.identity, first.spec.lineup)
    return Determinism(label, False, count, match, first.ply + 1)


def rerun_plan(name: str, schedule: Schedule, contents: LogContents, isolation: Isolation | None) -> Plan:
    """Return the plan of a run with its bots as in the log; bots without a source there have no files."""
    bots = []
    for entry in schedule.entries:
        row, level = contents.bots[entry.identity], isolation or entry.isolation
        bot = logged_bot(entry, row, contents.bundles.get(row.bundle, Bundle("", {})).files, level)
        try:
            bot.bundle.check_api(bot.spec)
        except BotError as error:  # this arena, not the log, is the reason
            raise ConfigError(str(error)) from None
        runs = launcher(level).runs_programs or not bot.bundle.is_program
        bots.append(bot if runs else replace(bot, isolation=PROGRAM_LEVEL))
    for bot in bots:
        if missing := launcher(bot.isolation).missing_requirements():
            raise ConfigError(
                f"the bots are for the {bot.isolation}, and this machine has none: {missing}; "
                f"`arena doctor` tells more; --isolation {PROGRAM_LEVEL} runs them all the same, with your rights"
            )
    keys = [contents.secret[hash].checked() for hash in schedule.keys if hash in contents.secret]
    return replace(Plan(name, schedule, tuple(bots), (), ()), secret_keys=tuple(keys))


def chosen_blocks(tournament: Tournament, plan: Plan, rerun: int | Literal["all"], seed: int) -> list[Block]:
    """Return random blocks with at least `rerun` matches, drawn with `seed` and spread over boards and bots."""
    without_source = {entry for entry, bot in enumerate(plan.bots) if not bot.bundle.files}
    schedule = tournament.schedule
    boards = [_blocks_of(tournament, board, without_source) for board in range(len(schedule.boards))]
    if rerun == "all":
        return [block for blocks in boards for block in blocks]
    near = CANDIDATES_PER_BLOCK * len(plan.bots)
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


def _blocks_of(tournament: Tournament, board: int, without_source: set[int]) -> Iterator[Block]:
    """Yield the blocks of a board that have matches in the log, except those of bots without a source."""
    blocks = (block for block in tournament.blocks(board) if not without_source & set(block.table))
    return (block for block, lineups in lineups_in_log(tournament.store, blocks) if lineups)


def _draw(seed: int, block: Block) -> bytes:
    return hashlib.blake2b(str(seed).encode() + block.identity, digest_size=8).digest()


def _pairs(store: Store, schedule: Schedule, block: Block) -> Iterator[LoggedMatch]:
    specs = schedule.matches(block)
    for match in store.matches([block.identity])[block.identity]:
        if match.lineup < len(specs):
            yield specs[match.lineup], match


def _play(
    plan: Plan, specs: Sequence[MatchSpec], workers: int, show: ShowProgress = lambda done, total: None
) -> list[StoredMatch | None]:
    """Play matches in processes, those of a block in one; None for a match that cannot be played."""
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
            show(sum(map(len, done)), len(specs))

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


def _comparable(logged: StoredMatch, played: StoredMatch) -> bool:
    """Return whether the bots alone decided both tries: no clock, no memory of the machine, no killed process.

    A bot may raise an error in the words for a killed process, but a match with a killed one is marked too.
    """
    for match in (logged, played):
        for seat, (cause, _) in match.forfeits.items():
            if cause in CLOCK_CAUSES or (match.timed and mentions_external_kill(match.details.get(seat, ""))):
                return False
    return not (logged.timed and played.timed)


def _same(one: StoredMatch, other: StoredMatch | None) -> bool:
    return other is not None and without_side_tables(one) == without_side_tables(other)


def _difference(spec: MatchSpec, logged: StoredMatch, played: StoredMatch) -> Difference | None:
    """Return the first difference between two tries of a match; None if they are the same."""
    if _same(logged, played):
        return None
    plies = list(replay(played))
    moves = enumerate(itertools.zip_longest(logged.moves, played.moves))
    places = [ply for ply, (one, other) in moves if one != other][:1]
    places += [ply for ply, _ in set(logged.notes) ^ set(played.notes)]
    found = [(ply, plies[ply].seat if ply < len(plies) and plies[ply].by == "bot" else NO_BOT) for ply in places]
    forfeits = set(logged.forfeits.items()) ^ set(played.forfeits.items())
    found += [(ply, seat) for seat, (_, ply) in forfeits]
    ply, seat = min(found, default=(len(plies), NO_BOT), key=lambda each: (each[0], -each[1]))
    return Difference(spec, logged, played, ply, seat)
