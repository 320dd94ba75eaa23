"""Sentences about the plies of a match, by the words of its game."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from engine import State
from engine.words import Names, Sentence

MAX_READERS = 8
"""Sets of names for which sentences are kept: for the owner and for others, before and after bots have names."""
MAX_SPOKEN_CHARS = 2_000
"""Characters of a sentence that is shown; those of the games here have at most 200."""


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
