"""The command that this process carries out; a log names it as its writer."""

from __future__ import annotations

import shlex
from contextvars import ContextVar
from dataclasses import dataclass

RESUMABLE_COMMANDS = (["run"], ["compare"], ["tune"])
"""Commands that end soon after Ctrl-C, whatever they are doing, and go on when they are given again."""


@dataclass(frozen=True)
class Command:
    """A command, as whoever carries it out gives it to the rooms below."""

    line: str = ""
    """What to type to give it again; empty for programs that call the Python API."""
    adds: bool = False
    """Whether it only adds to logs, or rearranges them, so that the run that wrote before can still go on."""


def resume_command(line: str) -> str:
    """Return the command line that goes on where another one was interrupted."""
    return shlex.join(word for word in shlex.split(line) if word != "--fresh")


COMMAND: ContextVar[Command] = ContextVar("command", default=Command())  # noqa: B039 - it is frozen
"""The command of the present context."""
