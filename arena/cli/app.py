"""The `arena` command: parse, call, print. Everything heavy is imported inside the commands."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from typer.core import TyperGroup

from arena.cli.exit_codes import FINE, INTERRUPTED, USER_ERROR
from arena.core.command import COMMAND, Command

ADDING = (["import"], ["merge"], ["upgrade"])
"""Commands that add to logs, or rearrange them: afterwards the run that wrote before can still go on."""


class Commands(TyperGroup):
    """The commands; Typer would end without a word when somebody types Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None


app = typer.Typer(
    name="arena",
    cls=Commands,
    help="Run tournaments of game bots: seeded matches on all cores or a Ray cluster, honest leaderboards.",
    epilog="Example: arena run configs/smoke.toml",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

Home = Annotated[
    Optional[Path],  # noqa: UP045 - Typer reads it at run time on every Python
    typer.Option(
        "--home", envvar="ARENA_HOME", help="Folder that holds tournaments and submitted bots; by default reports/."
    ),
]
Target = Annotated[
    str, typer.Argument(metavar="CONFIG|DB", help="A configuration, a tournament's name or folder, or its matches.db.")
]
BotPath = Annotated[
    str, typer.Argument(metavar="PATH", help="file.py, file.py:ClassName, or a folder with a bot.toml.")
]
IsolationOption = Annotated[str, typer.Option(help="Where the check runs it: sandbox, process or none.")]


@app.command(epilog="Example: arena run configs/demo.toml --workers 4")
def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A tournament's TOML file; see configs/README.md.")],
    workers: Annotated[Optional[int], typer.Option(min=1, help="Processes that play; by default one a core.")] = None,  # noqa: UP045
    backend: Annotated[str, typer.Option(help="auto (Ray joins when it pays), local or ray.")] = "auto",
    address: Annotated[Optional[str], typer.Option(help="A Ray cluster: HOST:PORT of its head, or auto.")] = None,  # noqa: UP045
    fresh: Annotated[bool, typer.Option("--fresh", help="Set the old log aside and play everything anew.")] = False,
    home: Home = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the leaderboards alone.")] = False,
) -> None:
    """Play a tournament; again: play only what is missing. Prints and writes its leaderboards."""
    from arena.cli.running import run_tournament

    raise typer.Exit(run_tournament(config, workers, backend, address, fresh, home, quiet))


@app.command(epilog="Example: arena status demo --watch")
def status(
    target: Annotated[
        str | None,
        typer.Argument(metavar="CONFIG|DB", help="A tournament as for other commands; by default all are listed."),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Look again and again until nobody writes any more.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    home: Home = None,
) -> None:
    """Tell where a tournament stands, also while it runs: matches, forfeits, rate, time left, who plays."""
    from arena.cli.status import print_status

    print_status(target, watch, as_json, home)


@app.command(epilog="Example: arena leaderboard configs/demo.toml --players 2 --format md")
def leaderboard(
    target: Target,
    game: Annotated[Optional[str], typer.Option(help="Only this game.")] = None,  # noqa: UP045
    players: Annotated[Optional[int], typer.Option(help="Only this number of players.")] = None,  # noqa: UP045
    format: Annotated[str, typer.Option(help="table, csv, json or md.")] = "table",
    plackett_luce: Annotated[
        bool, typer.Option("--plackett-luce", help="Add a second opinion on ratings, the column `worth`.")
    ] = False,
    home: Home = None,
) -> None:
    """Print leaderboards from a tournament's log, also while it runs."""
    from arena.cli.boards import print_leaderboards

    print_leaderboards(target, game, players, format, plackett_luce, home)


@app.command(epilog="Example: arena pairs configs/demo.toml --game epicycle --players 2 --matrix")
def pairs(
    target: Target,
    game: Annotated[Optional[str], typer.Option(help="Only this game.")] = None,  # noqa: UP045
    players: Annotated[Optional[int], typer.Option(help="Only this number of players.")] = None,  # noqa: UP045
    bot: Annotated[Optional[str], typer.Option(help="Only this bot's pairs, from its side.")] = None,  # noqa: UP045
    matrix: Annotated[bool, typer.Option("--matrix", help="Bots by bots instead of a row a pair.")] = False,
    alpha_rank: Annotated[bool, typer.Option("--alpha-rank", help="Rank them in spite of cycles, too.")] = False,
    format: Annotated[str, typer.Option(help="table, csv, json or md.")] = "table",
    home: Home = None,
) -> None:
    """Print who beats whom, which pairs the ratings get wrong, and cycles A > B > C > A."""
    from arena.cli.statistics import print_pairs

    print_pairs(target, game, players, bot, matrix, alpha_rank, format, home)


@app.command(epilog="Example: arena luck configs/demo.toml --game pyramid_punch")
def luck(
    target: Target,
    game: Annotated[Optional[str], typer.Option(help="Only this game.")] = None,  # noqa: UP045
    players: Annotated[Optional[int], typer.Option(help="Only this number of players.")] = None,  # noqa: UP045
    format: Annotated[str, typer.Option(help="table, csv, json or md.")] = "table",
    home: Home = None,
) -> None:
    """Print what each seat is worth, and how much bots, seats, dice and the rest decide."""
    from arena.cli.statistics import print_luck

    print_luck(target, game, players, format, home)


@app.command(epilog="Example: arena export configs/demo.toml --what matches --format parquet --out results/")
def export(
    target: Target,
    what: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="leaderboards, pairs or matches, joined by commas; by default leaderboards."),
    ] = None,
    format: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="csv, json, md, parquet, html, tex, of matches jsonl too; by default the plan's, or jsonl."),
    ] = None,
    columns: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Columns of the tables, in this order, joined by commas; by default all."),
    ] = None,
    out: Annotated[Optional[Path], typer.Option(help="Folder to write to; by default the tournament's.")] = None,  # noqa: UP045
    home: Home = None,
) -> None:
    """Write a tournament's leaderboards, head-to-head or matches, with its plan and versions."""
    from arena.cli.exporting import export_files

    export_files(target, what or ["leaderboards"], format or [], columns or [], out, home)


@app.command("import", epilog="Example: arena import results/matches.jsonl --name copy")
def import_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Matches that `arena export --what matches` wrote.")
    ],
    name: Annotated[str, typer.Option(help="The tournament that takes them; made if need be.")],
    plan: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="The plan.json that was exported with them; by default the one beside the first file."),
    ] = None,
    home: Home = None,
) -> None:
    """Read exported matches into a log; every match is replayed and audited first, and all are taken or none."""
    from arena.cli.exporting import print_import

    print_import(files, name, plan, home)


@app.command(epilog="Example: arena merge here.db there.db --into cup")
def merge(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="DB...", help="Logs: databases, folders, configurations or tournaments' names."),
    ],
    into: Annotated[
        str,
        typer.Option(
            "--into", "--out", metavar="NAME|DB", help="The tournament or file that takes them, made if need be."
        ),
    ],
    home: Home = None,
) -> None:
    """Merge logs that several machines have played into one; a match that differs is named, and nothing changed."""
    from arena.cli.logs import print_merge

    print_merge(targets, into, home)


@app.command(epilog="Example: arena upgrade demo")
def upgrade(target: Target, home: Home = None) -> None:
    """Bring a log of an older arena to this one's version, and keep a backup; `arena run` does it by itself."""
    from arena.cli.logs import print_upgrade

    print_upgrade(target, home)


@app.command(epilog="Example: arena verify configs/demo.toml --rerun 100")
def verify(
    target: Annotated[
        str,
        typer.Argument(metavar="CONFIG|DB|ZIP", help="As for other commands, or an archive that `arena bundle` made."),
    ],
    rerun: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="N|all", help="Play so many matches again with their bots, and compare the moves."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which matches are played again follows from it.")] = 0,
    isolation: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Where bots run then: sandbox, process or none; by default as the plan says, of an archive sandbox. "
            "Say sandbox for a log from somebody else."
        ),
    ] = None,
    workers: Annotated[Optional[int], typer.Option(min=1, help="Processes that check; by default one a core.")] = None,  # noqa: UP045
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    home: Home = None,
) -> None:
    """Check a log or an archive: file, plan, every match by rules and dice, exports; exit code 1 if not sound."""
    from arena.cli.verifying import print_verification

    raise typer.Exit(print_verification(target, rerun, seed, isolation, workers, as_json, home))


@app.command(epilog="Example: arena bundle configs/demo.toml --out demo.zip")
def bundle(
    target: Target,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="The archive; by default NAME.zip in the working folder."),
    ] = None,
    home: Home = None,
) -> None:
    """Pack log, plan, leaderboards and bots' sources into one archive that anybody can verify."""
    from arena.cli.verifying import print_bundle

    print_bundle(target, out, home)


@app.command(epilog="Example: arena diff old/epicycle_2p.json reports/demo/epicycle_2p.json")
def diff(
    before: Annotated[
        str, typer.Argument(metavar="A", help="A leaderboard's file, a folder of them, or a tournament.")
    ],
    after: Annotated[str, typer.Argument(metavar="B", help="The same, later.")],
    format: Annotated[str, typer.Option(help="table, json or md.")] = "table",
    home: Home = None,
) -> None:
    """Tell what moved between two leaderboards or tournaments, whether that is significant, and because of what."""
    from arena.cli.diffing import print_diff

    print_diff(before, after, format, home)


@app.command(epilog="Example: arena compare greedy random --game pyramid_punch --players 3 --with random")
def compare(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", help="A bot: name, name:key=value, file.py:Class or bot.toml.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    game: Annotated[str, typer.Option(help="A game's spec.")],
    players: Annotated[Optional[int], typer.Option(help="By default as few as the game allows.")] = None,  # noqa: UP045
    fillers: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--with", metavar="BOT", help="Who fills the other seats; may be given again."),
    ] = None,
    elo0: Annotated[float, typer.Option(help="H0: A is stronger than B by no more Elo than this.")] = 0.0,
    elo1: Annotated[float, typer.Option(help="H1: A is stronger than B by at least so much Elo.")] = 30.0,
    alpha: Annotated[float, typer.Option(help="Share of tests that may say H1 when H0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option(help="Share of tests that may say H0 when H1 is true.")] = 0.05,
    model: Annotated[str, typer.Option(help="What elo0 and elo1 are: logistic or normalized.")] = "logistic",
    fixed: Annotated[Optional[int], typer.Option(help="Play so many blocks and test nothing.")] = None,  # noqa: UP045
    max_blocks: Annotated[int, typer.Option(help="Give up after so many blocks.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="All chance comes from it.")] = 0,
    opening: Annotated[Optional[str], typer.Option(help="none or random:k; by default what suits the game.")] = None,  # noqa: UP045
    isolation: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where all bots run: sandbox, process or none; by default what suits each."),
    ] = None,
    common_dice: Annotated[
        bool,
        typer.Option("--common-dice", help="Sandboxed or submitted bots too: their authors are trusted."),
    ] = False,
    workers: Annotated[Optional[int], typer.Option(min=1, help="Processes that play; by default one a core.")] = None,  # noqa: UP045
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    home: Home = None,
) -> None:
    """Play two bots against each other until it is clear which one is stronger."""
    from arena.cli.comparing import print_comparison
    from arena.cli.output import isolation_of
    from arena.runner.options import Matchup, StopRule
    from arena.stats.sprt import Sprt

    of_test = ("elo0", "elo1", "alpha", "beta", "model", "max_blocks")
    told = [name for name in of_test if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"]
    if fixed is not None and told:
        raise typer.BadParameter(f"tests nothing, so --{told[0].replace('_', '-')} says nothing", param_hint="--fixed")
    level = None if isolation is None else isolation_of(isolation)
    matchup = Matchup(a, b, game, players, fillers or [], seed, opening, level, common_dice)
    test = Sprt(elo0, elo1, alpha, beta, model) if fixed is None else None  # type: ignore[arg-type]  # it checks it
    stop = StopRule(test, max_blocks if fixed is None else fixed)
    raise typer.Exit(print_comparison(matchup, stop, workers, as_json, home))


@app.command(epilog="Example: arena power configs/demo.toml greedy random --game epicycle --players 2")
def power(
    target: Target,
    a: Annotated[str, typer.Argument(metavar="A", help="A bot's label.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one's.")],
    game: Annotated[Optional[str], typer.Option(help="Only this game.")] = None,  # noqa: UP045
    players: Annotated[Optional[int], typer.Option(help="Only this number of players.")] = None,  # noqa: UP045
    difference: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Mean return of A minus that of B that is to be found; by default what was observed."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the interval that is to leave out 0.")] = 0.95,
    power: Annotated[float, typer.Option(help="Probability that it will.")] = 0.8,
    home: Home = None,
) -> None:
    """Tell from a log whether two bots are apart, and how many blocks it would take."""
    from arena.cli.comparing import print_power

    print_power(target, a, b, game, players, difference, confidence, power, home)


@app.command(epilog="Example: arena games epicycle")
def games(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help="Tell all about one game.")] = None,
) -> None:
    """List the games, or show one: options, players, credits."""
    from arena.cli.bots import print_games

    print_games(game)


@app.command(epilog="Example: arena bots flat_mc")
def bots(
    bot: Annotated[
        str | None,
        typer.Argument(metavar="BOT", help="Tell all about one bot: a name, file.py:ClassName, or a bot.toml."),
    ] = None,
    home: Home = None,
) -> None:
    """List the bots, submitted ones too, or show one: parameters, games, origin, versions."""
    from arena.cli.bots import print_bots

    print_bots(bot, home)


@app.command("new-bot", epilog="Example: arena new-bot my_bot --game epicycle --language c")
def new_bot(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and _, such as my_bot.")],
    game: Annotated[Optional[str], typer.Option(help="The game it plays; by default every game.")] = None,  # noqa: UP045
    language: Annotated[str, typer.Option(help="python, node or c.")] = "python",
) -> None:
    """Write a bot that plays, to be made better: NAME.py, or a folder NAME with a program."""
    from arena.cli.submitting import print_new_bot

    print_new_bot(name, game, language)


@app.command(epilog="Example: arena check my_bot.py --game epicycle")
def check(
    path: BotPath,
    isolation: IsolationOption = "sandbox",
    game: Annotated[Optional[list[str]], typer.Option(help="Only this game; may be given again.")] = None,  # noqa: UP045
    players: Annotated[Optional[list[int]], typer.Option(help="Only this number; may be given again.")] = None,  # noqa: UP045
    home: Home = None,
) -> None:
    """Play smoke matches with a bot wherever it plays, and tell what fails; exit code 1 when something does."""
    from arena.cli.submitting import print_check

    raise typer.Exit(print_check(path, isolation, game or [], players or [], home))


@app.command(epilog="Example: arena submit my_bot.py --name my_bot --author Ann")
def submit(
    path: BotPath,
    name: Annotated[str, typer.Option(help="What it will be called.")],
    author: Annotated[str, typer.Option(help="Whose it is.")],
    isolation: IsolationOption = "sandbox",
    home: Home = None,
) -> None:
    """Check a bot and keep its source, for tournaments under the same home; again: a new version."""
    from arena.cli.submitting import print_submit

    raise typer.Exit(print_submit(path, name, author, isolation, home))


@app.command(epilog="Example: arena withdraw my_bot")
def withdraw(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A submitted bot.")],
    home: Home = None,
) -> None:
    """Take a submitted bot out of new tournaments; its sources stay for old ones."""
    from arena.cli.submitting import print_withdraw

    print_withdraw(name, home)


@app.command(epilog="Example: arena match epicycle perfect greedy --seed 7 --show")
def match(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A game's spec, such as epicycle or 'epicycle(setup=random)'.")
    ],
    bots: Annotated[
        list[str], typer.Argument(metavar="BOT", help="Bots by seat: name, name:key=value, file.py:Class or bot.toml.")
    ],
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=0, help="All chance in the match comes from it; by default 0, at random with bots in the sandbox."
        ),
    ] = None,
    opening: Annotated[Optional[str], typer.Option(help="none or random:k; by default what suits the game.")] = None,  # noqa: UP045
    isolation: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where all bots run: sandbox, process or none; by default what suits each."),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Draw the position after every ply.")] = False,
    home: Home = None,
) -> None:
    """Play one match and print it."""
    from arena.cli.matches import print_match

    print_match(game, bots, seed, opening, isolation, show, home)


@app.command(epilog="Example: arena replay 3f9a0c27-1 --in configs/demo.toml --audit")
def replay(
    match_id: Annotated[
        str,
        typer.Argument(
            metavar="MATCH_ID|FILE", help="A match's id, its first part may be shortened; or a file of matches."
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--in", metavar="CONFIG|DB", help="Where to look; by default every tournament under the home folder."
        ),
    ] = None,
    audit: Annotated[bool, typer.Option("--audit", help="Recompute every roll and random move from the keys.")] = False,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Draw the position after every ply.")] = True,
    match: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Which match of a file; by default all of them are replayed, and one is drawn."),
    ] = None,
    home: Home = None,
) -> None:
    """Replay a match from the log or from an exported file, without its bots."""
    from arena.cli.matches import print_replay

    print_replay(match_id, target, audit, show, home, match)


@app.command(epilog="Example: arena doctor")
def doctor(
    address: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="A running Ray cluster: HOST:PORT of its head, or auto. Its nodes are compared with this machine."
        ),
    ] = None,
    home: Home = None,
) -> None:
    """Check whether this machine has what the arena needs; exit code 1 when something is missing."""
    from arena.cli.doctor import print_findings

    raise typer.Exit(FINE if print_findings(home, address) else USER_ERROR)


def run_command(arguments: list[str]) -> int:
    """Run a command line; the exit code. Errors that are a user's to mend are one line on standard error."""
    usage_error: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    token = COMMAND.set(Command(shlex.join(["arena", *arguments]), arguments[:1] in ADDING))
    try:
        code = app(arguments or ["--help"], prog_name="arena", standalone_mode=False)
        sys.stdout.flush()
        return int(code or FINE)
    except usage_error as error:  # the base class of Typer's usage errors
        return _complain(error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # whoever read our output has seen enough; Click exits then
        return FINE
    except OSError as error:
        return _complain(f"{error.filename or 'output'}: {error.strerror or error}")
    except (ValueError, RuntimeError, sqlite3.Error) as error:
        from engine.errors import ArenaError

        if isinstance(error, (ArenaError, sqlite3.Error)):
            return _complain(str(error))
        raise
    finally:
        COMMAND.reset(token)


def _complain(message: str) -> int:
    text = " ".join(message.split()) or "something went wrong"
    with contextlib.suppress(OSError):
        print(f"error: {text}", file=sys.stderr, flush=True)
    return USER_ERROR


def _open_missing_streams() -> None:
    """Whoever starts us may leave standard streams out; then other files would get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), mode))  # noqa: SIM115 - for good


def main() -> None:
    """The console script."""
    _open_missing_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # `nohup` ignores the second
            signal.signal(number, signal.default_int_handler)  # as Ctrl-C: temporary folders and workers go
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our letters is no reason to fail
    code = run_command(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # what is left in the buffer can never be written; Python must not try again when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)
