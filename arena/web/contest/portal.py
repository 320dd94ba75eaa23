"""What all addresses of contests share: accounts, configurations, who asks, and how answers are made."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from fastapi import FastAPI, Request

from arena.accounts import Accounts, ContestBot, Grant
from arena.accounts.contests import OPEN
from arena.accounts.tokens import SUBMIT
from arena.core.errors import AccountError, BotError
from arena.core.names import CONTESTS_FOLDER
from arena.registry.bundles import Bundle
from arena.registry.uploads import uploaded_bot
from arena.web.catalog import ContestLine, Log, LogCatalog, LogNames, NotFoundError
from arena.web.compute_process import ComputeProcess, ComputingError
from arena.web.contest.access import Door
from arena.web.contest.standings import StandingsView, standings_of
from arena.web.contest.views import Configs, ContestView, view_of
from arena.web.event_streams import TooManyError
from arena.web.links import Links
from arena.web.result_cache import ResultCache
from arena.web.safety import MAX_BODY_BYTES, Scope

HAND_IN_PATTERN = re.compile(r"/contests/([^/]+)/(?:hand-in|submissions)$")
"""Addresses to which bots are handed in."""
MAX_KEPT = 64
"""Names, standings and the like of contests kept at once: each contest has up to four, and as many of its final."""
MAX_UPLOADS = 4
"""Bots that are received at once: each may be in memory whole."""
MAX_READ_SECONDS = 20.0


class Portal:
    """The contests of a server."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.catalog: LogCatalog = app.state.catalog
        self.links: Links = app.state.links
        self.door = Door(self.catalog.home)
        self.configs = Configs()
        self.kept = ResultCache(most=MAX_KEPT, threads=2)
        """Names and standings of contests; only each other are pushed out by them."""
        self._uploads: set[str] = set()
        """Authors who hand in just now; used from the event loop alone."""
        self._reader = ComputeProcess()
        self.catalog.names_in = self._names_in
        self.catalog.contest_title = lambda id: self.view(id).config.shown_title
        self.catalog.contests = self._contest_lines
        self.links.has_contests = lambda: self.door.has_accounts

    @property
    def accounts(self) -> Accounts:
        return self.door.accounts

    @property
    def now(self) -> datetime:
        return self.accounts.database.clock()

    def close(self) -> None:
        """Close the accounts, and end what reads uploads and standings."""
        self._reader.close()
        self.kept.close()
        self.door.close()

    def standings(self, view: ContestView, final: bool = False) -> StandingsView | None:
        """Return the standings of a contest's season, or of its final, as `standings_of` does."""
        return standings_of(view, self.catalog.home, self.kept, self.now, final)

    def view(self, id: str) -> ContestView:
        """Return a contest; raises `NotFoundError` where there is none."""
        if not self.door.has_accounts:
            raise NotFoundError("there is no contest here")
        try:
            return view_of(self.accounts, self.configs, self.kept, id)
        except AccountError as error:
            raise NotFoundError(str(error)) from None

    def bot(self, view: ContestView, id: str) -> ContestBot:
        """Return a bot of a contest; raises `NotFoundError` where there is none."""
        try:
            bot = self.accounts.submissions.bot(id)
        except AccountError as error:
            raise NotFoundError(str(error)) from None
        if bot.contest != view.id:
            raise NotFoundError("there is no such bot in this contest")
        return bot

    def own_bot(self, request: Request, view: ContestView, id: str) -> tuple[ContestBot, Grant]:
        """Return a bot and who asks; raises `AccountError` for anybody but its author and organisers."""
        grant = self.door.signed_in(request)
        bot = self.bot(view, id)
        if grant.author.id != bot.author and not grant.author.is_organiser:
            raise AccountError("this is for the author of the bot")
        return bot, grant

    def submitter(self, request: Request) -> Grant:
        """Return who asks and may hand in; raises `AccountError` for a token that may not."""
        grant = self.door.signed_in(request)
        if not grant.may(SUBMIT):
            raise AccountError("this token may not hand in; it takes one with the scope submit")
        return grant

    def body_limit(self, scope: Scope) -> int:
        """Return the most bytes of a request's body: what a contest takes, for who may hand in there."""
        found = HAND_IN_PATTERN.search(scope["path"])
        grant = self.door.grant(Request(scope)) if found else None
        if found is None or grant is None or not grant.may(SUBMIT):
            return MAX_BODY_BYTES
        try:
            return (self.view(found[1]).config.max_upload << 20) + MAX_BODY_BYTES
        except NotFoundError:
            return MAX_BODY_BYTES

    @contextlib.contextmanager
    def upload(self, author: str) -> Iterator[None]:
        """Let an author hand in, before anything of it is read; raises `TooManyError` where too many do, or too often.

        Each author has one place, so that nobody keeps all others out.
        """
        if author in self._uploads:
            raise TooManyError("you are handing something in already; wait until that has ended")
        if len(self._uploads) >= MAX_UPLOADS:
            raise TooManyError("too many bots are being handed in just now; try again in a moment")
        self.door.submissions.take(author)
        self._uploads.add(author)
        try:
            yield
        finally:
            self._uploads.discard(author)

    def read_upload(self, files: Mapping[str, bytes], main: str) -> tuple[Bundle, str]:
        """Return the bundle and the class of the bot in uploaded files; raises `BotError`.

        They are read in a process of their own, since to parse Python may take seconds, and all that a hostile file can
        end is that process.
        """
        try:
            return self._reader.run(partial(uploaded_bot, dict(files), main), MAX_READ_SECONDS)[0]
        except ComputingError:
            raise BotError(f"the upload could not be read, at least not within {MAX_READ_SECONDS:g} s") from None

    def public(self, request: Request, path: str) -> str:
        """Return the whole address of a path of this server, as the request names it."""
        return f"{request.url.scheme}://{request.url.netloc}{path}"

    def _contest_lines(self, most: int) -> list[ContestLine]:
        """Return at most so many contests, open ones first and then by their beginning, the newest first."""
        contests = self.accounts.contests.all() if self.door.has_accounts else []
        contests.sort(key=lambda contest: contest.created, reverse=True)
        contests.sort(key=lambda contest: contest.state != OPEN)
        views = [self.view(contest.id) for contest in contests[:most]]
        return [ContestLine(view.id, view.config.shown_title, view.state(self.now), view.bots) for view in views]

    def _names_in(self, log: Log) -> LogNames:
        """Return what pages call the bots of a contest's log."""
        if not log.name.startswith(f"{CONTESTS_FOLDER}/"):
            return LogNames()
        view = self.view(log.name.split("/")[1])
        return LogNames(BotNames(view), view.names_version[1])


class BotNames(Mapping[str, str]):
    """The names of a contest's bots by label; any version of a bot has its name."""

    def __init__(self, view: ContestView) -> None:
        self._view = view

    def __getitem__(self, label: str) -> str:
        """Return the name of a label; raises `KeyError` for one that is not of the contest."""
        name = self._view.name(label)
        if name == label:
            raise KeyError(label)
        return name

    def __iter__(self) -> Iterator[str]:
        return iter(self._view.names)

    def __len__(self) -> int:
        return self._view.bots
