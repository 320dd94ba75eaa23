"""Commands that play matches."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.cli.arguments import (
    AsJson,
    Group,
    Home,
    Html,
    Isolation,
    MatchupOptions,
    Open,
    Opening,
    SessionOptions,
    StopOptions,
    TournamentOptions,
    TuneOptions,
    Workers,
)

app = Group("Play")
SameRules = Annotated[
    bool,
    typer.Option("--same-rules", help="Matches count, though the sources of a plug-in game's rules have changed."),
]


@app.command(epilog="Example: arena run configs/demo.toml --workers 4")
def run(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="CONFIG", help="The TOML file of a tournament. Without it, say what to play."),
    ] = None,
    tournament: TournamentOptions = TournamentOptions(),  # noqa: B008 - it is frozen
    workers: Workers = None,
    backend: Annotated[
        Literal["auto", "local", "ray"] | None,
        typer.Option(help="auto: Ray joins when it pays, or can be joined. Default: ray with --address, else auto."),
    ] = None,
    address: Annotated[str | None, typer.Option(help="A Ray cluster: HOST:PORT of its head, or auto.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Set the old log aside and play everything again.")] = False,
    home: Home = None,
    report: Annotated[
        bool | None,
        typer.Option("--report/--no-report", help="Write the report. Default: as the configuration says, or yes."),
    ] = None,
    dataset: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write a dataset of all decisions there. Default: as the configuration says, or none."
        ),
    ] = None,
    same_rules: SameRules = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse withdrawn bots; exit with 1 if a bot has forfeited a match.")
    ] = False,
    watchable: Annotated[
        bool,
        typer.Option("--watchable/--not-watchable", help="Let `arena serve` show matches in play. Default: yes."),
    ] = True,
    recalibrate: Annotated[
        bool,
        typer.Option("--recalibrate", help="Calibrate times a move anew; matches with the old numbers do not count."),
    ] = False,
    calibration: Annotated[
        str | None,
        typer.Option(metavar="PLAN", help="Take the numbers for times a move from a plan.json, or a tournament."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the leaderboards.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say why bots do not play on some boards.")] = False,
) -> int:
    """Play a tournament, or resume it, and print its leaderboards.

    Matches that are in the log already are not played again. Leaderboards and the report, a page with all
    figures, are written beside the log. Without CONFIG,
    --game and --bots say what to play, and the configuration is written there too.
    """
    from arena.workers.parent import preload

    preload()  # what workers need, while the rest is imported
    from arena import api
    from arena.cli.running import run_tournament

    play = partial(
        api.run,
        home=home,
        workers=workers,
        backend=backend,
        address=address,
        fresh=fresh,
        report=report,
        dataset=dataset,
        same_rules=same_rules,
        strict=strict,
        watchable=watchable,
        recalibrate=recalibrate,
        calibration=calibration,
    )
    return run_tournament(config, tournament, play, home, dataset is not None, strict, quiet, verbose)


@app.command(epilog="Example: arena init --game epicycle --bots random,greedy,my_bot.py")
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path("tournament.toml"),
    tournament: TournamentOptions = TournamentOptions(),  # noqa: B008 - it is frozen
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    home: Home = None,
) -> None:
    """Write the configuration of a tournament, with comments.

    On a terminal it asks for what the options leave open. Where no arena.toml is found, it writes one too, so that
    commands in folders below find the same results.
    """
    from arena.cli.new_config import print_init

    print_init(file, tournament, force, home)


@app.command(epilog="Example: arena match epicycle perfect greedy --seed 7 --show")
def match(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game spec: epicycle or 'epicycle(setup=random)'.")],
    bots: Annotated[
        list[str], typer.Argument(metavar="BOT", help="Bots by seat: name, name:key=value, file.py or folder.")
    ],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the match. Default: 0, or random with sandboxed bots.")
    ] = None,
    opening: Opening = None,
    isolation: Isolation = None,
    show: Annotated[
        bool, typer.Option("--show", help="Draw the position after every ply, and tell what it did.")
    ] = False,
    html: Html = None,
    open: Open = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Play one match and print it."""
    from arena.workers.parent import preload

    preload((game, len(bots)))  # what workers need, while the rest is imported
    from arena.cli.matches import print_match

    print_match(game, bots, seed, opening, isolation, show, html, open, as_json, home)


@app.command(epilog="Example: arena play magic_mids --against greedy --against uct:simulations=5000")
def play(
    game: Annotated[
        str | None, typer.Argument(metavar="GAME", help="A game spec. Without it, choose in the browser.")
    ] = None,
    options: SessionOptions = SessionOptions(),  # noqa: B008 - it is frozen
    terminal: Annotated[bool, typer.Option("--terminal", help="Play here in plain text, without a browser.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the pages; 0 takes any free one.")] = 0,
    open: Annotated[bool, typer.Option("--open/--no-open", help="Open the match in a browser.")] = True,
    home: Home = None,
) -> int:
    """Play against bots, in the browser or the terminal.

    You have one seat, the bots the others; the last bot named takes all seats that are left. Ctrl-C ends the match.
    """
    from arena.cli.playing import play

    return play(game, options, terminal, port, open, home)


@app.command(epilog="Example: arena compare greedy random --game pyramid_punch --players 3 --with random")
def compare(
    matchup: MatchupOptions,
    stop: StopOptions,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="CONFIG|DB", help="Play nothing: compare labels A and B by the matches of this log."
        ),
    ] = None,
    workers: Workers = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 10 if A is stronger, 11 if B is, 12 if that is undecided.")
    ] = False,
    as_json: AsJson = False,
    same_rules: SameRules = False,
    home: Home = None,
) -> int:
    """Play two bots against each other until a test decides.

    The test is a sequential probability ratio test (SPRT); in every block of matches the bots swap seats.
    With --from, two bots of any log are compared by the matches that it has of both, foreign results too; without B,
    bot A with every other one, with p-values that hold for all of them together.
    """
    if source is None:
        from arena.workers.parent import preload

        preload()  # what workers need, while the rest is imported
    from arena.cli.comparing_logs import compare

    return compare(matchup, stop, source, workers, exit_code, as_json, same_rules, home)


@app.command(epilog="Example: arena tune uct:simulations=100,exploration=1 --param exploration=0.2:3 --game magic_mids")
def tune(
    options: TuneOptions,
    workers: Workers = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the report. Default: yes.")] = True,
    as_json: AsJson = False,
    same_rules: SameRules = False,
    home: Home = None,
) -> int:
    """Tune a bot's parameters; measure the gain on fresh seeds.

    Each iteration lets two variants meet with common dice and moves towards the better one. The same command
    resumes an interrupted run.
    """
    from arena.workers.parent import preload

    preload()  # what workers need, while the rest is imported
    from arena.cli.tuning import print_tuning

    return print_tuning(options, workers, report, as_json, same_rules, home)


@app.command(epilog="Example: arena replay 3f9a0c27-1 --in configs/demo.toml --audit")
def replay(
    match_id: Annotated[
        str, typer.Argument(metavar="MATCH_ID|FILE", help="A match id, its first part may be shortened; or a file.")
    ],
    target: Annotated[
        str | None, typer.Option("--in", metavar="CONFIG|DB", help="Tournament to search. Default: all under --home.")
    ] = None,
    audit: Annotated[bool, typer.Option("--audit", help="Recompute every roll and random move from the keys.")] = False,
    show: Annotated[
        bool, typer.Option("--show/--no-show", help="Draw the position after every ply, and tell what it did.")
    ] = True,
    match: Annotated[str | None, typer.Option(help="Id of the match in a file to draw. Default: check all.")] = None,
    html: Html = None,
    open: Open = False,
    gif: Annotated[Path | None, typer.Option(help="Write the match as an animated GIF.")] = None,
    png: Annotated[Path | None, typer.Option(help="Write a position as PNG.")] = None,
    ply: Annotated[int | None, typer.Option(help="The ply after which --png has it. Default: the last one.")] = None,
    home: Home = None,
) -> None:
    """Replay a match from a log or an exported file, without bots."""
    from arena.workers.parent import preload

    preload()  # what workers need, while the rest is imported
    from arena.cli.matches import print_replay

    print_replay(match_id, target, audit, show, match, html, open, gif, png, ply, home)
