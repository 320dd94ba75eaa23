"""Results on their way into the log: some pass at once, others wait there, apart, for an earlier round."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from arena.core.errors import StoreError
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.store import Finished, Store
from arena.store.waiting import Match, key_of


class Outbox:
    """Results that a run has not written yet."""

    def __init__(self, store: Store, schedule: Schedule) -> None:
        self.store, self.schedule = store, schedule
        self.released: list[Finished] = []
        """Results to be written among the finished matches."""
        self._new: dict[Match, Finished] = {}
        """Results that wait, to be written apart."""
        self._dropped: set[Match] = set()
        """Matches whose waiting results are to be deleted."""

    @property
    def size(self) -> int:
        """Number of results to be written."""
        return len(self.released) + len(self._new)

    def find(self, blocks: Sequence[Block]) -> dict[Match, Finished]:
        """Return results of blocks that an earlier run played and that still wait."""
        return self.store.waiting(self.schedule, blocks)

    def wait(self, result: Finished) -> None:
        """Keep a result until it passes or leaves the plan."""
        if result.run is None:  # else it is there already
            self._new[key_of(result.spec)] = result

    def release(self, specs: Sequence[MatchSpec]) -> None:
        """Move results that have waited to the finished matches."""
        blocks = {spec.block.identity: spec.block for spec in specs if key_of(spec) not in self._new}
        written = self.find([*blocks.values()])
        for spec in specs:
            key = key_of(spec)
            result = self._new.pop(key, None) or written.get(key)
            if result is None:
                raise StoreError(f"{self.store.path}: is damaged: the result of {spec.id}, which waited, is gone")
            self.released.append(result)

    def drop(self, spec: MatchSpec) -> None:
        """Delete a result that has waited."""
        if self._new.pop(key_of(spec), None) is None:
            self._dropped.add(key_of(spec))

    def write(self, run: int) -> None:
        """Write all there is in one transaction."""
        passed, new, dropped = self.released[:], [*self._new.values()], [*self._dropped]
        self.released.clear()  # what cannot be written is played again when the run is resumed
        self._new.clear()
        self._dropped.clear()
        if passed or new or dropped:
            with self.store.transaction():
                self.store.add(self.schedule, passed, run)
                over = itertools.chain((key_of(each.spec) for each in passed), dropped)
                self.store.keep_apart(self.schedule, new, over, run)
