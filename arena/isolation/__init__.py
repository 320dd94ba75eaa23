"""How a bot's code runs: one file in `levels` for each level of isolation, and what the arena asks of them all.

A level is named after its file, and found by it. Files of levels are loaded when the first bot of theirs comes.
"""

from __future__ import annotations

import functools
import importlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from arena.core.findings import Finding
    from arena.isolation.interpreter import Interpreter
    from arena.isolation.launched import LaunchedBot
    from arena.isolation.process_pool import ProcessPool
    from arena.match.player import SeatTaker
    from arena.registry.describe import Board
    from arena.registry.discovery import Source

LEVELS = tuple(sorted(path.stem for path in Path(__file__).with_name("levels").glob("[!_]*.py")))
"""Names of all levels."""
if TYPE_CHECKING:
    Isolation = str
else:
    Isolation = Literal[LEVELS]
    """Where a bot runs."""

OWN_BOT_LEVEL: Isolation = "none"
"""Default level of one's own bots."""
PROGRAM_LEVEL: Isolation = "process"
"""Default level of programs. It runs every bot on every machine, with the user's rights."""
SUBMITTED_LEVEL: Isolation = "sandbox"
"""Default level of submitted bots, and of whatever comes from strangers."""


class Host(Protocol):
    """What a worker gives the bots of one plan to run in, whatever their level."""

    interpreter: Interpreter
    """Its own, for bots that run in it."""
    foreign: set[int]
    """Keys of bots whose code runs in it and is not our own: only these may change the interpreter."""
    recursion: dict[int, int]
    """By key: the recursion limit that a bot's modules have set."""

    @property
    def pool(self) -> ProcessPool:
        """Processes of bots; they are started when the first one is needed."""


class Launcher(ABC):
    """A level of isolation: what it needs of the machine, and how a bot at this level takes a seat."""

    in_worker = False
    """Whether its bots run in the worker's own process, which may end by them."""
    runs_programs = True
    for_strangers = False
    """Whether it is to hold against authors who cheat: dice are secret, and no program is believed to begin afresh."""

    def __init__(self, name: Isolation) -> None:
        self.name = name

    def missing_requirements(self) -> str:
        """Return why this machine cannot run bots so, and what would help; empty when it can."""
        return ""

    def refusal(self) -> str:
        """Return why this machine cannot run bots so, for whoever has sent it a plan; empty when it can."""
        missing = self.missing_requirements()
        return f"{os.uname().nodename} cannot {self.name} bots: {missing}" if missing else ""

    def findings(self) -> Iterator[Finding]:
        """Yield what `arena doctor` reports of what the level needs."""
        yield from ()

    @abstractmethod
    def contestant(self, bot: LaunchedBot, host: Host) -> SeatTaker:
        """Return a bot as something that can take a seat.

        Its player (`arena.match.player.Player`) starts it for a match, asks it, stops it and sees that it has stopped,
        and ends it. What goes wrong there is a `Fault` of the bot; `ProcessKilled` when anybody may have done it, and
        the match is played again; `WorkerError` when it is the machine's. Raises `OSError` on a full disk.
        """

    @abstractmethod
    def describe(self, bot: LaunchedBot, boards: Sequence[Board], host: Host) -> Any:
        """Return what a bot that is no program declares, whatever that is; under `error` why it cannot be used.

        `arena.registry.declarations` says what is believed. Raises `OSError` on a full disk.
        """


@functools.cache
def launcher(name: Isolation) -> Launcher:
    """Return a level by its name; raises `ConfigError` when there is none."""
    if name not in LEVELS:
        from arena.core.errors import ConfigError  # imports the engine, and command lines only want the names

        raise ConfigError(f"isolation = {name!r}: must be {', '.join(LEVELS)}")
    found: Launcher = importlib.import_module(f"{__name__}.levels.{name}").Level(name)
    return found


def default_level(source: Source) -> Isolation:
    """Return the level of a bot for which none is chosen."""
    return SUBMITTED_LEVEL if source.submitted else PROGRAM_LEVEL if source.is_program else OWN_BOT_LEVEL
