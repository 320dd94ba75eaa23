"""Registering of commands; arguments and options that several of them share."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arena.cli.completion import COMPLETIONS
from arena.isolation import Isolation as Level

if TYPE_CHECKING:
    from arena.core.adjudication import AdjudicationRules
    from arena.web.addresses import Addresses


class Group(typer.Typer):
    """Commands under one heading of `arena --help`."""

    def __init__(self, heading: str) -> None:
        super().__init__()
        self.heading = heading

    def command(self, name: str | None = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
        """Register a command. The fields of a parameter that is a dataclass are arguments and options of their own."""

        def register(function: Callable[..., Any]) -> Any:
            parameters: list[inspect.Parameter] = []
            groups: dict[str, Any] = {}
            for parameter in inspect.signature(function, eval_str=True).parameters.values():
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
                return function(**given)

            named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
            carry_out.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]  # read by `inspect.signature`
            carry_out.__name__, carry_out.__doc__ = function.__name__, function.__doc__
            super(Group, self).command(name, rich_help_panel=self.heading, **options)(carry_out)
            return function

        return register


def _folder(text: str) -> Path:
    """Return a path; an empty one, as of a variable that is not set, is refused rather than taken as this folder."""
    if not text:
        raise typer.BadParameter("is empty; name a folder")
    return Path(text)


Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        parser=_folder,
        metavar="<path>",
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
class BoardOptions:
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
        str | None,
        typer.Option(
            help="Who meets whom: round_robin, swiss, knockout, pyramid, adaptive, gauntlet:challenger=BOT, or a "
            "plug-in's kind. Default: round_robin."
        ),
    ] = None
    opening: Opening = None
    isolation: Isolation = None
    seconds_per_move: Annotated[float | None, typer.Option(help="Limit of a move. Default: 60.")] = None


@dataclasses.dataclass(frozen=True)
class SessionOptions:
    """Options of `arena play` about the match."""

    against: Annotated[
        list[str] | None,
        typer.Option(metavar="BOT", help="Bots in the other seats, in order; may be repeated. Default: greedy."),
    ] = None
    players: Annotated[int | None, typer.Option(help="Number of players. Default: you and the bots named.")] = None
    seat: Annotated[int, typer.Option(min=0, help="Your seat; 0 moves first.")] = 0
    name: Annotated[str | None, typer.Option(help="Your name at the table.")] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the dice. Default: drawn at random.")] = None
    opening: Annotated[str | None, typer.Option(help="none, or random:k for k random plies. Default: none.")] = None
    position: Annotated[str | None, typer.Option(help="Position string to start from.")] = None
    minutes: Annotated[float, typer.Option(min=0, max=1440, help="Minutes on your clock; 0 for none.")] = 0.0
    increment: Annotated[float, typer.Option(min=0, max=3600, help="Seconds added after each of your moves.")] = 0.0
    keep: Annotated[bool, typer.Option("--keep", help="Keep the match in a log of its own when it is over.")] = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class AdjudicationOptions:
    """Options about when matches are ended early, behind those of a class that inherits them; None where not given."""

    agreement: Annotated[
        int | None, typer.Option(help="End matches after so many evaluations of every bot with the same places.")
    ] = None
    threshold: Annotated[float | None, typer.Option(help="How sure --agreement has to be. Default: 0.95.")] = None
    certainty: Annotated[
        int | None, typer.Option(help="End matches when the referee's search of so many positions proves them.")
    ] = None

    def rules(self) -> AdjudicationRules | None:
        """Return the rules that are asked for; raises `ConfigError`."""
        from arena.plan.config import Adjudication

        given = {name: getattr(self, name) for name in Adjudication.model_fields}
        given = {name: value for name, value in given.items() if value is not None}
        return Adjudication.checked(**given) if given else None

    def others(self) -> dict[str, Any]:
        """Return what other options say, by name; without those that were not given."""
        rules = {field.name for field in dataclasses.fields(AdjudicationOptions)}
        return {name: value for name, value in vars(self).items() if name not in rules and value is not None}


@dataclasses.dataclass(frozen=True)
class MatchupOptions(AdjudicationOptions):
    """Options of `arena compare` about what is played, as `arena.runner.options.Matchup` has them."""

    a: Annotated[str, typer.Argument(metavar="A", help="A bot: name, name:key=value, file.py or folder.")]
    b: Annotated[str | None, typer.Argument(metavar="[B]", help="Another bot. With --from by default all others.")] = (
        None
    )
    game: Annotated[str | None, typer.Option(help="A game spec. Needed unless --from says it.")] = None
    players: Annotated[int | None, typer.Option(help="Number of players. Default: the fewest of the game.")] = None
    fillers: Annotated[
        list[str] | None, typer.Option("--with", metavar="BOT", help="Bot for the other seats; may be repeated.")
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the comparison. Default: 0.")] = None
    opening: Opening = None
    isolation: Isolation = None
    common_dice: Annotated[
        bool, typer.Option("--common-dice", help="Share dice within blocks also with untrusted bots.")
    ] = False
    name: Annotated[
        str | None, typer.Option(help="Name of the comparison for other commands. Default: made of board and bots.")
    ] = None


@dataclasses.dataclass(frozen=True)
class TuneOptions(AdjudicationOptions):
    """Options of `arena tune` about what is tuned and played; None where nothing was said."""

    bot: Annotated[str, typer.Argument(metavar="BOT", help="A bot: name, name:key=value, file.py or folder.")]
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=LOW:HIGH", help="A parameter and its range, :log behind it; may be repeated."),
    ] = None
    game: Annotated[list[str] | None, typer.Option(help="A game spec; may be repeated.")] = None
    players: Annotated[
        str | None, typer.Option(help="Numbers of players: 2, or 2,3. Default: the fewest of each game.")
    ] = None
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BOT", help="Bot for other seats, with three players and more; may be repeated. Default: BOT."
        ),
    ] = None
    method: Annotated[
        Literal["spsa", "optuna"] | None,
        typer.Option(help="spsa, or optuna: a Bayesian search, by an optional library. Default: spsa."),
    ] = None
    iterations: Annotated[int | None, typer.Option(help="Number of iterations. Default: 100.")] = None
    blocks: Annotated[int | None, typer.Option(help="Blocks of an iteration on each board. Default: 32.")] = None
    final_blocks: Annotated[
        int | None, typer.Option(help="Blocks of the result against the start on each board. Default: 1,000.")
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the run. Default: 0.")] = None
    opening: Opening = None
    isolation: Isolation = None
    step: Annotated[float | None, typer.Option(help="spsa: length of steps, in ranges. Default: 0.4.")] = None
    reach: Annotated[
        float | None, typer.Option(help="spsa: distance of plus and minus from the present point. Default: 0.2.")
    ] = None
    name: Annotated[str | None, typer.Option(help="Name of the log. Default: tune-BOT.")] = None


@dataclasses.dataclass(frozen=True)
class StopOptions:
    """Options of `arena compare` about when it ends; None where nothing was said."""

    elo0: Annotated[float | None, typer.Option(help="H0: A is stronger than B by at most this Elo. Default: 0.")] = None
    elo1: Annotated[float | None, typer.Option(help="H1: A is stronger by at least this Elo. Default: 30.")] = None
    alpha: Annotated[float | None, typer.Option(help="Probability of accepting H1 when H0 is true. Default: 0.05.")] = (
        None
    )
    beta: Annotated[float | None, typer.Option(help="Probability of accepting H0 when H1 is true. Default: 0.05.")] = (
        None
    )
    model: Annotated[
        Literal["logistic", "normalized"] | None, typer.Option(help="Elo model of elo0 and elo1. Default: logistic.")
    ] = None
    fixed: Annotated[int | None, typer.Option(help="Play this number of blocks, without a test.")] = None
    max_blocks: Annotated[
        int | None, typer.Option(help="Stop undecided after this number of blocks. Default: 10,000.")
    ] = None


@dataclasses.dataclass(frozen=True)
class ServeOptions:
    """Where pages are served, and to whom."""

    host: Annotated[
        str, typer.Option(help="Address to listen on; anything but this machine's own lets others read all pages.")
    ] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free one.")] = 8000
    open: Annotated[bool, typer.Option("--open", help="Open the pages in a browser.")] = False
    public_url: Annotated[
        str,
        typer.Option(metavar="URL", help="Address by which others reach it, through a proxy: https://arena.example."),
    ] = ""
    root_path: Annotated[
        str, typer.Option(metavar="PATH", help="Path that a proxy puts it below. Default: that of --public-url.")
    ] = ""
    allowed_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Another name, or name:port, that requests may use.")
    ] = None
    forwarded_from: Annotated[
        list[str] | None,
        typer.Option(metavar="NETWORK", help="Address or network of a proxy whose forwarded headers count."),
    ] = None
    metrics_from: Annotated[
        list[str] | None, typer.Option(metavar="NETWORK", help="Who may see /metrics, besides this machine.")
    ] = None
    log_format: Annotated[
        Literal["off", "text", "json"], typer.Option(help="Lines on standard error, one a request.")
    ] = "off"

    @property
    def addresses(self) -> Addresses:
        """The names of the server; raises `ConfigError`."""
        from arena.web.addresses import addresses_of

        others = (self.allowed_host or (), self.forwarded_from or (), self.metrics_from or ())
        return addresses_of(self.host, self.port, self.public_url, self.root_path, *others)
