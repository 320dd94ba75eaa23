"""Commands that check, change and pack logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.arguments import AsJson, Group, Home, Target, Workers
from arena.isolation import Isolation as Level

app = Group("Logs")


@app.command(epilog="Example: arena verify configs/demo.toml --rerun 100")
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
        Level | None,
        typer.Option(
            help="Isolation of bots then. Default: that of the plan; sandbox for an archive. Use sandbox for logs of "
            "strangers."
        ),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
    home: Home = None,
) -> int:
    """Verify a log or archive: file, plan, every match, exports.

    Every match is replayed by the rules and with its dice. Exit code 1 if anything is wrong.
    """
    from arena.cli.verifying import print_verification

    return print_verification(target, rerun, seed, isolation, workers, as_json, home)


@app.command(epilog="Example: arena archive configs/demo.toml --out demo.zip")
def archive(
    target: Target,
    out: Annotated[Path | None, typer.Option(help="The archive. Default: NAME.zip in the current folder.")] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Pack log, plan, leaderboards and sources for verification."""
    from arena.cli.verifying import print_archive

    print_archive(target, out, as_json, home)


@app.command(epilog="Example: arena merge here.db there.db --into cup")
def merge(
    targets: Annotated[
        list[str], typer.Argument(metavar="DB", help="Databases, folders, configurations or names of tournaments.")
    ],
    into: Annotated[
        str,
        typer.Option("--into", "--out", metavar="NAME|DB", help="The tournament or file to add to; made if missing."),
    ],
    plan_of: Annotated[
        str | None, typer.Option(metavar="DB", help="The log whose plan counts afterwards. Default: the one added to.")
    ] = None,
    home: Home = None,
) -> None:
    """Merge logs of one tournament from several machines.

    A match that differs between two logs is named, and nothing is changed. Logs with different plans make a new one
    only with --plan-of.
    """
    from arena.cli.logs import print_merge

    print_merge(targets, into, plan_of, home)


@app.command("import", epilog="Example: arena import results/matches.jsonl --name copy")
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


@app.command(
    "import-results",
    epilog="Example: arena import-results league.csv --name league --game chess --columns bot=player,match=id",
)
def import_results(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV, JSON Lines or Parquet with a row for each bot in each match.")
    ],
    name: Annotated[str | None, typer.Option(help="The tournament to make. Default: the name of the file.")] = None,
    game: Annotated[
        str | None, typer.Option(help="The game, if no column has it. Default: the tournament's name.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT=COLUMN", help="Columns for match, block, game, bot, seat, place, score, joined by commas."
        ),
    ] = None,
    home: Home = None,
) -> None:
    """Make a tournament of results from elsewhere, without moves.

    They are marked as unverified foreign results wherever they are shown. All of the file is taken, or nothing.
    """
    from arena.cli.exporting import print_import_results

    print_import_results(file, name, game, columns, home)
