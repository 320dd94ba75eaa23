"""Commands about this machine."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from arena.cli.arguments import Home
from arena.cli.exit_codes import FINE, USER_ERROR

app = typer.Typer()
command = partial(app.command, rich_help_panel="Machine")


@command(epilog="Example: arena doctor")
def doctor(
    address: Annotated[
        str | None,
        typer.Option(help="HOST:PORT of a Ray cluster's head, or auto: compare its nodes with this machine."),
    ] = None,
    home: Home = None,
) -> None:
    """Check that this machine has what the arena needs.

    Exit code 1 if something is missing.
    """
    from arena.cli.doctor import print_findings

    raise typer.Exit(FINE if print_findings(home, address) else USER_ERROR)
