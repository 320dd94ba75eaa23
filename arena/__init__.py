"""Run tournaments of bots and evaluate them: what the commands do, as functions for programs and notebooks.

import arena
result = arena.run("configs/demo.toml")
result.leaderboards["epicycle", 2]  # a pandas frame
match = arena.play_match("epicycle", ["greedy", MyBot])  # the class of a bot in a file, or the file "my_bot.py"

What the user can mend raises an `arena.ArenaError`, whose message is one line.
"""

from typing import Any

from arena.core.own_packages import prefer_own_packages

prefer_own_packages()
_API = (
    "adjudication",
    "compare_in",
    "costs",
    "crosstable",
    "dataset",
    "export",
    "faults",
    "find_match",
    "leaderboard",
    "load_plan",
    "matches",
    "play_match",
    "plot",
    "power",
    "run",
    "status",
    "variance",
)
__all__ = [*_API, "ArenaError"]


def __getattr__(name: str) -> Any:
    if name in _API:
        from arena import api

        return getattr(api, name)
    if name == "ArenaError":
        from arena.core.errors import ArenaError

        return ArenaError
    raise AttributeError(f"module 'arena' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
