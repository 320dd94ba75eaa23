"""Figures of a board as Vega-Lite, each with its table and a sentence that says what it shows."""

from __future__ import annotations

from collections.abc import Callable

from arena.core.errors import ConfigError
from arena.results.pages.figures.matches import clocks, endings, forfeits, lengths
from arena.results.pages.figures.ratings import convergence, crosstable, misfits, ratings
from arena.results.pages.figures.responses import responses
from arena.results.pages.figures.returns import seats, variance
from arena.results.pages.figures.style import BoardResults, Figure, render, shortened
from arena.results.pages.figures.tuning import tuning, tuning_lead
from engine.errors import did_you_mean

__all__ = ["FIGURES", "BoardResults", "Figure", "check_figure", "figure", "figures", "render", "shortened"]


def figures(board: BoardResults) -> dict[str, Figure]:
    """Return the figures of a board that have something to show, by name."""
    drawn = {name: draw(board) for name, draw in FIGURES.items()}
    return {name: figure for name, figure in drawn.items() if figure is not None}


def figure(board: BoardResults, name: str) -> Figure | None:
    """Return one figure; None when there is nothing to draw."""
    return FIGURES[name](board)


def check_figure(name: str) -> None:
    """Raise `ConfigError` for a name of no figure."""
    if name not in FIGURES:
        hint = did_you_mean(name, FIGURES)
        raise ConfigError(f"no figure '{name}'{hint if hint.endswith('?') else '; there are ' + ', '.join(FIGURES)}")


FIGURES: dict[str, Callable[[BoardResults], Figure | None]] = {
    "ratings": ratings,
    "responses": responses,
    "crosstable": crosstable,
    "seats": seats,
    "variance": variance,
    "convergence": convergence,
    "misfits": misfits,
    "lengths": lengths,
    "endings": endings,
    "forfeits": forfeits,
    "clocks": clocks,
    "tuning": tuning,
    "tuning_lead": tuning_lead,
}
"""All figures by name, in the order of a report."""
