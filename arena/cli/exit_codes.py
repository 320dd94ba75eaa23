"""Exit codes of the `arena` command."""

from __future__ import annotations

FINE, FAILED, WRONG_COMMAND, NOT_ALL_PLAYED = 0, 1, 2, 3
A_STRONGER, B_STRONGER, UNDECIDED = 10, 11, 12
"""Of `arena compare --exit-code`."""
INTERRUPTED = 130
MEANINGS = {
    FINE: "all is well",
    FAILED: "something was found wrong, or failed",
    WRONG_COMMAND: "the command line or the configuration is wrong, or names something that is not there",
    NOT_ALL_PLAYED: "some matches could not be played",
    A_STRONGER: "compare --exit-code: A is stronger",
    B_STRONGER: "compare --exit-code: B is stronger",
    UNDECIDED: "compare --exit-code: undecided",
    INTERRUPTED: "interrupted",
}


def code_of(error: Exception) -> int:
    """Return the exit code of a command that ends with an error."""
    from arena.core.errors import BotError, ConfigError, UnknownTargetError
    from engine.errors import EngineError

    wrong = isinstance(error, (BotError, ConfigError, EngineError, UnknownTargetError))
    return WRONG_COMMAND if wrong else FAILED
