"""Retry policy: what happens to matches whose worker process ended, or whose worker was lost with its machine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from arena.match.faults import KnownFault
from arena.match.heartbeat import NOBODY
from arena.schedule.blocks import MatchSpec
from arena.workers.messages import MatchOrder, WorkerDeath

MatchKey = tuple[bytes, int]
"""Identity of the block, and line-up."""
MAX_TRIES = 3
"""Worker processes that a match may end in the same way; workers that may be lost with it in a chunk, then alone."""
MAX_REPLAYS_AFTER_KILLS = 20
"""Replays of matches in a run because the process of one bot was killed, perhaps from outside."""


def key_of(spec: MatchSpec) -> MatchKey:
    """Return the key of a match."""
    return spec.block.identity, spec.lineup


class RetryPolicy:
    """Counts deaths of worker processes and losses of workers by match, and decides who is charged with them."""

    def __init__(self) -> None:
        self.given_up: dict[MatchSpec, str] = {}
        """Matches that are not tried again, each with the reason."""
        self._deaths: defaultdict[MatchKey, Counter[KnownFault]] = defaultdict(Counter)
        """By match and by what the seat that was at work, or `NOBODY`, would be charged with."""
        self._losses: Counter[MatchKey] = Counter()
        self._kills: Counter[int] = Counter()
        """By entry."""

    @property
    def out_of_replays(self) -> tuple[int, ...]:
        """Entries for which no match is replayed any more when their process is killed."""
        return tuple(sorted(entry for entry, kills in self._kills.items() if kills >= MAX_REPLAYS_AFTER_KILLS))

    def plays_alone(self, spec: MatchSpec) -> bool:
        """Return whether a match may share its chunk with no other one."""
        match = key_of(spec)
        return match in self._deaths or self._losses.get(match, 0) >= MAX_TRIES

    def on_played(self, spec: MatchSpec, killed: Sequence[int]) -> int:
        """Return how often a match was started, and forget it; `killed` are entries killed meanwhile."""
        if not (killed or self._deaths or self._losses):
            return 1
        self._kills.update(killed)
        match = key_of(spec)
        self._losses.pop(match, None)
        return 1 + len(killed) + sum(self._deaths.pop(match, {}).values())

    def on_worker_lost(self, specs: Sequence[MatchSpec]) -> bool:
        """Return whether to try the matches of a chunk again that was in play on a worker when that was lost.

        Machines may go at any time, but one match must not take all of them with it.
        """
        self._losses.update(map(key_of, specs))
        if len(specs) > 1 or self._losses[key_of(specs[0])] < 2 * MAX_TRIES:
            return True
        self.given_up[specs[0]] = f"{2 * MAX_TRIES} workers were lost with it, perhaps for want of memory"
        return False

    def on_worker_death(self, match: MatchOrder, death: WorkerDeath) -> MatchOrder | None:
        """Return the match in which a worker process ended as it is to be tried again; None to give it up.

        A seat is charged when deaths are alike: at the same ply, in the same way. A process that is killed from outside
        now and then is none of a bot's; only twice as many deaths of any kind while a seat is at work are.
        """
        spec, charges = match
        fault = death.charge()
        deaths = self._deaths[key_of(spec)]
        deaths[fault] += 1
        of_seat = sum(count for each, count in deaths.items() if each.seat == death.seat)
        certain = death.cause == "timeout" and not death.starved
        is_known = deaths[fault] >= MAX_TRIES or of_seat >= MAX_TRIES * (1 if death.seat == NOBODY else 2)
        if not certain and not is_known:
            return match
        if death.seat != NOBODY:
            return MatchOrder(spec, [*charges, fault])
        self.given_up[spec] = f"its worker process ended {MAX_TRIES} times ({death.how or death.cause})"
        return None
