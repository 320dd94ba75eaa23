"""Names of games, bots and tournaments, for completion in a shell; what cannot be read completes to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps


def _completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes the last of several names joined by commas; imports are inside, as help needs none."""

    @wraps(names)
    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        try:
            return [f"{before}{comma}{name}" for name in sorted(names()) if name.startswith(last)]
        except Exception:  # a shell would print it into the line that is being typed
            return []

    complete.__annotations__ = {"incomplete": str, "return": list[str]}  # Typer looks at them, not at those of `names`
    del complete.__wrapped__
    return complete


@_completing
def _games() -> Iterable[str]:
    from importlib.metadata import entry_points

    return entry_points(group="arena.games").names


@_completing
def _bots() -> Iterable[str]:
    from arena.registry.discovery import named_bots
    from arena.registry.submissions import submitted

    return {*named_bots(), *submitted()}


@_completing
def _schedules() -> Iterable[str]:
    from arena.schedule.kinds import kinds

    return [kind.kind for kind in kinds()]


@_completing
def _tournaments() -> Iterable[str]:
    from arena.core.paths import home_folder

    home = home_folder()
    return [log.parent.relative_to(home).as_posix() for log in home.rglob("matches.db")]


COMPLETIONS = {
    **dict.fromkeys(("bot", "bots", "fillers", "a", "b"), _bots),
    **dict.fromkeys(("target", "targets", "source"), _tournaments),
    **dict.fromkeys(("game", "games"), _games),
    "schedule": _schedules,
}
"""What completes arguments and options, by their names."""
