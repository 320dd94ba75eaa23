"""Small searches written out, the same whether the kernels run compiled or interpreted.

NUMBA_DISABLE_JIT=1 python -m tests.bots.uct_trees
"""

import json

import engine
from bots import first_decision, make_bot
from bots.search.uct import UCT, Tree
from engine.kernel import COMPILED
from engine.state import KernelGame
from tests.bots.built_in import load_race


def written_out(tree: Tree, names: dict[int, str], node: int = 0, depth: int = 0) -> list[str]:
    """Return a line for each node visited: the action and its seat's mean return, or the outcome's key; visits."""
    lines = []
    for child in tree.children(node):
        if child.visits:
            chosen = child.value is not None
            what = f"{names[child.label]} {child.value:+.3f}" if chosen else f"outcome {child.label}"
            lines.append(f"{'  ' * depth}{what}, visits {child.visits}")
            lines += written_out(tree, names, child.node, depth + 1)
    return lines


def searched(game: KernelGame, simulations: int, seed: int = 1, **params: int | float | str) -> list[str]:
    """Return the tree that `uct` grows at the first decision of a match."""
    state = first_decision(game)
    bot = make_bot(UCT, game, state.current_player(), seed, {"simulations": simulations, **params})
    bot.think(state)
    return written_out(bot.tree, {number: text for text, number in game.action_numbers.items()})


def trees() -> dict[str, list[str]]:
    """Return trees without chance, with dice for three, and with all moves counted as first."""
    return {
        "epicycle, 24 simulations": searched(engine.load_game("epicycle", 2), 24),
        "race for three, 16 simulations": searched(load_race(3), 16),
        "midgard, 40 simulations, rave": searched(engine.load_game("midgard", 2), 40, rave=5, exploration=0.3),
    }


if __name__ == "__main__":
    print(json.dumps({"compiled": COMPILED, "trees": trees()}))
