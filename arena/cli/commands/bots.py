"""Commands about bots and games."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from arena.cli.arguments import BotPath, CheckIsolation, Home

app = typer.Typer()
command = partial(app.command, rich_help_panel="Bots and games")


@command(epilog="Example: arena games epicycle")
def games(game: Annotated[str | None, typer.Argument(metavar="GAME", help="A game to describe.")] = None) -> None:
    """List the games, or describe one: options, players, credits."""
    from arena.cli.bots import print_games

    print_games(game)


@command(epilog="Example: arena bots flat_mc")
def bots(
    bot: Annotated[
        str | None, typer.Argument(metavar="BOT", help="A bot to describe: name, file.py:ClassName, or bot.toml.")
    ] = None,
    home: Home = None,
) -> None:
    """List built-in and submitted bots, or describe one."""
    from arena.cli.bots import print_bots

    print_bots(bot, home)


@command("init-bot", epilog="Example: arena init-bot my_bot --game epicycle --language c")
def init_bot(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and _, such as my_bot.")],
    game: Annotated[str | None, typer.Option(help="The game it plays. Default: every game.")] = None,
    language: Annotated[str, typer.Option(help="python, node or c.")] = "python",
) -> None:
    """Write the source of a simple bot to start from.

    Writes NAME.py, or a folder NAME with a program in another language.
    """
    from arena.cli.submitting import print_init_bot

    print_init_bot(name, game, language)


@command(epilog="Example: arena check my_bot.py --game epicycle")
def check(
    path: BotPath,
    isolation: CheckIsolation = "sandbox",
    game: Annotated[list[str] | None, typer.Option(help="Only this game; may be repeated.")] = None,
    players: Annotated[list[int] | None, typer.Option(help="Only this number; may be repeated.")] = None,
    home: Home = None,
) -> None:
    """Play short matches with a bot and report what fails.

    Every game and number of players that the bot supports is tried. Exit code 1 if anything fails.
    """
    from arena.cli.submitting import print_check

    raise typer.Exit(print_check(path, isolation, game or [], players or [], home))


@command(epilog="Example: arena submit my_bot.py --name my_bot --author Ann")
def submit(
    path: BotPath,
    name: Annotated[str, typer.Option(help="Name of the bot in tournaments.")],
    author: Annotated[str, typer.Option(help="Name of its author.")],
    isolation: CheckIsolation = "sandbox",
    home: Home = None,
) -> None:
    """Check a bot and keep its source for tournaments.

    Tournaments under the same home find it by its name. Submitting a name again adds a version.
    """
    from arena.cli.submitting import print_submit

    raise typer.Exit(print_submit(path, name, author, isolation, home))


@command(epilog="Example: arena withdraw my_bot")
def withdraw(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A submitted bot.")],
    home: Home = None,
) -> None:
    """Exclude a submitted bot from new tournaments.

    Its sources stay, so that old tournaments can go on.
    """
    from arena.cli.submitting import print_withdraw

    print_withdraw(name, home)
