"""Templates of pages, with the styles and scripts that stand inside them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import zlib
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from arena.results.columns import as_text, format_of
from engine import game_names, game_type
from engine.game_types import GameType
from engine.registry import is_provided
from engine.svg import PALETTE
from engine.words import counted, ending_name

_environment = Environment(
    loader=PackageLoader("arena.results.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@cache
def static(name: str) -> str:
    """Return the text of a style or script."""
    return files("arena.results.pages").joinpath("static", name).read_text(encoding="utf-8")


@cache
def styles() -> str:
    """Return the styles of all pages, and those that give drawings the colours of the page."""
    drawings = "\n".join(
        f'svg [{what}="{colour}"] {{ {what}: var(--{name}, {colour}); }}'
        for name, colour in PALETTE.items()
        for what in ("fill", "stroke")
    )
    return f"{static('style.css')}\n{drawings}\n"


@cache
def _dark_style() -> str:
    """Return the style by which a drawing that stands alone has the colours of dark pages where these are dark."""
    found = re.search(r"prefers-color-scheme: dark\) {\s*:root {(.*?)}", static("style.css"), re.S)
    assert found is not None
    dark = dict(re.findall(r"--([\w-]+): (#\w+);", found[1]))
    rules = "".join(
        f'[{what}="{colour}"]{{{what}:{dark[name]}}}'
        for name, colour in PALETTE.items()
        if name in dark
        for what in ("fill", "stroke")
    )
    return f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"


def for_both_schemes(svg: str) -> str:
    """Return a drawing as a picture of its own, which follows the colour scheme of the page that shows it."""
    return re.sub(r"<svg\b[^>]*>", lambda tag: tag[0] + _dark_style(), svg, count=1)


def single_file(template: str, data: Any, script_name: str = "", **values: Any) -> bytes:
    """Return a page with its styles, script and data inside.

    The page may run this script and no other, and may load nothing: its content security policy says so.
    """
    policy, script = "default-src 'none'; style-src 'unsafe-inline'; img-src data:", ""
    if script_name:
        script = static(script_name)
        policy += f"; script-src 'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
    page = _environment.get_template(template).render(
        policy=policy, styles=Markup(styles()), script=Markup(script), data=packed(data), **values
    )
    return page.encode()


def packed(data: Any) -> str:
    """Return data as base64 over deflated JSON, which pages unpack by themselves."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(deflate.compress(text.encode()) + deflate.flush()).decode()


def unpacked(data: bytes, most: int = sys.maxsize - 1) -> bytes:
    """Return the JSON that `packed` has packed; of other data, and of JSON with more than `most` bytes, nothing."""
    unpacker = zlib.decompressobj(-15)
    try:
        text = unpacker.decompress(base64.b64decode(data, validate=True), most + 1)
    except (ValueError, zlib.error):
        return b""
    return text if unpacker.eof and not unpacker.unused_data and len(text) <= most else b""


def markdown(text: str) -> Markup:
    """Return Markdown as HTML; markup within it is shown as text."""
    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def board_name(spec: str, players: int) -> str:
    """Return what a heading calls a board: `Magic Mids, 2 players`."""
    return f"{game_title(spec)}, {counted(players, 'player')}"


def game_title(spec: str) -> str:
    """Return what pages call a game, with its options in words: `Midgard (variant mere mortal)`.

    Games of providers, and those that are not installed, are called by their specs.
    """
    name, bracket, options = spec.partition("(")
    if is_provided(spec) or name not in game_names():
        return spec
    words = options.removesuffix(")").replace("=", " ").replace("_", " ").replace(",", ", ")
    return f"{_title(name)} ({words})" if bracket else _title(name)


@cache
def _title(name: str) -> str:
    try:
        return game_type(name).title
    except Exception:  # a plug-in's fault takes no page away
        return name


def notation(game: GameType) -> Markup:
    """Return the section on notation of a game's rules as HTML; nothing where the rules have none."""
    rules = files(game.package).joinpath("RULES.md") if game.package else None
    if rules is None or not rules.is_file():
        return Markup()
    found = re.search(r"^## [^\n]*Notation\n(.*?)(?=^## |\Z)", rules.read_text(encoding="utf-8"), re.M | re.S)
    return markdown(found[1]) if found else Markup()


MAX_TABLE_ROWS = 300
"""Rows of a table on a page."""
MAX_NARROW_CHARS = 30
"""Letters of a text that a table shows whole."""


def table(frame: pd.DataFrame, texts: Collection[str] = (), stacked: bool = False) -> Markup:
    """Return a frame as an HTML table, numbers to the right and in the formats of their columns.

    `texts`: of a frame of formatted numbers the columns that are none. Of a long table there are the first rows, and
    how many follow. `stacked`: on a narrow screen each row is a paragraph with the names of its columns.
    """
    numeric = [
        name not in texts if texts else is_numeric_dtype(kind) and not is_bool_dtype(kind)
        for name, kind in frame.dtypes.items()
    ]
    rows = [
        [as_text(value, format_of(str(name))) for name, value in zip(frame.columns, row, strict=True)]
        for row in frame.head(MAX_TABLE_ROWS).astype(object).to_numpy().tolist()
    ]
    shown = {
        "names": list(frame.columns),
        "rows": rows,
        "numeric": numeric,
        "wide": MAX_NARROW_CHARS,
        "stacked": stacked,
    }
    return Markup(_environment.get_template("table.html").render(more=len(frame) - len(rows), **shown))


_environment.filters |= {"table": table, "counted": counted, "board_name": board_name, "ending": ending_name}
