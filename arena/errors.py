"""What can go wrong in a tournament, each with one line for the user."""

from engine.errors import one_line


class ArenaError(ValueError):
    """Base of every error that the arena raises on purpose; its text is one line for a user, whatever it quotes."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


class ConfigError(ArenaError):
    """A tournament's configuration cannot be read or asks for something that is not there."""


class BotError(ArenaError):
    """A bot cannot be found, read or loaded."""


class StoreError(ArenaError):
    """A match log cannot be opened, is in use, or does not hold what was asked for."""


class WorkerError(ArenaError):
    """A worker process cannot be started or runs other code than the driver."""


class ClusterError(WorkerError):
    """A Ray cluster cannot be joined, or was lost while it played."""


class RecordError(ArenaError):
    """A text is no record of a match, or a record does not fit its plan or its log."""
