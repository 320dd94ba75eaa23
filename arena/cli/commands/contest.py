"""Commands about contests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.arguments import AsJson, Group, Home, ServeOptions, Workers

app = Group("Contests")
ContestName = Annotated[str, typer.Argument(metavar="CONTEST", help="Its name, as in its configuration.")]
Address = Annotated[str | None, typer.Option(help="HOST:PORT of a running Ray cluster's head, or auto.")]
Checks = Annotated[int | None, typer.Option(min=1, help="Bots that are checked at once. Default: one per two cores.")]


@app.command(epilog="Example: arena contest init configs/contests/cup.toml")
def init(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="TOML file of the contest.")],
    update: Annotated[
        bool, typer.Option("--update", help="Replace the configuration of a contest that is there.")
    ] = False,
    home: Home = None,
) -> None:
    """Make a contest from its configuration.

    Prints an organiser's invitation when the home has no organiser, and the hash of the final's secret key.
    """
    from arena.cli.contests import init_contest

    init_contest(config, update, home)


@app.command(epilog="Example: arena contest serve --port 8000")
def serve(
    options: ServeOptions, workers: Workers = None, checks: Checks = None, address: Address = None, home: Home = None
) -> None:
    """Serve the pages of a home, and drive its contests: check what is handed in, play, rate.

    Ctrl-C or SIGTERM ends it; matches in play may end. Started again, it goes on where it was.
    """
    from arena.cli.contests import serve_contests

    serve_contests(options, workers, address, home, checks)


@app.command(epilog="Example: arena contest drive --workers 2")
def drive(workers: Workers = None, checks: Checks = None, address: Address = None, home: Home = None) -> None:
    """Drive the contests of a home without a server: check what is handed in, play, rate.

    `arena contest serve` has a driver of its own; a home has one at a time.
    """
    from arena.cli.contests import drive_contests

    drive_contests(workers, address, home, checks)


@app.command(epilog="Example: arena contest close cup")
def close(contest: ContestName, home: Home = None) -> None:
    """Close a contest now: the round in play ends, the keys of its dice are disclosed, its season is archived.

    There is no final. A contest with a deadline closes by itself, after its final.
    """
    from arena.cli.contests import close_contest

    close_contest(contest, home)


@app.command(epilog="Example: arena contest season cup")
def season(contest: ContestName, home: Home = None) -> None:
    """Begin the next season of a contest, with a log of its own; the present one ends after its round in play."""
    from arena.cli.contests import begin_season

    begin_season(contest, home)


@app.command(epilog="Example: arena contest status")
def status(as_json: AsJson = False, home: Home = None) -> None:
    """Show the contests of a home, and how far each has come."""
    from arena.cli.contests import print_status

    print_status(as_json, home)
