"""Arrays and vocabularies that grow while other threads read earlier views of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np

MAX_WORDS = 1_000
"""Different endings, or causes, with a number of their own; all others share one."""
OTHER_WORD = "other"


class GrowingArray:
    """An array that grows; views of it stay as they are."""

    def __init__(self, values: np.ndarray) -> None:
        self._values, self._used = values, len(values)

    def extend(self, values: np.ndarray) -> None:
        """Add values at the end."""
        used = self._used + len(values)
        if used > len(self._values):
            grown = np.empty(max(used, 2 * len(self._values)), self._values.dtype)
            grown[: self._used] = self._values[: self._used]
            self._values = grown
        self._values[self._used : used] = values
        self._used = used

    def replace(self, values: np.ndarray) -> None:
        """Begin anew with other values."""
        self._values, self._used = values, len(values)

    @property
    def view(self) -> np.ndarray:
        """What has been added so far."""
        return self._values[: self._used]


class Vocabulary:
    """Texts by small numbers; beyond `MAX_WORDS` all others share one."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = [*words]
        self.numbers = {word: number for number, word in enumerate(self.words)}

    def number(self, word: str) -> int:
        """Return the number of a text, a new one if need be."""
        found = self.numbers.get(word)
        if found is None:
            if len(self.words) >= MAX_WORDS:
                return self.number(OTHER_WORD) if OTHER_WORD in self.numbers else 0
            word = sys.intern(str(word)) if len(self.words) < MAX_WORDS - 1 else OTHER_WORD
            found = self.numbers.setdefault(word, len(self.words))
            if found == len(self.words):
                self.words.append(word)
        return found
