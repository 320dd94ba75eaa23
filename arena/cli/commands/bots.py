"""Commands about bots and games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.cli.arguments import AsJson, BotPath, CheckIsolation, Group, Home
from arena.isolation import SUBMITTED_LEVEL

app = Group("Bots and games")


@app.command(epilog="Example: arena games epicycle")
def games(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help="A game to describe.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the games, or describe one: options, players, credits."""
    from arena.cli.bots import print_games

    print_games(game, as_json)


@app.command(epilog="Example: arena rules epicycle")
def rules(game: Annotated[str, typer.Argument(metavar="GAME", help="A game, of a plug-in too.")]) -> None:
    """Show the rules of a game, and how its actions are written."""
    from arena.cli.rules import print_rules

    print_rules(game)


@app.command("check-game", epilog="Example: arena check-game epicycle --players 2")
def check_game(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game spec, of a plug-in or another library too.")],
    players: Annotated[list[int] | None, typer.Option(help="Only this number; may be repeated.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random matches.")] = 0,
    time_limit: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="Seconds for one check, which fails when it takes longer.")
    ] = 120,
    out: Annotated[Path | None, typer.Option(help="Write the findings as a page, one HTML file.")] = None,
    as_json: AsJson = False,
) -> int:
    """Check a game by random matches and report what fails.

    The contract of games is checked for every number of players, a failure told with the seed and plies that show it.
    Exit code 1 if anything fails.
    """
    from arena.cli.checking_games import print_check_game

    return print_check_game(game, players, seed, time_limit, out, as_json)


@app.command(epilog="Example: arena bots flat_mc")
def bots(
    bot: Annotated[
        str | None, typer.Argument(metavar="BOT", help="A bot to describe: name, file, or program's folder.")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List built-in and submitted bots, or describe one."""
    from arena.cli.bots import print_bots

    print_bots(bot, as_json, home)


@app.command(epilog="Example: arena train magic_mids --players 2 --matches 2000 --out mids.npy")
def train(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game spec, of a plug-in too.")],
    players: Annotated[int, typer.Option(min=2, help="Number of players.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the matches.")] = 0,
    matches: Annotated[int, typer.Option(min=1, max=1_000_000_000, help="Matches to learn from.")] = 100_000,
    rate: Annotated[float, typer.Option(min=0, max=100, help="How far an error of 1 moves a value at first.")] = 1.0,
    decay: Annotated[float, typer.Option(min=0, max=1, help="Lambda: 0 = next valuation, 1 = end of match.")] = 0.8,
    exploration: Annotated[float, typer.Option(min=0, max=1, help="Share of actions made at random.")] = 0.05,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.npy", help="Where to write. Default: where bots look for the weights.")
    ] = None,
) -> int:
    """Learn to value the states of a game by self-play.

    The game's heuristics give the features. The same command gives the same weights, bit for bit; a record of it is
    written beside them.
    """
    from arena.cli.training import print_train

    return print_train(game, players, seed, matches, rate, decay, exploration, out)


@app.command("init-bot", epilog="Example: arena init-bot my_bot --game epicycle --language c")
def init_bot(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and _, such as my_bot.")],
    game: Annotated[str | None, typer.Option(help="The game it plays. Default: every game.")] = None,
    language: Annotated[Literal["python", "node", "c"], typer.Option(help="What it is written in.")] = "python",
) -> None:
    """Write the source of a simple bot to start from.

    Writes NAME.py, or a folder NAME with a program in another language.
    """
    from arena.cli.submitting import print_init_bot

    print_init_bot(name, game, language)


@app.command(epilog="Example: arena check my_bot.py --game epicycle")
def check(
    path: BotPath,
    isolation: CheckIsolation = SUBMITTED_LEVEL,
    game: Annotated[list[str] | None, typer.Option(help="Only this game; may be repeated.")] = None,
    players: Annotated[list[int] | None, typer.Option(help="Only this number; may be repeated.")] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> int:
    """Play short matches with a bot and report what fails.

    Every game, variant and number of players that the bot supports is tried. Exit code 1 if anything fails.
    """
    from arena.cli.submitting import print_check

    return print_check(path, isolation, game, players, as_json, home)


@app.command(epilog="Example: arena submit my_bot.py --name my_bot --author Ann")
def submit(
    path: BotPath,
    name: Annotated[
        str | None, typer.Option(help="Name of the bot in tournaments. With --to by default that of the one you have.")
    ] = None,
    author: Annotated[str | None, typer.Option(help="Name of its author; with --to the token tells it.")] = None,
    isolation: CheckIsolation = SUBMITTED_LEVEL,
    game: Annotated[
        list[str] | None, typer.Option(help="Check it on this game only; may be repeated. Default: all it plays.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Hand it in to the contest at this address; ARENA_TOKEN signs in."),
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> int:
    """Check a bot and keep its source, or hand it in to a contest.

    Tournaments under the same home find a kept bot by its name. Submitting a name again adds a version. Contests are on
    servers: --to.
    """
    if to is not None:
        from arena.cli.handing_in import print_hand_in

        return print_hand_in(path, to, name, as_json)
    from arena.cli.submitting import print_submit

    if name is None or author is None:
        missing = "--name" if name is None else "--author"
        from arena.core.errors import ConfigError

        raise ConfigError(f"{missing}: is missing; a bot is submitted under a name, by an author")
    return print_submit(path, name, author, isolation, game, as_json, home)


@app.command(epilog="Example: arena withdraw my_bot")
def withdraw(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A submitted bot.")],
    home: Home = None,
) -> None:
    """Exclude a submitted bot from new tournaments.

    Configurations that name it go on without it. Its sources stay, so that old tournaments can go on with NAME@HASH.
    """
    from arena.cli.submitting import print_withdraw

    print_withdraw(name, home)
