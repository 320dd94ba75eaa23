"""What is said of a match: sentences about its plies, by the words of its game, and where it turned."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise

from arena.match.stored import StoredMatch
from engine import State
from engine.words import Names, Sentence

MAX_READERS = 8
"""Sets of names for which sentences are kept: for the owner and for others, before and after bots have names."""
MAX_SPOKEN_CHARS = 2_000
"""Characters of a sentence that is shown; those of the games here have at most 200."""
MIN_SWING = 0.2
"""Change of an expected return, on the scale from -1 to 1, that counts as a turn."""


def spoken(say: Callable[[], Sentence]) -> Sentence | None:
    """Return what a game says; None where its words fail, or are no sentence that a page or a terminal can show."""
    try:
        said = say()
    except Exception:  # whatever a plug-in's words do
        return None
    fits = isinstance(said, Sentence) and isinstance(said.text, str) and said.text.isprintable()
    return said if fits and len(said.text) <= MAX_SPOKEN_CHARS else None


def told(state: State, action: int, names: Names) -> Sentence:
    """Return what an action or outcome does; its notation where the game's words fail."""
    return spoken(lambda: state.tell(action, names)) or Sentence(state.action_to_string(action))


class Narration:
    """The sentences of one match, each made once for every set of names. Safe to use from several threads."""

    def __init__(self, start: State) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._told: dict[Names, tuple[State, list[Sentence]]] = {}

    def sentences(self, actions: Sequence[int], names: Names) -> list[Sentence]:
        """Return a sentence for each ply of a match."""
        with self._lock:
            state, made = self._told.pop(names, (self._start.clone(), []))
            if state.history()[len(self._start.history()) :] != list(actions[: len(made)]):
                state, made = self._start.clone(), []  # moves were taken back
            for action in actions[len(made) :]:
                made.append(told(state, action, names))
                state.apply_action(action)
            self._told[names] = state, made
            while len(self._told) > MAX_READERS:
                del self._told[next(iter(self._told))]
            return list(made)


def largest_swing(match: StoredMatch) -> tuple[int, int] | None:
    """Return the plies of two evaluations of bots in a row that differ most; None where no two differ by much."""
    known = [(ply, estimate.evaluation) for ply, estimate in sorted(match.estimates.items()) if estimate.evaluation]
    swings = [
        (max(abs(new - old) for old, new in zip(before, after, strict=True)), -ply, later)
        for (ply, before), (later, after) in pairwise(known)
    ]
    size, ply, later = max(swings, default=(0.0, 0, 0))
    return (-ply, later) if size >= MIN_SWING else None
