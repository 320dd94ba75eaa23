"""The driver of one contest: decide a round, play it, rate it; at the end, the final."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from arena.accounts import ARENA, Accounts, Contest
from arena.accounts.contests import CLOSED
from arena.contest.config import ContestConfig, contest_from
from arena.contest.entrants import boards_of, games_of, resolved_house, resolved_version
from arena.contest.final import commit_to_key, is_final_over, play_final
from arena.contest.layout import FINAL_FOLDER, season_folder, season_log, season_name
from arena.contest.logged_bots import logged_bots
from arena.contest.nights import is_due
from arena.contest.rating import standings_of
from arena.contest.roster import events_of, roster_of
from arena.contest.rounds import Rounds
from arena.contest.standings import add_to_rounds, file_versions, read_standings, write_standings
from arena.core.errors import ArenaError, StoreError, WorkerError
from arena.core.limits import Limits
from arena.plan.bots import ResolvedBot
from arena.plan.files import write_plan_and_versions
from arena.runner.options import RunOptions
from arena.runner.run import Outcome
from arena.schedule.blocks import Schedule
from arena.schedule.kinds.ladder import Ladder, LadderRules
from arena.schedule.ladder_rounds import Event, ladder_boards
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.workers.reserve import WorkerReserve

MAX_LINES = 3
"""Matches that were not played, of which a line tells."""
MAX_RATING_SHARE = 0.2
"""Share of the time that goes into standings; with more they are made after fewer rounds."""


class Step(NamedTuple):
    """What a step has done."""

    worked: bool
    """Whether anything was; else there is nothing to do for a while."""
    over: bool = False
    """Whether nothing is left to do in this contest."""


IDLE, WORKED = Step(False), Step(True)


class SeasonDriver:
    """Plays the season of a contest that is open, round by round; a context manager."""

    def __init__(
        self,
        accounts: Accounts,
        contest: str,
        home: Path,
        options: RunOptions,
        say: Callable[[str], None],
        reserve: WorkerReserve,
    ) -> None:
        """`say` is called with a line on what is done; workers come from the `reserve`."""
        self.accounts, self.id, self.home, self.say, self.reserve = accounts, contest, home, say, reserve
        found = self.contest
        self.data = found.config
        """The configuration as it was when this began; with another one, another driver is wanted."""
        self.season, self.config = season_to_drive(home, found), contest_from(found.config, contest)
        self.options = replace(options, shows_play=self.config.show_in_play)
        self._undo = contextlib.ExitStack()
        self._bots: dict[str, ResolvedBot] = {}
        """By label: those of the present round."""
        self._joining: dict[str, ResolvedBot] = {}
        """By label: those that are about to join."""
        self._unusable: set[str] = set()
        """Labels of versions that cannot be used."""
        self._shown: tuple[Hashable, int | None] = (None, None)
        """The version of the file of standings that was read last, and its round."""
        self._rated = (0.0, 0.0)
        """When standings were last made, and how long that took."""
        self._starts: tuple[int, list[datetime]] = (0, [])
        """The latest run, and when each of the rounds so far was begun."""
        self._told = 0
        """The latest round that has been published, as far as is known here."""

    @property
    def folder(self) -> Path:
        """The folder of the season."""
        return season_folder(self.home, self.id, self.season)

    @property
    def contest(self) -> Contest:
        """The contest as it is now."""
        return self.accounts.contests.get(self.id)

    def __enter__(self) -> SeasonDriver:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.config.final_blocks and self.config.deadline:
            commit_to_key(self.home, self.id, self.season)
        self.store = self._undo.enter_context(Store.create(season_log(self.home, self.id, self.season)))
        try:
            found = self.contest
            is_ending = found.state == CLOSED or found.season != self.season
            self.rounds = Rounds(season_name(self.id, self.season), self.store, ladder_of(self.config), is_ending)
            self._bots = logged_bots(self.store, self.rounds.season.schedule)
            self._house: Mapping[str, ResolvedBot] | None = None
        except BaseException:
            self._undo.close()
            raise
        return self

    def __exit__(self, *of_error: object) -> None:
        self._undo.close()

    def step(self, now: datetime) -> Step:
        """Do what is next."""
        found = self.contest
        if self.store.runs.is_finished():
            return self._after_season(found)
        if found.state == CLOSED or found.season != self.season:
            return self._end_season()
        if self.config.opens is not None and now < self.config.opens:
            return IDLE
        if not self.rounds.is_complete:
            return self._play(self.rounds.season.schedule, [])
        self._erase()
        self._tell_of_rounds()
        if self._shown_round() is None and self.rounds.number:
            self._rate()
        is_over = self._is_over(now)
        if self.config.schedule == "nightly" and not is_over and not self._is_night(now):
            return IDLE
        events = events_of(roster_of(self.accounts, self.id, self._house_bots()), self._schedule, self._resolve)
        if is_over and not events:
            return self._end_season()
        schedule = self.rounds.next(events)
        if schedule is None:
            self._rate_if_behind()
            return IDLE
        return self._play(schedule, events)

    @property
    def _schedule(self) -> Schedule:
        return self.rounds.season.schedule

    def _is_over(self, now: datetime) -> bool:
        """Return whether the deadline of everybody has passed, and what was handed in before has been checked."""
        if self.config.deadline is None:
            return False
        members = self.accounts.contests.members(self.id)
        own = [each.deadline for each in members if each.deadline and not each.banned and not each.author.erased]
        deadlines = [self.config.deadline, *map(datetime.fromisoformat, own)]
        if now <= max(deadlines):
            return False
        with self.accounts.database.change(ARENA):  # behind whoever is handing in just now
            return self.accounts.submissions.is_checked(self.id)

    def _is_night(self, now: datetime) -> bool:
        """Return whether a night has come that has had no round, since the contest was opened."""
        begun = datetime.fromisoformat(self.contest.created)
        opened = begun if self.config.opens is None else max(begun, self.config.opens)
        run = self.store.runs.latest_run()[0] if self.store.runs.has_run() else 0
        if run != self._starts[0]:
            self._starts = run, [datetime.fromisoformat(each) for each in self.store.runs.plan_starts()]
        return is_due(now, opened, self._starts[1], self.config)

    def _house_bots(self) -> Mapping[str, ResolvedBot]:
        if self._house is None:
            with self.reserve.worker() as worker:
                self._house = resolved_house(self.config, [game for game, _ in games_of(self.config)], worker)
        return self._house

    def _resolve(self, label: str) -> ResolvedBot | None:
        """Return a bot that joins; None for one that cannot be used."""
        if label in self._house_bots():
            return self._house_bots()[label]
        if label in self._unusable:
            return None
        if label in self._joining:
            return self._joining[label]
        bot, _, number = label.rpartition(".")
        try:
            version = self.accounts.submissions.version(bot, int(number))
            games = [game for game, _ in games_of(self.config)]
            with self.reserve.worker() as worker:
                self._joining[label] = found = resolved_version(version, games, self.home, worker)
            return found
        except (StoreError, WorkerError):
            raise
        except ArenaError as error:
            self._unusable.add(label)
            self.say(f"{label} cannot be used: {error}")
            return None

    def _play(self, schedule: Schedule, events: Sequence[Event]) -> Step:
        """Play a round as far as it goes, and rate it when it is complete."""
        bots = {**(self._house or {}), **self._joining, **self._bots}
        outcome = self.rounds.play(schedule, events, bots, self.options, self.reserve)
        self._bots = {entry.label: bots[entry.label] for entry in schedule.entries}
        self._joining.clear()
        if not self.rounds.is_complete:
            return self._incomplete(outcome)
        number = self.rounds.number
        self.say(f"round {number}: {outcome.progress.played:,} matches, {len(schedule.entries)} bots")
        self._rate_if_due()
        self.accounts.contests.publish_rounds(self.id, self.season, number)
        self._told = number
        return WORKED

    def _tell_of_rounds(self) -> None:
        """Rate the round that is complete and publish it, where a driver was killed before it had."""
        if self._told == self.rounds.number:
            return
        if (found := read_standings(self.folder)) is not None:
            add_to_rounds(self.folder, found)
        self._rate_if_behind()
        self.accounts.contests.publish_rounds(self.id, self.season, self.rounds.number)
        self._told = self.rounds.number

    def _incomplete(self, outcome: Outcome) -> Step:
        """Return the step of what was interrupted; raises `WorkerError` for what could not be played.

        It is tried again, after a wait.
        """
        if outcome.progress.stopping:
            return WORKED
        raise WorkerError(f"not played: {'; '.join(outcome.not_played[:MAX_LINES]) or 'some matches'}")

    # Standings

    def _rate_if_due(self) -> None:
        """Make the standings, unless that took too large a share of the time."""
        last, took = self._rated
        if time.monotonic() - last >= took / MAX_RATING_SHARE:
            self._rate()

    def _rate_if_behind(self) -> None:
        """Make the standings if the latest are of an earlier round."""
        found = self._shown_round()
        if self.rounds.number and (found is None or found < self.rounds.number):
            self._rate()

    def _shown_round(self) -> int | None:
        """Return the round of the standings in the folder; None where there are none that can be read.

        They are read again when the file has changed: with thousands of bots it has megabytes.
        """
        version = file_versions(self.folder)[0]
        if version != self._shown[0]:
            found = read_standings(self.folder)
            self._shown = version, None if found is None else found.round
        return self._shown[1]

    def _rate(self) -> None:
        started = time.monotonic()
        ladder = self._schedule.scheduler
        assert isinstance(ladder, Ladder)
        when = datetime.now(UTC).isoformat(timespec="seconds")
        tournament = Tournament(self.store)
        standings = standings_of(tournament, self.season, self.rounds.number, when, ladder.suspended)
        write_standings(self.folder, standings)
        self._rated = time.monotonic(), time.monotonic() - started

    def _erase(self) -> None:
        """Remove the sources of erased authors from the log, once their bots have left the plan."""
        gone = self.accounts.submissions.erased_bundles(self.id)
        if not gone:
            return
        playing = {bot.bundle.hash for bot in self._bots.values()}
        if found := sorted((gone & self.store.bots.bundles()) - playing):
            self.store.erase_sources(found)
            self.say(f"erased {len(found)} sources")

    # The end

    def _end_season(self) -> Step:
        if not self.store.runs.has_run():
            found = self.contest
            if found.state != CLOSED and found.season == self.season:
                self.accounts.contests.close(self.id, ARENA)
            return Step(True, over=True)
        if not self.rounds.is_complete:
            step = self._play(self._schedule, [])
            if not self.rounds.is_complete:
                return step
        self._tell_of_rounds()
        self._rate_if_behind()
        self.rounds.end()
        self.say(f"season {self.season} has ended")
        return WORKED

    def _after_season(self, found: Contest) -> Step:
        """Play the final of a season that has ended by its deadline, then close the contest."""
        if found.state == CLOSED or found.season != self.season:
            return Step(False, over=True)
        if self.config.final_blocks:
            if not is_final_over(self.home, self.id, self.season):
                outcome = play_final(
                    self.home, self.id, self.season, self.config, self.store, self.options, reserve=self.reserve
                )
                if not outcome.complete:
                    return self._incomplete(outcome)
            self._rate_final()
        self.accounts.contests.close(self.id, ARENA)
        self.say("the contest is over")
        return Step(True, over=True)

    def _rate_final(self) -> None:
        """Make the standings of the final and publish it; where a driver was killed meanwhile, again."""
        folder = self.folder / FINAL_FOLDER
        when = datetime.now(UTC).isoformat(timespec="seconds")
        with Tournament.open(folder) as tournament:
            if not tournament.schedule.boards:
                return
            write_standings(folder, standings_of(tournament, self.season, 1, when))
            write_plan_and_versions(folder, tournament.published(), tournament.store.runs.last_versions())
        self.accounts.contests.publish_final(self.id, self.season)


def ladder_of(config: ContestConfig) -> Schedule:
    """Return the season of a contest before its first round."""
    boards = boards_of(config)
    rules = LadderRules(
        mode=config.schedule,
        placement=config.placement_blocks,
        floor=config.floor_blocks,
        budget=config.round_blocks,
        forfeit_limit=config.forfeit_limit,
    )
    ladder = Ladder(round=0, rules=rules, boards=ladder_boards(boards))
    return Schedule(config.seed, (), boards, False, ladder, Limits(**config.limits.model_dump()))


def season_to_drive(home: Path, contest: Contest) -> int:
    """Return the first season of a contest that has not ended; the present one where all before have."""
    numbers = (number for number in range(1, contest.season) if not is_season_over(home, contest.id, number))
    return next(numbers, contest.season)


def is_season_over(home: Path, contest: str, season: int) -> bool:
    """Return whether a season of a contest that is closed has ended, so that nothing is left to do."""
    log = season_log(home, contest, season)
    if not log.is_file():
        return True
    with Store.open(log) as store:
        return not store.runs.has_run() or store.runs.is_finished()
