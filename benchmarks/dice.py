"""What independent dice cost: so many times as many blocks they take, in every game with dice.

`python -m benchmarks.dice BLOCKS` prints the table of docs/explanation/dice.md; the rows of one number of players are
a part of `make bench`. Both compare two bots with common dice and work out from the returns of each what
the difference would vary by if they met dice of their own.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Iterator

from arena.runner.compare import compare
from arena.runner.options import Matchup, StopRule
from arena.stats.paired import Saving
from benchmarks.tools import Row

GAMES = {
    "magic_mids": (2, 3, 4),
    "pyramid_punch": (2, 3, 4, 5),
    "midgard(variant=loki)": (2,),
    "epicycle(setup=random)": (2, 3, 4, 5),
}
"""Every game with chance, and its numbers of players. None of them has a random opening by default."""
PAIRS = (("greedy", "random"), ("uct:simulations=50", "random"), ("uct:simulations=50", "greedy"))


def measured(game: str, players: int, blocks: int, workers: int | None = None) -> Iterator[Saving]:
    """By pair of bots the saving that common dice and seeds bring."""
    for a, b in PAIRS:
        with tempfile.TemporaryDirectory(prefix="arena-bench-") as home:
            yield compare(Matchup(a, b, game, players), StopRule.fixed(blocks), workers, home).saving


def independent_dice(full: bool) -> Iterator[Row]:
    """Blocks that independent dice would need for each one with common dice and seeds."""
    for game, counts in GAMES.items():
        for players in counts if full else counts[:1]:
            for (a, b), saving in zip(PAIRS, measured(game, players, 1000 if full else 100), strict=True):
                yield Row(
                    f"{game}, {players} players, {a} and {b}: blocks with dice of each match's own",
                    f"{told(saving)} times as many",
                )


def told(saving: Saving) -> str:
    """The factor and its interval."""
    if math.isnan(saving.factor):
        return "blocks hardly differ"
    return f"{saving.factor:.2f} ({saving.low:.2f} to {saving.high:.2f})"


def main() -> int:
    """Print the table of docs/explanation/dice.md, row by row."""
    blocks = int(sys.argv[1])
    print("| |" + "".join(f" `{a}`, `{b}` |" for a, b in PAIRS))
    print("|---|" + "---|" * len(PAIRS))
    for game, counts in GAMES.items():
        for players in counts:
            print(
                f"| {game}, {players} players |"
                + "".join(f" {told(each)} |" for each in measured(game, players, blocks))
            )
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
