"""Commands that play matches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.cli.arguments import AsJson, Group, Home, Html, Isolation, Open, Opening, TournamentOptions, Workers

app = Group("Play")
SameRules = Annotated[
    bool,
    typer.Option("--same-rules", help="Matches count, though the sources of a plug-in game's rules have changed."),
]


@app.calls("running:run_tournament", plays=True, epilog="Example: arena run configs/demo.toml --workers 4")
def run(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="CONFIG", help="The TOML file of a tournament. Without it, say what to play."),
    ] = None,
    tournament: TournamentOptions = TournamentOptions(),  # noqa: B008 - it is frozen
    workers: Workers = None,
    backend: Annotated[
        Literal["auto", "local", "ray"] | None,
        typer.Option(help="auto: Ray joins when it pays, or can be joined. Default: ray with --address, else auto."),
    ] = None,
    address: Annotated[str | None, typer.Option(help="A Ray cluster: HOST:PORT of its head, or auto.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Set the old log aside and play everything again.")] = False,
    home: Home = None,
    report: Annotated[
        bool | None,
        typer.Option("--report/--no-report", help="Write the report. Default: as the configuration says, or yes."),
    ] = None,
    dataset: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write a dataset of all decisions there. Default: as the configuration says, or none."
        ),
    ] = None,
    same_rules: SameRules = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse withdrawn bots; exit with 1 if a bot has forfeited a match.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the leaderboards.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say why bots do not play on some boards.")] = False,
) -> None:
    """Play a tournament, or resume it, and print its leaderboards.

    Matches that are in the log already are not played again. Leaderboards and the report, a page with all
    figures, are written beside the log. Without CONFIG,
    --game and --bots say what to play, and the configuration is written there too.
    """


@app.calls("new_config:print_init", epilog="Example: arena init --game epicycle --bots random,greedy,my_bot.py")
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path("tournament.toml"),
    tournament: TournamentOptions = TournamentOptions(),  # noqa: B008 - it is frozen
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    home: Home = None,
) -> None:
    """Write the configuration of a tournament, with comments.

    On a terminal it asks for what the options leave open. Where no arena.toml is found, it writes one too, so that
    commands in folders below find the same results.
    """


@app.calls("matches:print_match", plays=True, epilog="Example: arena match epicycle perfect greedy --seed 7 --show")
def match(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game spec: epicycle or 'epicycle(setup=random)'.")],
    bots: Annotated[
        list[str], typer.Argument(metavar="BOT", help="Bots by seat: name, name:key=value, file.py or folder.")
    ],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the match. Default: 0, or random with sandboxed bots.")
    ] = None,
    opening: Opening = None,
    isolation: Isolation = None,
    show: Annotated[bool, typer.Option("--show", help="Draw the position after every ply.")] = False,
    html: Html = None,
    open: Open = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Play one match and print it."""


@dataclass(frozen=True)
class TableOptions:
    """Options of `arena play` about the table."""

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


@app.calls("playing:play", epilog="Example: arena play magic_mids --against greedy --against uct:simulations=5000")
def play(
    game: Annotated[
        str | None, typer.Argument(metavar="GAME", help="A game spec. Without it, choose in the browser.")
    ] = None,
    options: TableOptions = TableOptions(),
    terminal: Annotated[bool, typer.Option("--terminal", help="Play here in plain text, without a browser.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the pages; 0 takes any free one.")] = 0,
    open: Annotated[bool, typer.Option("--open/--no-open", help="Open the table in a browser.")] = True,
    home: Home = None,
) -> None:
    """Play against bots, in the browser or the terminal.

    You have one seat, the bots the others; the last bot named takes all seats that are left. Ctrl-C ends the table.
    """


@dataclass(frozen=True)
class MatchupOptions:
    """Options of `arena compare` about what is played, as `arena.runner.options.Matchup` has them."""

    a: Annotated[str, typer.Argument(metavar="A", help="A bot: name, name:key=value, file.py or folder.")]
    b: Annotated[str, typer.Argument(metavar="B", help="Another bot.")]
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


@dataclass(frozen=True)
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


@app.calls(
    "comparing_logs:compare",
    plays=True,
    epilog="Example: arena compare greedy random --game pyramid_punch --players 3 --with random",
)
def compare(
    matchup: MatchupOptions,
    stop: StopOptions,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="CONFIG|DB", help="Play nothing: compare labels A and B by the matches of this log."
        ),
    ] = None,
    workers: Workers = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 10 if A is stronger, 11 if B is, 12 if that is undecided.")
    ] = False,
    as_json: AsJson = False,
    same_rules: SameRules = False,
    home: Home = None,
) -> None:
    """Play two bots against each other until a test decides.

    The test is a sequential probability ratio test (SPRT); in every block of matches the bots swap seats.
    With --from, two bots of any log are compared by the matches that it has of both, foreign results too.
    """


@app.calls("matches:print_replay", plays=True, epilog="Example: arena replay 3f9a0c27-1 --in configs/demo.toml --audit")
def replay(
    match_id: Annotated[
        str, typer.Argument(metavar="MATCH_ID|FILE", help="A match id, its first part may be shortened; or a file.")
    ],
    target: Annotated[
        str | None, typer.Option("--in", metavar="CONFIG|DB", help="Tournament to search. Default: all under --home.")
    ] = None,
    audit: Annotated[bool, typer.Option("--audit", help="Recompute every roll and random move from the keys.")] = False,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Draw the position after every ply.")] = True,
    match: Annotated[str | None, typer.Option(help="Id of the match in a file to draw. Default: check all.")] = None,
    html: Html = None,
    open: Open = False,
    home: Home = None,
) -> None:
    """Replay a match from a log or an exported file, without bots."""
