"""How this package is cited."""

from __future__ import annotations

from importlib.metadata import version

TITLE = "Pyramid Arena: a tournament framework and bot arena for board games"
AUTHOR = "The Pyramid Arena authors"
YEAR = 2026
LICENSE = "MIT"
KEY = "pyramid_arena"


def package_version() -> str:
    """Return the version of this package."""
    return version("pyramid-arena")


def bibtex() -> str:
    """Return the entry of this package for BibTeX."""
    fields = {
        "title": f"{{{TITLE}}}",
        "author": f"{{{AUTHOR}}}",
        "year": str(YEAR),
        "version": package_version(),
        "note": f"Software, {LICENSE} licence",
    }
    lines = (f"  {name:<7} = {{{value}}}," for name, value in fields.items())
    return "\n".join([f"@misc{{{KEY},", *lines, "}"]) + "\n"


def sentence() -> str:
    """Return the entry of a list of references, in words."""
    return f"{AUTHOR} ({YEAR}). {TITLE}. Version {package_version()}. Software, {LICENSE} licence."


def cff() -> str:
    """Return the text of CITATION.cff."""
    return f"""cff-version: 1.2.0
message: "If you use this software, please cite it as below."
type: software
title: "{TITLE}"
authors:
  - name: "{AUTHOR}"
version: "{package_version()}"
license: {LICENSE}
"""
