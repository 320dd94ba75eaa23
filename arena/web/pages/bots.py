"""Bots: all that have played under a home, and one with its versions and results everywhere."""

from __future__ import annotations

from typing import NamedTuple

from arena.core.errors import ArenaError
from arena.plan.model import BotRecord
from arena.schedule.foreign import is_foreign_name
from arena.web.catalog import Log, LogCatalog, LogPlan, NotFoundError
from arena.web.filters import game_name, name_in
from arena.web.links import Links
from arena.web.rendering import Page, page
from arena.web.standings import Standings, standings


class Contestant(NamedTuple):
    """A bot in a tournament."""

    log: Log
    plan: LogPlan
    bot: BotRecord


class ListedBot(NamedTuple):
    """A bot in the list of all."""

    name: str
    versions: int
    games: list[str]
    """Names of the games that it plays."""
    logs: list[str]


class Result(NamedTuple):
    """The row of a bot on the leaderboard of a board."""

    of: Contestant
    title: str
    game: str
    players: int
    standings: Standings
    """The row of this bot; none while it is computed for the first time."""
    is_waiting: bool
    """Whether something newer is being computed."""
    bots: int
    """On the leaderboard."""


def list_of(catalog: LogCatalog, links: Links) -> Page:
    """Return the list of bots."""
    contestants, problems = _contestants(catalog)
    by_name: dict[str, list[Contestant]] = {}
    for each in contestants:
        by_name.setdefault(name_in(each.bot.spec), []).append(each)
    rows = [
        ListedBot(
            name,
            len({each.bot.identity for each in of}),
            sorted({game for each in of for game in _games(each)}),
            sorted({each.log.name for each in of}),
        )
        for name, of in sorted(by_name.items())
    ]
    return page("bots.html", links, title="Bots", rows=rows, problems=problems)


def page_of(catalog: LogCatalog, links: Links, name: str) -> Page:
    """Return the page of a bot, by the name in its spec."""
    contestants, problems = _contestants(catalog)
    mine = [each for each in contestants if name_in(each.bot.spec) == name]
    if not mine:
        raise NotFoundError("no bot of this name has played here")
    versions: dict[str, list[Contestant]] = {}
    for each in mine:
        versions.setdefault(each.bot.identity, []).append(each)
    ends = catalog.deadline()
    results = [result for each in mine for result in _results(catalog, each, ends)]
    games = sorted({game_name(result.game) for result in results if not is_foreign_name(result.game)})
    return page(
        "bot.html",
        links,
        title=name,
        description=f"{len(versions)} versions, {len(results)} boards",
        name=name,
        versions=versions,
        results=results,
        here=links.bot(name),
        scripts=["waiting.js"] if links.is_live else [],
        games=games,
        is_foreign=is_foreign_name(name),
        problems=problems,
    )


def _contestants(catalog: LogCatalog) -> tuple[list[Contestant], list[str]]:
    """Return every bot of every plan, and why some logs were left out."""
    found, problems = [], []
    for log in catalog.logs():
        try:
            plan = catalog.plan(log)
        except ArenaError as error:
            problems.append(catalog.words(error))
            continue
        found += [Contestant(log, plan, bot) for bot in plan.resolved.bots]
    return found, problems


def _games(of: Contestant) -> set[str]:
    """Return the games of a bot in a tournament, without their options."""
    schedule = of.plan.schedule
    entry = of.plan.resolved.bots.index(of.bot)
    return {
        game_name(board.game) for board in schedule.boards if entry in board.entries and not is_foreign_name(board.game)
    }


def _results(catalog: LogCatalog, of: Contestant, ends: float | None) -> list[Result]:
    """Return the rows of a bot on the boards of a tournament; none where it has no complete block."""
    schedule, label, found = of.plan.schedule, of.bot.label, []
    entry = of.plan.resolved.bots.index(of.bot)
    places = [index for index, board in enumerate(schedule.boards) if entry in board.entries]
    for place, known in zip(places, standings(catalog, of.log, places, ends), strict=True):
        board, shown = schedule.boards[place], known.value if known else Standings({}, 0, [])
        names = shown.cells.get("bot", [])
        mine = {
            heading: [text for text, name in zip(texts, names, strict=True) if name == label]
            for heading, texts in shown.cells.items()
        }
        waits = known is None or catalog.is_old(of.log, known)
        if waits or label in names:
            found.append(
                Result(
                    of,
                    board.title,
                    board.game,
                    board.players,
                    shown._replace(cells=mine, bars=(), ratings=(), placed=0),
                    waits,
                    len(names),
                )
            )
    return found
