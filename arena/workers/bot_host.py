"""The environment of a worker's bots: its interpreter, and processes of bots that have their own."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import engine
from arena.core.errors import BotError
from arena.isolation import launcher
from arena.isolation.interpreter import Interpreter
from arena.isolation.launched import LaunchedBot, trusted_modules
from arena.match.player import SeatTaker
from arena.registry.bundles import Bundle
from arena.registry.describe import describe
from arena.workers import messages

if TYPE_CHECKING:
    from arena.isolation.preload import Preload
    from arena.isolation.process_pool import ProcessPool


class BotHost:
    """Environment of a worker's bots; code for bots in processes of their own is imported when the first one comes."""

    def __init__(self) -> None:
        self.interpreter = Interpreter()
        self.foreign: set[int] = set()
        self.recursion: dict[int, int] = {}
        self._pool: ProcessPool | None = None
        self._plan: messages.WorkerPlan | None = None

    def expect(self, plan: messages.WorkerPlan) -> None:
        """Serve bots of that plan from now on."""
        if self._pool is not None:
            self._pool.expect(preload_of_plan(plan))
        self.interpreter.accept_threads()
        self.foreign.clear()
        self.recursion.clear()
        self._plan = plan

    @property
    def pool(self) -> ProcessPool:
        """Processes of bots."""
        if self._pool is None:
            from arena.isolation.process_pool import ProcessPool

            self._pool = ProcessPool(preload_of_plan(self._plan) if self._plan is not None else None)
        return self._pool

    def contestant(self, bot: messages.PlannedBot, bundle: Bundle, key: int) -> SeatTaker:
        """Return a bot of the plan as something that can take a seat."""
        names = self._plan is not None and self._plan.names_refusals
        launched = LaunchedBot(bot.name, bundle, bot.class_name, bot.params, bot.isolation, key, bot.options, names)
        return launcher(bot.isolation).contestant(launched, self)

    def describe(self, request: messages.Describe) -> messages.Description:
        """Ask a bot where it is to play what it declares; raises `OSError` on a full disk, which is not its fault."""
        bot, boards = request
        if bot.bundle.is_program:
            return messages.Description(describe(bot.bundle, bot.name, bot.class_name, boards))
        return messages.Description(launcher(bot.isolation).describe(bot, boards, self))

    def compile(self, bundle: Bundle, game: engine.Game) -> None:
        """Compile what a bot uses of ours; what it compiles of its own is kept by its process source."""
        from arena.isolation.preload import Preload, load

        own = (name for name in trusted_modules(bundle) if name.startswith("bots."))
        load(Preload(tuple(own), ((game.spec, game.players),)))

    def restore(self, seats: Sequence[int]) -> None:
        """Restore the interpreter for a match of these entries, if bots may have changed it, or will."""
        foreign = not self.foreign.isdisjoint(seats)
        if foreign or self.interpreter.touched:
            self.interpreter.restore(max(self.recursion.get(entry, 0) for entry in seats))
        self.interpreter.touched = foreign

    def close(self) -> None:
        """End their processes."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None


def refusal(bots: Sequence[messages.PlannedBot]) -> str:
    """Return why this machine cannot run bots of a plan; empty when it can."""
    levels = sorted({bot.isolation for bot in bots})
    return next(filter(None, (launcher(level).refusal() for level in levels)), "")


def preload_of_plan(plan: messages.WorkerPlan) -> Preload:
    """Return what the Python bots of a plan use that have processes of their own."""
    from arena.isolation.process_pool import preload_of

    bundles = []
    for bot in plan.bots:
        with contextlib.suppress(BotError):
            bundle = plan.bundle_of(bot)
            if not launcher(bot.isolation).in_worker and not bundle.is_program:
                bundles.append(bundle)
    return preload_of(bundles, [(board.game, board.players) for board in plan.boards])
