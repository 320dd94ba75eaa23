"""What pages of contests show beside standings: the contest with its names, bots with their versions."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from typing import NamedTuple

from arena.accounts import Accounts, BotVersion, Contest, ContestBot, Grant
from arena.accounts.contests import OPEN
from arena.accounts.submissions import CHECKING, VALID, WAITING
from arena.contest.config import ContestConfig, contest_from
from arena.core.errors import AccountError
from arena.core.names import CONTESTS_FOLDER
from arena.web.result_cache import ResultCache

HOUSE_PREFIX = "house:"
"""What labels of the bots of the house begin with."""
MAX_CONFIGS = 256


@dataclass(frozen=True)
class ContestView:
    """A contest, with its configuration and names, for the time of one request."""

    contest: Contest
    config: ContestConfig
    bots: int
    """How many it has, withdrawn ones too."""
    names_version: tuple[int, int]
    """Another one when names have changed."""
    read_names: Callable[[], Mapping[str, tuple[str, str]]]

    @cached_property
    def names(self) -> Mapping[str, tuple[str, str]]:
        """Name and author by bot."""
        return self.read_names()

    @property
    def id(self) -> str:
        return self.contest.id

    def state(self, now: datetime) -> str:
        """Return how the contest stands, in words."""
        config = self.config
        if self.contest.state != OPEN:
            return "over"
        if config.opens is not None and now < config.opens:
            return f"opens on {config.local(config.opens)}"
        if config.deadline is None:
            return "open"
        return f"{'open until' if now <= config.deadline else 'the deadline was'} {config.local(config.deadline)}"

    def season(self, number: int | None = None) -> str:
        """Return the name of a season's log, by default of the present one."""
        return f"{CONTESTS_FOLDER}/{self.id}/season-{number or self.contest.season}"

    def name(self, label: str) -> str:
        """Return what pages call a bot of the log."""
        if label.startswith(HOUSE_PREFIX):
            return label.removeprefix(HOUSE_PREFIX)
        return self.names.get(label.partition(".")[0], (label, ""))[0]

    def author(self, label: str) -> str:
        """Return who has handed in a bot of the log; empty for those of the house."""
        return self.names.get(label.partition(".")[0], ("", ""))[1]


class Configs:
    """Configurations of contests that have been read; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, ContestConfig] = OrderedDict()

    def of(self, contest: Contest) -> ContestConfig:
        """Return the configuration of a contest."""
        key = json.dumps(contest.config, sort_keys=True)
        with self._lock:
            known = self._known.get(key)
        if known is None:
            known = contest_from(contest.config, contest.id)
            with self._lock:
                self._known[key] = known
                while len(self._known) > MAX_CONFIGS:
                    self._known.popitem(last=False)
        return known


def view_of(accounts: Accounts, configs: Configs, kept: ResultCache, id: str) -> ContestView:
    """Return a contest; raises `AccountError` where there is none."""
    contest, bots = accounts.contests.get(id), accounts.submissions.count(id)
    version = bots, accounts.authors.erased()  # names are given for good, but for those of who is erased

    def names() -> Mapping[str, tuple[str, str]]:
        found = kept.get((id, "names"), version, partial(accounts.submissions.names, id))
        assert found is not None  # nothing gives up waiting
        return found.value

    return ContestView(contest, configs.of(contest), bots, version, names)


def is_frozen(view: ContestView, now: datetime) -> bool:
    """Whether the standings of a contest that is open are shown as they were when its freeze began."""
    return view.config.is_frozen(now) and view.contest.state == OPEN


def bot_of(label: str) -> str:
    """Return the id of the bot of a label, `b12` of `b12.3`; empty for those of the house."""
    return "" if label.startswith(HOUSE_PREFIX) else label.partition(".")[0]


class Entry(NamedTuple):
    """A bot as its author sees it."""

    bot: ContestBot
    newest: BotVersion | None
    playing: BotVersion | None
    """The newest valid version."""

    @property
    def is_waiting(self) -> bool:
        return self.newest is not None and self.newest.state in (WAITING, CHECKING)


def entries_of(accounts: Accounts, author: str, contest: str) -> list[Entry]:
    """Return the bots of an author in a contest."""
    found = []
    for bot in accounts.submissions.bots_of(author):
        if bot.contest == contest:
            versions = accounts.submissions.versions(bot.id)
            valid = next((each for each in versions if each.state == VALID), None)
            found.append(Entry(bot, versions[0] if versions else None, valid))
    return found


def check_sees_matches(accounts: Accounts, view: ContestView, grant: Grant | None, now: datetime) -> None:
    """Raise `AccountError` unless who asks may see the matches of a contest at a time."""
    if grant is not None and grant.author.is_organiser:
        return
    if is_frozen(view, now):
        raise AccountError("the standings are frozen, and matches are shown again when the contest is over")
    if view.config.show_matches == "everybody":
        return
    if view.config.show_matches == "nobody":
        raise AccountError("the matches of this contest are not shown")
    if grant is None or accounts.contests.member(view.id, grant.author.id) is None:
        raise AccountError("the matches of this contest are shown to who takes part")
