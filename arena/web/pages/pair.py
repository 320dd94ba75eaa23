"""Two bots on a board: what came of their meetings."""

from __future__ import annotations

from functools import partial

import pandas as pd

from arena import api
from arena.core.errors import StoreError
from arena.results.crosstable import Crosstable, of_bot
from arena.results.match_filter import MatchFilter
from arena.web.catalog import LogCatalog, NotFoundError
from arena.web.links import Links
from arena.web.pages.matches import lines_of
from arena.web.rendering import Page, page

MATCHES_SHOWN = 20
"""Meetings that are listed."""


def page_of(catalog: LogCatalog, links: Links, name: str, board: str, a: str, b: str) -> Page:
    """Return the page of two bots, by their labels, on a board, by its slug."""
    log = catalog.log(name)
    plan = catalog.plan(log)
    index = next((at for at, each in enumerate(plan.schedule.boards) if each.slug == board), None)
    labels = [entry.label for entry in plan.schedule.entries]
    if index is None or a not in labels or b not in labels or a == b:
        raise NotFoundError("these are no two bots of a board of this tournament")
    shape = plan.schedule.boards[index]
    known = catalog.kept(log, ("crosstable", index), partial(api.board_crosstable, log.path, index))
    wanted = MatchFilter(game=shape.game, players=shape.players, bot=a, opponent=b)
    view, met = catalog.find(log, wanted, most=MATCHES_SHOWN)
    return page(
        "pair.html",
        links,
        title=f"{a} and {b} on {shape.title}",
        log=log,
        foreign=plan.resolved.foreign,
        board=shape,
        a=a,
        b=b,
        row=None if known is None else _row(known.value, a, b),
        waiting=known is None or catalog.is_old(log, known),
        here=links.pair(name, board, a, b),
        scripts=["waiting.js"] if links.is_live else [],
        met=met.total,
        lines=lines_of(log, view, plan, met.numbers),
        more=links.matches(name, {"bot": a, "opponent": b, "game": shape.game, "players": shape.players}),
        others=sorted(label for label in labels if label not in (a, b)),
    )


def _row(found: Crosstable, a: str, b: str) -> pd.Series | None:
    """Return their row of the crosstable, from the side of A; None where they have not met in a complete block."""
    try:
        pairs = of_bot(found, a).pairs
    except StoreError:
        return None
    rows = pairs[pairs["opponent"] == b]
    return None if rows.empty else rows.iloc[0]
