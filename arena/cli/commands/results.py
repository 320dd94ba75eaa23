"""Commands that report results from a log; they change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.cli.arguments import AsJson, BoardOptions, Group, Home, ServeOptions, Target

app = Group("Results")


@app.command(epilog="Example: arena status demo --watch")
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


@app.command(epilog="Example: arena leaderboard configs/demo.toml --players 2 --format md")
def leaderboard(
    boards: BoardOptions,
    plackett_luce: Annotated[
        bool, typer.Option("--plackett-luce", help="Add the column worth: ratings by the Plackett-Luce model.")
    ] = False,
) -> None:
    """Print leaderboards, also while the tournament runs."""
    from arena.cli.boards import print_leaderboards

    print_leaderboards(boards, plackett_luce)


@app.command(epilog="Example: arena crosstable configs/demo.toml --game epicycle --players 2 --matrix")
def crosstable(
    boards: BoardOptions,
    bot: Annotated[str | None, typer.Option(help="Only pairs with this bot, from its side.")] = None,
    matrix: Annotated[bool, typer.Option("--matrix", help="Print bots by bots, not a row for each pair.")] = False,
    alpha_rank: Annotated[bool, typer.Option("--alpha-rank", help="Add alpha-rank, which allows for cycles.")] = False,
) -> None:
    """Print head-to-head results of all pairs, misfits and cycles.

    Misfits are pairs whose results the ratings do not predict; a cycle is A > B > C > A.
    """
    from arena.cli.crosstable import print_crosstable

    print_crosstable(boards, bot, matrix, alpha_rank)


@app.command(epilog="Example: arena variance configs/demo.toml --game pyramid_punch")
def variance(boards: BoardOptions) -> None:
    """Print advantages of seats and sources of variance.

    Sources of the variance of a match's result are bots, seats, bots by seat, dice and opening, and the rest.
    """
    from arena.cli.variance import print_variance

    print_variance(boards)


@app.command(epilog="Example: arena costs configs/demo.toml --game epicycle")
def costs(boards: BoardOptions) -> None:
    """Print what a move of each bot took.

    Times are those of the machine that played, from the log. What searches tried is told by bots that tell it, as uct
    with visits=true.
    """
    from arena.cli.costs import print_costs

    print_costs(boards)


@app.command(epilog="Example: arena adjudication configs/demo.toml --agreement 3 --threshold 0.95")
def adjudication(
    boards: BoardOptions,
    agreement: Annotated[
        int, typer.Option(help="Evaluations in a row of every bot that have to expect the same places; 0: never.")
    ] = 0,
    threshold: Annotated[float, typer.Option(help="How sure they have to be.")] = 0.95,
    certainty: Annotated[
        int, typer.Option(help="Positions that the referee searches for a proof before each move; 0: none.")
    ] = 0,
) -> None:
    """Measure the errors of rules that end matches early.

    Matches of a log that were played to their end are replayed, and nothing is played: how many the rules would have
    ended early, what that would have saved, and how many ended otherwise in truth.
    """
    from arena.cli.adjudication import print_adjudication

    print_adjudication(boards, agreement, threshold, certainty)


@app.command(epilog="Example: arena power configs/demo.toml greedy random --game epicycle --players 2")
def power(
    boards: BoardOptions,
    a: Annotated[str, typer.Argument(metavar="A", help="Label of a bot.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Label of another bot.")],
    difference: Annotated[
        float | None, typer.Option(help="Difference of mean returns to detect. Default: the observed one.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the interval that is to exclude 0.")] = 0.95,
    power: Annotated[float, typer.Option(help="Probability that it does.")] = 0.8,
) -> None:
    """Estimate how many blocks tell two bots apart."""
    from arena.cli.power import print_power

    print_power(boards, a, b, difference, confidence, power)


@app.command(epilog="Example: arena diff old/epicycle_2p.json reports/demo/epicycle_2p.json")
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A leaderboard file, a folder of them, or a tournament.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The same, later.")],
    format: Annotated[Literal["table", "json", "md"], typer.Option(help="How to print tables.")] = "table",
    home: Home = None,
) -> None:
    """Compare two leaderboards or tournaments, with causes."""
    from arena.cli.diffing import print_diff

    print_diff(before, after, format, home)


@app.command(epilog="Example: arena report configs/demo.toml --out results/")
def report(
    target: Target,
    out: Annotated[Path | None, typer.Option(help="Folder to write to. Default: that of the tournament.")] = None,
    open: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    home: Home = None,
) -> None:
    """Write a page with figures and tables of all boards.

    The page, index.html, is one file that loads nothing. `arena verify` compares it with the log.
    """
    from arena.cli.pages import write_report

    write_report(target, out, open, home)


@app.command(epilog="Example: arena plot configs/demo.toml ratings --players 2 --format png")
def plot(
    target: Target,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="ratings, responses, crosstable, seats, variance, convergence, misfits, lengths, endings, forfeits, "
            "clocks, tuning or tuning_lead.",
        ),
    ],
    game: Annotated[str | None, typer.Option(help="Only this game.")] = None,
    players: Annotated[int | None, typer.Option(help="Only this number of players.")] = None,
    format: Annotated[Literal["svg", "png", "pdf", "json"], typer.Option(help="json: Vega-Lite.")] = "svg",
    out: Annotated[Path | None, typer.Option(help="Folder to write to. Default: that of the tournament.")] = None,
    open: Annotated[bool, typer.Option("--open", help="Open the first one in a browser.")] = False,
    home: Home = None,
) -> None:
    """Write one of the report's figures for every board."""
    from arena.cli.pages import write_plot

    write_plot(target, what, game, players, format, out, open, home)


@app.command(epilog="Example: arena export configs/demo.toml --what matches --format parquet --out results/")
def export(
    target: Target,
    what: Annotated[
        list[str] | None,
        typer.Option(
            help="leaderboards, crosstable, costs, matches, paper or report, joined by commas. Default: leaderboards."
        ),
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
    """Write leaderboards, matches, costs or a paper as files.

    The plan and the versions are written beside them.
    """
    from arena.cli.exporting import export_files

    export_files(target, what, format, columns, out, home)


@app.command(epilog="Example: arena cite demo --format text")
def cite(
    target: Annotated[
        str | None,
        typer.Argument(metavar="CONFIG|DB", help="A tournament: how to reproduce it is told too."),
    ] = None,
    format: Annotated[
        Literal["bibtex", "text", "cff"], typer.Option(help="cff is the format of CITATION.cff.")
    ] = "bibtex",
    home: Home = None,
) -> None:
    """Print how to cite the arena, and a tournament.

    arena export --what paper writes the paragraphs, tables and references of a paper.
    """
    from arena.cli.citing import print_citation

    print_citation(target, format, home)


@app.command(epilog="Example: arena serve --open")
def serve(
    options: ServeOptions,
    contest: Annotated[
        bool, typer.Option("--contest", help="Drive the contests of the home too, as `arena contest serve` does.")
    ] = False,
    home: Home = None,
) -> None:
    """Show tournaments, live too, in a browser.

    Ctrl-C ends it. Nothing is sent to anybody else, and nothing is loaded from the network.
    """
    if contest:
        from arena.cli.contests import serve_contests

        serve_contests(options, None, None, home)
    else:
        from arena.cli.serving import serve

        serve(options.addresses, options.open, options.log_format, home)


@app.command(epilog="Example: arena site demo --out public")
def site(
    targets: Annotated[list[str], typer.Argument(metavar="NAME...", help="Tournaments and comparisons.")],
    out: Annotated[Path, typer.Option(help="Folder of the pages. Files that are no pages of a site stay as they are.")],
    replays: Annotated[
        int, typer.Option(min=0, max=1000, help="Matches of each kind on each board that can be stepped through.")
    ] = 4,
    yes: Annotated[bool, typer.Option("--yes", help="Write more than 100 MB without asking.")] = False,
    home: Home = None,
) -> None:
    """Write the pages of arena serve as plain files.

    They open from disk too. Replays are those of chosen matches: upsets, best against best, the longest, and each bot's
    worst mistake by its own evaluation.
    """
    from arena.cli.site import write_site

    write_site(targets, out, replays, yes, home)


@app.command(epilog="Example: arena dataset configs/demo.toml --game epicycle --out epicycle/")
def dataset(
    target: Target,
    out: Annotated[Path, typer.Option(help="Folder to write to; an existing dataset is replaced.")],
    format: Annotated[Literal["parquet", "npz"], typer.Option(help="Format of the shards.")] = "parquet",
    game: Annotated[str | None, typer.Option(help="Only this game.")] = None,
    players: Annotated[int | None, typer.Option(help="Only this number of players.")] = None,
    bots: Annotated[
        list[str] | None, typer.Option(help="Only decisions of bots with these labels; may be repeated.")
    ] = None,
    shard_size: Annotated[int, typer.Option(min=1, max=1_000_000, help="Decisions in a shard.")] = 16_384,
    home: Home = None,
) -> None:
    """Write what bots saw, chose and got, for learning programs.

    A row for each decision: observation, legal mask, action, visits and evaluation where the bot gives them, outcomes
    by seat.
    """
    from arena.cli.datasets import print_dataset

    print_dataset(target, out, format, game, players, bots, shard_size, home)
