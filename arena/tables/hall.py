"""All tables of a server: a bounded number, each kept for a day after somebody last looked at it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.core.errors import ArenaError
from arena.core.machine import cores
from arena.tables.analysis import Analyses
from arena.tables.keeping import keep
from arena.tables.setup import Setup
from arena.tables.table import Refused, Table
from arena.tables.view import FAILED, OVER

MOST_TABLES = 200
KEPT = 86_400.0
"""Seconds that a table is kept after somebody last looked at it."""
IDLE = 600.0
"""Seconds after which it may have to make room for another one."""


@dataclass(eq=False)
class Place:
    """A table in a hall."""

    id: str
    table: Table
    owner: str
    """Secret of whoever may move; others may look on."""
    claim: str = ""
    """One-time secret by which a browser becomes the owner; empty when it was used, or never given."""
    listeners: list[Callable[[], None]] = field(default_factory=list)
    """Called, in any thread, when the table has changed."""

    keeping: bool = False
    """Whether its match is being kept, or was."""

    def tell(self) -> None:
        """Tell the listeners; keep a match that is over and to be kept."""
        if self.table.setup.keeps and self.table.phase == OVER and not self.keeping:
            self.keeping = True
            threading.Thread(target=self._keep, daemon=True).start()
        for listener in list(self.listeners):
            listener()

    def _keep(self) -> None:
        try:
            keep(self.table)
        except (ArenaError, OSError) as error:
            self.table.say(f"the match could not be kept: {error}")


class Hall:
    """Tables by id, and the analyses of a server."""

    def __init__(self, home: Path | None = None, most_workers: int | None = None) -> None:
        self.home = home
        self.files: set[str] = set()
        """Specs of bots in files that whoever started the server has named."""
        self.analyses = Analyses(home=home)
        self.most_workers = most_workers or max(4, 2 * cores())
        self._lock = threading.Lock()
        self._places: dict[str, Place] = {}
        self._is_closed = False

    def open(self, setup: Setup, owner: str, claim: bool = False) -> Place:
        """Open a table; raises `Refused` when there are too many, and what `Setup.load` raises."""
        setup.load()  # what may have to be compiled is, before others wait for the lock
        with self._lock:
            if self._is_closed:
                raise Refused("the server is ending")
            self._sweep()
            self._make_room()
            place = Place(secrets.token_urlsafe(9), Table(setup, self.home), owner)
            self._places[place.id] = place
        place.claim = secrets.token_urlsafe(16) if claim else ""
        place.table.changed = place.tell
        return place

    def wake(self, place: Place) -> None:
        """Make room for the worker of a table that has let its own go; raises `Refused` where there is none."""
        with self._lock:
            if place.table.is_parked:
                self._make_room()
                place.table.wake()

    def rematch(self, place: Place, same_dice: bool, turned: bool) -> Place:
        """Open a table like another one; `turned` has everybody sit one seat further on."""
        setup, plan = place.table.setup, place.table.plan
        seats = (*setup.seats[1:], setup.seats[0]) if turned else setup.seats
        seed = (plan.schedule.seed if plan else setup.seed) if same_dice else None
        return self.open(replace(setup, seats=seats, seed=seed), place.owner)

    def find(self, id: str) -> Place | None:
        """Return a table; None for one that is not there (any more)."""
        with self._lock:
            place = self._places.get(id)
            if place is not None:
                place.table.touched = time.monotonic()
            return place

    def places(self, owner: str) -> list[Place]:
        """Return the tables of somebody, the newest first."""
        with self._lock:
            return [place for place in reversed(self._places.values()) if place.owner == owner]

    def release(self) -> None:
        """Call all listeners, though nothing has changed: who waits for a table is to wait no longer."""
        with self._lock:
            places = list(self._places.values())
        for place in places:
            for listener in list(place.listeners):
                listener()

    def close(self) -> None:
        """End all tables and analyses."""
        with self._lock:
            self._is_closed = True
            places, self._places = list(self._places.values()), {}
        for place in places:
            place.table.close()
        self.analyses.close()

    def _sweep(self) -> None:
        """Give up tables that nobody has looked at for a day, and one for another where there are too many.

        Raises `Refused` when all of them are in use.
        """
        now, places = time.monotonic(), sorted(self._places.values(), key=lambda place: place.table.touched)
        old = [place for place in places if now - place.table.touched > KEPT]
        if len(places) - len(old) >= MOST_TABLES:
            idle = [place for place in places if IDLE < now - place.table.touched <= KEPT]
            ended = [place for place in idle if place.table.phase in (OVER, FAILED)]
            if not idle:
                raise Refused(f"there are {MOST_TABLES} tables already, all in use; try again later")
            old += (ended or idle)[:1]
        for place in old:
            del self._places[place.id]
            threading.Thread(target=place.table.close, daemon=True).start()

    def _make_room(self) -> None:
        """Have the table that was looked at least recently let its worker go, where there are too many workers."""
        holding = [place.table for place in self._places.values() if place.table.holds_worker]
        if len(holding) < self.most_workers:
            return
        for table in sorted(holding, key=lambda table: table.touched):
            if table.let_go():
                return
        raise Refused(f"bots are thinking at {len(holding)} tables already; wait until one of them has moved")
