"""The `arena` command: groups of commands, errors, signals. Heavy imports are inside the commands."""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import os
import platform
import shlex
import signal
import sqlite3
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from arena.cli.commands import bots, contest, contest_admin, logs, machine, play, results
from arena.cli.exit_codes import FAILED, FINE, INTERRUPTED, MEANINGS, WRONG_COMMAND, code_of
from arena.cli.interrupts import end_in_time, how_to_resume
from arena.core.command import COMMAND, RESUMABLE_COMMANDS, Command

APPENDING_COMMANDS = (["import"], ["merge"])
"""Commands that change a log so that the run that wrote before can still resume."""


class Commands(TyperGroup):
    """The commands in groups, with hints for wrong names; Ctrl-C becomes `typer.Abort`."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            from engine.errors import did_you_mean

            ctx.fail(f"no command '{args[0]}'{did_you_mean(args[0], self.commands)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by group, each with the first sentence of its help."""
        width = max(map(len, self.commands))
        for group, members in itertools.groupby(self.commands.items(), lambda item: str(item[1].rich_help_panel)):  # type: ignore[attr-defined]  # Typer's commands have it
            with formatter.section(group):
                formatter.write_dl(
                    [(f"{name:{width}}", command.get_short_help_str(formatter.width)) for name, command in members]
                )
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in MEANINGS.items()])


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"pyramid-arena {version('pyramid-arena')}, Python {platform.python_version()}")
        raise typer.Exit


app = typer.Typer(
    name="arena",
    cls=Commands,
    help="Run tournaments of game bots: seeded matches on all cores or a Ray cluster, statistics with intervals.",
    epilog="Example: arena run configs/smoke.toml",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Run tournaments of game bots: seeded matches on all cores or a Ray cluster, statistics with intervals."""


for group in (play, results, bots, logs, machine):
    app.add_typer(group.app)
contest.app.add_typer(
    contest_admin.app,
    name="admin",
    help="Organise contests: invite, limit, ban, extend, export, erase.",
    epilog="Example: arena contest admin authors",
)
app.add_typer(
    contest.app,
    name="contest",
    help="Run contests: make, serve, drive and close them.",
    epilog="Example: arena contest init configs/contests/cup.toml",
    rich_help_panel="Contests",
)


def run_command(arguments: list[str]) -> int:
    """Run a command line and return the exit code; errors that a user can mend are one line on standard error."""
    usage_error: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    token = COMMAND.set(Command(shlex.join(["arena", *arguments]), arguments[:1] in APPENDING_COMMANDS))
    try:
        code = app(arguments or ["--help"], prog_name="arena", standalone_mode=False)
        sys.stdout.flush()
        return int(code or FINE)
    except usage_error as error:  # the base class of Typer's usage errors
        from arena.cli.usage_errors import sentence

        return _print_error(sentence(error, arguments), WRONG_COMMAND)
    except (KeyboardInterrupt, typer.Abort):
        return _print_error("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # whoever read our output has seen enough; Click exits then
        return FINE
    except OSError as error:
        return _print_error(f"{error.filename or 'output'}: {error.strerror or error}", FAILED)
    except (ValueError, RuntimeError, sqlite3.Error) as error:
        from engine.errors import ArenaError

        if isinstance(error, (ArenaError, sqlite3.Error)):
            return _print_error(str(error), code_of(error))
        raise
    finally:
        COMMAND.reset(token)


def _print_error(message: str, code: int) -> int:
    """Print an error and return the exit code."""
    text = " ".join(message.split()) or "something went wrong"
    with contextlib.suppress(OSError):
        print(f"error: {text}", file=sys.stderr, flush=True)
    return code


def _open_missing_streams() -> None:
    """Open standard streams that are closed, so that no other file gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), mode))  # noqa: SIM115 - for good


def main(interrupt: Any = signal.default_int_handler) -> None:
    """Run the console script; `interrupt` handles SIGINT from now on."""
    gc.set_threshold(100_000, 50, 50)  # by default collecting takes a quarter of the time that imports take
    _open_missing_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # `nohup` ignores the second
            signal.signal(number, signal.default_int_handler)  # as Ctrl-C: temporary folders and workers go
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our letters is no reason to fail
    last_words: list[str] = []
    try:
        signal.signal(signal.SIGINT, interrupt)
        if sys.argv[1:2] in RESUMABLE_COMMANDS:
            last_words.append(how_to_resume("every match in the log is", shlex.join(["arena", *sys.argv[1:]])))
            end_in_time(last_words)
        code = run_command(sys.argv[1:])
    except KeyboardInterrupt:  # before the first, or after the last, line of the command
        _print_error("interrupted", INTERRUPTED)
        code = INTERRUPTED
    last_words.clear()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # what is left in the buffer can never be written; Python must not try again when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    gc.freeze()  # else Python collects all modules at its end: half a second of processor time after `arena serve`
    sys.exit(code)
