"""Made-up boards that play a kind of schedule to its end, stage by stage, without a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from arena.schedule.boards import Board, Entry
from arena.schedule.scheduler import Scheduler
from arena.schedule.seatings import seat_places
from arena.schedule.tables import Table
from tests.support.samples import board, entry


class PlayedBoard:
    """Results of a board so far, as a kind of schedule sees them."""

    def __init__(
        self,
        kind: Scheduler,
        bots: int,
        players: int,
        blocks: int,
        strength: Callable[[Table, np.random.Generator], np.ndarray],
        rng: np.random.Generator,
        disqualify: Callable[[int, Table], Sequence[int]] = lambda stage, table: (),
    ) -> None:
        """`strength` returns what decides a match, by place in a table; `disqualify` who goes after a stage there."""
        self.kind, self.rng, self.strength, self.disqualify_after = kind, rng, strength, disqualify
        self.all_entries: list[Entry] = [entry(f"bot{number:03}") for number in range(bots)]
        self.board: Board = board(players, range(bots), blocks)
        self.places = np.array(seat_places(players, False))
        self.tables: list[Table] = []
        self.counts: list[int] = []
        self.out: dict[int, int] = {}
        self.last_stages: dict[int, int] = {}
        self.kept: dict[str, Any] = {}
        self.stage_tables: list[dict[Table, int]] = []
        self._entries: list[np.ndarray] = []
        self._ranks: list[np.ndarray] = []
        self._stages: list[int] = []

    @property
    def stage_count(self) -> int:
        return len(self.stage_tables)

    @property
    def entries(self) -> np.ndarray:
        return np.concatenate(self._entries)

    @property
    def ranks(self) -> np.ndarray:
        return np.concatenate(self._ranks)

    @property
    def blocks(self) -> np.ndarray:
        return np.repeat(np.arange(len(self._entries)), len(self.places))

    @property
    def stages(self) -> np.ndarray:
        return np.repeat(self._stages, len(self.places))

    @property
    def forfeited(self) -> np.ndarray:
        return np.zeros_like(self.ranks, bool)

    def play(self) -> PlayedBoard:
        """Play to the end."""
        while self.play_stage():
            pass
        return self

    def play_stage(self) -> bool:
        """Play one stage; return whether there was one."""
        if not self.stage_tables:
            self.tables = [*self.kind.tables(self.board, self.all_entries)]
            self.counts = [0] * len(self.tables)
            given = dict(zip(self.tables, self.kind.start(self.board, self.tables), strict=True))
        else:
            following = self.kind.next(self.board, self.tables, self)
            if not isinstance(following, Mapping):
                paired = zip(self.tables, following, self.counts, strict=True)
                following = {table: count - before for table, count, before in paired}
            given = dict(following)
        given = {table: count for table, count in given.items() if count and self.out.keys().isdisjoint(table)}
        if not given:
            return False
        stage = self.stage_count
        self.stage_tables.append(given)
        for table in given.keys() - {*self.tables}:
            assert list(table) == [each for each in self.board.entries if each in table]
        known = {*self.tables}
        self.tables += [table for table in given if table not in known]
        self.counts += [0] * (len(self.tables) - len(self.counts))
        place = {table: number for number, table in enumerate(self.tables)}
        for table, count in given.items():
            self.counts[place[table]] += count
            shown = self.performances(table, count)
            self._entries += [np.array(table)[self.places]] * count
            self._ranks += [*(shown[:, :, None, :] > shown[:, :, :, None]).sum(axis=3)]
            self._stages += [stage] * count
        for table in given:
            for each in self.disqualify_after(stage, table):
                self.out[each], self.last_stages[each] = 10**6, stage
        return True

    def performances(self, table: Table, count: int) -> np.ndarray:
        """Return what decides matches, the more the better, by block, line-up and seat."""
        luck = self.rng.normal(0, 1, (count, *self.places.shape))
        found: np.ndarray = self.strength(table, self.rng)[self.places] + luck
        return found

    @property
    def meetings(self) -> Counter[int]:
        """Stages that each bot has played in."""
        return Counter(each for given in self.stage_tables for table in given for each in table)
