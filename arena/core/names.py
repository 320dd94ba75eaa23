"""Rules for names that people give: of tournaments, bots and authors."""

from __future__ import annotations

import re

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
MARKUP_PATTERN = re.compile(r"[<>|/\\`{}\[\]*$^~]|^[=+@-]")
"""What means something to pages, tables, spreadsheets or terminals."""
SUBMISSIONS_FOLDER = "bots"
"""The folder of submitted bots, among those of tournaments."""
COMPARISONS_FOLDER = "compare"
"""The folder of comparisons, with one for each two bots, game, number of players and fillers."""
PLAYED_FOLDER = "played"
"""The folder of matches that persons have played, with a log for each."""
CONTESTS_FOLDER = "contests"
"""The folder of contests, with the logs of each."""
DATABASE_FILE = "arena.db"
"""The file of accounts and submissions to contests, beside those folders; SQLite keeps others whose names begin so."""


def is_open_ended(name: str) -> bool:
    """Return whether what has that name is only played as far as it goes: a match of persons."""
    return name.startswith(f"{PLAYED_FOLDER}/")


def plain_name(value: str) -> str:
    """Return the name of a tournament or bot; raises `ValueError` for one that is not plain."""
    if not NAME_PATTERN.fullmatch(value):
        raise ValueError("must be 1 to 64 letters, digits, _, - or ., beginning with a letter or digit")
    return value


def shown_name(value: str, most: int) -> str:
    """Return the name of a contestant or author as tables show it; raises `ValueError` for one with markup."""
    if not (0 < len(value) <= most and value.isprintable() and value == value.strip()) or MARKUP_PATTERN.search(value):
        raise ValueError(
            f"must be 1 to {most} printable characters without < > | / \\ ` {{ }} [ ] * $ ^ ~, "
            "must not begin with = + - @, and have no space at its ends"
        )
    return value
