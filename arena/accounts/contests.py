"""Contests of a home, who takes part in them, and invitations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from arena.accounts.authors import ORGANISER, ROLES, Author, add_author, author_of, checked_name, number_of
from arena.accounts.database import ARENA, Change, Database, as_text
from arena.accounts.tokens import ADMIN, SCOPES, SESSION, SESSION_DAYS, hash_of_secret, issue, new_secret
from arena.core.errors import AccountError
from arena.core.lookalikes import as_read
from arena.core.names import plain_name

OPEN, CLOSED = "open", "closed"
MAX_USES = 100_000
MAX_DAYS = 3_650
"""Days until an invitation expires."""
MAX_MESSAGE_CHARS = 2_000
MEMBER_COLUMNS = "joined, banned, deadline, max_bots, max_per_day"


class Contest(NamedTuple):
    """A contest as its organiser described it, and what has become of it."""

    id: str
    config: dict[str, Any]
    state: str
    season: int
    message: str
    created: str


class Member(NamedTuple):
    """An author who takes part in a contest."""

    author: Author
    joined: str
    banned: Literal["keep", "drop"] | None
    deadline: str | None
    max_bots: int | None
    max_per_day: int | None


class Invitation(NamedTuple):
    """What a link invites to."""

    contest: str | None
    role: str
    name: str
    """Of whom it is for; empty for anybody."""
    uses: int
    """Left."""


class Contests:
    """The contests of a home, with their members."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, id: str, config: dict[str, Any], actor: str) -> Contest:
        """Add a contest; raises `AccountError` for an id that is taken or no plain name."""
        try:
            plain_name(id)
        except ValueError as error:
            raise AccountError(f"contest '{id[:64]}': {error}") from None
        with self._database.change(actor) as change:
            if change.one("SELECT 1 FROM contests WHERE lower(contest) = lower(?)", id):
                raise AccountError(f"there is a contest '{id}' already")
            change.run(
                "INSERT INTO contests VALUES (?, ?, 'open', 1, '', ?)",
                *(id, json.dumps(config, sort_keys=True), change.now),
            )
            change.audit("add contest", id, id)
            change.publish(id, "opened", season=1)
            return Contest(id, config, OPEN, 1, "", change.now)

    def get(self, id: str) -> Contest:
        """Return a contest; raises `AccountError` where there is none."""
        row = self._database.one("SELECT * FROM contests WHERE contest = ?", id)
        if row is None:
            raise AccountError(f"there is no contest '{id[:64]}'")
        return _contest(row)

    def all(self) -> list[Contest]:
        """Return all contests, by name."""
        return [_contest(row) for row in self._database.rows("SELECT * FROM contests ORDER BY contest")]

    def configure(self, id: str, config: dict[str, Any], actor: str) -> None:
        """Replace a contest's configuration."""
        self._set(id, "config", json.dumps(config, sort_keys=True), "configure contest", actor)

    def announce(self, id: str, message: str, actor: str) -> None:
        """Set the message of the day; an empty one takes it away. Raises `AccountError` for one that is too long."""
        if len(message) > MAX_MESSAGE_CHARS or any("\ud800" <= letter <= "\udfff" for letter in message):
            raise AccountError(f"message: must be text of at most {MAX_MESSAGE_CHARS:,} characters")
        self._set(id, "message", message, "announce", actor)

    def close(self, id: str, actor: str) -> None:
        """Close a contest: nothing is handed in or played any more."""
        self._set(id, "state", CLOSED, "close contest", actor)

    def begin_season(self, id: str, actor: str) -> int:
        """Begin the next season; return its number."""
        season = self.get(id).season + 1
        self._set(id, "season", season, "begin season", actor)
        return season

    def _set(self, id: str, column: str, value: object, action: str, actor: str) -> None:
        self.get(id)
        with self._database.change(actor) as change:
            change.run(f"UPDATE contests SET {column} = ? WHERE contest = ?", value, id)
            change.audit(action, id, id, **({} if column == "config" else {column: value}))
            if column in ("state", "season"):
                change.publish(id, column, **{column: value})

    # What everybody may know of play

    def publish_rounds(self, id: str, season: int, last: int) -> None:
        """Tell everybody of the complete rounds of a season, the `last` one too; of each of them once."""
        latest = "SELECT data FROM events WHERE contest = ? AND kind = 'round' ORDER BY number DESC LIMIT 1"
        with self._database.change(ARENA) as change:
            row = change.one(latest, id)
            told = json.loads(row[0]) if row is not None else {"season": 0, "round": 0}
            first = told["round"] + 1 if told["season"] == season else 1
            for number in range(first, last + 1):
                change.publish(id, "round", season=season, round=number)

    def publish_final(self, id: str, season: int) -> None:
        """Tell everybody once that the final of a season is complete."""
        latest = "SELECT data FROM events WHERE contest = ? AND kind = 'final' ORDER BY number DESC LIMIT 1"
        with self._database.change(ARENA) as change:
            row = change.one(latest, id)
            if row is None or json.loads(row[0])["season"] != season:
                change.publish(id, "final", season=season)

    # Members

    def join(self, id: str, author: str, actor: str) -> None:
        """Have an author take part; nothing changes for one who does."""
        self.get(id)
        with self._database.change(actor) as change:
            add_member(change, id, author)

    def member(self, id: str, author: str) -> Member | None:
        """Return how an author takes part in a contest; None for one who does not."""
        found = self._members("WHERE m.contest = ? AND m.author = ?", id, number_of(author))
        return found[0] if found else None

    def members(self, id: str) -> list[Member]:
        """Return all who take part in a contest, in the order of their ids."""
        return self._members("WHERE m.contest = ? ORDER BY m.author", id)

    def members_from(self, id: str, start: int, most: int, part: str = "") -> list[Member]:
        """Return at most so many who take part in a contest, from a place on, whose names have a `part`."""
        named = "AND instr(folded, ?)" if as_read(part) else "AND ? = ''"
        where = f"WHERE m.contest = ? {named} ORDER BY m.author LIMIT ? OFFSET ?"
        return self._members(where, id, as_read(part), most, start)

    def contests_of(self, author: str) -> list[str]:
        """Return the contests that an author takes part in."""
        query = "SELECT contest FROM members WHERE author = ? ORDER BY contest"
        return [contest for (contest,) in self._database.rows(query, number_of(author))]

    def _members(self, where: str, *values: object) -> list[Member]:
        rows = self._database.rows(
            f"SELECT a.author, name, role, a.created, erased, {MEMBER_COLUMNS} FROM members m "
            f"JOIN authors a ON a.author = m.author {where}",
            *values,
        )
        return [Member(author_of(row[:5]), *row[5:]) for row in rows]

    def ban(self, id: str, author: str, matches: Literal["keep", "drop"], actor: str) -> None:
        """Keep an author from a contest; the matches that were played stay in the standings, or leave them."""
        if matches not in ("keep", "drop"):
            raise AccountError(f"matches = '{matches}': must be keep or drop")
        self._set_member(id, author, "banned", matches, "ban", actor)

    def unban(self, id: str, author: str, actor: str) -> None:
        """Let an author take part again."""
        self._set_member(id, author, "banned", None, "unban", actor)

    def extend(self, id: str, author: str, deadline: datetime | None, actor: str) -> None:
        """Give one author another deadline; None for the contest's own."""
        self._set_member(id, author, "deadline", deadline and as_text(deadline), "extend deadline", actor)

    def limit(self, id: str, author: str, max_bots: int | None, max_per_day: int | None, actor: str) -> None:
        """Give one author other limits of bots, and of versions handed in a day; None for the contest's own."""
        for value in (max_bots, max_per_day):
            if value is not None and not 0 <= value <= MAX_USES:
                raise AccountError(f"a limit of {value}: must be 0 to {MAX_USES:,}")
        self._set_member(id, author, "max_bots", max_bots, "limit bots", actor)
        self._set_member(id, author, "max_per_day", max_per_day, "limit submissions", actor)

    def _set_member(self, id: str, author: str, column: str, value: object, action: str, actor: str) -> None:
        with self._database.change(actor) as change:
            done = change.run(
                f"UPDATE members SET {column} = ? WHERE contest = ? AND author = ?", value, id, number_of(author)
            )
            if not done.rowcount:
                raise AccountError(f"author {author} does not take part in '{id[:64]}'")
            change.audit(action, author, id, **{column: value})


def _contest(row: tuple[Any, ...]) -> Contest:
    id, config, *rest = row
    return Contest(id, json.loads(config), *rest)


def add_member(change: Change, contest: str, author: str) -> None:
    """Have an author take part in a contest, within a change."""
    done = change.run(
        "INSERT OR IGNORE INTO members (contest, author, joined) VALUES (?, ?, ?)",
        *(contest, number_of(author), change.now),
    )
    if done.rowcount:
        change.audit("join", author, contest)


def _welcome(change: Change, name: str, role: str, contest: str | None) -> tuple[Author, str]:
    """Make a new author who takes part in a contest, within a change; return that with the token of a session."""
    author = add_author(change, name, role)
    change.actor = author.id
    if contest is not None:
        add_member(change, contest, author.id)
    scopes = SCOPES if author.is_organiser else [scope for scope in SCOPES if scope != ADMIN]
    return author, issue(change, author, SESSION, scopes, "browser", SESSION_DAYS)


class Invitations:
    """The invitations of a home: links by which persons become authors and take part in a contest."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def invite(
        self, contest: str | None, names: Sequence[str], actor: str, role: str = "author", days: int | None = None
    ) -> list[tuple[str, str]]:
        """Return the name and the code of an invitation for each name, good for one person.

        Raises `AccountError` for a name that is taken or twice in the list; then nobody is invited.
        """
        seen: set[str] = set()
        with self._database.change(actor) as change:
            found = []
            for name in names:
                folded = as_read(checked_name(name))
                if folded in seen:
                    raise AccountError(f"the name '{name}', or one that is read the same, is in the list twice")
                if change.one("SELECT 1 FROM authors WHERE folded = ?", folded):
                    raise AccountError(f"the name '{name}', or one that is read the same, is taken")
                seen.add(folded)
                found.append((name, self._add(change, contest, role, name, 1, days)))
            return found

    def invite_anybody(
        self, contest: str | None, uses: int, actor: str, role: str = "author", days: int | None = None
    ) -> str:
        """Return the code of an invitation that so many persons may use, under names of their own."""
        if not 1 <= uses <= MAX_USES:
            raise AccountError(f"uses = {uses}: must be 1 to {MAX_USES:,}")
        with self._database.change(actor) as change:
            return self._add(change, contest, role, "", uses, days)

    def _add(self, change: Change, contest: str | None, role: str, name: str, uses: int, days: int | None) -> str:
        if role not in ROLES:
            raise AccountError(f"role = '{role[:40]}': must be one of {', '.join(ROLES)}")
        if contest is not None and not change.one("SELECT 1 FROM contests WHERE contest = ?", contest):
            raise AccountError(f"there is no contest '{contest[:64]}'")
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise AccountError(f"days = {days}: must be 1 to {MAX_DAYS:,}")
        code = new_secret()
        expires = None if days is None else as_text(change.time + timedelta(days=days))
        added = change.run(
            "INSERT INTO invitations (hash, contest, role, name, uses, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(hash_of_secret(code), contest, role, name, uses, change.now, expires),
        )
        change.audit("invite", f"i{added.lastrowid}", contest, role=role, uses=uses)
        return code

    def find(self, code: str) -> Invitation | None:
        """Return what a code invites to; None for one that is unknown, used up or expired."""
        row = self._database.one(
            "SELECT contest, role, name, uses FROM invitations WHERE hash = ? AND uses > 0 AND "
            "(expires IS NULL OR expires > ?)",
            *(hash_of_secret(code), as_text(self._database.clock())),
        )
        return None if row is None else Invitation(*row)

    def accept(self, code: str, name: str = "") -> tuple[Author, str]:
        """Make an author of who has a code, and return that with the token of a session.

        An invitation for a person has the name. Raises `AccountError` for a code that does not count any more, or a
        name that is taken.
        """
        with self._database.change(ARENA) as change:
            row = change.one(
                "SELECT invitation, contest, role, name FROM invitations WHERE hash = ? AND uses > 0 AND "
                "(expires IS NULL OR expires > ?)",
                *(hash_of_secret(code), change.now),
            )
            if row is None:
                raise AccountError("this invitation has been used or has expired; ask for another one")
            invitation, contest, role, given = row
            change.run("UPDATE invitations SET uses = uses - 1 WHERE invitation = ?", invitation)
            return _welcome(change, given or name, role, contest)

    def enter(self, contest: str, name: str) -> tuple[Author, str]:
        """Make an author of whoever comes to a contest that is open to all; return that with the token of a session.

        Raises `AccountError` for a name that is taken.
        """
        with self._database.change(ARENA) as change:
            return _welcome(change, name, "author", contest)

    def join(self, code: str, author: Author) -> str | None:
        """Have an author who is there already take part in what a code invites to; return the contest."""
        with self._database.change(author.id) as change:
            row = change.one(
                "SELECT invitation, contest, name, role FROM invitations WHERE hash = ? AND uses > 0 AND "
                "(expires IS NULL OR expires > ?)",
                *(hash_of_secret(code), change.now),
            )
            if row is None:
                raise AccountError("this invitation has been used or has expired; ask for another one")
            if row[2] and row[2] != author.name:
                raise AccountError(f"this invitation is for {row[2]}")
            if row[3] != author.role and row[3] == ORGANISER:
                raise AccountError("this invitation is for a new organiser; sign out first")
            member = "SELECT 1 FROM members WHERE contest = ? AND author = ?"
            if row[1] is not None and change.one(member, row[1], number_of(author.id)):
                return str(row[1])
            change.run("UPDATE invitations SET uses = uses - 1 WHERE invitation = ?", row[0])
            if row[1] is not None:
                add_member(change, row[1], author.id)
            return str(row[1]) if row[1] is not None else None
