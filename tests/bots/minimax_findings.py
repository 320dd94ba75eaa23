"""What a few searches find, as JSON: the same whether the kernels run compiled or interpreted.

NUMBA_DISABLE_JIT=1 python -m tests.bots.minimax_findings
"""

import json

import engine
from bots.search.minimax import compiled_maxn, compiled_search
from engine.kernel import COMPILED
from tests.bots.matches import decisions
from tests.bots.plain_minimax import searched

CASES = [("epicycle", 2, 6), ("epicycle", 3, 3), ("magic_mids", 3, 2), ("pyramid_punch", 2, 3)]


def found() -> list[object]:
    """Return value, choice and states visited of every search."""
    findings: list[object] = []
    for name, players, depth in CASES:
        game = engine.load_game(name, players)
        for search in (compiled_search(game), compiled_maxn(game)):
            for state in decisions(game, 30)[20::5]:
                findings.append((name, searched(search, state, depth), search.best, search.nodes))
    return findings


if __name__ == "__main__":
    print(json.dumps({"compiled": COMPILED, "found": found()}))
