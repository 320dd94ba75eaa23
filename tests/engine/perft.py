"""Perft: counting sequences of plies, compiled, split by the first ply when a count is wrong."""

from types import SimpleNamespace

import numpy as np

from engine import State
from engine.kernel import bind
from engine.state import KernelGame
from tests.engine import perft_kernel


class Perft(SimpleNamespace):
    """`sequences` of exactly `depth` plies and how many of them are `terminal` at that ply."""

    def by_branch(self, state: State) -> str:
        """Return the counts below each first ply, as text, to be held against another engine's."""
        if self.depth < 2:
            return "depth 1"
        plies = [outcome for outcome, _ in state.chance_outcomes()] or state.legal_actions()
        lines = [f"{state.action_to_string(ply)}: {perft(state.child(ply), self.depth - 1).sequences}" for ply in plies]
        return "\n".join(lines)


def perft(state: State, depth: int) -> Perft:
    """Count from a state of a game with kernels."""
    game = state.game
    assert isinstance(game, KernelGame)
    compiled = bind(perft_kernel, game.rules, game.dtype)
    widest = max(game.rules.MAX_ACTIONS, game.rules.MAX_OUTCOMES)
    stack = np.zeros((depth + 1, game.dtype.itemsize // 8), np.uint64)
    stack[0] = state.words
    choices = np.zeros((depth + 1, widest), np.int64)
    weights = np.zeros(widest, np.int64)
    sequences, terminal = compiled.count(stack, choices, weights, depth)
    return Perft(depth=depth, sequences=int(sequences), terminal=int(terminal))
