"""Depth-first search in compiled code, by iterative deepening; what `alphabeta` and `expectimax` share."""

from __future__ import annotations

import functools
import itertools
import random
import time
from collections.abc import Sequence
from typing import Annotated, cast

import numpy as np

from bots import minimax_kernel
from bots.base import Between, Bot, first_decision
from bots.evaluation import evaluation_kernel
from bots.knowledge import knowledge_of
from bots.minimax_kernel import ENTRY, EVALUATION, FRAME, MAX, SEARCH
from engine import Game, State
from engine.kernel import bind
from engine.state import KernelGame, KernelState

DEEPEST = 64
MOST = 1 << 62
CHUNK = 1000  # states between two looks at the clock
TOP_PRIORITY = 3.0
ENTRIES = 1 << 18

_generations = itertools.count(1)


@functools.cache
def rolls_dice(game: Game) -> bool:
    """Whether chance comes up in play, not only before the first decision: it does in a random match."""
    rng = random.Random(0)
    for _ in range(3):
        state = first_decision(game)
        for _ in range(1000):
            if state.is_terminal():
                break
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
            if state.is_chance_node():
                return True
    return False


@functools.cache
def transposition_table() -> np.ndarray:
    """One for all searches of this process: an entry counts only within the search that wrote it."""
    return np.zeros(ENTRIES * ENTRY.itemsize // 8, np.uint64)


class Search:
    """One game's compiled search and the memory that it works in."""

    def __init__(self, game: KernelGame, table: np.ndarray) -> None:
        knowledge = knowledge_of(game.name)
        alike = {"outcome_key": getattr(knowledge, "outcome_key", None)}
        also = {
            "evaluate": evaluation_kernel(game),
            "copy_state": game.compiled.copy_state,
            "CHANCE_HORIZON": int(getattr(knowledge, "FORESEES_ROLLS", False)),
            "SOME_ALIKE": alike["outcome_key"] is not None,
            **(alike if alike["outcome_key"] else {}),
        }
        self._kernel = bind(minimax_kernel, game.rules, game.dtype, **also).search_on
        plies = 2 * DEEPEST + 2  # a chance node may follow every decision
        width = max(game.action_buffer.size, game.outcome_buffer.size)
        search, frames = np.zeros(SEARCH.itemsize // 8, np.uint64), np.zeros(plies * FRAME.itemsize // 8, np.uint64)
        self._search, self._root = search.view(SEARCH)[0], frames.view(FRAME)[0]
        self._states = np.zeros((plies, game.blank().size), np.uint64)
        self._moves, self._priority = np.zeros((plies, width), np.int64), np.zeros((plies, width))
        self._killers = np.zeros((plies, 2), np.int64)
        self._history = np.zeros((2, game.num_distinct_actions))
        buffers = (game.weight_buffer, np.zeros_like(game.outcome_buffer), np.zeros(game.players, np.int64))
        self._memory = (
            search,
            frames,
            table,
            self._states,
            self._moves,
            self._priority,
            self._killers,
            self._history,
            *buffers,
        )

    def begin(self, words: np.ndarray, seat: int, actions: Sequence[int], order: Sequence[float]) -> None:
        """A new search, which knows nothing of those before it; of equals the action first in order is taken."""
        self.best = -1
        self._search.seat = seat
        self._search.nodes = 0
        self._search.generation = next(_generations)
        self._states[0] = words
        self._count = len(actions)
        self._moves[0, : self._count] = actions
        self._priority[0, : self._count] = order
        self._killers[:] = -1
        self._history[:] = 0

    def look(self, depth: int, alpha: float = -1.0, beta: float = 1.0) -> None:
        """Begin to look so many decisions ahead: the best action so far first, the others by their last values."""
        root, moves, priority = self._root, self._moves[0, : self._count], self._priority[0, : self._count]
        priority[moves == self.best] = TOP_PRIORITY
        self._search.depth = depth
        self._search.ply = 0
        root.kind, root.depth, root.count, root.next = MAX, depth, self._count, 0
        root.alpha = root.least = alpha
        root.beta = root.most = beta
        root.value, root.best, root.whole = -2.0, -1, 1

    def go_on(self, limit: int) -> bool:
        """Search until the look ahead is done or so many states have been visited in all; whether it is done."""
        done: bool = self._kernel(*self._memory, limit)
        if self._root.best >= 0:
            self.best = int(self._root.best)
        return done

    @property
    def nodes(self) -> int:
        """States visited since `begin`."""
        return int(self._search.nodes)

    @property
    def value(self) -> float:
        """What the root is worth to the seat, when the look ahead is done."""
        return float(self._root.value)

    @property
    def decided(self) -> bool:
        """Whether looking further ahead would change nothing: every line has come to its end, or it is won or lost."""
        return bool(self._root.whole) or abs(self.value) > EVALUATION


@functools.cache
def compiled_search(game: KernelGame) -> Search:
    """The search of a game, warmed up."""
    search = Search(game, transposition_table())
    state = cast(KernelState, first_decision(game))
    actions = state.legal_actions()
    search.begin(state.words, state.current_player(), actions, [0.0] * len(actions))
    search.look(1)
    search.go_on(1)
    return search


class Minimax(Bot):
    """Look one decision further ahead after another, for as long as the budget lasts."""

    needs = ("kernels",)
    game: KernelGame

    depth: Annotated[int, Between(1, DEEPEST), "decisions looked ahead at most"] = DEEPEST
    nodes: Annotated[int, Between(1, 1_000_000_000), "states visited for a move"] = 20_000
    seconds: Annotated[float, Between(0, 3600), "time for a move in place of `nodes`; 0 for none"] = 0.0

    def prepare(self) -> None:
        self.timed = self.seconds > 0
        self._search = compiled_search(self.game)

    def choose(self, state: State) -> int:
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        end = time.monotonic() + self.seconds
        search = self._search
        search.begin(cast(KernelState, state).words, self.seat, actions, [self.rng.random() for _ in actions])
        search.look(1)
        search.go_on(MOST)
        for depth in range(2, self.depth + 1):
            if search.decided:
                break
            search.look(depth)
            if not self._go_on(end):
                break
        return search.best

    def _go_on(self, end: float) -> bool:
        """Spend what is left of the budget on this look ahead; whether it is done."""
        if not self.timed:
            return self._search.go_on(self.nodes)
        done = False
        while not done and time.monotonic() < end:
            done = self._search.go_on(self._search.nodes + CHUNK)
        return done
