"""Templates of the server's pages, and the styles and scripts that they load."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arena.core.errors import ArenaError
from arena.results.pages import templates
from arena.web.filters import FILTERS
from arena.web.links import Links
from engine.words import counted

PACKAGE = "arena.web"
RESULT_SCRIPTS = ("replay.js",)
"""Scripts that pages as single files have inside."""
MEDIA_TYPES = {
    **{"css": "text/css", "js": "text/javascript", "json": "application/json"},
    **{"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"},
}


@dataclass(frozen=True)
class Page:
    """A page of HTML."""

    html: str
    status: int = 200
    """Of HTTP."""

    @property
    def tag(self) -> str:
        """What tells this content from another."""
        return hashlib.blake2b(self.html.encode("utf-8", "replace"), digest_size=12).hexdigest()


_environment = Environment(
    loader=ChoiceLoader([PackageLoader("arena.web"), PackageLoader("arena.results.pages")]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters.update(FILTERS, table=templates.table, counted=counted)


def page(template: str, links: Links, **values: Any) -> Page:
    """Return a page; templates of single files are shown within the server's own frame."""
    values = {"scripts": (), "data": None, "description": "", "card": "", **values}
    tools = {"static": lambda name: link(links, name), "inline": inline, "policy": policy}
    return Page(_environment.get_template(template).render(links=links, **tools, **values))


@cache
def inline(name: str) -> Markup:
    """Return a script to stand within a page that is opened from disk, where browsers load no modules."""
    text = re.sub(r"^export (?=function|const)", "", static(name).decode(), flags=re.M)
    return Markup("(() => {\n" + text + "\n})();")


def policy(scripts: Sequence[str]) -> str:
    """Return what a page that is opened from disk may do: run its own scripts, show its own styles and pictures."""
    hashes = (hashlib.sha256(inline(name).encode()).digest() for name in ("page.js", *scripts))
    run = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in hashes)
    own = "'self' file: data:"
    return f"default-src 'none'; style-src 'unsafe-inline' {own}; img-src {own}; script-src {run}"


def fragment(template: str, links: Links, **values: Any) -> Markup:
    """Return a part of a page."""
    return Markup(_environment.get_template(template).render(links=links, **values))


def link(links: Links, name: str) -> str:
    """Return the address of a style or script."""
    return links.static(name, version(name))


@cache
def version(name: str) -> str:
    """Return what tells a style's or script's content from another."""
    return hashlib.blake2b(static(name), digest_size=8).hexdigest()


@cache
def static(name: str) -> bytes:
    """Return a style or script; raises `NotFoundError` for a name that there is not."""
    if name == "style.css":
        return templates.styles().encode()
    if name in RESULT_SCRIPTS:
        return templates.static(name).encode()
    if name == "vega.js":
        import vl_convert

        return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed").encode()
    found = {each.name: each for each in files(PACKAGE).joinpath("static").iterdir()}
    if name not in found:
        raise UnknownFileError("there is no such file")
    return found[name].read_bytes()


class UnknownFileError(ArenaError):
    """There is no style or script of that name."""


def media_type(name: str) -> str:
    """Return the media type of a style or script."""
    return MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
