"""Bots of a contest and their versions: handed in, checked, played, brought back, withdrawn.

The newest valid version of a bot plays. A version is `waiting` until it is checked, `checking` while it is, then
`valid` or `refused`; its report grows line by line, so that a page can show it as it comes. A withdrawn bot that is
handed in again plays again when that version is valid.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from arena.accounts.authors import checked_name, number_of
from arena.accounts.database import ARENA, Change, Database, as_text
from arena.core.errors import AccountError
from arena.core.lookalikes import as_read
from engine.words import counted

WAITING, CHECKING, VALID, REFUSED, ERASED = "waiting", "checking", "valid", "refused", "erased"
PENDING = f"state IN ('{WAITING}', '{CHECKING}')"
"""Condition on versions whose check has not ended."""
WITHDRAWN_LINE = {"text": "The bot was withdrawn before this version was checked."}
"""Line of the report of a version that is refused for that."""
MAX_REPORT_BYTES = 2**18
"""Largest report of a check; what comes later is left out."""
IS_OUT = f"(withdrawn IS NOT NULL AND NOT EXISTS (SELECT 1 FROM versions w WHERE w.bot = b.bot AND w.{PENDING}))"
"""Condition on bots that are withdrawn, and have no version with which they may come back."""
BOT_COLUMNS = f"b.bot, contest, b.author, a.name, b.name, b.withdrawn, b.created, {IS_OUT}"
VERSION_COLUMNS = "v.bot, number, bundle, module, class, received, state, report"


class ContestBot(NamedTuple):
    """A bot of a contest."""

    id: str
    """Opaque, `b12`."""
    contest: str
    author: str
    author_name: str
    name: str
    withdrawn: str | None
    created: str
    is_out: bool
    """Whether it is withdrawn, and no version waits with which it may come back."""


class BotVersion(NamedTuple):
    """A source that was handed in as a bot."""

    bot: str
    number: int
    bundle: str
    """Hash; `bots/HASH.zip` in the home has the files."""
    module: str
    class_name: str
    received: str
    state: str
    report: list[dict[str, Any]]

    @property
    def label(self) -> str:
        """Its name in logs."""
        return f"{self.bot}.{self.number}"

    @property
    def source(self) -> tuple[str, str, str]:
        return self.bundle, self.module, self.class_name


class Allowance(NamedTuple):
    """What an author may hand in to a contest."""

    max_bots: int
    max_per_day: int
    deadline: datetime | None = None


class Submissions:
    """The bots of all contests of a home."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Handing in

    def hand_in(
        self,
        contest: str,
        author: str,
        name: str,
        source: tuple[str, str, str],
        allowance: Allowance,
        store: Callable[[], object] = lambda: None,
    ) -> tuple[BotVersion, bool]:
        """Keep a source, by its bundle's hash, module and class, as a version of the author's bot of that name.

        Return the version, and whether it is new: the same source as the bot's newest one is not. `store` writes the
        file of a new one, while no other process changes anything: so nobody removes it as that of an erased author.
        Raises `AccountError` for who is banned or takes no part, a name of somebody else's bot, or more than is
        allowed.
        """
        checked_name(name, "bot")
        with self._database.change(author) as change:
            known = _known(change, contest, author, name)
            newest = None if known is None else _version_in(change, known.bot)
            is_new = known is None or known.is_out
            if not is_new and newest is not None and newest.source == source and newest.state != REFUSED:
                return newest, False
            _check_allowance(change, contest, author, allowance, is_new)
            store()
            bot = known.bot if known is not None else _add_bot(change, contest, author, name)
            number = change.one("SELECT coalesce(max(number), 0) + 1 FROM versions WHERE bot = ?", bot)[0]
            change.run(
                "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, 'waiting', '')", bot, number, *source, change.now
            )
            change.audit("hand in", f"b{bot}.{number}", contest, bundle=source[0])
            version = _version_in(change, bot)
            assert version is not None
            return version, True

    def check_allowed(self, contest: str, author: str, name: str, allowance: Allowance) -> None:
        """Raise `AccountError` where `hand_in` would, for a source that is new."""
        checked_name(name, "bot")
        with self._database.change(author) as change:
            known = _known(change, contest, author, name)
            _check_allowance(change, contest, author, allowance, is_new=known is None or known.is_out)

    def bring_back(self, bot: str, number: int, allowance: Allowance, actor: str) -> BotVersion:
        """Make an older valid version of a bot its newest one again; it is not checked again."""
        with self._database.change(actor) as change:
            found = change.one(
                f"SELECT bundle, module, class, state, contest, author, withdrawn, {IS_OUT} "
                "FROM versions v JOIN bots b ON b.bot = v.bot "
                "WHERE v.bot = ? AND number = ?",
                *(number_of(bot, "b"), number),
            )
            if found is None or found[3] != VALID:
                raise AccountError(f"bot {bot} has no valid version {number}")
            *source, _, contest, author, withdrawn, is_out = found
            newest = _version_in(change, number_of(bot, "b"))
            assert newest is not None
            if newest.source == tuple(source) and newest.state == VALID and withdrawn is None:
                return newest
            _check_allowance(change, contest, f"a{author}", allowance, is_new=bool(is_out))
            change.run(
                "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, 'valid', '')",
                *(number_of(bot, "b"), newest.number + 1, *source, change.now),
            )
            change.run("UPDATE bots SET withdrawn = NULL WHERE bot = ?", number_of(bot, "b"))
            change.audit("bring back", f"{bot}.{newest.number + 1}", contest, number=number)
            change.publish(contest, "version", bot=bot, number=newest.number + 1)
            version = _version_in(change, number_of(bot, "b"))
            assert version is not None
            return version

    def withdraw(self, bot: str, actor: str) -> bool:
        """Take a bot out of the rounds that follow; return False when it was withdrawn already.

        A version that waits for its check, or is being checked, is refused.
        """
        with self._database.change(actor) as change:
            row = change.one(f"SELECT contest, {IS_OUT} FROM bots b WHERE bot = ?", number_of(bot, "b"))
            if row is None:
                raise AccountError(f"there is no bot {bot}")
            if row[1]:
                return False
            refuse = f"UPDATE versions SET state = '{REFUSED}', report = report || ? WHERE bot = ? AND {PENDING}"
            change.run(refuse, json.dumps(WITHDRAWN_LINE) + "\n", number_of(bot, "b"))
            change.run("UPDATE bots SET withdrawn = ? WHERE bot = ?", change.now, number_of(bot, "b"))
            change.audit("withdraw", bot, row[0])
            change.publish(row[0], "withdrawn", bot=bot)
            return True

    # Checking

    def waiting(self, most: int = 100) -> list[BotVersion]:
        """Return versions that wait for their check, in the order in which they are to be checked.

        Authors take turns: the first version of each comes before the second of any, and so on; what is being checked
        counts. Among these they are in the order in which they came. A bot whose version is being checked has none.
        """
        queue = (
            f"SELECT {VERSION_COLUMNS}, row_number() OVER "
            "(PARTITION BY b.author ORDER BY state = 'waiting', received, v.bot, number) AS turn, "
            "max(state = 'checking') OVER (PARTITION BY v.bot) AS is_busy "
            f"FROM versions v JOIN bots b ON b.bot = v.bot WHERE {PENDING}"
        )
        query = f"SELECT * FROM ({queue}) WHERE state = 'waiting' AND NOT is_busy ORDER BY turn, received, bot LIMIT ?"
        return [_version(row) for row in self._database.rows(query, most)]

    def begin_check(self, version: BotVersion) -> None:
        """Say that a version is being checked."""
        self._state(version, CHECKING, (WAITING, CHECKING))

    def restart_checks(self, but: Container[str] = frozenset()) -> int:
        """Have what was being checked wait again, after its checker has died; return how many there are.

        Versions in `but`, by label, go on being checked.
        """
        with self._database.change(ARENA) as change:
            found = change.run("SELECT bot, number FROM versions WHERE state = 'checking'").fetchall()
            dead = [(bot, number) for bot, number in found if f"b{bot}.{number}" not in but]
            for place in dead:
                change.run("UPDATE versions SET state = 'waiting', report = '' WHERE bot = ? AND number = ?", *place)
            return len(dead)

    def restart_check(self, version: BotVersion) -> None:
        """Have a version that was being checked wait again."""
        restart = "UPDATE versions SET state = 'waiting', report = '' WHERE bot = ? AND number = ? AND state = ?"
        with self._database.change(ARENA) as change:
            change.run(restart, number_of(version.bot, "b"), version.number, CHECKING)

    def report(self, version: BotVersion, line: dict[str, Any]) -> None:
        """Add a line to the report of a version; beyond the largest size nothing is added."""
        text = json.dumps(line, sort_keys=True) + "\n"
        with self._database.change(ARENA) as change:
            change.run(
                "UPDATE versions SET report = report || ? WHERE bot = ? AND number = ? AND state = 'checking' "
                "AND length(report) + ? <= ?",
                *(text, number_of(version.bot, "b"), version.number, len(text), MAX_REPORT_BYTES),
            )

    def end_check(self, version: BotVersion, is_valid: bool) -> None:
        """Say how the check of a version ended."""
        self._state(version, VALID if is_valid else REFUSED, (CHECKING,))

    def _state(self, version: BotVersion, state: str, before: Sequence[str]) -> None:
        marks = ", ".join("?" * len(before))
        with self._database.change(ARENA) as change:
            done = change.run(
                f"UPDATE versions SET state = ? WHERE bot = ? AND number = ? AND state IN ({marks})",
                *(state, number_of(version.bot, "b"), version.number, *before),
            )
            if not done.rowcount:  # erased or withdrawn meanwhile
                return
            if state != CHECKING:
                change.audit(state, version.label, self._contest_of(change, version.bot))
            if state == VALID:
                change.run("UPDATE bots SET withdrawn = NULL WHERE bot = ?", number_of(version.bot, "b"))
                change.publish(self._contest_of(change, version.bot), "version", bot=version.bot, number=version.number)

    def _contest_of(self, change: Change, bot: str) -> str:
        return str(change.one("SELECT contest FROM bots WHERE bot = ?", number_of(bot, "b"))[0])

    # Reading

    def is_being_checked(self, version: BotVersion) -> bool:
        """Return whether the check of a version goes on: its bot may be withdrawn meanwhile, or its author erased."""
        query = "SELECT 1 FROM versions WHERE bot = ? AND number = ? AND state = 'checking'"
        return self._database.one(query, number_of(version.bot, "b"), version.number) is not None

    def bot(self, bot: str) -> ContestBot:
        """Return a bot; raises `AccountError` where there is none."""
        found = self._bots("WHERE b.bot = ?", number_of(bot, "b"))
        if not found:
            raise AccountError(f"there is no bot {bot}")
        return found[0]

    def bots(self, contest: str) -> list[ContestBot]:
        """Return the bots of a contest, withdrawn ones too, in the order of their ids."""
        return self._bots("WHERE contest = ? ORDER BY b.bot", contest)

    def bots_after(self, contest: str, number: int, most: int) -> list[ContestBot]:
        """Return at most so many bots of a contest whose ids have larger numbers, in their order."""
        where = "WHERE b.bot > ? AND +contest = ? ORDER BY b.bot LIMIT ?"  # in the order of the table, without sorting
        return self._bots(where, number, contest, most)

    def count(self, contest: str) -> int:
        """Return how many bots a contest has, withdrawn ones too."""
        return int(self._database.one("SELECT count(*) FROM bots WHERE contest = ?", contest)[0])

    def bots_of(self, author: str) -> list[ContestBot]:
        """Return the bots of an author in all contests."""
        return self._bots("WHERE b.author = ? ORDER BY b.bot", number_of(author))

    def _bots(self, where: str, *values: object) -> list[ContestBot]:
        query = f"SELECT {BOT_COLUMNS} FROM bots b JOIN authors a ON a.author = b.author {where}"
        return [
            ContestBot._make((f"b{bot}", contest, f"a{author}", *rest, bool(is_out)))
            for bot, contest, author, *rest, is_out in self._database.rows(query, *values)
        ]

    def versions(self, bot: str, with_reports: bool = False) -> list[BotVersion]:
        """Return the versions of a bot, the newest first; their reports may be long, and are empty unless asked for."""
        columns = VERSION_COLUMNS if with_reports else VERSION_COLUMNS.replace("report", "''")
        query = f"SELECT {columns} FROM versions v WHERE v.bot = ? ORDER BY number DESC"
        return [_version(row) for row in self._database.rows(query, number_of(bot, "b"))]

    def version(self, bot: str, number: int) -> BotVersion:
        """Return a version of a bot; raises `AccountError` where there is none."""
        query = f"SELECT {VERSION_COLUMNS} FROM versions v WHERE v.bot = ? AND number = ?"
        row = self._database.one(query, number_of(bot, "b"), number)
        if row is None:
            raise AccountError(f"there is no version {bot}.{number}")
        return _version(row)

    def playing(self, contest: str) -> list[BotVersion]:
        """Return the newest valid version of every bot of a contest that is neither withdrawn nor its author's, who is
        banned; in the order of the bots' ids.
        """
        query = (
            f"SELECT {VERSION_COLUMNS} FROM "
            "(SELECT bot, max(number) AS latest FROM versions WHERE state = 'valid' GROUP BY bot) n "
            "JOIN versions v ON v.bot = n.bot AND v.number = n.latest JOIN bots b ON b.bot = v.bot "
            "JOIN members m ON m.contest = b.contest AND m.author = b.author WHERE b.contest = ? "
            "AND b.withdrawn IS NULL AND m.banned IS NULL ORDER BY v.bot"
        )
        return [_version(row) for row in self._database.rows(query, contest)]

    def erased_bundles(self, contest: str | None = None) -> set[str]:
        """Return the bundles of a contest's erased versions that no other version of it has; by default of all."""
        of_contest = (
            "SELECT bundle FROM versions v JOIN bots b ON b.bot = v.bot WHERE coalesce(contest = ?, TRUE) AND state"
        )
        query = f"{of_contest} = 'erased' EXCEPT {of_contest} != 'erased'"
        return {bundle for (bundle,) in self._database.rows(query, contest, contest)}

    def is_checked(self, contest: str) -> bool:
        """Return whether no version of a contest waits for its check, or is being checked."""
        query = f"SELECT 1 FROM versions v JOIN bots b ON b.bot = v.bot WHERE contest = ? AND {PENDING} LIMIT 1"
        return self._database.one(query, contest) is None

    def names(self, contest: str) -> dict[str, tuple[str, str]]:
        """Return by bot, `b12`, its name and its author's."""
        return {bot.id: (bot.name, bot.author_name) for bot in self.bots(contest)}


def _version(row: tuple[Any, ...]) -> BotVersion:
    return BotVersion._make((f"b{row[0]}", *row[1:7], [json.loads(line) for line in row[7].splitlines()]))


def _version_in(change: Change, bot: int) -> BotVersion | None:
    """Return the newest version of a bot within a change."""
    row = change.one(f"SELECT {VERSION_COLUMNS} FROM versions v WHERE v.bot = ? ORDER BY number DESC LIMIT 1", bot)
    return None if row is None else _version(row)


class _Known(NamedTuple):
    bot: int
    is_out: bool


def _known(change: Change, contest: str, author: str, name: str) -> _Known | None:
    """Return an author's bot of a name; raises `AccountError` where it is somebody else's."""
    row = change.one(
        f"SELECT bot, author, name, {IS_OUT} FROM bots b WHERE contest = ? AND folded = ?", contest, as_read(name)
    )
    if row is not None and row[1] != number_of(author):
        raise AccountError(f"a bot '{row[2]}' by somebody else takes part already; choose another name")
    return None if row is None else _Known(row[0], bool(row[3]))


def _add_bot(change: Change, contest: str, author: str, name: str) -> int:
    found = change.run(
        "INSERT INTO bots (contest, author, name, folded, created) VALUES (?, ?, ?, ?, ?)",
        *(contest, number_of(author), name, as_read(name), change.now),
    )
    change.publish(contest, "bot", bot=f"b{found.lastrowid}")
    assert found.lastrowid is not None
    return found.lastrowid


def _allowance(change: Change, contest: str, author: str, usual: Allowance) -> Allowance:
    """Return what an author may hand in; raises `AccountError` for one who takes no part, or is banned."""
    row = change.one(
        "SELECT banned, max_bots, max_per_day, state, deadline FROM members m JOIN contests c ON c.contest = m.contest "
        "JOIN authors a ON a.author = m.author WHERE m.contest = ? AND m.author = ? AND erased IS NULL",
        *(contest, number_of(author)),
    )
    if row is None:
        raise AccountError(f"author {author} does not take part in '{contest[:64]}'")
    banned, max_bots, max_per_day, state, deadline = row
    if banned is not None:
        raise AccountError("you have been banned from this contest; its organiser can tell why")
    if state != "open":
        raise AccountError("this contest is closed")
    if deadline is None and usual.deadline is not None:
        deadline = as_text(usual.deadline)
    if deadline is not None and change.now > deadline:
        raise AccountError("the deadline has passed")
    return Allowance(
        usual.max_bots if max_bots is None else max_bots, usual.max_per_day if max_per_day is None else max_per_day
    )


def _check_allowance(change: Change, contest: str, author: str, usual: Allowance, is_new: bool) -> None:
    """Raise `AccountError` unless an author may hand in a version now, of a bot that `is_new` or not."""
    allowed = _allowance(change, contest, author, usual)
    there, today = change.one(
        f"SELECT (SELECT count(*) FROM bots b WHERE contest = ?1 AND author = ?2 AND NOT {IS_OUT}), "
        "(SELECT count(*) FROM versions v JOIN bots b ON b.bot = v.bot "
        "WHERE contest = ?1 AND author = ?2 AND substr(received, 1, 10) = ?3)",
        *(contest, number_of(author), change.now[:10]),
    )
    if is_new and there >= allowed.max_bots:
        raise AccountError(f"you may have {counted(allowed.max_bots, 'bot')} in this contest; withdraw one first")
    if today >= allowed.max_per_day:
        versions = counted(allowed.max_per_day, "version")
        raise AccountError(f"you may hand in {versions} a day, and have; the next day begins at 00:00 UTC")
