"""`arena games` and `arena bots`."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import engine
from arena.cli.output import Output, plain_table, print_json, print_text, print_to_stderr
from arena.core.errors import ConfigError
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import ResolvedBot, resolve_bots
from arena.registry.discovery import find_bot, named_bots
from arena.registry.submissions import Submission, Submissions, submitted
from arena.workers.process import WorkerProcess
from engine.errors import summarise_error
from engine.registry import provider_names
from engine.specs import split_game_spec


def print_games(game: str | None, as_json: bool) -> None:
    """Run `arena games`."""
    if game is None:
        _list_games(as_json)
        return
    kind = engine.game_type(game)
    kind.resolve(split_game_spec(game)[1])  # which raises for options that it does not have
    if as_json:
        print_json(_game_data(kind))
        return
    print_text(f"{kind.title} ({kind.name}), {_range(kind.min_players, kind.max_players)} players\n{kind.summary}\n")
    if kind.parameters:
        print_text("Options:")
        print_parameters([parameter.plain() for parameter in kind.parameters])
    credit = kind.credit
    print_text(f"\nDesigner: {credit.designer}\nSource:   {credit.source}\nTerms:    {credit.terms}")


def _list_games(as_json: bool) -> None:
    """Print all games, one per line, or as JSON."""
    found, broken = [], []
    for name in engine.game_names():
        try:
            found.append(_game_data(engine.game_type(name)))
        except Exception as error:  # a plug-in's fault takes no other game away
            why = str(error) if isinstance(error, engine.EngineError) else f"game '{name}': {summarise_error(error)}"
            broken.append({"name": name, "error": why})
    if as_json:
        print_json({"games": found + broken, "providers": provider_names()})
        return
    table = plain_table("game", "players", "designer", "what it is")
    for game in found:
        players = _range(game["min_players"], game["max_players"])
        table.add_row(game["name"], players, game["designer"], game["summary"])
    Output().print(table)
    for prefix in provider_names():
        print(f"{prefix}.NAME(key=value,...): games of another library")
    print("\n`arena games GAME` shows options and credits.")
    for each in broken:
        print_to_stderr(f"warning: {each['error']}")


def _game_data(kind: engine.GameType) -> dict[str, Any]:
    """Return the description of a game as plain data."""
    attributes = ("name", "title", "summary", "min_players", "max_players", "rules_version")
    return {
        **{name: getattr(kind, name) for name in attributes},
        **{name: getattr(kind.credit, name) for name in ("designer", "source", "terms")},
        "options": [parameter.plain() for parameter in kind.parameters],
    }


def print_parameters(parameters: Sequence[dict[str, Any]]) -> None:
    """Print the options of a game or a bot, one per line."""
    table = plain_table()
    for parameter in parameters:
        low, high = parameter["minimum"], parameter["maximum"]
        start = "" if low is None else f"from {_number(low)}" if high is None else _number(low)
        bounds = " ".join(filter(None, (start, "" if high is None else f"to {_number(high)}")))
        allowed = " | ".join(map(str, parameter["choices"])) or bounds
        default = parameter["default"]
        shown = str(default).lower() if isinstance(default, bool) else default
        table.add_row(f"  {parameter['name']}={shown}", allowed, parameter["help"])
    Output().print(table)


def reflowed(text: str) -> str:
    """Return a docstring with each paragraph, or entry such as `Cost: ...`, on one line; indented parts stay."""
    parts = re.split(r"\n(?=\n|[A-Z]\w*: )", text)
    return "\n".join(
        part if re.search(r"\n\s", part.lstrip("\n")) else "\n" * part.startswith("\n") + " ".join(part.split())
        for part in parts
    )


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,g}"


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def print_bots(bot: str | None, as_json: bool, home: Path | None) -> None:
    """Run `arena bots`."""
    if bot is not None:
        print_bot(bot, as_json, home)
        return
    found, broken = _described(sorted(named_bots()), home)
    if as_json:
        entries = [{"name": name} | _submission_data(entry) for name, entry in submitted(home).items()]
        errors = [{"error": line} for line in broken]
        print_json({"bots": [*map(_bot_data, found), *errors], "submitted": entries})
        return
    table = plain_table("bot", "games", "players", "what it does")
    for each in found:
        table.add_row(each.source.name, *played_by(each), each.summary)
    Output().print(table)
    handed_in = submitted(home)
    if handed_in:
        print_submissions(handed_in)
    print_text("\n`arena bots BOT` shows its idea, its parameters and what it costs.")
    for line in broken:
        print_to_stderr(f"warning: {line}")


def _bot_data(bot: ResolvedBot) -> dict[str, Any]:
    """Return the description of a bot as plain data."""
    boards = zip(every_board(), bot.refusals, strict=True)
    return {
        "name": bot.source.title,
        "origin": bot.source.origin,
        "about": bot.about,
        "boards": [{"game": game.spec, "players": game.players} for game, refusal in boards if refusal is None],
        "isolation": bot.isolation,
        "identity": bot.identity,
        "parameters": bot.parameters,
    }


def _submission_data(entry: Submission) -> dict[str, Any]:
    """Return the versions of a submitted bot as plain data, the newest last."""
    versions = [version.model_dump(include={"hash", "author", "submitted", "warnings"}) for version in entry.versions]
    return {"withdrawn": entry.withdrawn, "versions": versions}


def _described(names: Sequence[str], home: Path | None) -> tuple[list[ResolvedBot], list[str]]:
    """Return the descriptions of bots, and the errors of bots that cannot be used."""
    worker = WorkerProcess()
    found, broken = [], []
    try:
        for name in names:
            try:
                found += resolve_bots([BotEntry(bot=name)], every_board(), worker=worker, home=home)
            except ConfigError as error:
                broken.append(str(error))
    finally:
        worker.stop()
    return found, broken


def print_bot(name: str, as_json: bool, home: Path | None) -> None:
    """Print all about one bot; its code runs only under its isolation."""
    handed_in = submitted(home)
    withdrawn = name in handed_in and handed_in[name].withdrawn and name not in named_bots()
    spec = f"{name}@{handed_in[name].newest.short}" if withdrawn else name
    source, _ = find_bot(spec, home=home)  # an unknown name is refused before a worker starts
    bot = resolve_bots([BotEntry(bot=spec)], every_board(), home=home, calibrates=True)[0]
    if as_json:
        print_json(_bot_data(bot) | (_submission_data(handed_in[source.name]) if source.submitted else {}))
        return
    games, players = played_by(bot)
    about = f": {reflowed(bot.about)}" if bot.about else ""
    print_text(f"{bot.source.title} ({bot.source.origin}){about}\n")
    print_text(f"Games: {games}   players: {players}   isolation: {bot.isolation}")
    print_text(f"Identity in plans and logs: {bot.identity}")
    if bot.parameters:
        print_text("Parameters:")
        print_parameters(bot.parameters)
    if source.submitted:
        print_versions(source.name, handed_in[source.name])


def print_submissions(handed_in: Submissions) -> None:
    """Print the submitted bots, one per line."""
    table = plain_table("submitted bot", "newest", "author", "versions", "")
    for name, entry in handed_in.items():
        state = "withdrawn" if entry.withdrawn else ""
        table.add_row(name, entry.newest.short, entry.newest.author, str(len(entry.versions)), state)
    Output().print("", table)


def print_versions(name: str, entry: Submission) -> None:
    """Print the versions of a submitted bot."""
    print_text("Versions, the newest last:" if not entry.withdrawn else "Versions, all withdrawn, the newest last:")
    table = plain_table()
    for number, version in enumerate(entry.versions, 1):
        table.add_row(f"  {number}", f"{name}@{version.short}", version.author, version.submitted)
    Output().print(table)


@functools.cache
def every_board() -> tuple[engine.Game, ...]:
    """Return every game and variant that can be loaded at every number of players."""
    boards = []
    for name in engine.game_names():
        with contextlib.suppress(Exception):  # a plug-in's fault, which `arena games` tells
            kind = engine.game_type(name)
            for spec in kind.variants().values() or [name]:
                boards += [engine.load_game(spec, count) for count in range(kind.min_players, kind.max_players + 1)]
    return tuple(boards)


def played_by(bot: ResolvedBot) -> tuple[str, str]:
    """Return the games and numbers of players that a bot, asked about `every_board`, does not refuse."""
    fits = [board for board, refusal in zip(every_board(), bot.refusals, strict=True) if refusal is None]
    there, fitting = ({board.spec for board in boards} for boards in (every_board(), fits))
    games = []
    for name in sorted({board.name for board in every_board()}):
        variants = {board.spec for board in every_board() if board.name == name}
        games += [name] if variants <= fitting else sorted(variants & fitting)
    names = {board.name for board in every_board()}
    games += [spec for spec in bot.games or () if spec.partition("(")[0] not in names]
    possible = {board.players for board in every_board() if board.spec in fitting}
    players = sorted({board.players for board in fits} or bot.players or ())
    return (
        "all" if fitting == there else ", ".join(games) or "none here",
        "all" if possible <= set(players) else ", ".join(map(str, players)),
    )
