"""Configurations from options: what `arena run` plays without a file, and what `arena init` writes."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import typer

import engine
from arena.cli.arguments import TournamentOptions
from arena.cli.output import print_text, print_to_stderr
from arena.core.errors import ArenaError, ConfigError
from arena.core.files import write_file
from arena.core.models import read_toml
from arena.core.paths import DEFAULT_HOME, HOME_FILE, home_folder, nearest_home_file
from arena.plan.bot_entry import BotEntry
from arena.plan.config import config_from
from arena.plan.grids import entrants_of_entry
from arena.registry.discovery import find_source
from arena.schedule.kinds import kinds

CONFIG_NAME = "config.toml"
"""Name of the configuration beside the results of a run that had none."""
MATCHES_PER_BOT = 200
"""About how many matches each bot plays on a board unless the number of blocks is given."""
MAX_ATTEMPTS = 3
"""Answers to one question that may not do."""
DEFAULT_BOTS = "random,greedy,uct"
KEY_COMMENTS = {
    "name": ("", "folder of its log and leaderboards below the arena's home"),
    "seed": (0, "all chance in the tournament comes from this number"),
    "blocks": (10, "rounds: every table (set of bots) plays one block in each"),
    "schedule": ("round_robin", "who meets whom"),
    "opening": ("random:2", 'or "none"; by default what suits each game'),
    "forfeit_limit": (10, "forfeits from which a bot is disqualified on a board"),
}
"""Keys of the first part of a file, each with the value of a line that is commented out, and what it means."""


def check_complete(options: TournamentOptions, remedy: str) -> None:
    """Raise `ConfigError` that names what is missing."""
    if missing := [f"--{name}" for name in ("game", "bots") if not getattr(options, name)]:
        raise ConfigError(f"{' and '.join(missing)}: missing; {remedy}")


def config_data(options: TournamentOptions, home: Path | None, folder: Path | None = None) -> dict[str, Any]:
    """Return the configuration that options describe, with bots' paths relative to a folder, else as they are."""
    data = {key: getattr(options, key) for key in KEY_COMMENTS if getattr(options, key, None) is not None}
    games = [engine.game_type(spec) for spec in joined(options.game, GAME_SEPARATOR)]
    bots = [_checked(spec, home, folder) for spec in joined(options.bots, BOT_SEPARATOR)]
    entering = sum(len(entrants_of_entry(BotEntry(bot=spec))) for spec in bots)
    wanted = None if options.players is None else _numbers(options.players)
    boards: list[dict[str, Any]] = []
    for spec, kind in zip(joined(options.game, GAME_SEPARATOR), games, strict=True):
        allowed = range(kind.min_players, kind.max_players + 1)
        most = max(kind.min_players, min(kind.max_players, entering))
        players = range(kind.min_players, most + 1) if wanted is None else wanted
        playable = [number for number in players if number in allowed] if len(games) > 1 else list(players)
        boards.append({"game": spec, "players": playable or list(players)})
    numbers = [number for board in boards for number in board["players"]]
    data.setdefault("name", "_".join(dict.fromkeys(kind.name for kind in games))[:64])
    data.setdefault("blocks", usual_blocks(entering, numbers))
    level = {} if options.isolation is None else {"isolation": options.isolation}
    data |= {"games": boards, "bots": [{"bot": bot} | level for bot in bots]}
    if options.seconds_per_move is not None:
        data["limits"] = {"seconds_per_move": options.seconds_per_move}
    config_from(data, "options")
    return data


def usual_blocks(bots: int, players: Sequence[int]) -> int:
    """Return a number of blocks with about `MATCHES_PER_BOT` matches of each bot on the board with the fewest."""
    fewest = max(1, min(number * comb(max(bots - 1, 0), number - 1) for number in players))
    return max(10, -(-MATCHES_PER_BOT // (10 * fewest)) * 10)


GAME_SEPARATOR = re.compile(r",(?![^(]*\))")
"""A comma between games, not between the options of one."""
BOT_SEPARATOR = re.compile(r",(?!\s*\w+=)(?![^\[]*\])")
"""A comma between bots, not between the parameters of one or the values of a list."""


def joined(texts: Sequence[str] | None, comma: re.Pattern[str]) -> list[str]:
    """Return what an option names that may be repeated, and may hold several joined by commas."""
    return [part.strip() for text in texts or () for part in comma.split(text)]


def _numbers(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", part)
        numbers = range(int(ends[1]), int(ends[2] or ends[1]) + 1) if ends else range(0)
        if not numbers:
            raise ConfigError(f"--players {text}: write 2, or 2,3, or 2-4")
        found += numbers
    return list(dict.fromkeys(found))


def _checked(spec: str, home: Path | None, folder: Path | None) -> str:
    """Return a bot's spec with its path relative to a folder; raises an `ArenaError` where there is no such bot."""
    first = entrants_of_entry(BotEntry(bot=spec))[0].entry.bot
    source, _ = find_source(first, home=home)  # a model is searched for where the configuration is
    if source.submitted or not (source.is_program or source.origin.endswith(".py")) or folder is None:
        return spec
    name, colon, rest = spec.partition(":")
    if not os.path.isabs(name):
        above, last = os.path.split(os.path.normpath(name))
        name = os.path.relpath(os.path.join(os.path.realpath(above), last), os.path.realpath(folder))
    return f"{name if '/' in name else f'./{name}'}{colon}{rest}"


def _comments() -> Iterator[tuple[str, tuple[Any, str]]]:
    """Yield `KEY_COMMENTS`, with the keys of all kinds of schedules behind them."""
    for key, (usual, comment) in KEY_COMMENTS.items():
        if key != "schedule":
            yield key, (usual, comment)
            continue
        yield key, (usual, f"or {', '.join(json.dumps(kind.kind) for kind in kinds() if kind.kind != usual)}")
        for kind in kinds():
            yield from kind.hints.items()


def _advice() -> list[str]:
    """Return as comments, below the schedule's, what each kind is chosen for."""
    return [f"{'':31}  # {kind.kind}: {kind.purpose}" for kind in kinds() if kind.purpose]


def config_text(data: dict[str, Any], path: Path) -> str:
    """Return a configuration as commented TOML."""

    def line(key: str, value: object, comment: str, out: bool = False) -> str:
        text = json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")
        return f"{'# ' * out}{key} = {text}".ljust(31) + f"  # {comment}" if comment else f"{key} = {text}"

    lines = [
        f"# A tournament, or what is missing of it, is played by:  arena run {shlex.quote(str(path))}",
        "# Lines that begin with # have no effect. `arena run` refuses keys that it does not know.",
        *(line(key, data.get(key, usual), comment, key not in data) for key, (usual, comment) in _comments()),
    ]
    at = next(number for number, text in enumerate(lines) if text.removeprefix("# ").startswith("schedule ="))
    lines[at + 1 : at + 1] = _advice()
    for game in data["games"]:
        lines += ["", "[[games]]", line("game", game["game"], 'or with options: "epicycle(setup=random)"')]
        lines += [line("players", game["players"], "a board and a leaderboard for each number")]
    for number, bot in enumerate(data["bots"]):
        comment = "name, name:key=value, file.py or a program's folder" if number == 0 else ""
        lines += ["", "[[bots]]", *(line(key, value, comment if key == "bot" else "") for key, value in bot.items())]
    limits = data.get("limits", {})
    lines += ["", "# " * (not limits) + "[limits]"]
    seconds = limits.get("seconds_per_move", 60.0)
    lines += [line("seconds_per_move", seconds, "more is a timeout: the seat forfeits", not limits)]
    lines += [line("memory", 1024, "MiB for a bot's process", True)]
    return "\n".join(lines) + "\n"


def named_config(options: TournamentOptions, home: Path | None) -> tuple[dict[str, Any], Path, str]:
    """Return the configuration that a run without a file plays, its file beside the results, and the text to write.

    A tournament that was played with the same options is resumed, with no text to write. Another one's folder is left
    alone: the next free name is taken, or with a name in the options, `ConfigError` raised.
    """
    check_complete(options, "name a CONFIG, or what to play: arena run --game epicycle --bots random,greedy")
    first = config_data(options, home)
    for number in itertools.count(1):
        name = first["name"] if number == 1 else f"{first['name'][:58]}-{number}"
        folder = home_folder(home) / name
        path = folder / CONFIG_NAME
        data = config_data(replace(options, name=name), home, folder)
        there = read_toml(path) if path.exists() else None
        if there != data and (there is not None or folder.exists()):
            if options.name is None:
                continue
            raise ConfigError(f"--name {name}: {folder} holds another tournament; choose another name")
        return first | {"name": name}, path, "" if there else config_text(data, path)
    raise AssertionError


def print_init(file: Path, tournament: TournamentOptions, force: bool, home: Path | None) -> None:
    """Run `arena init`."""
    if file.exists() and not force:
        raise ConfigError(f"{file}: exists already; --force replaces it, or name another file")
    asked = asked_for(tournament, home) if sys.stdin.isatty() and sys.stdout.isatty() else tournament
    check_complete(asked, "without a terminal there is nobody to ask")
    text = config_text(config_data(asked, home, file.parent), file)
    write_file(file, [text.encode()])
    print_text(f"{file} is written.")
    if home is None and nearest_home_file() is None and not os.environ.get("ARENA_HOME"):
        path = write_file(file.parent / HOME_FILE, [HOME_TEXT.encode()])
        print_text(f"{path} is written: results of all folders below it go to {DEFAULT_HOME}/ beside it.")
    print(f"Next:\n  arena run {shlex.quote(str(file))}")


HOME_TEXT = f"""\
# The home of tournaments and submitted bots for this folder and all below it; a path is relative to this file.
home = "{DEFAULT_HOME}"
"""


def asked_for(options: TournamentOptions, home: Path | None) -> TournamentOptions:
    """Return options with those that are missing asked for on the terminal, a few times where an answer will not do."""
    questions: dict[str, tuple[str, Callable[[], Any]]] = {
        "game": (f"Game ({', '.join(engine.game_names())})", lambda: None),
        "bots": ("Bots, joined by commas; one of your own as my_bot.py", lambda: DEFAULT_BOTS),
        "players": ("Numbers of players", lambda: ",".join(map(str, planned()["games"][0]["players"]))),
        "name": ("Name", lambda: planned()["name"]),
    }

    def planned() -> dict[str, Any]:
        return config_data(replace(options, bots=options.bots or [DEFAULT_BOTS]), home)

    for name, (question, default) in questions.items():
        before, refused = options, 0
        while not getattr(options, name):
            try:
                answer = typer.prompt(question, default=default())
            except typer.Abort:  # the question's line is not ended
                print()
                raise
            answered: dict[str, Any] = {name: [answer] if name in ("game", "bots") else answer}
            options = replace(before, **answered)
            try:
                planned()
            except (ArenaError, engine.EngineError) as error:
                refused += 1
                if refused == MAX_ATTEMPTS:  # what is wrong may be an option that was given, and is not asked for
                    raise
                print_to_stderr(str(error).removeprefix("options: "))
                options = before
    return options
