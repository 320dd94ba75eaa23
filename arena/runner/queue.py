"""What a plan still lacks: which matches come next, in what chunks, and what becomes of those whose worker died.

Nothing here shows in the results. The plan is never held in memory: the log is looked through a few hundred blocks at
a time, as workers ask for more.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from arena.match.game_faults import GameFault
from arena.match.heartbeat import NOBODY, SILENCE
from arena.plan.adaptive import with_stages
from arena.plan.disqualification import Disqualifications
from arena.runner.cost_model import Costs
from arena.runner.gate import Barrier, Gate
from arena.runner.outbox import Outbox
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.store import Finished, MatchRow, Store
from arena.store.waiting import key_of
from arena.workers.messages import Death
from arena.workers.pools import IN_FLIGHT, Charged, Chunk

CHUNK_SECONDS = 0.2
"""What a chunk should take: long against its way to the worker and back, short against what a user waits for."""
SERVED = 500
"""Chunks a second that the driver hands out at most: for more workers than a fifth of that they grow."""
MAX_CHUNK = 2000
NOTHING: Mapping[int, Sequence[int]] = {}
LOOK_UP = 256
KILLS = 20
"""Times that matches of a bot are played again in a run because its process was killed from outside."""
TRIES = 3
"""Worker processes that a match may end; workers that may be lost with it while it is among others, then alone."""
LAST = 4.0
"""The longest matches are handed out first when less than so many times their length is left for each worker."""
UNKNOWN = 60.0
"""Seconds that the first match of a board is expected to take."""
MOST_LAST = 10_000
"""Matches that are put into that order at most."""


def chunk_seconds(workers: int) -> float:
    """What a chunk should take when so many workers play."""
    return max(CHUNK_SECONDS, workers / SERVED)


def _forfeits(result: Finished) -> list[int]:
    """The entries that forfeited a match."""
    return [entry for entry, seat in zip(result.spec.seats, result.row.seats, strict=True) if seat.cause is not None]


@dataclass
class _Trouble:
    """A match that ended its worker."""

    attempts: int = 1
    deaths: Counter[int] = field(default_factory=Counter)
    """By the seat that was at work, or NOBODY."""


class Work:
    """The matches of a plan that a log lacks; where results are taken, so that it is known which those are."""

    def __init__(self, store: Store, schedule: Schedule, barrier: Callable[[Outbox], Barrier] | None = None) -> None:
        """`barrier` makes one for a plan with one board, given where results go; by default bots are benched."""
        self.store = store
        self.planned = schedule
        self.schedule = with_stages(store, schedule)
        """As far as the log decides it."""
        self.outbox = Outbox(store, schedule)
        self.costs = Costs()
        self.not_played: dict[MatchSpec, str] = {}
        """With why."""
        boards = range(len(schedule.boards))
        self.gates: list[Barrier] = [barrier(self.outbox)] if barrier else [self._gate(number) for number in boards]
        """Of the present stages."""
        self._before = [self._matches_done(number) for number in boards]
        """By board: matches of the stages before, of which `_played_before` were played by this run."""
        self._played_before = [0 for _ in boards]
        self._missing = {number: self._missing_of(number) for number in boards}
        """By board, those that are exhausted left out."""
        self._reached = dict.fromkeys(self._missing, 0)
        """By board: the round of the last match handed out."""
        self._again: deque[Charged] = deque()
        self._last: deque[MatchSpec] = deque()
        """What is left of the plan, longest first; empty until the end comes near."""
        self._trouble: dict[tuple[bytes, int], _Trouble] = defaultdict(_Trouble)
        self._losses: Counter[tuple[bytes, int]] = Counter()
        """By match: workers that were lost with it in hand."""
        self._abandoned = False
        self._kills: Counter[int] = Counter()
        """By entry: how often its process was killed from outside."""
        self.game_faults: dict[int, GameFault] = {}
        """By board that is stopped."""

    def _gate(self, number: int) -> Gate:
        """For a board, or for the present stage of an adaptive one."""
        schedule, stage = self.schedule, self.schedule.stage(number)
        tables, lineups = schedule.tables[number], schedule.lineups(schedule.boards[number])
        if stage is None or stage.disqualified is None:
            bench = Disqualifications(tables, lineups, schedule.forfeit_limit)
            return Gate(bench, max(schedule.counts(number), default=0), self.outbox)
        return Gate(Disqualifications((), lineups, 0), 0, self.outbox, lineups * (sum(stage.counts) - sum(stage.done)))

    def _matches_done(self, number: int) -> int:
        """Matches of the stages before the present one."""
        stage = self.schedule.stage(number)
        return sum(stage.done) * self.schedule.lineups(self.schedule.boards[number]) if stage is not None else 0

    def _total(self, number: int) -> int:
        """Matches that a board is going to have; an adaptive one its whole budget until nothing is left to give out."""
        stage = self.schedule.stage(number)
        if stage is not None and stage.counts != stage.done:
            return self.schedule.budget(number)
        return self._before[number] + self.gates[number].total

    @property
    def total(self) -> int:
        """Matches of the plan, as far as is known."""
        return sum(map(self._total, range(len(self.gates))))

    @property
    def found(self) -> int:
        """Of those, what the log had already, as far as it has been looked through."""
        return sum(self._before) - sum(self._played_before) + sum(gate.found for gate in self.gates)

    @property
    def played(self) -> int:
        """Of those, what this run has played."""
        return sum(self._played_before) + sum(gate.played for gate in self.gates)

    def failed(self) -> int:
        """Matches still in the plan that could not be played."""
        self.not_played = {spec: why for spec, why in self.not_played.items() if self._stays(spec.block)}
        return len(self.not_played)

    def _left(self, number: int) -> int:
        """Matches of a board's present stage that are neither in the log nor taken."""
        gate = self.gates[number]
        return gate.total - gate.found - gate.played

    def seconds_left(self) -> float | None:
        """What is left takes one worker so long, estimated from the boards played on; None before any has been."""
        costs = self.costs
        sizes = {board: self._total(board) for board in range(len(self.gates)) if costs.knows(board)}
        if not sizes:
            return None
        mean = sum(size * costs.mean(board) for board, size in sizes.items()) / max(sum(sizes.values()), 1)
        return (self.total - self.found - self.played) * mean

    def next_stage(self) -> bool:
        """Go on with adaptive boards whose stage is complete; whether there are any."""
        if not self.schedule.stages:
            return False
        old, self.schedule = self.schedule, with_stages(self.store, self.planned)
        grown = [n for n, stages in enumerate(zip(old.stages, self.schedule.stages, strict=True)) if len({*stages}) > 1]
        for number in grown:
            self._played_before[number] += self.gates[number].played
            self._before[number] = self._matches_done(number)
            self.gates[number] = self._gate(number)
            self._missing[number] = self._missing_of(number)
            self._reached[number] = 0
        return bool(grown)

    def _stays(self, block: Block) -> bool:
        return self.gates[block.board].stays(block)

    def _missing_of(self, board: int) -> Iterator[MatchSpec | None]:
        """A board's matches that the log lacks, in plan order; None while too many results wait."""
        schedule, gate = self.schedule, self.gates[board]
        blocks = filter(gate.stays, schedule.blocks_of(board, schedule.stage(board)))
        while batch := list(itertools.islice(blocks, LOOK_UP)):
            identities = [block.identity for block in batch]
            finished = self.store.finished(identities)
            forfeits = self.store.forfeits_of(identities) if finished and schedule.forfeit_limit else {}
            waiting = {} if self._abandoned else self.outbox.find(batch)
            for block in batch:
                while gate.full:
                    yield None
                if not gate.stays(block):
                    continue
                done = finished.get(block.identity, set())
                if done:
                    lost = forfeits.get(block.identity, ())
                    gate.find(block, [schedule.seats(block, lineup)[seat] for lineup, seat in lost], len(done))
                missing = [spec for spec in schedule.matches(block) if spec.lineup not in done]
                gate.expect(block.table, len(missing))
                for number, spec in enumerate(missing):
                    if not gate.stays(block):
                        gate.expect(block.table, number - len(missing))
                        break
                    if (result := waiting.get(key_of(spec))) is not None:
                        gate.take(block, _forfeits(result), result)
                    else:
                        yield spec

    def any_missing(self) -> bool:
        """Whether there is anything to play."""
        matches = self._next_matches(1)
        self._again.extendleft(reversed(matches))
        return bool(matches)

    def next_chunk(self, workers: int) -> Chunk | None:
        """What one of so many workers should play next; None while there is nothing."""
        matches = self._next_matches(workers)
        if not matches:
            return None
        board = matches[0][0].block.board
        seconds = sum(self.costs.match(spec) for spec, _ in matches) if self.costs.knows(board) else UNKNOWN
        spent = tuple(sorted(entry for entry, kills in self._kills.items() if kills >= KILLS))
        return Chunk(matches, board, seconds=seconds, spent=spent)

    def _next_matches(self, workers: int) -> list[Charged]:
        return self._matches_again() or self._last_matches(workers) or self._new_matches(workers)

    def ahead(self, workers: int) -> int:
        """Chunks that a worker should hold: another one while it plays, unless it is better kept for who is free."""
        left = self.seconds_left()
        return IN_FLIGHT if left is not None and left > 2 * IN_FLIGHT * chunk_seconds(workers) * workers else 1

    def _matches_again(self) -> list[Charged]:
        """Matches of one board that came back unplayed; one that ended its worker goes alone."""
        matches: list[Charged] = []
        while self._again and len(matches) < MAX_CHUNK:
            spec = self._again[0][0]
            if not self._stays(spec.block):
                self.gates[spec.block.board].expect(spec.block.table, -1)
                self._again.popleft()
                continue
            match = (spec.block.identity, spec.lineup)
            alone = match in self._trouble or self._losses[match] >= TRIES
            if matches and (alone or spec.block.board != matches[0][0].block.board):
                break
            matches.append(self._again.popleft())
            if alone or sum(self.costs.match(spec) for spec, _ in matches) >= CHUNK_SECONDS:
                break
        return matches

    def _new_matches(self, workers: int) -> list[Charged]:
        """A chunk of missing matches of the board whose turn it is."""
        while ready := self._ready():
            if self._ends(ready, workers):
                self._gather(ready)
                return self._last_matches(workers)
            board = min(ready, key=self._reached.__getitem__)
            matches = self._chunk(itertools.takewhile(bool, self._missing[board]), board, workers)
            if matches:
                self._reached[board] = matches[-1][0].block.round
                return matches
            if not self.gates[board].full:
                del self._missing[board]
        return []

    def _ready(self) -> list[int]:
        return [number for number in self._missing if not self.gates[number].full]

    def _chunk(self, missing: Iterator[MatchSpec | None], board: int, workers: int) -> list[Charged]:
        """Matches of one board as they come, as many as make a chunk; a first one alone, as its length is unknown."""
        matches: list[Charged] = []
        share = sum(self._left(number) for number in range(len(self.gates))) // (2 * IN_FLIGHT * workers)
        most, enough, seconds = max(1, min(MAX_CHUNK, share)), chunk_seconds(workers), 0.0
        for spec in missing if self.costs.knows(board) else itertools.islice(missing, 1):
            assert spec is not None
            matches.append((spec, []))
            seconds += self.costs.match(spec)
            if len(matches) >= most or seconds >= enough:
                break
        return matches

    def _ends(self, ready: list[int], workers: int) -> bool:
        """Whether so little is left that the longest matches had better be first."""
        if sum(self._left(number) for number in ready) > MOST_LAST:
            return False
        longest = max(map(self.costs.longest, ready))
        seconds = sum(self._left(number) * self.costs.mean(number) for number in range(len(self.gates)))
        return all(map(self.costs.knows, ready)) and seconds < LAST * longest * workers

    def _gather(self, ready: list[int]) -> None:
        """Put all that is left of some boards in order, longest first."""
        found = [*self._last]
        for board in ready:
            found.extend(filter(None, itertools.takewhile(bool, self._missing[board])))
            if not self.gates[board].full:
                del self._missing[board]
        found.sort(key=self.costs.match, reverse=True)
        self._last = deque(found)

    def _last_matches(self, workers: int) -> list[Charged]:
        """The longest of what is left: one, or some short ones of a board."""

        def next_ones() -> Iterator[MatchSpec]:
            while self._last and self._last[0].block.board == board:
                spec = self._last.popleft()
                if self._stays(spec.block):
                    yield spec
                else:
                    self.gates[board].expect(spec.block.table, -1)

        matches: list[Charged] = []
        while self._last and not matches:
            board = self._last[0].block.board
            matches = self._chunk(next_ones(), board, workers)
        return matches

    def take(self, chunk: Chunk, rows: Sequence[MatchRow], killed: Mapping[int, Sequence[int]] = NOTHING) -> None:
        """Take the results of a chunk; `killed` has, by number of the match, entries killed from outside."""
        gate = self.gates[chunk.board]
        for number, ((spec, _), row) in enumerate(zip(chunk.matches, rows, strict=True)):
            entries = killed.get(number, ())
            self._kills.update(entries)
            self.costs.learn(spec, row.seconds)
            trouble = self._trouble.pop((spec.block.identity, spec.lineup), None)
            self._losses.pop((spec.block.identity, spec.lineup), None)
            attempts = (trouble.attempts if trouble else 1) + len(entries)
            result = Finished(spec, row, chunk.worker_name, attempts)
            gate.take(spec.block, _forfeits(result), result)

    def give_back(self, chunk: Chunk, played: int) -> None:
        """Take the matches after the first ones, which were played, out of a chunk, and hand them out again."""
        if chunk.board not in self.game_faults:
            self._again.extendleft(reversed(chunk.matches[played:]))
        del chunk.matches[played:]

    def lose(self, chunk: Chunk, in_play: bool) -> None:
        """A chunk did not come back; machines may go at any time, but no match may take one after the other with it."""
        if chunk.board in self.game_faults:
            return
        if in_play:
            for spec, _ in chunk.matches:
                self._losses[spec.block.identity, spec.lineup] += 1
            spec = chunk.matches[0][0]
            if len(chunk.matches) == 1 and self._losses[spec.block.identity, spec.lineup] >= 2 * TRIES:
                self.not_played[spec] = f"{2 * TRIES} workers were lost with it, perhaps for want of memory"
                return
        self._again.extendleft(reversed(chunk.matches))

    def mourn(self, chunk: Chunk, death: Death) -> None:
        """Put a dead worker's matches back; the one it died in goes alone, and at last is charged or given up.

        Deaths are counted by the seat that was at work: others', and those in nobody's turn, say nothing of it.
        """
        if chunk.board in self.game_faults:
            return
        lost = chunk.matches.pop(min(death.number, len(chunk.matches) - 1))
        spec, charges = lost
        self._again.extendleft(reversed(chunk.matches))
        trouble = self._trouble[spec.block.identity, spec.lineup]
        if death.cause == "timeout" and death.seat == NOBODY:
            self.stop_board(spec, GameFault(f"its rules did not come back in {SILENCE:g} s", "", [], ""))
            return
        trouble.attempts += 1
        trouble.deaths[death.seat] += 1
        certain = death.cause == "timeout" and death.seat != NOBODY and not death.starved
        if not certain and trouble.deaths[death.seat] < TRIES:
            self._again.appendleft(lost)
        elif death.seat != NOBODY:
            self._again.appendleft((spec, [*charges, death.charge()]))
        else:
            self.not_played[spec] = f"its worker process ended {TRIES} times ({death.how or death.cause})"

    def stop_board(self, spec: MatchSpec, fault: GameFault) -> None:
        """Hand out no more matches of a board, for its game has failed in one of them."""
        number = spec.block.board
        if number in self.game_faults:
            return
        board, bots = self.planned.boards[number], tuple(self.planned.entries[entry].spec for entry in spec.seats)
        fault = replace(fault, match=spec.id, game=board.game, players=board.players, bots=bots)
        self.game_faults[number] = fault
        missing = self._missing.pop(number, iter(()))
        deque(itertools.takewhile(bool, missing), maxlen=0)  # so that what the log has is counted
        self._again = deque(charged for charged in self._again if charged[0].block.board != number)
        self._last = deque(other for other in self._last if other.block.board != number)

    def recheck(self, only_full: bool = False) -> bool:
        """Let results pass that have become certain while they waited; whether there were any."""
        return any([gate.recheck() for gate in self.gates if gate.full or not only_full])

    def abandon(self) -> None:
        """Nothing more is going to be played."""
        self._abandoned = True
        for gate in self.gates:
            gate.abandon()

    def count_the_rest(self) -> None:
        """Look the rest of the plan up in the log, for the totals alone."""
        for missing in self._missing.values():
            deque(missing, maxlen=0)

    def reasons(self) -> list[str]:
        """Why matches of the plan were not played, but for an interruption: a line each, or a line for many."""
        lines = [f"{spec.id}: {why}" for spec, why in self.not_played.items()]
        for number, (board, gate) in enumerate(zip(self.planned.boards, self.gates, strict=True)):
            left = self._left(number) - sum(spec.block.board == number for spec in self.not_played)
            if left and number in self.game_faults:
                lines.append(f"{left:,} on {board.title}, for the game failed; the same command tries again")
            elif left:
                lines.append(f"{left:,} more on {board.title}: whether they are played, round {gate.reached} decides")
        counts = ((n, self._total(n) - self._before[n] - gate.total) for n, gate in enumerate(self.gates))
        return lines + [
            f"{count:,} more on {self.schedule.boards[number].title}: which tables play them, those before decide"
            for number, count in counts
            if count
        ]
