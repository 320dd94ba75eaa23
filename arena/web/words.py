"""Numbers, times and names as pages show them."""

from __future__ import annotations

from datetime import UTC, datetime

from markupsafe import Markup, escape

from arena.core.names import COMPARISONS
from arena.runner.progress import duration, per_second

LONGEST = 200
"""Characters of a name that a page shows at most; styles cut it sooner where there is less room."""


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
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return Markup('<bdi class="name" title="{}">{}</bdi>').format(text[: 10 * LONGEST], shown)


def signed(number: float) -> str:
    """Return a number with its sign and three decimals, without a negative zero."""
    return f"{number:+z.3f}"


def short(text: str) -> str:
    """Return a comparison's name without the folder that all of them are in."""
    return text.removeprefix(f"{COMPARISONS}/")


def sentence(words: str) -> str:
    """Return the words of an error as a sentence."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")


FILTERS = {
    "short": short,
    "sentence": sentence,
    "count": count,
    "percent": percent,
    "moment": moment,
    "name": name,
    "signed": signed,
    "duration": duration,
    "rate": per_second,
}
"""Filters of templates."""
