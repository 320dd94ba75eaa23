"""Lists of persons to invite, and sheets of their links."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from arena.core.errors import AccountError

MAX_INVITED = 2_000
HEADING = "name"


def names_in(text: str) -> list[str]:
    """Return the names in a list, one a line, or in the first column of a CSV; raises `AccountError`.

    A first line that begins with `name` is a heading.
    """
    try:
        rows = [row[0].strip() for row in csv.reader(text.splitlines()) if row and row[0].strip()]
    except csv.Error as error:
        raise AccountError(f"names: cannot be read as CSV: {error}") from None
    if rows and rows[0].casefold() == HEADING:
        del rows[0]
    if not rows:
        raise AccountError("names: write at least one")
    if len(rows) > MAX_INVITED:
        raise AccountError(f"names: at most {MAX_INVITED:,} at once")
    return rows


def sheet_of_links(invited: Iterable[tuple[str, str]], url: str) -> str:
    """Return the names and codes of invitations as CSV with the columns `name` and `link`, below a server's address."""
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow((HEADING, "link"))
    writer.writerows((name, f"{url.rstrip('/')}/join/{code}") for name, code in invited)
    return sheet.getvalue()
