"""Play the rounds of a contest's season into its log, one after the other.

What a round has is decided from its log; this decides nothing else than when a round begins, and so which events it is
bound to. A process that is killed loses nothing: the next one goes on with the round that is in the log.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from arena.core.errors import StoreError
from arena.plan.bots import ResolvedBot
from arena.plan.resolve import Plan
from arena.registry.game_rules import rules_of_plugins
from arena.runner.options import RunOptions
from arena.runner.run import Outcome, Progress, Run
from arena.schedule.blocks import Schedule
from arena.schedule.ladder_rounds import Event, has_news
from arena.store import Store
from arena.tournament.dice_keys import now
from arena.tournament.seasons import Season, event_row, round_number, with_new_blocks
from arena.tournament.tournament import Tournament
from arena.workers.reserve import WorkerReserve


class Rounds:
    """The rounds of a season, with its log open for writing."""

    def __init__(self, name: str, store: Store, ladder: Schedule, is_ending: bool = False) -> None:
        """Begin with the log as it is; `ladder` is the season before its first round.

        Raises `StoreError` for a log with other boards or rules, unless the season `is_ending`: by its own rules.
        """
        self.name, self.store = name, store
        if not store.keys.all():
            store.keep_key(secrets.token_bytes(32), now())
        self._key = store.keys.all()[-1].checked()
        begun = replace(ladder, keys=(store.keys.all()[-1].hash,))
        self.season = Season(begun)
        self._resting: Schedule | None = None
        """The round after which nothing is left to play until an event comes."""
        if store.runs.has_run():
            self._read()
            if not is_ending and Season(self.season.schedule).schedule != self.season_template(begun):
                raise StoreError(
                    f"{store.path}: was played with other boards, limits, rules or seed than the contest has now; "
                    "begin another season"
                )

    @staticmethod
    def season_template(schedule: Schedule) -> Schedule:
        """Return a season before its first round."""
        return Season(schedule).schedule

    def _read(self) -> None:
        self.season = Season.read(self.store, Tournament(self.store).plan)

    @property
    def number(self) -> int:
        """Number of the round in the log, from 1; 0 before the first."""
        return round_number(self.season.schedule)

    @property
    def is_complete(self) -> bool:
        """Whether every match of the round is in the log."""
        return self.season.is_complete

    def next(self, events: Sequence[Event]) -> Schedule | None:
        """Return the round after the present one, which is complete; None when there is nothing to play or to tell."""
        assert self.is_complete
        present = self.season.schedule
        if not events and self._resting is present:
            return None
        found = self.season.begin(events)
        if has_news(present, found):
            return found
        self._resting = present
        return None

    def play(
        self,
        schedule: Schedule,
        events: Sequence[Event],
        bots: Mapping[str, ResolvedBot],
        options: RunOptions,
        reserve: WorkerReserve | None = None,
        show: Callable[[Progress], None] = lambda progress: None,
    ) -> Outcome:
        """Play a round that `next` has returned, or the one in the log, as far as it goes; `bots` are by label."""
        if self.store.runs.is_finished():
            raise StoreError(f"{self.store.path}: the season has ended; begin another one")
        resumes = round_number(schedule) == self.number
        staged = with_new_blocks(None if resumes else self.season.schedule, schedule)
        plan = Plan(
            self.name,
            schedule,
            tuple(bots[entry.label] for entry in schedule.entries),
            (),
            (),
            rules_of_plugins(board.game for board in schedule.boards),
            (self._key,),
        )
        rows = [event_row(round_number(schedule), event) for event in sorted(events, key=lambda event: event.label)]
        run = Run(plan, Tournament(self.store, staged), options, None, show, events=rows, reserve=reserve)
        outcome = run.play()
        if resumes or not outcome.complete:
            self._read()
        else:
            self.season.advance(self.store, schedule)
        return outcome

    def end(self) -> None:
        """End the season: disclose the key of its dice."""
        self.store.end_season(now())
