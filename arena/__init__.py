"""Tournaments; knows engine and bots. The commands' functions are here for programs and notebooks:

import arena
result = arena.run("configs/demo.toml")
result.leaderboards["epicycle", 2]
match = arena.play_match("epicycle", ["greedy", MyBot])  # a class of a file, or its file "my_bot.py"

Whatever they refuse is an `arena.ArenaError` of one line.
"""

from typing import Any

_API = (
    "crosstable",
    "export",
    "faults",
    "find_match",
    "leaderboard",
    "load_plan",
    "matches",
    "play_match",
    "power",
    "run",
    "variance",
)
_RENAMED = {"head_to_head": "crosstable", "luck": "variance"}
"""Names of functions until version 0.1, with those of today."""
__all__ = [*_API, "ArenaError"]


def __getattr__(name: str) -> Any:
    if name in _API:
        from arena import api

        return getattr(api, name)
    if name == "ArenaError":
        from arena.core.errors import ArenaError

        return ArenaError
    hint = f"; it is now called arena.{_RENAMED[name]}" if name in _RENAMED else ""
    raise AttributeError(f"module 'arena' has no attribute '{name}'{hint}")


def __dir__() -> list[str]:
    return __all__
