"""Numbers, times and names as pages show them."""

from __future__ import annotations

import math
import os
import re
from datetime import UTC, datetime
from pathlib import Path

from markupsafe import Markup, escape

from arena.core.names import COMPARISONS_FOLDER
from arena.results.pages.templates import board_name, game_title
from arena.runner.progress import duration, per_second
from arena.schedule.foreign import is_foreign_name
from engine import Game
from engine.errors import EngineError
from engine.registry import is_provided
from engine.specs import split_bot_spec
from engine.words import ending_name

MAX_NAME_CHARS = 200
"""Characters of a name that a page shows at most; styles cut it sooner where there is less room."""

LIST_NAME_CHARS = 40
"""Characters of a name in a list to choose from."""


def count(number: int) -> str:
    """Return a number with its thousands apart."""
    return f"{number:,}"


def percent(part: float) -> str:
    """Return a share as whole percents, 100 for nothing less than all."""
    return f"{int(100 * part)} %"


def moment(time: str) -> Markup:
    """Return a time, UTC in ISO format, as an element that scripts show in local time."""
    try:
        read = datetime.fromisoformat(time)
    except ValueError:
        return escape(time)
    read = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    return Markup('<time datetime="{}">{} UTC</time>').format(
        read.isoformat(timespec="seconds"), read.strftime("%Y-%m-%d %H:%M")
    )


def name(text: str) -> Markup:
    """Return a name of whatever length and script: cut by the style, with the whole on hover."""
    shown = text if len(text) <= MAX_NAME_CHARS else f"{text[:MAX_NAME_CHARS]}…"
    return Markup('<bdi class="name" title="{}">{}</bdi>').format(text[: 10 * MAX_NAME_CHARS], shown)


def signed(number: float) -> str:
    """Return a number with its sign and three decimals, without a negative zero."""
    return f"{number:+z.3f}"


def expected(value: float) -> str:
    """Return an expected return with its sign and two decimals, without a negative zero."""
    return f"{value:+z.2f}"


def cut(text: str) -> str:
    """Return a name where nothing but text can stand, cut after so many letters that lists stay narrow."""
    return text if len(text) <= LIST_NAME_CHARS else f"{text[: LIST_NAME_CHARS - 1]}…"


def short(text: str) -> str:
    """Return a comparison's name without the folder that all of them are in."""
    return text.removeprefix(f"{COMPARISONS_FOLDER}/")


def interval(low: float, high: float) -> str:
    """Return the two ends of an interval; a question mark where it is not known yet."""
    return "?" if math.isnan(low) or math.isnan(high) else f"{signed(low)} to {signed(high)}"


def longest(game: Game) -> str:
    """Return the most actions in a match, where the game tells."""
    try:
        return count(game.max_game_length)
    except EngineError:
        return "not told"


def chances(game: Game) -> str:
    """Return the most chance outcomes in a match, where the game tells."""
    try:
        return count(game.max_chance_nodes) if game.has_chance else "none"
    except EngineError:
        return "not told"


def under(rules: Markup) -> Markup:
    """Return rendered Markdown to stand below a heading of the second level, without its title."""
    text = re.sub(r"<h1>.*?</h1>\n?", "", str(rules), count=1, flags=re.S)
    for level in (4, 3, 2):
        text = re.sub(rf"<(/?)h{level}(?=[ >])", rf"<\g<1>h{level + 1}", text)
    text = text.replace("<pre>", '<pre tabindex="0">').replace("</table>", "</table></div>")
    return Markup(text.replace("<table>", '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>'))


def name_in(spec: str) -> str:
    """Return the name of the bot in a spec, without its options and the folder of its file."""
    if is_foreign_name(spec):
        return spec
    return split_bot_spec(spec)[0].rpartition("/")[2]


def below(home: Path, text: str) -> str:
    """Return a text without the folder that the home is in: pages tell nobody where that is."""
    return text.replace(f"{home}{os.sep}", "")


def game_name(spec: str) -> str:
    """Return the name of the game in a spec, without its options; a provider's game has a page for each spec."""
    if is_provided(spec):
        return spec
    return spec.partition("(")[0]


def sentence(words: str) -> str:
    """Return the words of an error as a sentence; a path or a file's name that they begin with stays as it is."""
    begin = words.partition(" ")[0].rstrip(".:,;")
    first = words[:1] if "/" in begin or "." in begin else words[:1].upper()
    return first + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")


FILTERS = {
    "board_name": board_name,
    "cut": cut,
    "expected": expected,
    "short": short,
    "sentence": sentence,
    "bot_name": name_in,
    "game_name": game_name,
    "game_title": game_title,
    "interval": interval,
    "longest": longest,
    "chances": chances,
    "under": under,
    "count": count,
    "percent": percent,
    "moment": moment,
    "name": name,
    "signed": signed,
    "duration": duration,
    "ending": ending_name,
    "rate": per_second,
}
"""Filters of templates."""
