"""The report of a tournament: one page with every board's figures and tables, a pure function of its log."""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.core.errors import ConfigError, StoreError
from arena.core.files import write_file
from arena.core.match_ids import list_dice_kinds
from arena.plan.model import ResolvedPlan
from arena.results.crosstable import Crosstable, crosstable
from arena.results.leaderboards import cells, faults, leaderboard, leaderboards, notes_below
from arena.results.matches import chosen_boards, seat_frame
from arena.results.pages.figures import BoardResults, Figure, check_figure, figure, figures, render, shortened
from arena.results.pages.templates import board_name, single_file, unpacked
from arena.results.tables import records
from arena.results.tuning_curve import curve_of_board
from arena.results.variance import board_variance
from arena.schedule.boards import budgets_in_words
from arena.schedule.scheduler import StandingsTable
from arena.store import Store
from arena.tournament.counted import BoardMatches
from arena.tournament.tournament import Tournament

FIGURE_FORMATS = ("svg", "png", "pdf", "json")
"""Endings of the files of figures; json is Vega-Lite."""
MAX_TIMED_MATCHES = 2_000
"""Matches of a board whose clocks are read: of those that count, the first in the log."""


@dataclass(frozen=True)
class BoardPage:
    """What the report shows of a board."""

    title: str
    heading: str
    """What it is called above its results: by the game's name."""
    slug: str
    matches: int
    """Of the plan in the log."""
    blocks: int
    """Complete ones."""
    bots: int
    opening: str
    dice: str
    leaders: list[str]
    """The first bot and those not significantly different from it."""
    leaderboard: pd.DataFrame
    """As terminals show it."""
    notes: list[str]
    """What stands below the leaderboard."""
    standings: list[tuple[StandingsTable, pd.DataFrame]]
    """What the kind of schedule shows, with its rows as a frame."""
    figures: dict[str, Figure]
    misfits: pd.DataFrame | None
    cycles: pd.DataFrame | None
    pictures: Mapping[str, str] = field(default_factory=dict)
    """SVG by name of the figure."""


@dataclass(frozen=True)
class ComputedResults:
    """Results of a tournament that were computed before, so that its report need not compute them again."""

    leaderboards: Mapping[int, pd.DataFrame]
    faults: pd.DataFrame


def board_results(tournament: Tournament, index: int, known: ComputedResults | None = None) -> BoardResults:
    """Read all that is drawn of a board."""
    store, schedule, out = tournament.store, tournament.schedule, tournament.disqualified(index)
    board, played = schedule.boards[index], tournament.counted(index)
    matches = seat_frame(played)
    try:
        shares = board_variance(matches, schedule, index)
    except StoreError:
        shares = None
    rows = store.board(board.game, board.players).match_rows("m.plies, m.ended")
    lengths = [(plies, sys.intern(ended)) for plies, ended in rows]
    shown = played.rows[: 0 if schedule.is_foreign else None]  # nobody knows how long foreign matches were
    faulty = faults(tournament) if known is None else known.faults
    faulty = faulty[(faulty["game"] == board.game) & (faulty["players"] == board.players)]
    return BoardResults(
        players=board.players,
        played=played,
        leaderboard=leaderboard(played, out) if known is None else known.leaderboards[index],
        crosstable=crosstable(matches, board.players, out),
        variance=shares,
        plies=np.array([plies for plies, _ in lengths], np.int64)[shown],
        ended=np.array([ended for _, ended in lengths], object)[shown],
        forfeits=faulty[["bot", "cause", "count"]].rename(columns={"count": "matches"}).reset_index(drop=True),
        calls=_calls(store, board.game, played),
        limits=schedule.limits,
        out=out,
        entries=[schedule.entries[entry] for entry in sorted(board.entries)],
        curve=curve_of_board(schedule, index),
    )


def report_page(
    tournament: Tournament,
    known: ComputedResults | None = None,
    begin: Callable[[int], None] = lambda number: None,
) -> bytes:
    """Return the page of a tournament; `begin` is called with each board's number before it is drawn."""
    resolved, schedule = tournament.plan, tournament.schedule
    if known is None:
        known = ComputedResults(leaderboards(tournament), faults(tournament))
    waiting = []
    with ThreadPoolExecutor(1) as drawer:  # while it draws one board, the next one is computed
        for index in range(len(schedule.boards)):
            begin(index)
            computed, _ = _without_pictures(tournament, index, known)
            waiting.append(drawer.submit(_with_pictures, computed))
    pages = [drawn.result() for drawn in waiting]
    bots = [(bot.label, bot.spec, bot.isolation, bot.identity) for bot in resolved.bots]
    return single_file(
        "report.html",
        data_of(pages),
        title=resolved.name,
        generator=generator(),
        boards=pages,
        matches=sum(page.matches for page in pages),
        planned=sum(tournament.progress(index).planned for index in range(len(schedule.boards))),
        dice=list_dice_kinds(schedule.dice_kinds()),
        foreign=resolved.foreign,
        faults=None if known.faults.empty else known.faults,
        bots=pd.DataFrame(bots, columns=["bot", "spec", "isolation", "identity"]),
        facts=plan_facts(resolved),
        left_out=resolved.left_out,
        versions=pd.DataFrame(tournament.store.runs.last_versions().items(), columns=["package", "version"]),
    )


def plan_facts(resolved: ResolvedPlan) -> dict[str, str]:
    """Return a plan's settings in words."""
    if (foreign := resolved.foreign) is not None:
        return {
            "Origin": f"{foreign.status}: {foreign.file}, {foreign.rows:,} rows",
            "BLAKE2b-256 of the file": foreign.digest,
            **{f"Column for {what}": column for what, column in foreign.columns.items()},
        }
    schedule = resolved.schedule()
    budgets = budgets_in_words(schedule.entries, schedule.boards)
    limits = [f"{name.replace('_', ' ')} {value:g}" for name, value in resolved.limits if value]
    return {
        "Seed": str(resolved.seed),
        "Schedule": resolved.scheduler.made().describe(),
        "Line-ups of a block": resolved.line_ups,
        **{f"Calibrated for {label}": text for label, text in budgets.items()},
        "Limits of a bot (seconds, MiB)": ", ".join(limits),
        "Forfeits until a bot is disqualified": str(resolved.forfeit_limit or "no limit"),
        **{f"Hash of dice key {number}": key.hash for number, key in enumerate(resolved.secret_keys, 1)},
    }


def write_figures(
    tournament: Tournament, what: str, game: str | None, players: int | None, format: str, folder: Path
) -> list[Path]:
    """Write one figure of every chosen board that has something to draw, and return the paths.

    Raises `ConfigError` for a figure or a format that there is not, and where there is nothing to draw.
    """
    check_figure(what)
    if format not in FIGURE_FORMATS:
        raise ConfigError(f"format = {format!r}: must be {', '.join(FIGURE_FORMATS)}")
    schedule = tournament.schedule
    paths, chosen = [], chosen_boards(tournament.plan.name, schedule, game, players)
    for index in chosen:
        if (made := figure(board_results(tournament, index), what)) is not None:
            content = f"{json.dumps(made.spec, indent=1)}\n".encode() if format == "json" else render(made.spec, format)
            paths.append(write_file(folder / f"{schedule.boards[index].slug}_{what}.{format}", [content]))
    if not paths:
        raise ConfigError(f"{what}: there is nothing to draw on {'this board' if len(chosen) == 1 else 'these boards'}")
    return paths


def data_of(pages: list[BoardPage]) -> dict[str, Any]:
    """Return the tables behind all figures, which the page carries and `arena verify` compares."""
    return {page.title: {name: records(figure.table) for name, figure in page.figures.items()} for page in pages}


def board_page(tournament: Tournament, index: int) -> tuple[BoardPage, int]:
    """Return what is shown of a board, and from how many matches, those of its complete blocks."""
    page, matches = _without_pictures(tournament, index)
    return _with_pictures(page), matches


def _with_pictures(page: BoardPage) -> BoardPage:
    pictures = {name: _picture(figure, f"{page.slug}-{name}") for name, figure in page.figures.items()}
    return replace(page, pictures=pictures)


def _without_pictures(
    tournament: Tournament, index: int, known: ComputedResults | None = None
) -> tuple[BoardPage, int]:
    schedule, board = tournament.schedule, tournament.schedule.boards[index]
    results = board_results(tournament, index, known)
    drawn, table = figures(results), results.leaderboard
    found: Crosstable = results.crosstable
    misfits, cycles = (None if frame.empty else frame for frame in (found.misfits, found.cycles))
    page = BoardPage(
        title=board.title,
        heading=board_name(board.game, board.players),
        slug=board.slug,
        matches=tournament.progress(index).matches,
        blocks=len(np.unique(results.played.block)),
        bots=len(board.entries),
        opening=f"{board.opening} random plies" if board.opening else "",
        dice=list_dice_kinds(schedule.dice_kinds(index)),
        leaders=_leaders(table),
        leaderboard=pd.DataFrame(cells(table)),
        notes=notes_below(table),
        standings=[(each, pd.DataFrame(each.rows, columns=list(each.columns))) for each in tournament.standings(index)],
        figures=drawn,
        misfits=misfits,
        cycles=cycles,
    )
    return page, len(results.played.rows)


def _leaders(table: pd.DataFrame) -> list[str]:
    """Return the first bot of a leaderboard and all that are not significantly different from it."""
    if table.empty:
        return []
    best = set(table["group"].iloc[0])
    return [bot for bot, group in zip(table["bot"], table["group"], strict=True) if not best.isdisjoint(group)]


FIGURE_SCALE = 1.15
"""Size of figures where there is room."""
LONG_DECIMAL = re.compile(r"\d+\.\d{3,}")
UNUSED_SVG = re.compile(
    r' (?:aria-[a-z]+|role|class|pointer-events|xmlns:xlink|version|font-family)="[^"]*"'
    r'| (?:transform="translate\(0,0\)"|opacity="1"|stroke-width="1"|font-size="12px")'
    r'|<path(?: [a-z-]+="[^"]*")*? d="(?:M0,0h0v0h0Z)?"(?: [a-z-]+="[^"]*")*?/>'
)
"""What Vega writes for its own use, for screen readers, to whom a figure is its sentence and its table, and what the
page's style says."""


def _picture(figure: Figure, prefix: str) -> str:
    """Return a figure as SVG for a page, with unique ids; shortened labels are shown in full on hover."""
    svg = UNUSED_SVG.sub("", render(figure.spec, "svg").decode())
    svg = re.sub(r"<[^>]+>", lambda tag: LONG_DECIMAL.sub(_rounded, tag[0]), svg)  # not what is written between tags
    svg = re.sub(r'(\bid="|url\(#)', rf"\g<1>{prefix}-", _without_bare_groups(svg))
    for label in dict.fromkeys(label for name in ("bot", "opponent") for label in figure.table.get(name, ())):
        if (short := shortened(label)) != label:
            shown = f"{html.escape(short, quote=False)}</text>"
            svg = svg.replace(f">{shown}", f"><title>{html.escape(label, quote=False)}</title>{shown}")
    sizes = r'<svg (.*?)width="([\d.]+)" height="([\d.]+)"'
    return re.sub(sizes, _scaled, svg, count=1)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _scaled(beginning: re.Match[str]) -> str:
    rest, *size = beginning.groups()
    width, height = (round(FIGURE_SCALE * float(pixels)) for pixels in size)
    return f'<svg aria-hidden="true" {rest}width="{width}" height="{height}"'


def _without_bare_groups(svg: str) -> str:
    """Return a drawing without the groups that have no attributes."""
    kept: list[str] = []
    bare: list[bool] = []
    for part in re.split(r"(</?g\b[^>]*>)", svg):
        if part.startswith("<g"):
            bare.append(part == "<g>")
            kept.append("" if bare[-1] else part)
        elif part == "</g>":
            kept.append("" if bare.pop() else part)
        else:
            kept.append(part)
    return "".join(kept)


def _calls(store: Store, game: str, played: BoardMatches) -> pd.DataFrame:
    bots = played.labels[played.entries]
    places = np.argsort(played.rows)[:MAX_TIMED_MATCHES].tolist()
    at = dict(zip(played.rows[places].tolist(), places, strict=True))
    rows = [
        (row, call.seat, bots[at[row], call.seat], call.wall)
        for row, calls in store.board(game, bots.shape[1]).clocks(at)
        for call in calls
        if call.ply >= 0
    ]
    return pd.DataFrame(rows, columns=["match", "seat", "bot", "seconds"])


def generator() -> str:
    """Return the libraries that draw figures, with their versions: others may draw the same data in other bytes."""
    return ", ".join(f"{name} {version(name)}" for name in ("altair", "vl-convert-python"))


SVG_TAGS = rb"(?:g|path|text|title|tspan|line|rect|circle|defs|clipPath)"
SVG_PICTURE = re.compile(
    rb'<svg(?: (?:aria-hidden|xmlns|version|width|height|viewBox)="[^"<>]*+")*+>'
    rb'(?:[^<]++|<%b(?: (?!on|style)[a-z][\w:-]*+="[^"<>]*+")*+/?>|</%b>)*+</svg>' % (SVG_TAGS, SVG_TAGS)
)
"""A drawing that reaches nowhere beyond its borders."""
GENERATOR_TAG = re.compile(rb'<meta name="generator" content="[^"]*">')
DATA_TAG = re.compile(rb'<script type="text/plain" id="data">([^<]*)</script>')


class Sameness(Enum):
    """How far two reports agree."""

    ALL = auto()
    ALL_BUT_PICTURES = auto()
    NONE = auto()


def compare_reports(one: bytes, ours: bytes) -> Sameness:
    """Compare a report with ours; if other versions of libraries drew it, without its pictures.

    The data that it carries are compared unpacked, as not every zlib packs them alike.
    """
    redrawn = GENERATOR_TAG.findall(one) != GENERATOR_TAG.findall(ours)
    if redrawn:
        one, ours = (GENERATOR_TAG.sub(b"", SVG_PICTURE.sub(b"<svg></svg>", page), 1) for page in (one, ours))
    packed, expected = DATA_TAG.findall(one), DATA_TAG.findall(ours)
    if len(packed) != 1 or DATA_TAG.sub(b"", one) != DATA_TAG.sub(b"", ours):
        return Sameness.NONE
    data = unpacked(expected[0])
    if unpacked(packed[0], len(data)) != data:
        return Sameness.NONE
    return Sameness.ALL_BUT_PICTURES if redrawn else Sameness.ALL
