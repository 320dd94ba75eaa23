"""Tokens: what a program, or a browser that is signed in, shows to be let in. Each is shown once and kept as a hash.

There are no passwords: a token has 256 random bits, so that neither trying nor the time that a comparison takes finds
one. What is looked up is its hash.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple

from arena.accounts.authors import ORGANISER, Author, author_of, number_of
from arena.accounts.database import Change, Database, as_text
from arena.core.errors import AccountError, StoreError

TOKEN_PREFIX = "arena_"
"""What every token begins with, so that those that lie about are found."""
TOKEN_BYTES = 32
READ, SUBMIT, ADMIN = SCOPES = ("read", "submit", "admin")
"""What tokens may allow: to see what their author sees, to hand in, to organise."""
API, SESSION = KINDS = ("api", "session")
SESSION_DAYS = 30
MAX_TOKEN_CHARS = 100
MAX_TOKENS = 50
"""Tokens of an author of each kind that are neither revoked nor expired; a new session ends the oldest."""
MAX_LABEL_CHARS = 64


class Grant(NamedTuple):
    """What a token allows."""

    author: Author
    scopes: frozenset[str]
    """To organise is among them only while its author is an organiser."""
    kind: str
    id: int

    def may(self, scope: str) -> bool:
        """Whether a scope is among them."""
        return scope in self.scopes


class TokenRow(NamedTuple):
    """What is known of a token."""

    id: int
    kind: str
    scopes: str
    label: str
    created: str
    expires: str | None
    revoked: str | None
    used: str | None


def new_secret() -> str:
    """Return a new token, or code of an invitation."""
    return TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)


def hash_of_secret(text: str) -> bytes:
    """Return what is kept of a token or code."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=32).digest()


def issue(
    change: Change, author: Author, kind: str, scopes: Collection[str], label: str = "", days: int | None = None
) -> str:
    """Issue a token within a change, and return it; raises `AccountError` for scopes or a label that cannot be."""
    if unknown := set(scopes) - set(SCOPES):
        raise AccountError(f"scopes: '{min(unknown)[:40]}' is none of {', '.join(SCOPES)}")
    if ADMIN in scopes and author.role != ORGANISER:
        raise AccountError(f"scopes: '{ADMIN}' is for organisers")
    if len(label) > MAX_LABEL_CHARS or not (label.isprintable() or not label):
        raise AccountError(f"label: must be at most {MAX_LABEL_CHARS} printable characters")
    number = number_of(author.id)
    if not change.one("SELECT 1 FROM authors WHERE author = ? AND erased IS NULL", number):
        raise AccountError(f"author {author.id} is erased")
    live = "revoked IS NULL AND (expires IS NULL OR expires > ?)"
    count = f"SELECT count(*) FROM tokens WHERE author = ? AND kind = ? AND {live}"
    if change.one(count, number, kind, change.now)[0] >= MAX_TOKENS:
        if kind == API:
            raise AccountError(f"there are {MAX_TOKENS} tokens already; revoke one")
        oldest = f"SELECT min(token) FROM tokens WHERE author = ? AND kind = ? AND {live}"
        change.run(f"UPDATE tokens SET revoked = ? WHERE token = ({oldest})", change.now, number, kind, change.now)
    text = new_secret()
    expires = None if days is None else as_text(change.time + timedelta(days=days))
    found = change.run(
        "INSERT INTO tokens (author, hash, kind, scopes, label, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(number, hash_of_secret(text), kind, " ".join(s for s in SCOPES if s in scopes), label, change.now, expires),
    )
    change.audit("issue token", author.id, token=found.lastrowid, kind=kind, scopes=sorted(scopes))
    return text


class Tokens:
    """The tokens of a home."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def issue(
        self, author: Author, kind: str, scopes: Collection[str], actor: str, label: str = "", days: int | None = None
    ) -> str:
        """Issue a token and return it; it is shown this once. Raises `AccountError` as `issue` does."""
        with self._database.change(actor) as change:
            return issue(change, author, kind, scopes, label, days)

    def check(self, text: str) -> Grant | None:
        """Return what a token allows; None for one that is unknown, revoked or expired, or whose author is erased."""
        if not text.startswith(TOKEN_PREFIX) or len(text) > MAX_TOKEN_CHARS:
            return None
        now = as_text(self._database.clock())
        row = self._database.one(
            "SELECT token, scopes, kind, expires, used, a.author, name, role, a.created, erased FROM tokens t "
            "JOIN authors a ON a.author = t.author WHERE hash = ? AND revoked IS NULL",
            hash_of_secret(text),
        )
        if row is None:
            return None
        token, scopes, kind, expires, used, *of = row
        author = author_of(tuple(of))
        if author.erased or (expires is not None and expires <= now):
            return None
        if used != now[:10]:
            # who has a token is let in, also where another process writes, or the disk is full
            with contextlib.suppress(StoreError), self._database.change(author.id, wait=False) as change:
                change.run("UPDATE tokens SET used = ? WHERE token = ?", now[:10], token)
        allowed = {scope for scope in scopes.split() if scope != ADMIN or author.is_organiser}
        return Grant(author, frozenset(allowed), kind, token)

    def of(self, author: str) -> list[TokenRow]:
        """Return an author's tokens, the newest first."""
        query = "SELECT token, kind, scopes, label, created, expires, revoked, used FROM tokens WHERE author = ?"
        return [TokenRow(*row) for row in self._database.rows(f"{query} ORDER BY token DESC", number_of(author))]

    def revoke(self, author: str, token: int, actor: str, kept_session: int = 0) -> None:
        """Revoke a token of an author; raises `AccountError` where there is none.

        With that of a program all sessions end, since it may have begun them, but `kept_session`, who asks.
        """
        with self._database.change(actor) as change:
            done = change.run(
                "UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE token = ? AND author = ?",
                *(change.now, token, number_of(author)),
            )
            if not done.rowcount:
                raise AccountError(f"author {author} has no token {token}")
            if change.one("SELECT kind FROM tokens WHERE token = ?", token) == (API,):
                change.run(
                    "UPDATE tokens SET revoked = ? WHERE author = ? AND kind = ? AND token != ? AND revoked IS NULL",
                    *(change.now, number_of(author), SESSION, kept_session),
                )
            change.audit("revoke token", author, token=token)
