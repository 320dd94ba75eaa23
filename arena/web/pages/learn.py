"""A guided first match: set positions of a game, one task each."""

from __future__ import annotations

import engine
from arena.web.catalog import NotFoundError
from arena.web.lessons import lessons_of
from arena.web.links import Links
from arena.web.rendering import Page, page
from arena.web.rules import minute_of, rules_of


def page_of(links: Links, name: str) -> Page:
    """Return the lessons of a game, by its name."""
    lessons = lessons_of(name) if name in engine.game_names() else None
    if lessons is None:
        raise NotFoundError("there are no lessons for a game of this name")
    kind = engine.game_type(name)
    return page(
        "learn.html",
        links,
        title=f"Learn {kind.title}",
        description=f"{kind.title} in {len(lessons.lesson)} small tasks.",
        scripts=("learn.js",),
        kind=kind,
        tasks=[lesson.model_dump() for lesson in lessons.lesson],
        spec=lessons.lesson[-1].game or name,
        minute=minute_of(name),
        rules=rules_of(name),
    )
