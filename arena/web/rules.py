"""The rules of games as pages show them: with an address for every heading."""

from __future__ import annotations

import re
from functools import lru_cache

from markupsafe import Markup

from arena import api
from arena.core.errors import ArenaError
from arena.registry.rules import summary_of
from arena.results.pages.templates import markdown
from engine.words import slug


@lru_cache(64)
def minute_of(game: str) -> Markup:
    """Return the rules of a game in a minute; nothing where its rules have no such section."""
    try:
        return markdown(summary_of(game))
    except ArenaError:
        return Markup()


@lru_cache(64)
def rules_of(game: str) -> Markup:
    """Return the rules of a game by its name; nothing where there are none."""
    try:
        return anchored(markdown(api.rules(game)))
    except ArenaError:
        return Markup()


def anchored(html: Markup) -> Markup:
    """Return rendered Markdown whose headings can be linked to, as `#rules-` and the heading's `slug`."""

    def with_id(found: re.Match[str]) -> str:
        name = slug(re.sub(r"<[^>]*>", "", Markup(found[2]).unescape()))
        return f'<h{found[1]} id="rules-{name}" tabindex="-1">{found[2]}</h{found[1]}>'

    return Markup(re.sub(r"<h([2-6])>(.*?)</h\1>", with_id, str(html)))
