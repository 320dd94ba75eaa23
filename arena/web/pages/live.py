"""The matches of a tournament that are in play, ply by ply."""

from __future__ import annotations

import time
from contextlib import closing

from markupsafe import Markup

from arena.web.catalog import LogCatalog
from arena.web.links import Links
from arena.web.pages.live_boards import Watcher, template_values
from arena.web.rendering import Page, fragment, page


def page_of(catalog: LogCatalog, links: Links, name: str) -> Page:
    """Return the page, with the present positions; they are drawn once a second at most, whoever asks."""
    log = catalog.log(name)

    def draw() -> list[Markup]:
        with closing(Watcher(catalog, links, name)) as watcher:
            _, boards = watcher.look()
        return [
            fragment("live_board.html", links, picture=each.frames[-1].picture, **template_values(links, name, each))
            for each in boards
        ]

    drawn = catalog.results.get((log.path, "in play"), int(time.monotonic()), draw, kind="in play")
    assert drawn is not None  # nothing gives up waiting
    return page(
        "live.html",
        links,
        title=f"In play: {log.title}",
        description=f"Matches of {log.title} in play, ply by ply",
        log=log,
        boards=drawn.value,
        scripts=["watch.js"],
    )
