"""OpenSpiel: its games as games of the arena (`games`), and the reverse (`register`).

Nothing of OpenSpiel is imported before one of the two is used.
"""


def register(*names: str) -> list[str]:
    """Make the arena's games games of OpenSpiel, `arena_<name>`, in this process; return all that are, sorted.

    Without names those that can be are registered: games that load and tell their bounds. Games that are registered
    already stay as they are. Raises an `EngineError` for a name without a game or of one that cannot be registered, and
    when OpenSpiel is missing; then nothing is registered.
    """
    from arena.interop.openspiel.library import pyspiel

    pyspiel()
    from arena.interop.openspiel import arena_games

    arena_games.register(names or arena_games.suitable())
    return arena_games.registered()
