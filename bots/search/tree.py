"""What the trees of `uct` have in common, compiled or in plain Python."""

from __future__ import annotations

from typing import Any, NamedTuple

DEEPEST = 512
LONGEST_LINE = 16


class Child(NamedTuple):
    """Statistics of one action, or one outcome, of a node."""

    label: int
    """The action; below a chance node the outcome's key."""
    visits: int
    value: float | None
    """Mean return, in [-1, 1], of the seat to move at the node; None if never tried, and below a chance node."""
    node: Any
    """The node below, as its tree knows it."""
    proven: bool = False
    """Whether the value is what the action is worth if nobody errs."""


def best_first(children: list[Child], chance: bool) -> list[Child]:
    """Return a node's children, the one to choose first, then the most visited; `chance` says that chance chooses.

    To choose is the most visited one, the better of equals; but a proven one that is worth as much or more comes before
    it, unless it is a loss.
    """
    children = sorted(
        children, key=lambda child: (child.proven and child.value == -1.0, -child.visits, -(child.value or 0.0))
    )
    if not chance and any(child.proven for child in children):
        best = max((child for child in children if child.proven), key=lambda child: child.value or 0.0)
        first = children[0]
        if first.proven or -1.0 < (best.value or 0.0) >= (first.value or 0.0):
            children.remove(best)
            children.insert(0, best)
    return children
