"""One tournament: its progress, and the figures and tables of its boards."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from arena import api
from arena.results.pages.report import BoardPage
from arena.results.run_status import RUNNING, BoardStatus
from arena.web.keeping import Known
from arena.web.library import Library
from arena.web.links import Links
from arena.web.rendering import Page, page


class Board(NamedTuple):
    """A board on the page."""

    status: BoardStatus
    known: Known[tuple[BoardPage, int]] | None
    """Its figures, and from how many matches they were made; None while they are computed for the first time."""


def page_of(library: Library, links: Links, name: str) -> Page:
    """Return the page of a tournament or comparison."""
    log = library.log(name)
    status = library.status(log)
    boards = [
        Board(board, library.kept(log, ("figures", index), partial(api.board_figures, log.path, index)))
        for index, board in enumerate(status.boards)
    ]
    waiting = any(board.known is None for board in boards)
    return page(
        "tournament.html",
        links,
        title=status.name,
        description=f"{status.matches:,} of {status.planned:,} matches, {len(boards)} boards",
        log=log,
        status=status,
        boards=boards,
        is_running=status.state == RUNNING,
        refresh=5 if waiting else 0,
    )
