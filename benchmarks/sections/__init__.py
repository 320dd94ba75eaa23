"""The sections of `make bench`, a module each; `measure(full)` yields its figures."""

from __future__ import annotations

import importlib

from benchmarks.figures import Measured, Skipped

SECTIONS = {
    "engine": "compiled random playouts, by game and number of players",
    "state": "random matches by `State` from Python, beside other libraries",
    "batch": "decisions in batches, with observations, beside single steps",
    "search": "simulations of uct, beside OpenSpiel's search",
    "arena": "matches from plan to log, first match, starts, commands",
    "isolation": "moves and starts of bots in processes and sandboxes",
    "boards": "leaderboards from large logs and of many bots, ratings",
    "verify": "matches checked by `arena verify`",
    "dice": "blocks that common dice save",
    "games": "how games go under random play",
    "judge": "moves of searches in connect four, judged by perfect knowledge",
    "mcts": "uct in plain Python against OpenSpiel's and compiled",
    "cold": "the demo with nothing compiled (long)",
}
BY_NAME = ("dice", "games", "judge", "mcts", "cold")
"""Sections that are measured only when they are named."""


def measure(section: str, full: bool) -> Measured:
    """Yield the figures of a section; why there are none where its module cannot be imported."""
    try:
        module = importlib.import_module(f"benchmarks.sections.{section}")
    except ImportError as error:
        yield Skipped(section, f"cannot be measured here: {error}")
        return
    yield from module.measure(full)
