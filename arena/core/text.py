"""Texts for people: bounds in words, and texts of strangers cleaned before they are kept or shown."""

import re

from arena.core.paths import ROOT

ARENA_FRAME = re.compile(rf'^  File "{re.escape(str(ROOT / "arena"))}/.*\n(?:    .*\n)+', re.MULTILINE)
"""Frame of a traceback that is not in the bot's code."""
BUNDLE_FOLDER = re.compile(r'(?<=^  File ").*/bundles/[0-9a-f]{32}/', re.MULTILINE)
"""Folder of a bot's files while it plays."""


def bots_part(text: str) -> str:
    """Return a bot's error output without what a traceback tells of the arena: its frames, and folders."""
    return BUNDLE_FOLDER.sub("", ARENA_FRAME.sub("", text)) if BUNDLE_FOLDER.search(text) else text


def without_controls(text: str) -> str:
    """Return the text with spaces for what would steer a terminal or cannot be stored; line ends stay."""
    return "".join([letter if letter.isprintable() or letter == "\n" else " " for letter in text])


def describe_bounds(kind: str, low: float | None, high: float | None) -> str:
    """Return a kind of number with its inclusive bounds in words."""
    if low is not None and high is not None:
        return f"{kind} from {low:,} to {high:,}"
    return (
        kind
        if low is None and high is None
        else f"{kind}, {f'{low:,} or more' if high is None else f'at most {high:,}'}"
    )
