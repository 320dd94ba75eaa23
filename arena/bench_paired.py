"""How much variance common dice save in `arena compare`, for the games with dice."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from arena.bench_tools import Row
from arena.compare import Comparison, compare

GAMES = ("magic_mids", "pyramid_punch")
PAIRS = (("greedy", "random"), ("uct:simulations=50", "random"), ("uct:simulations=50", "greedy"))


def paired_dice(full: bool) -> Iterator[Row]:
    """Blocks that independent dice would need for each one with common dice, openings and seeds."""
    for game in GAMES:
        for players in (2, 3, 4):
            for a, b in PAIRS:
                with tempfile.TemporaryDirectory(prefix="arena-bench-") as home:
                    found = compare(a, b, game, players, fixed=1000 if full else 100, home=home)
                yield Row(f"{game}, {players} players, {a} and {b}: variance that common dice save", told(found))


def told(found: Comparison) -> str:
    """The saving in words."""
    saving = found.saving
    return (
        f"{saving.share:.0%} of it: independent dice would take {saving.factor:.2f} times as many blocks "
        f"(95 %: {saving.low:.2f} to {saving.high:.2f})"
    )
