"""A season in fast motion: its processes are killed again and again, its disk is full for a while, and authors hand in
whatever they like; its log is that of an undisturbed season.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from itertools import cycle
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from arena.accounts import OPERATOR, Accounts
from arena.accounts.database import as_text
from arena.accounts.submissions import REFUSED, VALID
from arena.accounts.tokens import API, SCOPES, SESSION
from arena.contest.checking import check_begun, next_version
from arena.contest.config import ContestConfig, read_contest
from arena.contest.final import play_final
from arena.contest.handing_in import hand_in
from arena.contest.layout import ARCHIVE_FILE, final_log, season_log
from arena.contest.logged_bots import logged_bots
from arena.contest.rating import standings_of
from arena.contest.rounds import Rounds
from arena.contest.season_driver import ladder_of
from arena.contest.standings import Standings, read_standings
from arena.plan.bots import ResolvedBot
from arena.plan.model import ResolvedPlan
from arena.runner.options import RunOptions
from arena.schedule.kinds.ladder import Ladder
from arena.store import Store
from arena.tournament.seasons import read_event
from arena.tournament.tournament import Tournament
from arena.workers.process import WorkerProcess
from tests.arena.contest.test_seasons import content
from tests.support.season_cast import (
    BANNED,
    BETRAYING,
    LEAVING,
    MARK,
    MAX_UPLOAD_MIB,
    REFUSED_KINDS,
    STAYING,
    Author,
    Submission,
    cast,
    duplicate,
    huge,
    improved,
    malformed,
    original,
    stolen_name,
)
from tests.support.standing import DRIVER, PARENT, SANDBOX, SERVER, WORKER, Answer, StandingArena, Visitor
from tests.support.tournaments import arena, wait_until

CONFIG = """
name = "cup"
boards = [{{ game = "connect_four", players = 2, opening = "{opening}" }}]
house = ["random", "greedy", "uct:simulations=200"]
deadline = {deadline}
max_upload = {max_upload}
submissions_per_day = 100
placement_blocks = 2
round_blocks = 12
final_blocks = 1
forfeit_limit = 6
limits = {{ seconds_per_move = 3.0, seconds_to_start = 60.0, seconds_to_prepare = 60.0 }}
"""
BEST_TO_WORST = ["house:uct:simulations=200", "house:greedy", "house:random"]
KEYS = {season_log: b"s" * 32, final_log: b"f" * 32}
"""Of secret dice, so that a final is the same on every run."""
KILLED = [(WORKER, 0), (DRIVER, 0), (SANDBOX, 1), (SERVER, 0), (WORKER, 3), (PARENT, 0), (SANDBOX, 4), (DRIVER, 0)]
"""What is killed, in turn, and which of those that are there."""
FIRST_OPENING, OPENING = "random:2", "random:6"
"""Of a match while those that betray are checked, and in play."""
SECONDS_BEFORE_DEADLINE = 4.0
OPTIONS = RunOptions(2, "local")


class Size(NamedTuple):
    """How large a season is."""

    cast: list[Author]
    kills: int
    at_deadline: int
    """Submissions around the deadline."""
    viewers: int
    """Authors who look for what is private to others."""


SMALL = Size(cast(hanging=1, hostile=1, crashing=1, betraying=1, banned=1, leaving=1, staying=2), 8, 6, 8)
FULL = Size(cast(hanging=3, hostile=3, broken=2, crashing=1, betraying=2, banned=4, leaving=8, staying=7), 30, 20, 30)


class Season:
    """A season that is played by a standing arena."""

    def __init__(self, folder: Path, size: Size) -> None:
        self.folder, self.home, self.size = folder, folder / "home", size
        self.log, self.final = season_log(self.home, "cup", 1), final_log(self.home, "cup", 1)
        for log_of, key in KEYS.items():
            log_of(self.home, "cup", 1).parent.mkdir(parents=True, exist_ok=True)
            with Store.create(log_of(self.home, "cup", 1)) as store:
                store.keep_key(key, "2026-01-01T00:00:00+00:00")
        self.deadline = datetime.now(UTC) + timedelta(days=1)
        self.config = self.init()
        self.accounts = Accounts(self.home)
        self.ids = {author: self._enters(author) for author in size.cast}
        self.submitted = 0
        self.check_betraying()
        self.arena = StandingArena(self.home, folder)
        self.by_program = {author: self.visitor(author, API) for author in size.cast}
        self.kills = cycle(KILLED)
        self.bots: dict[Author, str] = {}
        """By author, the id of the author's bot."""
        self.banned: set[Author] = set()

    def init(self) -> ContestConfig:
        """Run `arena contest init`; return the configuration."""
        config = self.configured(FIRST_OPENING)
        ended = arena("contest", "init", config, "--home", self.home, folder=self.folder)
        assert ended.returncode == 0, ended.stderr
        return read_contest(config)

    def configured(self, opening: str) -> Path:
        """Write the configuration with an opening."""
        config, deadline = self.folder / "cup.toml", self.deadline.isoformat()
        config.write_text(CONFIG.format(opening=opening, deadline=deadline, max_upload=MAX_UPLOAD_MIB))
        return config

    def check_betraying(self) -> None:
        """Have those that betray hand in and be checked, and then change the opening of the contest."""
        for author in self.of_kind(BETRAYING):
            who, files = self.accounts.authors.get(self.ids[author]), {"mine.py": author.source()}
            hand_in(self.accounts, self.home, self.config, who, author.bot, files)
            self.submitted += 1
        while (version := next_version(self.accounts)) is not None:
            self.accounts.submissions.begin_check(version)
            check_begun(self.accounts, version, self.home, WorkerProcess())
        self.config = read_contest(self.configured(OPENING))
        self.accounts.contests.configure("cup", self.config.as_data(), OPERATOR)

    def _enters(self, author: Author) -> str:
        found = self.accounts.authors.add(author.name, "author", OPERATOR)
        self.accounts.contests.join("cup", found.id, OPERATOR)
        return found.id

    def visitor(self, author: Author, kind: str) -> Visitor:
        """Return an author with a token, as a program or a browser sends it."""
        who = self.accounts.authors.get(self.ids[author])
        token = self.accounts.tokens.issue(who, kind, SCOPES[:2], OPERATOR)
        return Visitor(self.arena, token, cookie=kind == SESSION)

    def close(self) -> None:
        """Close everything."""
        for visitor in self.by_program.values():
            visitor.close()
        self.accounts.close()

    # What authors do

    def post(self, author: Author, path: str, body: bytes = b"", **query: str) -> Answer:
        """Return the answer to an author; what a server that was killed has not answered is asked again."""
        answers: list[Answer] = []

        def has_answered() -> bool:
            with contextlib.suppress(OSError, HTTPException):
                answers.append(self.by_program[author].api("POST", path, body, **query))
                if answers[-1].status == 429:  # too many in a minute
                    time.sleep(1.0)
            return bool(answers) and answers[-1].status not in (429, 503)  # 503: the database is locked

        wait_until(has_answered, "the server answers")
        return answers[-1]

    def hand_in(self, submission: Submission) -> Answer:
        """Hand something in."""
        query = {"file": submission.file, "name": submission.bot}
        answer = self.post(submission.author, "/contests/cup/submissions", submission.content, **query)
        if answer.status == 201:
            self.bots.setdefault(submission.author, answer.data["bot"])
        return answer

    def hand_in_and_look(self, submission: Submission) -> None:
        """Hand something in, and see that it is taken or refused as it should be."""
        self.submitted += 1
        answer = self.hand_in(submission)
        if submission.author in self.banned:
            assert (answer.status, "banned" in answer.data["error"]) == (403, True)
        elif submission.what in ("original", "duplicate", "improved"):
            assert answer.status == 201, answer
            passes = submission.author.kind not in REFUSED_KINDS
            is_known = submission.what == "duplicate" or submission.author.kind == BETRAYING
            assert answer.data["is_new"] is not is_known or not passes
        else:
            words = {"malformed": "", "huge": "the upload has", "stolen name": "by somebody else"}[submission.what]
            assert answer.status in (400, 403), (submission.file, answer)
            assert words in answer.data["error"]

    # Disturbances

    def progress(self) -> int:
        """Matches in the log and checks that have ended."""
        checked = self.accounts.database.one("SELECT count(*) FROM versions WHERE state IN ('valid', 'refused')")[0]
        return int(checked + count_of(self.log))

    def goes_on(self, more: int = 2) -> None:
        """Wait until the season has gone on for a while."""
        before = self.progress()
        wait_until(lambda: self.progress() >= before + more, f"the season goes on; {self.arena.said()[-2000:]}")

    def kill(self) -> None:
        """Kill the next process, when the season has gone on since the last one was."""
        self.goes_on()
        self.arena.kill(*next(self.kills))

    def kill_checking_workers(self) -> None:
        """Kill all workers while something is being checked, and so the worker that does it."""
        wait_until(
            lambda: self.accounts.database.one("SELECT 1 FROM versions WHERE state = 'checking'"), "it is checked"
        )
        for _ in self.arena.processes()[WORKER]:
            self.arena.kill(WORKER)

    def fill_disk(self, submission: Submission) -> None:
        """Have the disk be full for a while: nothing is taken, pages are shown, and then everything goes on."""
        reader = self.visitor(submission.author, SESSION)
        before = len(self.arena.said())
        self.arena.fill_disk(True)
        answer = self.hand_in(submission)
        assert (answer.status, "the disk of this arena" in answer.data["error"]) == (507, True)
        for page in ("/account", "/contests/cup", "/contests/cup/hand-in"):
            assert reader.get(page).status == 200, "pages are shown, to who uses a token for the first time too"
        assert reader.api("GET", "/contests/cup").status == 200
        wait_until(lambda: "trying again" in self.arena.said()[before:], "the driver tells of the disk")
        self.arena.fill_disk(False)
        reader.close()
        self.goes_on()

    # Its course

    def play(self) -> None:
        """Play the season from its opening to its end."""
        waves = [
            [original(author) for author in self.size.cast],
            [duplicate(author) for author in self.size.cast],
            [malformed(author) for author in self.size.cast],
            [huge(author) for author in self.size.cast],
            [stolen_name(author, other) for author, other in zip(self.size.cast, self.size.cast[1:], strict=False)],
            [(improved if author.kind in (BANNED, STAYING) else duplicate)(author) for author in self.size.cast],
        ]
        every = [submission for wave in waves for submission in wave]
        step, kills = max(1, len(every) // self.size.kills), 0
        for number, submission in enumerate(every):
            if number == len(self.size.cast):
                self.kill_checking_workers()
            if number == 3 * len(self.size.cast):
                self.fill_disk(original(self.of_kind(STAYING)[0]))
                self.ban()
            self.hand_in_and_look(submission)
            if number % step == step - 1 and kills < self.size.kills:
                self.kill()
                kills += 1
        assert kills == self.size.kills
        self.wait_for_checks()
        self.withdraw()
        self.wait_for_suspensions()
        self.reach_deadline()
        wait_until(lambda: self.accounts.contests.get("cup").state == "closed", "the contest comes to its end")
        wait_until(self.final.with_name(ARCHIVE_FILE).exists, "the final is archived")

    def of_kind(self, kind: str) -> list[Author]:
        return [author for author in self.size.cast if author.kind == kind]

    def ban(self) -> None:
        """Ban authors, by turns with and without their matches."""
        ways: list[Literal["keep", "drop"]] = ["keep", "drop"]
        for author in self.of_kind(BANNED):
            self.accounts.contests.ban("cup", self.ids[author], ways[author.number % 2], OPERATOR)
            self.banned.add(author)

    def withdraw(self) -> None:
        """Have authors take their bots out."""
        for author in self.of_kind(LEAVING):
            assert self.post(author, f"/contests/cup/bots/{self.bots[author]}/withdraw").status == 200

    def wait_for_checks(self) -> None:
        """Wait until everything is checked, and see that nobody was wronged by what was killed."""
        wait_until(lambda: self.accounts.submissions.is_checked("cup"), "everything is checked")
        for author in self.size.cast:
            expected = REFUSED if author.kind in REFUSED_KINDS else VALID
            versions = self.accounts.submissions.versions(self.bots[author], with_reports=True)
            assert {version.state for version in versions} == {expected}, (author, versions)

    def wait_for_suspensions(self) -> None:
        """Wait until those that forfeit every match play no more."""
        betraying = {f"{self.bots[author]}.1" for author in self.of_kind(BETRAYING)}

        def are_suspended() -> bool:
            found = read_standings(self.log.parent)
            return found is not None and betraying <= {row.bot for row in found.overall if row.suspended}

        wait_until(are_suspended, "those that forfeit are suspended")

    def reach_deadline(self) -> None:
        """Hand in before, at and after the deadline: what was received by then counts, and nothing else."""
        self.deadline = datetime.now(UTC) + timedelta(seconds=SECONDS_BEFORE_DEADLINE)
        self.config = self.config.model_copy(update={"deadline": self.deadline})
        self.accounts.contests.configure("cup", self.config.as_data(), OPERATOR)
        *staying, late = self.of_kind(STAYING)
        later = self.deadline + timedelta(seconds=SECONDS_BEFORE_DEADLINE)
        self.accounts.contests.extend("cup", self.ids[late], later, OPERATOR)
        begun, taken = datetime.now(UTC), []
        for number in range(self.size.at_deadline - 1):
            at = begun + number * 2 * (self.deadline - begun) / (self.size.at_deadline - 2)
            time.sleep(max(0.0, (at - datetime.now(UTC)).total_seconds()))
            author = staying[number % len(staying)]
            asked = datetime.now(UTC)
            answer = self.hand_in(improved(author, 2 + number))
            self.submitted += 1
            if answer.status == 201:
                taken.append(answer.data)
                assert asked <= self.deadline
            else:
                assert any(words in answer.data["error"] for words in ("the deadline was", "this contest is closed"))
                assert datetime.now(UTC) > self.deadline
        answer = self.hand_in(improved(late, 2))
        self.submitted += 1
        assert answer.status == 201 or datetime.now(UTC) > later
        assert all(version["received"] <= as_text(self.deadline) for version in taken)
        self.taken = [version["label"] for version in taken]

    # Its end

    def standing(self, log: Path) -> Standings:
        """Return the standings in a log, without a time."""
        with Tournament.open(log) as tournament:
            ladder = tournament.schedule.scheduler
            suspended = ladder.suspended if isinstance(ladder, Ladder) else ()
            number = ladder.round if isinstance(ladder, Ladder) else 1
            return standings_of(tournament, 1, number, "", suspended)

    def undisturbed(self) -> tuple[Path, Path]:
        """Play the season and its final again without a disturbance, with the same events before the same rounds."""
        home = self.folder / "undisturbed"
        season, final = season_log(home, "cup", 1), final_log(home, "cup", 1)
        final.parent.mkdir(parents=True)
        with Store.open(self.log) as store:
            rows = store.runs.events()
            plans = list(dict.fromkeys(plan for _, plan in store.runs.by_number()))
            bots: dict[str, ResolvedBot] = {}
            for plan in plans:
                bots |= logged_bots(store, ResolvedPlan.read(json.loads(plan), "plan").schedule())
        for log, key in ((season, KEYS[season_log]), (final, KEYS[final_log])):
            with Store.create(log) as store:
                store.keep_key(key, "2026-01-01T00:00:00+00:00")
        with Store.create(season) as store:
            rounds = Rounds("contests/cup/season-1", store, ladder_of(self.config))
            for number in range(1, len(plans) + 1):
                events = [read_event(row) for row in rows if row.round == number]
                schedule = rounds.next(events)
                assert schedule is not None
                assert rounds.play(schedule, events, bots, OPTIONS).complete
            rounds.end()
            assert play_final(home, "cup", 1, self.config, store, OPTIONS).complete
        return season, final


def count_of(log: Path) -> int:
    """Matches in a log."""
    with contextlib.closing(sqlite3.connect(f"{log.as_uri()}?mode=ro", uri=True)) as db:
        try:
            return int(db.execute("SELECT count(*) FROM matches").fetchone()[0])
        except sqlite3.OperationalError:  # its tables are being made
            return 0


def places(standings: Standings, labels: Sequence[str]) -> list[int]:
    """Return where bots stand, in the order of their labels."""
    order = [row.bot for row in standings.overall]
    return [order.index(label) for label in labels]


def check_privacy(season: Season) -> None:
    """See that nobody sees sources, reports or what bots say of any other author."""
    authors = season.size.cast
    for author in authors[-season.size.viewers :]:
        browser, program = season.visitor(author, SESSION), season.visitor(author, API)
        for other in authors:
            bot = season.bots[other]
            page, report = f"/contests/cup/bots/{bot}/versions/1", f"/contests/cup/bots/{bot}/versions/1"
            answers = [browser.get(page), browser.get(f"{page}/source.zip"), program.api("GET", report)]
            if author == other:
                assert [answer.status for answer in answers] == [200, 200, 200]
                continue
            for answer in answers:
                assert answer.status == 403, (page, answer)
                check_says_nothing_of_others(answer, author, authors)
            assert browser.get(f"{page}/events").status == 403
            assert program.api("GET", f"/contests/cup/bots/{bot}/versions").status == 403
        browser.close()
        program.close()


def check_says_nothing_of_others(answer: Answer, author: Author | None, authors: Sequence[Author]) -> None:
    """See that an answer has nothing that is private to any other author than who asks."""
    for other in authors:
        assert other == author or other.mark.encode() not in answer.body, (author, other, answer.body[:3000])


def check_public_pages(season: Season) -> None:
    """See that pages and answers for everybody have nothing private: of matches that were forfeited, above all."""
    stranger = Visitor(season.arena)
    author = season.of_kind(STAYING)[0]
    reader = season.visitor(author, SESSION)
    labels = [f"{season.bots[each]}.1" for each in season.of_kind(BETRAYING)]
    found = [stranger.api("GET", "/contests/cup/matches", bot=label, limit="5").data["matches"] for label in labels]
    matches = [match["id"] for of_bot in found for match in of_bot]
    assert matches
    pages = ["/", "/contests", "/contests/cup", "/contests/cup/final", "/contests/cup/season-1/matches"]
    pages += [f"/contests/cup/bots/{bot}" for bot in season.bots.values()]
    pages += [f"/contests/cup/season-1/matches/{match}" for match in matches]
    apis = [f"/contests/cup/{what}" for what in ("standings", "bots", "matches", "events")]
    apis += [f"/contests/cup/matches/{match}" for match in matches]
    for visitor, who in ((stranger, None), (reader, author)):
        for answer in [*map(visitor.get, pages), *(visitor.api("GET", path) for path in apis)]:
            assert answer.status == 200, answer
            check_says_nothing_of_others(answer, who, season.size.cast)
        visitor.close()


def check_season(season: Season) -> None:
    """Play a season, and see that nothing of what disturbed it has left a trace."""
    with season.arena:
        season.play()
        check_public_pages(season)
        check_privacy(season)
        assert season.arena.end() == 0
    check_logs(season)


def check_logs(season: Season) -> None:
    """See that the logs are those of an undisturbed season, sound, and that known bots are in their order."""
    for log in (season.log, season.final):
        ended = arena("verify", log, "--home", season.home, folder=season.folder)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    final = season.standing(season.final)
    finalists = {row.bot for row in final.overall}
    last = max(season.taken, key=lambda label: [*map(int, label[1:].split("."))], default="")
    assert not last or last in finalists
    best, better, worst = places(final, BEST_TO_WORST)
    assert worst > max(best, better)
    betraying = [f"{season.bots[author]}.1" for author in season.of_kind(BETRAYING)]
    assert finalists.isdisjoint(betraying)
    of_season = season.standing(season.log)
    for label in betraying:
        order = places(of_season, [*BEST_TO_WORST, label])
        assert order == sorted(order)
    assert MARK.format(author="").strip("-") not in of_season.model_dump_json()
    for log, again in zip((season.log, season.final), season.undisturbed(), strict=True):
        assert content(log) == content(again)
        assert season.standing(log) == season.standing(again)
        written = read_standings(log.parent)
        assert written is not None
        assert written.model_copy(update={"time": ""}) == season.standing(log)


@pytest.fixture
def season_of(tmp_path: Path) -> Iterator[Callable[[Size], Season]]:
    """Return what begins a season of a size."""
    with contextlib.ExitStack() as stack:

        def make(size: Size) -> Season:
            return stack.enter_context(contextlib.closing(Season(tmp_path, size)))

        yield make


def test_a_small_season_with_kills_and_a_full_disk_equals_one_without(season_of: Callable[[Size], Season]) -> None:
    check_season(season_of(SMALL))


@pytest.mark.chaos
def test_a_season_of_a_class_with_kills_and_a_full_disk_equals_one_without(season_of: Callable[[Size], Season]) -> None:
    season = season_of(FULL)
    assert len(FULL.cast) == 30
    check_season(season)
    assert season.submitted >= 199
