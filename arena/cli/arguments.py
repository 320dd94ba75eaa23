"""Registering of commands; arguments and options that several of them share."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from arena.cli.completion import COMPLETIONS
from arena.isolation import Isolation as Level


class Group(typer.Typer):
    """Commands under one heading of `arena --help`."""

    def __init__(self, heading: str) -> None:
        super().__init__()
        self.heading = heading

    def calls(
        self, place: str, name: str | None = None, epilog: str = "", plays: bool = False
    ) -> Callable[[Callable[..., Any]], Any]:
        """Register a declared command; it calls `module:function` below `arena.cli`, imported then, for its exit code.

        The function gets the parameters of the command by name. The fields of a parameter that is a dataclass are
        arguments and options of their own. For one that `plays`, what workers need is loaded meanwhile, unless it is
        told the `source` of matches that were played.
        """

        def register(declared: Callable[..., Any]) -> Any:
            parameters: list[inspect.Parameter] = []
            groups: dict[str, Any] = {}
            for parameter in inspect.signature(declared, eval_str=True).parameters.values():
                if dataclasses.is_dataclass(parameter.annotation):
                    groups[parameter.name] = kind = parameter.annotation
                    parameters += inspect.signature(kind, eval_str=True).parameters.values()  # type: ignore[arg-type]  # a class
                else:
                    parameters.append(parameter)

            for each in parameters:
                for info in getattr(each.annotation, "__metadata__", ()):
                    info.autocompletion = COMPLETIONS.get(each.name)

            def carry_out(**given: Any) -> Any:
                for option, kind in groups.items():
                    given[option] = kind(**{field.name: given.pop(field.name) for field in dataclasses.fields(kind)})
                if plays and given.get("source") is None:
                    from arena.workers.parent import preload  # other commands start without it

                    preload(*([(given["game"], len(given["bots"]))] if "bots" in given else []))
                module, _, function = place.partition(":")
                return getattr(importlib.import_module(f"arena.cli.{module}"), function)(**given)

            named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
            carry_out.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]  # read by `inspect.signature`
            carry_out.__name__, carry_out.__doc__ = declared.__name__, declared.__doc__
            return self.command(name, epilog=epilog, rich_help_panel=self.heading)(carry_out)

        return register


Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        envvar="ARENA_HOME",
        help="Folder of tournaments and submitted bots. Default: what the nearest arena.toml names, or reports/.",
    ),
]
Target = Annotated[
    str, typer.Argument(metavar="CONFIG|DB", help="A configuration, a tournament's name or folder, or its matches.db.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BotPath = Annotated[str, typer.Argument(metavar="PATH", help="A Python file, or a folder with a bot.toml.")]
CheckIsolation = Annotated[Level, typer.Option(help="Isolation of the bot in the check.")]
Isolation = Annotated[Level | None, typer.Option(help="Isolation of all bots. Default: that of each bot.")]
Opening = Annotated[str | None, typer.Option(help="none, or random:k for k random plies. Default: that of the game.")]
Html = Annotated[Path | None, typer.Option(help="Write the match as a page that is stepped through.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser. Default of --html: replays/ at home.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Number of worker processes. Default: one per core.")]


@dataclasses.dataclass(frozen=True)
class Boards:
    """Boards of a tournament, and how they are printed."""

    target: Target
    game: Annotated[str | None, typer.Option(help="Only this game.")] = None
    players: Annotated[int | None, typer.Option(help="Only this number of players.")] = None
    format: Annotated[Literal["table", "csv", "json", "md"], typer.Option(help="How to print tables.")] = "table"
    home: Home = None


@dataclasses.dataclass(frozen=True)
class TournamentOptions:
    """What a tournament is, for `arena run` without a file and `arena init`; None where nothing was said."""

    game: Annotated[list[str] | None, typer.Option(help="A game, or several joined by commas; may be repeated.")] = None
    players: Annotated[str | None, typer.Option(help="Numbers of players: 2, or 2,3, or 2-4. Default: all.")] = None
    bots: Annotated[
        list[str] | None,
        typer.Option(help="Bots joined by commas: name, name:key=value, file.py or folder; may be repeated."),
    ] = None
    name: Annotated[str | None, typer.Option(help="Name of the tournament. Default: that of the game.")] = None
    blocks: Annotated[
        int | None, typer.Option(help="Blocks of matches. Default: about 200 matches a bot on each board.")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed of the tournament. Default: 0.")] = None
    schedule: Annotated[
        Literal["round_robin", "gauntlet", "adaptive"] | None,
        typer.Option(help="Who meets whom. Default: round_robin."),
    ] = None
    challenger: Annotated[str | None, typer.Option(help="The bot of a gauntlet. Default: the first one.")] = None
    opening: Opening = None
    isolation: Isolation = None
    seconds_per_move: Annotated[float | None, typer.Option(help="Limit of a move. Default: 60.")] = None
