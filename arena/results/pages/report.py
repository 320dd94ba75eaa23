"""The report of a tournament: one page with every board's figures and tables, a pure function of its log."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum, auto
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.core.errors import StoreError
from arena.core.files import write_file
from arena.core.match_ids import listed_dice
from arena.plan.dice_keys import has_own_dice
from arena.plan.disqualification import disqualified
from arena.plan.model import ResolvedPlan
from arena.results.crosstable import Crosstable, crosstable
from arena.results.leaderboards import faults, leaderboard
from arena.results.matches import BoardMatches, choose_boards, match_frame, read_board
from arena.results.pages.figures import BoardResults, Figure, figure, figures, render
from arena.results.pages.templates import single_file, unpacked
from arena.results.tables import records
from arena.schedule.blocks import Schedule
from arena.stats.variance import variance_table
from arena.store import Store

TIMED_MATCHES = 2_000
"""Matches of a board whose clocks are read: of those that count, the first in the log."""


@dataclass(frozen=True)
class BoardPage:
    """What the report shows of a board."""

    title: str
    slug: str
    figures: dict[str, Figure]
    pictures: dict[str, str]
    """SVG by name of the figure."""
    misfits: pd.DataFrame | None
    cycles: pd.DataFrame | None


def board_results(store: Store, schedule: Schedule, index: int) -> BoardResults:
    """Read all that is drawn of a board."""
    board = schedule.boards[index]
    out = disqualified(store, schedule, index)
    played = read_board(store, schedule, index, out)
    matches = match_frame(store, board.game, played)
    try:
        shares = variance_table(matches, board.players, has_own_dice(schedule, index))
    except StoreError:
        shares = None
    return BoardResults(
        board.players,
        played,
        matches,
        leaderboard(played, out),
        crosstable(matches, board.players, out),
        shares,
        matches.loc[matches["seat"] == 0, "plies"].value_counts().sort_index().rename("matches").reset_index(),
        _clocks(store, board.game, played),
        out,
    )


def report_page(store: Store, resolved: ResolvedPlan) -> bytes:
    """Return the page of a tournament."""
    schedule = store.known(resolved.schedule())
    pages = [board_page(store, schedule, index)[0] for index in range(len(schedule.boards))]
    faulty = faults(store, schedule)
    bots = pd.DataFrame(
        [(entry.label, entry.spec, entry.identity) for entry in schedule.entries], columns=["bot", "spec", "identity"]
    )
    matches = sum(store.count(board.game, board.players, schedule.lineups(board))[0] for board in schedule.boards)
    return single_file(
        "report.html",
        data_of(pages),
        title=resolved.name,
        generator=generator(),
        boards=pages,
        matches=matches,
        planned=schedule.total_matches,
        dice=listed_dice(sorted(store.dice_kinds())),
        faults=None if faulty.empty else faulty,
        bots=bots,
        versions=pd.DataFrame(store.last_versions().items(), columns=["package", "version"]),
    )


def write_figures(
    store: Store, resolved: ResolvedPlan, what: str, game: str | None, players: int | None, format: str, folder: Path
) -> list[Path]:
    """Write one figure of every chosen board, and return the paths."""
    schedule = store.known(resolved.schedule())
    names = [(board.game, board.players) for board in schedule.boards]
    paths = []
    for name in choose_boards(resolved.name, names, game, players):
        index = names.index(name)
        drawn = figure(board_results(store, schedule, index), what)
        content = json.dumps(drawn.spec, indent=1).encode() if format == "json" else render(drawn.spec, format)
        paths.append(write_file(folder / f"{schedule.boards[index].slug}_{what}.{format}", [content]))
    return paths


def data_of(pages: list[BoardPage]) -> dict[str, Any]:
    """Return the tables behind all figures, which the page carries and `arena verify` compares."""
    return {page.title: {name: records(figure.table) for name, figure in page.figures.items()} for page in pages}


def board_page(store: Store, schedule: Schedule, index: int) -> tuple[BoardPage, int]:
    """Return what is shown of a board, and from how many matches, those of its complete blocks."""
    board = schedule.boards[index]
    results = board_results(store, schedule, index)
    drawn = figures(results)
    pictures = {name: _picture(figure, f"{board.slug}-{name}") for name, figure in drawn.items()}
    found: Crosstable = results.crosstable
    misfits, cycles = (None if frame.empty else frame for frame in (found.misfits, found.cycles))
    return BoardPage(board.title, board.slug, drawn, pictures, misfits, cycles), len(results.played.rows)


CLUTTER = re.compile(
    r' (?:aria-[a-z]+|role|class|pointer-events|xmlns:xlink|version)="[^"]*"| transform="translate\(0,0\)"| opacity="1"'
    r'|<path(?: [a-z-]+="[^"]*")*? d="M0,0h0v0h0Z"(?: [a-z-]+="[^"]*")*?/>'
)
"""What Vega writes for its own use and for screen readers, for whom a figure is its sentence and its table."""


def _picture(figure: Figure, prefix: str) -> str:
    """Return a figure as SVG for a page, with ids of its own."""
    svg = CLUTTER.sub("", render(figure.spec, "svg").decode())
    svg = re.sub(r'(\bid="|url\(#)', rf"\g<1>{prefix}-", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)


def _clocks(store: Store, game: str, played: BoardMatches) -> pd.DataFrame:
    bots = played.labels[played.entries]
    places = np.argsort(played.rows)[:TIMED_MATCHES].tolist()
    at = dict(zip(played.rows[places].tolist(), places, strict=True))
    rows = [
        (bots[at[row], call.seat], call.wall)
        for row, calls in store.clocks(game, bots.shape[1], at)
        for call in calls
        if call.ply >= 0
    ]
    return pd.DataFrame(rows, columns=["bot", "seconds"])


def generator() -> str:
    """Return the libraries that draw figures, with their versions: others may draw the same data in other bytes."""
    return ", ".join(f"{name} {version(name)}" for name in ("altair", "vl-convert-python"))


PARTS = rb"(?:g|path|text|tspan|line|rect|circle|defs|clipPath)"
PICTURE = re.compile(
    rb'<svg(?: (?:aria-hidden|xmlns|version|width|height|viewBox)="[^"<>]*+")*+>'
    rb'(?:[^<]++|<%b(?: [a-z][\w:-]*+="[^"<>]*+")*+/?>|</%b>)*+</svg>' % (PARTS, PARTS)
)
"""A drawing that reaches nowhere beyond its borders."""
GENERATOR = re.compile(rb'<meta name="generator" content="[^"]*">')
DATA = re.compile(rb'<script type="text/plain" id="data">([^<]*)</script>')


class Agreement(Enum):
    """How far two reports are the same."""

    ALL = auto()
    ALL_BUT_PICTURES = auto()
    NONE = auto()


def compare_reports(one: bytes, ours: bytes) -> Agreement:
    """Compare a report with ours; if other versions of libraries drew it, without its pictures.

    The data that it carries are compared unpacked, as not every zlib packs them alike.
    """
    redrawn = GENERATOR.findall(one) != GENERATOR.findall(ours)
    if redrawn:
        one, ours = (GENERATOR.sub(b"", PICTURE.sub(b"<svg></svg>", page), 1) for page in (one, ours))
    packed, expected = DATA.findall(one), DATA.findall(ours)
    if len(packed) != 1 or DATA.sub(b"", one) != DATA.sub(b"", ours):
        return Agreement.NONE
    data = unpacked(expected[0])
    if unpacked(packed[0], len(data)) != data:
        return Agreement.NONE
    return Agreement.ALL_BUT_PICTURES if redrawn else Agreement.ALL
