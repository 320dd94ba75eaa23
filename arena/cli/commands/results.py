"""Commands that report results from a log; they change nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.arguments import AsJson, Format, Game, Home, Players, Target

app = typer.Typer()
command = partial(app.command, rich_help_panel="Results")


@command(epilog="Example: arena status demo --watch")
def status(
    target: Annotated[
        str | None, typer.Argument(metavar="CONFIG|DB", help="A tournament as for other commands. Default: list all.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Repeat until nothing writes to the log any more.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show progress, rate and workers of a tournament.

    Works while the tournament runs and afterwards. Without a tournament, all under the home folder are listed.
    """
    from arena.cli.status import print_status

    print_status(target, watch, as_json, home)


@command(epilog="Example: arena leaderboard configs/demo.toml --players 2 --format md")
def leaderboard(
    target: Target,
    game: Game = None,
    players: Players = None,
    format: Format = "table",
    plackett_luce: Annotated[
        bool, typer.Option("--plackett-luce", help="Add the column worth: ratings by the Plackett-Luce model.")
    ] = False,
    home: Home = None,
) -> None:
    """Print leaderboards, also while the tournament runs."""
    from arena.cli.boards import print_leaderboards

    print_leaderboards(target, game, players, format, plackett_luce, home)


@command(epilog="Example: arena crosstable configs/demo.toml --game epicycle --players 2 --matrix")
def crosstable(
    target: Target,
    game: Game = None,
    players: Players = None,
    bot: Annotated[str | None, typer.Option(help="Only pairs with this bot, from its side.")] = None,
    matrix: Annotated[bool, typer.Option("--matrix", help="Print bots by bots, not a row for each pair.")] = False,
    alpha_rank: Annotated[bool, typer.Option("--alpha-rank", help="Add alpha-rank, which allows for cycles.")] = False,
    format: Format = "table",
    home: Home = None,
) -> None:
    """Print head-to-head results of all pairs, misfits and cycles.

    Misfits are pairs whose results the ratings do not predict; a cycle is A > B > C > A.
    """
    from arena.cli.crosstable import print_crosstable

    print_crosstable(target, game, players, bot, matrix, alpha_rank, format, home)


@command(epilog="Example: arena variance configs/demo.toml --game pyramid_punch")
def variance(
    target: Target, game: Game = None, players: Players = None, format: Format = "table", home: Home = None
) -> None:
    """Print the advantage of each seat and the sources of variance.

    Sources of the variance of a match's result are bots, seats, bots by seat, dice and opening, and the rest.
    """
    from arena.cli.variance import print_variance

    print_variance(target, game, players, format, home)


@command(epilog="Example: arena power configs/demo.toml greedy random --game epicycle --players 2")
def power(
    target: Target,
    a: Annotated[str, typer.Argument(metavar="A", help="Label of a bot.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Label of another bot.")],
    game: Game = None,
    players: Players = None,
    difference: Annotated[
        float | None, typer.Option(help="Difference of mean returns to detect. Default: the observed one.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the interval that is to exclude 0.")] = 0.95,
    power: Annotated[float, typer.Option(help="Probability that it does.")] = 0.8,
    format: Format = "table",
    home: Home = None,
) -> None:
    """Estimate how many blocks tell two bots apart."""
    from arena.cli.power import print_power
    from arena.results.power import PowerOptions

    print_power(target, a, b, game, players, PowerOptions(difference, confidence, power), format, home)


@command(epilog="Example: arena diff old/epicycle_2p.json reports/demo/epicycle_2p.json")
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A leaderboard file, a folder of them, or a tournament.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The same, later.")],
    format: Annotated[str, typer.Option(help="table, json or md.")] = "table",
    home: Home = None,
) -> None:
    """Compare two leaderboards or tournaments, with causes."""
    from arena.cli.diffing import print_diff

    print_diff(before, after, format, home)


@command(epilog="Example: arena export configs/demo.toml --what matches --format parquet --out results/")
def export(
    target: Target,
    what: Annotated[
        list[str] | None,
        typer.Option(help="leaderboards, crosstable or matches, joined by commas. Default: leaderboards."),
    ] = None,
    format: Annotated[
        list[str] | None,
        typer.Option(
            help="csv, json, md, parquet, html or tex; for matches also jsonl. Default: the plan's, or jsonl."
        ),
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option(help="Columns of the tables, in this order, joined by commas. Default: all.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write to. Default: that of the tournament.")] = None,
    home: Home = None,
) -> None:
    """Write leaderboards, crosstables or matches as files.

    The plan and the versions are written beside them.
    """
    from arena.cli.exporting import export_files

    export_files(target, what or ["leaderboards"], format or [], columns or [], out, home)
