"""`arena games` and `arena bots`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import engine
from arena.cli.output import Output, plain_table, say, tell
from arena.core.errors import ConfigError
from arena.plan.resolve import ResolvedBot, Wanted, resolve_bots
from arena.registry.discovery import find_bot, named_bots
from arena.registry.submissions import Submission, Submissions, submitted
from arena.workers.process import WorkerProcess
from engine.errors import in_short


def print_games(name: str | None) -> None:
    """Run `arena games`."""
    if name is None:
        table = plain_table("game", "players", "designer", "what it is")
        broken = []
        for each in engine.game_names():
            try:
                table.add_row(*_game_row(each))
            except Exception as error:  # a plug-in's fault takes no other game away
                broken.append(
                    str(error) if isinstance(error, engine.EngineError) else f"game '{each}': {in_short(error)}"
                )
        Output().print(table)
        print("\n`arena games GAME` shows options and credits.")
        for line in broken:
            tell(f"warning: {line}")
        return
    kind = engine.game_type(name)
    say(f"{kind.title} ({kind.name}), {_range(kind.min_players, kind.max_players)} players\n{kind.summary}\n")
    if kind.parameters:
        say("Options:")
        print_parameters([parameter.plain() for parameter in kind.parameters])
    credit = kind.credit
    say(f"\nDesigner: {credit.designer}\nSource:   {credit.source}\nTerms:    {credit.terms}")


def _game_row(name: str) -> tuple[str, str, str, str]:
    kind = engine.game_type(name)
    return kind.name, _range(kind.min_players, kind.max_players), kind.credit.designer, kind.summary


def print_parameters(parameters: Sequence[dict[str, Any]]) -> None:
    """Print the options of a game or a bot, one per line."""
    table = plain_table()
    for parameter in parameters:
        low, high = parameter["minimum"], parameter["maximum"]
        if parameter["choices"]:
            allowed = " | ".join(map(str, parameter["choices"]))
        elif low is not None and high is not None:
            allowed = f"{_number(low)} to {_number(high)}"
        else:
            allowed = (
                ""
                if low is None and high is None
                else f"from {_number(low)}"
                if high is None
                else f"to {_number(high)}"
            )
        default = parameter["default"]
        shown = str(default).lower() if isinstance(default, bool) else default
        table.add_row(f"  {parameter['name']}={shown}", allowed, parameter["help"])
    Output().print(table)


def reflowed(text: str) -> str:
    """Return a docstring with each paragraph, or entry such as `Cost: ...`, on one line; indented parts stay."""
    parts = re.split(r"\n(?=\n|[A-Z]\w*: )", text)
    return "\n".join(part if re.search(r"\n\s", part.lstrip("\n")) else _one_line(part) for part in parts)


def _one_line(paragraph: str) -> str:
    return ("\n" if paragraph.startswith("\n") else "") + " ".join(paragraph.split())


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,g}"


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def print_bots(name: str | None, home: Path | None) -> None:
    """Run `arena bots`."""
    if name is not None:
        print_bot(name, home)
        return
    found, broken = _described(sorted(named_bots()), home)
    table = plain_table("bot", "games", "players", "what it does")
    for bot in found:
        table.add_row(bot.source.name, _any(bot.games), _any(bot.players), bot.summary)
    Output().print(table)
    handed_in = submitted(home)
    if handed_in:
        print_submissions(handed_in)
    say("\n`arena bots BOT` shows its idea, its parameters and what it costs.")
    for line in broken:
        tell(f"warning: {line}")


def _described(names: Sequence[str], home: Path | None) -> tuple[list[ResolvedBot], list[str]]:
    """Return the descriptions of bots, and the errors of bots that cannot be used."""
    worker = WorkerProcess()
    found, broken = [], []
    try:
        for name in names:
            try:
                found += resolve_bots([Wanted(name, {})], [], worker=worker, home=home)
            except ConfigError as error:
                broken.append(str(error))
    finally:
        worker.stop()
    return found, broken


def print_bot(name: str, home: Path | None) -> None:
    """Print all about one bot; its code runs only under its isolation."""
    handed_in = submitted(home)
    withdrawn = name in handed_in and handed_in[name].withdrawn and name not in named_bots()
    spec = f"{name}@{handed_in[name].newest.short}" if withdrawn else name
    source, _ = find_bot(spec, home=home)  # an unknown name is refused before a worker starts
    bot = resolve_bots([Wanted(spec, {})], [], home=home)[0]
    about = f": {reflowed(bot.about)}" if bot.about else ""
    say(f"{bot.source.title} ({bot.source.origin}){about}\n")
    say(f"Games: {_any(bot.games)}   players: {_any(bot.players)}   isolation: {bot.isolation}")
    say(f"Identity in plans and logs: {bot.identity}")
    if bot.parameters:
        say("Parameters:")
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
    say("Versions, the newest last:" if not entry.withdrawn else "Versions, all withdrawn, the newest last:")
    table = plain_table()
    for number, version in enumerate(entry.versions, 1):
        table.add_row(f"  {number}", f"{name}@{version.short}", version.author, version.submitted)
    Output().print(table)


def _any(values: Sequence[object] | None) -> str:
    return "all" if values is None else ", ".join(map(str, values))
