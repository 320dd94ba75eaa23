"""All sessions of a server: a bounded number, each kept for a day after somebody last looked at it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.core.errors import ArenaError
from arena.core.machine import cores
from arena.sessions.analysis import AnalysisPool
from arena.sessions.playable import PlayableBots
from arena.sessions.saving import save
from arena.sessions.session import PlaySession, RefusedError
from arena.sessions.setup import SessionSetup
from arena.sessions.view import Phase

MAX_SESSIONS = 200
KEPT_SECONDS = 86_400.0
"""Time for which a session is kept after somebody last looked at it."""
IDLE_SECONDS = 600.0
"""Time without a look after which it may have to make room for another one."""


@dataclass(eq=False)
class RegisteredSession:
    """A session with its address and its owner."""

    id: str
    session: PlaySession
    owner: str
    """Secret of whoever may move; others may look on."""
    claim: str = ""
    """One-time secret by which a browser becomes the owner; empty when it was used, or never given."""
    listeners: list[Callable[[], None]] = field(default_factory=list)
    """Called, in any thread, when the session has changed."""
    is_saved: bool = False
    """Whether its match is being kept without being asked, or was."""

    def notify(self) -> None:
        """Call the listeners; keep a match that is over and to be kept."""
        if self.session.setup.keeps and self.session.phase == Phase.OVER and not self.is_saved:
            self.is_saved = True
            threading.Thread(target=self._save, daemon=True).start()
        for listener in list(self.listeners):
            listener()

    def _save(self) -> None:
        try:
            save(self.session)
        except (ArenaError, OSError) as error:
            self.session.show(f"the match could not be kept: {error}")


class SessionRegistry:
    """Sessions by id, and the analyses of a server."""

    def __init__(self, home: Path | None = None, max_workers: int | None = None) -> None:
        self.home = home
        self.files: set[str] = set()
        """Specs of bots in files that whoever started the server has named."""
        self.analyses = AnalysisPool(home=home)
        self.playable = PlayableBots(home)
        self.max_workers = max_workers or max(4, 2 * cores())
        self._lock = threading.Lock()
        self._entries: dict[str, RegisteredSession] = {}
        self._is_closed = False

    def open(self, setup: SessionSetup, owner: str, claim: bool = False) -> RegisteredSession:
        """Begin a session; raises `RefusedError` when there are too many, and what `SessionSetup.load` raises."""
        setup.load()  # what may have to be compiled is, before others wait for the lock
        with self._lock:
            if self._is_closed:
                raise RefusedError("the server is ending")
            self._remove_old()
            self._make_room()
            entry = RegisteredSession(secrets.token_urlsafe(9), PlaySession(setup, self.home), owner)
            self._entries[entry.id] = entry
        entry.claim = secrets.token_urlsafe(16) if claim else ""
        entry.session.on_change(entry.notify)
        return entry

    def unpark(self, entry: RegisteredSession) -> None:
        """Make room for the worker of a session that has ended its own; raises `RefusedError` where there is none."""
        with self._lock:
            if entry.session.is_parked:
                self._make_room()
                entry.session.unpark()

    def rematch(self, entry: RegisteredSession, same_dice: bool, turned: bool) -> RegisteredSession:
        """Begin a session like another one; `turned` moves everybody one seat further on."""
        setup, plan = entry.session.setup, entry.session.plan
        seats = (*setup.seats[1:], setup.seats[0]) if turned else setup.seats
        seed = (plan.schedule.seed if plan else setup.seed) if same_dice else None
        return self.open(replace(setup, seats=seats, seed=seed), entry.owner)

    def find(self, id: str) -> RegisteredSession | None:
        """Return a session; None for one that is not there (any more)."""
        with self._lock:
            entry = self._entries.get(id)
            if entry is not None:
                entry.session.last_look = time.monotonic()
            return entry

    def owned_by(self, owner: str) -> list[RegisteredSession]:
        """Return the sessions of somebody, the newest first."""
        with self._lock:
            return [entry for entry in reversed(self._entries.values()) if entry.owner == owner]

    def release(self) -> None:
        """Call all listeners, though nothing has changed: who waits for a session is to wait no longer."""
        with self._lock:
            entries = list(self._entries.values())
        for entry in entries:
            for listener in list(entry.listeners):
                listener()

    def close(self) -> None:
        """End all sessions and analyses."""
        with self._lock:
            self._is_closed = True
            entries, self._entries = list(self._entries.values()), {}
        for entry in entries:
            entry.session.close()
        self.analyses.close()
        self.playable.close()

    def _remove_old(self) -> None:
        """Remove sessions that nobody has looked at for a day, and one for another where there are too many.

        Raises `RefusedError` when all of them are in use.
        """
        now = time.monotonic()
        entries = sorted(self._entries.values(), key=lambda entry: entry.session.last_look)
        old = [entry for entry in entries if now - entry.session.last_look > KEPT_SECONDS]
        if len(entries) - len(old) >= MAX_SESSIONS:
            idle = [entry for entry in entries if IDLE_SECONDS < now - entry.session.last_look <= KEPT_SECONDS]
            ended = [entry for entry in idle if entry.session.phase in (Phase.OVER, Phase.FAILED)]
            if not idle:
                raise RefusedError(f"{MAX_SESSIONS} matches are open already, all in use; try again later")
            old += (ended or idle)[:1]
        for entry in old:
            del self._entries[entry.id]
            threading.Thread(target=entry.session.close, daemon=True).start()

    def _make_room(self) -> None:
        """Where there are too many workers, end that of the session at which somebody looked longest ago."""
        holding = [entry.session for entry in self._entries.values() if entry.session.holds_worker]
        if len(holding) < self.max_workers:
            return
        for session in sorted(holding, key=lambda session: session.last_look):
            if session.park():
                return
        raise RefusedError(f"bots are thinking in {len(holding)} matches already; wait until one of them has moved")
