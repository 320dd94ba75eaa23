"""Who takes part: authors, tokens, invitations, contests with their members, and what was handed in.

All of it is in `arena.db` under the home. Whoever needs it opens `Accounts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.accounts.authors import Author, Authors
from arena.accounts.contests import Contest, Contests, Invitation, Invitations, Member
from arena.accounts.database import ARENA, OPERATOR, AuditRow, Clock, Database, Event, utc_now
from arena.accounts.submissions import Allowance, BotVersion, ContestBot, Submissions
from arena.accounts.tokens import Grant, TokenRow, Tokens
from arena.core.names import DATABASE_FILE

__all__ = [
    "ARENA",
    "DATABASE_FILE",
    "OPERATOR",
    "Accounts",
    "Allowance",
    "AuditRow",
    "Author",
    "BotVersion",
    "Contest",
    "ContestBot",
    "Event",
    "Grant",
    "Invitation",
    "Member",
    "TokenRow",
]


class Accounts:
    """The accounts of a home; safe to use from several threads, and beside other processes."""

    def __init__(self, home: str | Path | None = None, clock: Clock = utc_now) -> None:
        """Open the home's database, or create it; `clock` gives the time. Raises `StoreError`."""
        self.database = Database(home, clock)
        self.authors, self.tokens = Authors(self.database), Tokens(self.database)
        self.contests, self.invitations = Contests(self.database), Invitations(self.database)
        self.submissions = Submissions(self.database)

    @classmethod
    @contextmanager
    def open(cls, home: str | Path | None = None, clock: Clock = utc_now) -> Iterator[Accounts]:
        """Open the accounts of a home for a block."""
        accounts = cls(home, clock)
        try:
            yield accounts
        finally:
            accounts.close()

    def close(self) -> None:
        """Close the database."""
        self.database.close()
