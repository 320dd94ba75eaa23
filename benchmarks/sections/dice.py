"""What independent dice cost: so many times as many blocks they take, in every game with dice.

Two bots are compared with common dice, and from the returns of each follows what the difference would vary by if they
met dice of their own.
"""

from __future__ import annotations

import math
import tempfile

from arena.runner.compare import compare
from arena.runner.options import Matchup, StopRule
from benchmarks.figures import Figure, Measured, Skipped

GAMES = {
    "magic_mids": (2, 3, 4),
    "pyramid_punch": (2, 3, 4, 5),
    "midgard(variant=loki)": (2,),
    "epicycle(setup=random)": (2, 3, 4, 5),
}
"""Every game with chance, and its numbers of players. None of them has a random opening by default."""
PAIRS = (("greedy", "random"), ("uct:simulations=50", "random"), ("uct:simulations=50", "greedy"))


def measure(full: bool) -> Measured:
    for game, counts in GAMES.items():
        for players in counts if full else counts[:1]:
            for a, b in PAIRS:
                with tempfile.TemporaryDirectory(prefix="arena-bench-") as home:
                    rule = StopRule.fixed(1000 if full else 100)
                    saving = compare(Matchup(a, b, game, players), rule, None, home).saving
                name, note = f"{game}, {players} players, {a} and {b}", f"{saving.low:.2f} to {saving.high:.2f}"
                if math.isnan(saving.factor):
                    yield Skipped(name, "blocks hardly differ")
                else:
                    yield Figure(name, saving.factor, "times the blocks", "neither", note=note)
