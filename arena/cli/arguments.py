"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None,
    typer.Option("--home", envvar="ARENA_HOME", help="Folder of tournaments and submitted bots. Default: reports/."),
]
Target = Annotated[
    str, typer.Argument(metavar="CONFIG|DB", help="A configuration, a tournament's name or folder, or its matches.db.")
]
Game = Annotated[str | None, typer.Option(help="Only this game.")]
Players = Annotated[int | None, typer.Option(help="Only this number of players.")]
Format = Annotated[str, typer.Option(help="table, csv, json or md.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BotPath = Annotated[
    str, typer.Argument(metavar="PATH", help="file.py, file.py:ClassName, or a folder with a bot.toml.")
]
CheckIsolation = Annotated[str, typer.Option(help="Isolation of the bot in the check: sandbox, process or none.")]
Isolation = Annotated[
    str | None,
    typer.Option(help="Isolation of all bots: sandbox, process or none. Default: that of each bot."),
]
Opening = Annotated[str | None, typer.Option(help="none, or random:k for k random plies. Default: that of the game.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Number of worker processes. Default: one per core.")]
