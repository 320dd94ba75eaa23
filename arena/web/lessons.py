"""Lessons: set positions of a game with one task each, from the data files in `lessons/`."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict


class Lesson(BaseModel):
    """A position with a task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    task: str
    """What is to be done, in a sentence or two."""
    players: int
    game: str = ""
    """Spec with the options it is played with; empty for the game as it comes."""
    position: str = ""
    """Position string; empty for the start of the game."""
    moves: str = ""
    """Moves from there, in notation."""
    solutions: tuple[str, ...]
    """Actions that solve the task, in notation."""
    praise: str
    """What the action has shown, in a sentence or two."""
    hint: str
    """What to look at, after an action that is legal and does not solve the task."""


class Lessons(BaseModel):
    """The lessons of a game."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lesson: tuple[Lesson, ...]


@lru_cache(64)
def lessons_of(game: str) -> Lessons | None:
    """Return the lessons of a game; None where there are none."""
    found = files("arena.web").joinpath("lessons", f"{game}.toml")
    if not found.is_file():
        return None
    return Lessons.model_validate(tomllib.loads(found.read_text(encoding="utf-8")))
