"""Versions of other libraries as parts of the rules version of their games."""

from __future__ import annotations

import re


def version_number(version: str, revision: int) -> int:
    """Return a version and a revision (0 to 9) of what is built on it as one number: 200021 of 2.0.2 and 1."""
    major, minor, patch = ([*map(int, re.findall(r"\d+", version)), 0, 0, 0])[:3]
    return major * 100_000 + minor * 1_000 + patch * 10 + revision
