"""Commands that check, change and pack logs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.arguments import AsJson, Home, Target, Workers

app = typer.Typer()
command = partial(app.command, rich_help_panel="Logs")


@command(epilog="Example: arena verify configs/demo.toml --rerun 100")
def verify(
    target: Annotated[
        str, typer.Argument(metavar="CONFIG|DB|ZIP", help="As for other commands, or an archive of `arena archive`.")
    ],
    rerun: Annotated[
        str | None,
        typer.Option(metavar="N|all", help="Play this number of matches again with their bots, and compare the moves."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the choice of these matches.")] = 0,
    isolation: Annotated[
        str | None,
        typer.Option(
            help="Isolation of bots then: sandbox, process or none. Default: that of the plan; sandbox for an archive. "
            "Use sandbox for logs of strangers."
        ),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Verify a log or archive: file, plan, every match, exports.

    Every match is replayed by the rules and with its dice. Exit code 1 if anything is wrong.
    """
    from arena.cli.verifying import print_verification

    raise typer.Exit(print_verification(target, rerun, seed, isolation, workers, as_json, home))


@command(epilog="Example: arena archive configs/demo.toml --out demo.zip")
def archive(
    target: Target,
    out: Annotated[Path | None, typer.Option(help="The archive. Default: NAME.zip in the current folder.")] = None,
    home: Home = None,
) -> None:
    """Pack log, plan, leaderboards and sources for verification."""
    from arena.cli.verifying import print_archive

    print_archive(target, out, home)


@command(epilog="Example: arena merge here.db there.db --into cup")
def merge(
    targets: Annotated[
        list[str], typer.Argument(metavar="DB", help="Databases, folders, configurations or names of tournaments.")
    ],
    into: Annotated[
        str,
        typer.Option("--into", "--out", metavar="NAME|DB", help="The tournament or file to add to; made if missing."),
    ],
    home: Home = None,
) -> None:
    """Merge logs of one tournament from several machines.

    A match that differs between two logs is named, and nothing is changed.
    """
    from arena.cli.logs import print_merge

    print_merge(targets, into, home)


@command("import", epilog="Example: arena import results/matches.jsonl --name copy")
def import_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Matches written by `arena export --what matches`.")
    ],
    name: Annotated[str, typer.Option(help="The tournament to add them to; made if missing.")],
    plan: Annotated[
        Path | None, typer.Option(help="The plan.json exported with them. Default: beside the first file.")
    ] = None,
    home: Home = None,
) -> None:
    """Import exported matches into a log, after replaying each.

    All matches are taken, or none.
    """
    from arena.cli.exporting import print_import

    print_import(files, name, plan, home)


@command(epilog="Example: arena upgrade demo")
def upgrade(target: Target, home: Home = None) -> None:
    """Upgrade a log of an older version, keeping a backup.

    `arena run` does so by itself.
    """
    from arena.cli.logs import print_upgrade

    print_upgrade(target, home)
