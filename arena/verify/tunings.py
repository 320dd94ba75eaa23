"""Follow a tuning run: every iteration's plan from the one before."""

from __future__ import annotations

from collections.abc import Iterator

from arena.tournament.tunings import follow
from arena.verify.blocks import BlockFinder
from arena.verify.matches import BlockTask


class TuningFinder(BlockFinder):
    """Finds every block of a tuning run in the iteration that has it, and checks the iterations on the way."""

    def tasks(self) -> Iterator[BlockTask]:
        """Yield every block of the log once."""
        unchecked = 0
        with self.findings.guard("its iterations cannot be followed", table="runs"):
            for logged in follow(self.store):
                if logged.problem:
                    self.findings.add(f"the plan of run {logged.run} {logged.problem}", table="runs")
                unchecked += not logged.is_checked
        if unchecked:
            self.remarks.append(
                f"{unchecked:,} candidates were not drawn again, which takes the version of Optuna that drew them"
            )
        yield from super().tasks()
