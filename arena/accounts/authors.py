"""Authors: persons and teams with a name, which nobody else may have, or nearly."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import NamedTuple

from arena.accounts.database import Change, Database
from arena.core.errors import AccountError
from arena.core.lookalikes import as_read
from arena.core.names import shown_name

READER, AUTHOR, ORGANISER = ROLES = ("reader", "author", "organiser")
MAX_NAME_CHARS = 64
COLUMNS = "author, name, role, created, erased"
ID_PATTERN = re.compile("a[0-9]{1,15}")


class Author(NamedTuple):
    """A person or team."""

    id: str
    """Opaque, `a7`: what contest logs and audit have."""
    name: str
    role: str
    created: str
    erased: str | None

    @property
    def is_organiser(self) -> bool:
        return self.role == ORGANISER


def number_of(id: str, letter: str = "a") -> int:
    """Return the number in an opaque id; raises `AccountError` for what is none."""
    digits = id.removeprefix(letter)
    if not id.startswith(letter) or not (digits.isascii() and digits.isdecimal() and len(digits) < 16):
        raise AccountError(f"'{id[:40]}' is no id; ids look like {letter}7")
    return int(digits)


def author_of(row: tuple[int, str, str, str, str | None]) -> Author:
    """Return the author of a row of `COLUMNS`."""
    return Author(f"a{row[0]}", *row[1:])


def add_author(change: Change, name: str, role: str) -> Author:
    """Add an author within a change; raises `AccountError` for a name that is taken, or looks like one."""
    if role not in ROLES:
        raise AccountError(f"role = '{role[:40]}': must be one of {', '.join(ROLES)}")
    checked_name(name)
    taken = change.one("SELECT name FROM authors WHERE folded = ?", as_read(name))
    if taken is not None:
        same = taken[0] == name
        raise AccountError(f"the name '{name}' is {'taken' if same else f'read like {taken[0]!r}'}; choose another one")
    found = change.run(
        "INSERT INTO authors (name, folded, role, created) VALUES (?, ?, ?, ?)", name, as_read(name), role, change.now
    )
    author = Author(f"a{found.lastrowid}", name, role, change.now, None)
    change.audit("add author", author.id, role=role)
    return author


def checked_name(name: str, what: str = "name") -> str:
    """Return the name of an author or bot; raises `AccountError` for one that pages could not show, or nobody read."""
    try:
        shown_name(name, MAX_NAME_CHARS)
    except ValueError as error:
        raise AccountError(f"{what} '{name[:MAX_NAME_CHARS]}': {error}") from None
    if not as_read(name):
        raise AccountError(f"{what} '{name}': needs a letter or digit")
    return name


class Authors:
    """The authors of a home."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, role: str, actor: str) -> Author:
        """Add an author; raises `AccountError` as `add_author` does."""
        with self._database.change(actor) as change:
            return add_author(change, name, role)

    def get(self, id: str) -> Author:
        """Return an author by id; raises `AccountError` where there is none."""
        row = self._database.one(f"SELECT {COLUMNS} FROM authors WHERE author = ?", number_of(id))
        if row is None:
            raise AccountError(f"there is no author {id}")
        return author_of(row)

    def named(self, name: str) -> Author | None:
        """Return the author of a name, or of one that is read the same; None without one."""
        row = self._database.one(f"SELECT {COLUMNS} FROM authors WHERE folded = ?", as_read(name))
        return None if row is None else author_of(row)

    def all(self) -> list[Author]:
        """Return all authors, by number."""
        return [author_of(row) for row in self._database.rows(f"SELECT {COLUMNS} FROM authors ORDER BY author")]

    def names(self, ids: Collection[str]) -> dict[str, str]:
        """Return the names of authors by their ids; what is no author's id is left out."""
        numbers = json.dumps([int(id[1:]) for id in ids if ID_PATTERN.fullmatch(id)])
        query = "SELECT author, name FROM authors WHERE author IN (SELECT value FROM json_each(?))"
        return {f"a{author}": name for author, name in self._database.rows(query, numbers)}

    def erased(self) -> int:
        """Return how many authors are erased."""
        return int(self._database.one("SELECT count(*) FROM authors WHERE erased IS NOT NULL")[0])

    def give_role(self, id: str, role: str, actor: str) -> None:
        """Give an author another role; raises `AccountError`."""
        author = self.get(id)
        if role not in ROLES:
            raise AccountError(f"role = '{role[:40]}': must be one of {', '.join(ROLES)}")
        with self._database.change(actor) as change:
            change.run("UPDATE authors SET role = ? WHERE author = ?", role, number_of(id))
            change.audit("give role", author.id, role=role, before=author.role)

    def erase(self, id: str, actor: str) -> list[str]:
        """Remove the names of an author and of the author's bots, revoke all tokens, and withdraw the bots.

        Return the bundles that no other author has handed in: their files are to be removed next. Results stay, under
        the opaque ids. Raises `AccountError` for nobody, or who is erased already.
        """
        author, number = self.get(id), number_of(id)
        if author.erased:
            raise AccountError(f"author {id} is erased already")
        with self._database.change(actor) as change:
            gone = f"(erased {id})"
            change.run(
                "UPDATE authors SET name = ?, folded = ?, erased = ? WHERE author = ?", gone, gone, change.now, number
            )
            change.run("UPDATE invitations SET name = '' WHERE name = ?", author.name)
            change.run("UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE author = ?", change.now, number)
            mine = "SELECT bot FROM bots WHERE author = ?"
            bundles = change.run(
                f"SELECT DISTINCT bundle FROM versions WHERE bot IN ({mine}) AND bundle NOT IN "
                f"(SELECT bundle FROM versions WHERE bot NOT IN ({mine}) AND state != 'erased')",
                *(number, number),
            ).fetchall()
            change.run(
                "UPDATE bots SET name = '(erased b' || bot || ')', folded = '(erased b' || bot || ')', "
                "withdrawn = coalesce(withdrawn, ?) WHERE author = ?",
                *(change.now, number),
            )
            change.run(
                f"UPDATE versions SET state = 'erased', module = '', class = '', report = '' WHERE bot IN ({mine})",
                number,
            )
            change.audit("erase author", id, bundles=len(bundles))
        return sorted(bundle for (bundle,) in bundles)
