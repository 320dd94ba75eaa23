"""Errors: one family, so that a caller can catch `ArenaError` and print one line."""

import difflib
import re
import traceback
from collections.abc import Iterable, Sequence
from pathlib import PurePath


def one_line(text: str) -> str:
    """Return the text with line ends and other unprintable characters written as escapes."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


class ArenaError(ValueError):
    """Base of every error that engine and arena raise on purpose; its text is one line, whatever it quotes."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


class EngineError(ArenaError):
    """Base of every error of the engine."""


class UnknownNameError(EngineError):
    """No game, option or value has that name."""


class ParameterError(EngineError):
    """An option is known, but the value given for it is not allowed."""


class NotationError(EngineError):
    """A text cannot be read as an action, a chance outcome, a position or a spec."""


class PositionError(NotationError):
    """A position string is well formed in part, but `field` is wrong in syntax or contradicts the rules."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"position, field {field}: {why}")
        self.field = field
        self.why = why

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.field, self.why)


class IllegalActionError(EngineError):
    """The action exists, but it is not allowed in this state."""


class UnsupportedError(EngineError):
    """The game or bot is known, but cannot do what was asked of it (players, positions, kernels ...)."""


class DuplicateNameError(EngineError):
    """Two plug-ins claim one name."""


def summarise_error(error: BaseException, inner: int = 0, within: str = "") -> str:
    """Return one line for any error: what it is, and the file and line that raised it; `inner` calls are left out.

    Where a file of that name, or one in the folder of that name, is on the way, it is told in place of what it called.
    """
    try:
        text = one_line(" ".join(f"{type(error).__name__}: {error}".split()))
    except Exception:  # an error whose own text raises
        text = type(error).__name__
    if type(error).__module__.startswith("numba."):
        return _not_compiled(error) or text
    frames = traceback.extract_tb(error.__traceback__)
    files = [frame for frame in frames[: len(frames) - inner] if not frame.filename.startswith("<")]
    if not files or isinstance(error, SyntaxError):  # which tells its place itself
        return text
    own = [frame for frame in files if within and PurePath(frame.filename).is_relative_to(within)]
    last = (own or files)[-1]
    return f"{text} ({place(last.filename, last.lineno or 0)})"


def _not_compiled(error: BaseException) -> str:
    """Return what a compiler's message of many lines begins with, and the first place that it names; "" for others."""
    lines = [line.strip() for line in re.sub("\x1b\\[[0-9;]*m", "", str(error)).splitlines()]
    causes = [line for line in lines if line and not line.startswith("Failed in ")]
    found = re.search(r'File "(.+?)", line (\d+)', "\n".join(lines))
    return (
        one_line(f"{type(error).__name__}: {causes[0]} ({place(found[1], int(found[2]))})") if found and causes else ""
    )


def place(file: str, line: int) -> str:
    """Return a file's name with its folder's, and a line of it."""
    return f"{'/'.join(PurePath(file).parts[-2:])}, line {line}"


MIN_SHORT_NAME_CHARS = 3
"""Letters that a name needs to be taken for a short form of another."""
MAX_LISTED_NAMES = 20
"""Known names that an error message lists."""


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the known name that a name is short for, or else resembles most; empty when none is near."""
    letters = ".*".join(map(re.escape, name.lower()))
    longer = [each for each in known if len(name) >= MIN_SHORT_NAME_CHARS and re.match(letters, each.lower())]
    by_case = {each.lower(): each for each in reversed(longer or known)}
    near = difflib.get_close_matches(name.lower(), list(by_case), n=1, cutoff=0.0 if longer else 0.6)
    return by_case[near[0]] if near else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message: the nearest known name, or the known names when none is near."""
    names = known if isinstance(known, Sequence) else sorted(known)
    if near := nearest(name, names):
        return f"; did you mean '{near}'?"
    more = f" and {len(names) - MAX_LISTED_NAMES:,} more" if len(names) > MAX_LISTED_NAMES else ""
    return f"; known: {', '.join(names[:MAX_LISTED_NAMES])}{more}" if names else ""
