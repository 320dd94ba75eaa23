"""Bots of a contest as its rounds have them: those of the house, and versions that were handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import engine
from arena.accounts import BotVersion
from arena.contest.config import ContestConfig
from arena.isolation import SUBMITTED_LEVEL
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import ResolvedBot, describe_bot, resolve_bots
from arena.registry.discovery import Source
from arena.registry.submissions import Version
from arena.schedule.boards import Board
from arena.schedule.ladder_rounds import Joined
from arena.schedule.openings import opening_plies
from arena.workers.process import WorkerProcess
from engine import Game

HOUSE_PREFIX = "house:"
"""In front of the spec, in the label of a bot of the house."""


def games_of(config: ContestConfig) -> list[tuple[Game, int]]:
    """Return the games of a contest's boards, each with the plies of its opening."""
    found = []
    for entry in config.boards:
        for kind, options, players in entry.shapes():
            game = engine.load_game(kind.spec(kind.resolve(options)), players)
            found.append((game, opening_plies(entry.opening or game.default_opening)))
    return found


def boards_of(config: ContestConfig) -> tuple[Board, ...]:
    """Return the boards of a contest, on which nobody plays yet."""
    adjudication = [config.adjudication_of(entry) for entry in config.boards for _ in entry.shapes()]
    return tuple(
        Board.of(game, (), 1, opening, each.rules_on(game))
        for (game, opening), each in zip(games_of(config), adjudication, strict=True)
    )


def stored_version(version: BotVersion) -> Version:
    """Return a version that was handed in as the registry keeps it, under opaque names."""
    return Version(
        hash=version.bundle,
        module=version.module,
        class_name=version.class_name,
        author=version.bot,
        submitted=version.received,
    )


def resolved_version(
    version: BotVersion, games: Sequence[Game], home: str | Path, worker: WorkerProcess
) -> ResolvedBot:
    """Return a version that was handed in, with what it declares; raises an `ArenaError` where it cannot be used."""
    home = Path(home)
    source = Source(version.label, version.module, version.class_name, home, "handed in", True, stored_version(version))
    bundle = source.bundle()
    if not worker.name:
        worker.start()
    boards = [(game.spec, game.players) for game in games]
    return describe_bot(source, bundle, {}, SUBMITTED_LEVEL, boards, worker)


def resolved_house(config: ContestConfig, games: Sequence[Game], worker: WorkerProcess) -> dict[str, ResolvedBot]:
    """Return the bots of the house by label; raises `ConfigError`."""
    entries = [BotEntry(bot=spec) for spec in config.house]
    found = resolve_bots(entries, games, (), worker, lambda number: f"house[{number}]: ") if entries else []
    return {f"{HOUSE_PREFIX}{spec}": bot for spec, bot in zip(config.house, found, strict=True)}


def joining(label: str, bot: ResolvedBot) -> Joined:
    """Return the event of a bot that joins the boards which it plays."""
    boards = tuple(number for number, refusal in enumerate(bot.refusals) if refusal is None)
    return Joined(replace(bot.entry(label, label), label=label), boards)
