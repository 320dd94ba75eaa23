"""Commands that play matches."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.arguments import AsJson, Home, Isolation, Opening, Workers

app = typer.Typer()
command = partial(app.command, rich_help_panel="Play")


@command(epilog="Example: arena run configs/demo.toml --workers 4")
def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The TOML file of a tournament.")],
    workers: Workers = None,
    backend: Annotated[str, typer.Option(help="auto (Ray joins when it pays), local or ray.")] = "auto",
    address: Annotated[str | None, typer.Option(help="A Ray cluster: HOST:PORT of its head, or auto.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Set the old log aside and play everything again.")] = False,
    home: Home = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the leaderboards.")] = False,
) -> None:
    """Play a tournament, or resume it, and print its leaderboards.

    Matches that are in the log already are not played again. Leaderboards are written beside the log.
    """
    from arena.cli.running import run_tournament

    raise typer.Exit(run_tournament(config, workers, backend, address, fresh, home, quiet))


@command(epilog="Example: arena match epicycle perfect greedy --seed 7 --show")
def match(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game spec: epicycle or 'epicycle(setup=random)'.")],
    bots: Annotated[
        list[str], typer.Argument(metavar="BOT", help="Bots by seat: name, name:key=value, file.py:Class or bot.toml.")
    ],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the match. Default: 0, or random with sandboxed bots.")
    ] = None,
    opening: Opening = None,
    isolation: Isolation = None,
    show: Annotated[bool, typer.Option("--show", help="Draw the position after every ply.")] = False,
    home: Home = None,
) -> None:
    """Play one match and print it."""
    from arena.cli.matches import print_match

    print_match(game, bots, seed, opening, isolation, show, home)


@command(epilog="Example: arena compare greedy random --game pyramid_punch --players 3 --with random")
def compare(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", help="A bot: name, name:key=value, file.py:Class or bot.toml.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another bot.")],
    game: Annotated[str, typer.Option(help="A game spec.")],
    players: Annotated[int | None, typer.Option(help="Number of players. Default: the fewest of the game.")] = None,
    fillers: Annotated[
        list[str] | None, typer.Option("--with", metavar="BOT", help="Bot for the other seats; may be repeated.")
    ] = None,
    elo0: Annotated[float, typer.Option(help="H0: A is stronger than B by at most this Elo.")] = 0.0,
    elo1: Annotated[float, typer.Option(help="H1: A is stronger than B by at least this Elo.")] = 30.0,
    alpha: Annotated[float, typer.Option(help="Probability of accepting H1 when H0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option(help="Probability of accepting H0 when H1 is true.")] = 0.05,
    model: Annotated[str, typer.Option(help="Elo model of elo0 and elo1: logistic or normalized.")] = "logistic",
    fixed: Annotated[int | None, typer.Option(help="Play this number of blocks, without a test.")] = None,
    max_blocks: Annotated[int, typer.Option(help="Stop undecided after this number of blocks.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the comparison.")] = 0,
    opening: Opening = None,
    isolation: Isolation = None,
    common_dice: Annotated[
        bool, typer.Option("--common-dice", help="Share dice within blocks also with untrusted bots.")
    ] = False,
    workers: Workers = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Play two bots against each other until a test decides.

    The test is a sequential probability ratio test (SPRT); in every block of matches the bots swap seats.
    """
    from arena.cli.comparing import print_comparison
    from arena.cli.output import isolation_of
    from arena.runner.options import Matchup, StopRule
    from arena.stats.sprt import Sprt

    of_test = ("elo0", "elo1", "alpha", "beta", "model", "max_blocks")
    given = [name for name in of_test if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"]
    if fixed is not None and given:
        raise typer.BadParameter(f"runs no test, so --{given[0].replace('_', '-')} has no effect", param_hint="--fixed")
    level = None if isolation is None else isolation_of(isolation)
    matchup = Matchup(a, b, game, players, fillers or [], seed, opening, level, common_dice)
    test = Sprt(elo0, elo1, alpha, beta, model) if fixed is None else None  # type: ignore[arg-type]  # `Sprt` checks it
    stop = StopRule(test, max_blocks if fixed is None else fixed)
    raise typer.Exit(print_comparison(matchup, stop, workers, as_json, home))


@command(epilog="Example: arena replay 3f9a0c27-1 --in configs/demo.toml --audit")
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
    home: Home = None,
) -> None:
    """Replay a match from a log or an exported file, without bots."""
    from arena.cli.matches import print_replay

    print_replay(match_id, target, audit, show, home, match)
