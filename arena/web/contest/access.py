"""Who asks: a browser that is signed in, or a program with a token, and what they may do.

A browser has its token in a cookie that no script and no page of another site can read; what it changes takes the
server's own token of pages besides (`arena.web.safety`). A program sends its token in the header `Authorization`, which
no other site can make a browser send.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from pathlib import Path

from fastapi import Request, Response

from arena.accounts import DATABASE_FILE, Accounts, Grant
from arena.accounts.tokens import ADMIN, MAX_TOKEN_CHARS, SESSION_DAYS
from arena.core.errors import AccountError, ArenaError
from arena.web.connections import network_of

COOKIE, HOST_PREFIX = "arena_session", "__Host-"
BEARER = "bearer "
MAX_BUCKETS = 20_000
"""Clients that a limit of rates remembers; those that asked longest ago are forgotten."""


class SignInError(ArenaError):
    """A page is for who is signed in."""


class RateError(ArenaError):
    """Somebody asks too often."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"too many requests; try again in {math.ceil(seconds)} s")
        self.seconds = seconds


class RateLimit:
    """A bucket of requests for each client, which fills by a number a minute; safe to use from several threads.

    The library `limits` does this with a timer thread and keeps what has expired until that runs; these lines are fewer
    than those that would bound it.
    """

    def __init__(self, per_minute: float, burst: int) -> None:
        self.rate, self.burst = per_minute / 60, burst
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> float:
        """Take one request; return how many are left. Raises `RateError` where there is none."""
        with self._lock:
            now = time.monotonic()
            left, since = self._buckets.pop(client, (float(self.burst), now))
            left = min(float(self.burst), left + (now - since) * self.rate)
            self._buckets[client] = (max(0.0, left - 1) if left >= 1 else left, now)
            while len(self._buckets) > MAX_BUCKETS:
                self._buckets.popitem(last=False)
            if left < 1:
                raise RateError((1 - left) / self.rate)
            return left - 1


class Door:
    """The accounts of a server's home, as soon as there are any, and who is let in."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._lock = threading.Lock()
        self._accounts: Accounts | None = None
        self.attempts = RateLimit(per_minute=60, burst=120)
        """Of signing in and of using invitations, by address, which a whole class may share. Tokens have 256 bits, so
        that this spares the database, and is no defence against guessing."""
        self.submissions = RateLimit(per_minute=6, burst=6)
        """Of handing in, by author."""
        self.requests = RateLimit(per_minute=600, burst=120)
        """Of the interface for programs, by token or address."""

    @property
    def has_accounts(self) -> bool:
        """Whether the home has accounts."""
        return self._accounts is not None or (self.home / DATABASE_FILE).is_file()

    @property
    def accounts(self) -> Accounts:
        """The accounts; raises `AccountError` where the home has none."""
        with self._lock:
            if self._accounts is None:
                if not self.has_accounts:
                    raise AccountError("this arena has no contests; `arena contest init` begins one")
                self._accounts = Accounts(self.home)
            return self._accounts

    def close(self) -> None:
        """Close the accounts."""
        with self._lock:
            if self._accounts is not None:
                self._accounts.close()
                self._accounts = None

    def grant(self, request: Request) -> Grant | None:
        """Return who asks; None for nobody in particular."""
        token = token_of(request)
        return self.accounts.tokens.check(token) if token and self.has_accounts else None

    def signed_in(self, request: Request) -> Grant:
        """Return who asks; raises `SignInError` for nobody in particular."""
        found = self.grant(request)
        if found is None:
            unknown = "no account has this token; it may have been revoked, or have expired"
            raise SignInError(unknown if bearer_of(request) else "sign in first")
        return found

    def organiser(self, request: Request) -> Grant:
        """Return the organiser who asks; raises `SignInError` or `AccountError` for anybody else."""
        found = self.signed_in(request)
        if not found.may(ADMIN):
            raise AccountError("this is for organisers")
        return found


def bearer_of(request: Request) -> str:
    """Return the token that a program sends; empty without one."""
    header = request.headers.get("authorization", "")
    return header[len(BEARER) :].strip()[: MAX_TOKEN_CHARS + 1] if header.lower().startswith(BEARER) else ""


def token_of(request: Request) -> str:
    """Return the token of a request, of a program or a browser; empty without one."""
    return bearer_of(request) or request.cookies.get(_cookie(request), "")


def _cookie(request: Request) -> str:
    """Return the name of the cookie: where it can be, one that browsers take from this server alone.

    Else a server of a neighbouring name could sign a browser in to an account of its own (RFC 6265bis, cookie names).
    """
    is_own = request.url.scheme == "https" and not request.scope.get("root_path")
    return f"{HOST_PREFIX}{COOKIE}" if is_own else COOKIE


def client_of(request: Request) -> str:
    """Return what counts as one client by its address."""
    return network_of(request.client.host) if request.client else ""


def sign_in(request: Request, response: Response, token: str) -> None:
    """Have the browser keep a token, for as long as it counts, out of reach of scripts and other sites."""
    response.set_cookie(
        _cookie(request),
        token,
        max_age=SESSION_DAYS * 86_400,
        path=request.scope.get("root_path") or "/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def sign_out(request: Request, response: Response) -> None:
    """Have the browser forget its token."""
    response.delete_cookie(
        _cookie(request),
        path=request.scope.get("root_path") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
