"""Errors, each with one line for the user."""

import contextlib
import errno
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from engine.errors import ArenaError as ArenaError

DISK_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class ConfigError(ArenaError):
    """A tournament's configuration cannot be read or asks for something that is not there."""


class BotError(ArenaError):
    """A bot cannot be found, read or loaded."""


class StoreError(ArenaError):
    """A match log cannot be opened, is in use, or does not hold what was asked for."""


class UnknownTargetError(StoreError):
    """There is no log where one was named, or it does not hold the board, bot or match that was asked for."""


class LockedError(StoreError):
    """A log cannot be read for now, because another program keeps it locked."""


class NoRunError(StoreError):
    """A log has no run: the first one is being prepared, or was interrupted before it began."""


class LogVersionError(StoreError):
    """A log of another version than the one that this arena reads."""


class UnwritableError(StoreError):
    """Something cannot be written for now: a full disk, a lock, a folder that is read-only."""

    def __init__(self, what: str, remedy: str, state: str = "", command: str = "with the same command") -> None:
        """Take what is wrong, what helps, what has become of all that was to be written, and the command to repeat."""
        super().__init__(f"{what}{'; ' * bool(state)}{state}. {remedy}, then go on: {command}")
        self.what, self.remedy, self.state = what, remedy, state

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.remedy, self.state)  # Ray workers send it


class WorkerError(ArenaError):
    """A worker process cannot be started or runs other code than the driver."""


class ClusterError(WorkerError):
    """A Ray cluster cannot be joined, or was lost while it played."""


class AccountError(ArenaError):
    """A change of authors, tokens, contests or submissions that is refused; it says what would be right."""


class RecordError(ArenaError):
    """A line of matches or a plan.json cannot be read, or a match does not fit its plan or its log."""


def is_disk_full(error: OSError) -> bool:
    """Return whether a disk is full, or a quota or a limit of file sizes is reached."""
    return error.errno in DISK_FULL_ERRNOS


def disk_full_error(error: OSError, where: str) -> UnwritableError:
    """Return the error of a full disk for the user; `where` stands for a file that it does not name."""
    return UnwritableError(f"{error.filename or where}: {error.strerror}", "Make room")


@contextlib.contextmanager
def adding_saved_state(state: Callable[[], str]) -> Iterator[None]:
    """Add to errors of full disks and the like within what has become of all that was to be written."""
    try:
        yield
    except UnwritableError as error:
        raise UnwritableError(error.what, error.remedy, state()) from None
    except OSError as error:
        if not is_disk_full(error):
            raise
        shortage = disk_full_error(error, tempfile.gettempdir())
        raise UnwritableError(shortage.what, shortage.remedy, state()) from None
