"""Warn when a submitted bot's name or author looks like another's, or its source is known already.

Nothing is refused: people give themselves their names as authors, and the home's owner vouches for them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

LOOKALIKE_LETTERS = str.maketrans("01|іаеорсухкмтвн", "ol" + "liaeopcyxkmtbh", "_-. ")
"""Signs that are read as others, Cyrillic ones among them; those in the third argument are left out."""
MIN_EDITED_NAME_CHARS = 4
"""Letters from which on names are alike that are one edit apart."""


def lookalike_warnings(
    name: str, author: str, hash: str, ours: list[str], submitted: Mapping[str, list[tuple[str, str]]]
) -> Iterator[str]:
    """Yield warnings on a bot; `ours` come with the arena, `submitted` has versions' authors and hashes by name."""
    for other in ours:
        if other != name and are_confusable(name, other):
            yield f"the name '{name}' is nearly that of '{other}', which comes with the arena or is installed"
    authors: dict[str, None] = {}
    for other, versions in submitted.items():
        authors.update(dict.fromkeys(by for by, _ in versions))
        if other == name:
            continue
        if versions[-1][0] != author and are_confusable(name, other):
            yield f"the name '{name}' is nearly that of '{other}' by {versions[-1][0]}"
        known = next((by for by, of in versions if of == hash), None)
        if known is not None:
            yield f"this source has been submitted as '{other}' by {known}"
    if authors and author not in authors:
        yield f"the first bot by an author called '{author}'"
    yield from (
        f"the author's name '{author}' is nearly that of '{other}'"
        for other in authors
        if other != author and are_confusable(author, other)
    )


def are_confusable(one: str, other: str) -> bool:
    """Return whether a reader may take one name for the other: they look alike, or are one edit apart."""
    first, second = as_read(one), as_read(other)
    if first == second:
        return True
    if min(len(first), len(second)) < MIN_EDITED_NAME_CHARS:
        return False
    same = [a == b for a, b in zip(first, second, strict=False)]
    at = [*same, False].index(False)
    a, b = first[at:], second[at:]
    return a[1:] == b[1:] or a == b[1:] or a[1:] == b or (a[:2] == b[1::-1] and a[2:] == b[2:])


def as_read(name: str) -> str:
    """Return a name without case, accents and signs between words."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).translate(LOOKALIKE_LETTERS)
