"""Commands about this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.arguments import AsJson, Group, Home, Workers

app = Group("Machine")


@app.command(epilog="Example: arena doctor")
def doctor(
    address: Annotated[
        str | None,
        typer.Option(help="HOST:PORT of a Ray cluster's head, or auto: compare its nodes with this machine."),
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> int:
    """Check that this machine has what the arena needs.

    Exit code 1 if something is missing.
    """
    from arena.cli.doctor import print_findings

    return print_findings(address=address, as_json=as_json, home=home)


@app.command(epilog="Example: arena warm epicycle midgard --bot uct")
def warm(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="GAME", help="Game specs. Default: all installed games.")
    ] = None,
    bots: Annotated[
        list[str] | None, typer.Option("--bot", metavar="BOT", help="A bot; may be repeated. Default: all built-in.")
    ] = None,
    workers: Workers = None,
    home: Home = None,
) -> None:
    """Compile games and bots ahead of the first run.

    For images and clusters. Code that was compiled before is left as it is. The folder is that of `arena doctor`, or
    ARENA_CACHE.
    """
    from arena.cli.warming import compile_ahead

    compile_ahead(games, bots, workers, home)


@app.command(epilog="Example: arena backup arena-monday.zip")
def backup(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; it must not exist.")],
    as_json: AsJson = False,
    home: Home = None,
) -> int:
    """Back up a home into one file, while it is in use.

    It has all logs, accounts and submitted bots, and is as secret as the home itself. Exit code 1 if a database could
    not be read; its bytes are in the backup then.
    """
    from arena.cli.backing_up import print_backup

    return print_backup(out, as_json, home)


@app.command(epilog="Example: arena restore arena-monday.zip --home restored")
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of `arena backup`.")],
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Restore a backup into a home that is empty or new."""
    from arena.cli.backing_up import print_restored

    print_restored(file, as_json, home)
