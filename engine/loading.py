"""Loading games: from a game type or a spec to a game for a number of players, with its options."""

from __future__ import annotations

from collections.abc import Mapping

from engine.errors import EngineError, UnsupportedError, summarise_error
from engine.game import Game
from engine.game_types import GameType
from engine.registry import game_type
from engine.specs import Value, split_game_spec


def load_game(spec: str, players: int | None = None, **options: object) -> Game:
    """Return the game of a spec such as `"midgard(variant=odin)"`; options may be given by keyword instead.

    `players` may be left out where only one number is possible. Raises `UnknownNameError`, `ParameterError`,
    `NotationError` or `UnsupportedError`, each with one sentence that names what was wrong.
    """
    name, given = split_game_spec(spec)
    kind = game_type(spec)
    if players is None:
        if kind.min_players != kind.max_players:
            raise UnsupportedError(f"{name} needs to know how many play: {kind.min_players} to {kind.max_players}")
        players = kind.min_players
    return load(kind, players, {**given, **options})


def canonical_spec(spec: str) -> str:
    """Return the canonical form of a game spec; raises an `EngineError` where there is none such."""
    kind = game_type(spec)
    return kind.spec(kind.resolve(split_game_spec(spec)[1]))


def load(kind: GameType, players: int, options: Mapping[str, object]) -> Game:
    """Return the game for that many players; raises an `EngineError` for options or players that it does not know."""
    params = kind.resolve(options)
    check_players(kind, players)
    if not kind.perfect_information:
        raise UnsupportedError(f"{kind.name} hides information from its players; such games cannot be played here")
    if kind.factory is not None:
        return _made(kind, players, params)
    from engine.state import KernelGame  # imports NumPy, which listing games can do without

    return KernelGame(kind, players, params)


def check_players(kind: GameType, players: int) -> None:
    """Raise `UnsupportedError` unless a game is for that many players."""
    if isinstance(players, bool) or not isinstance(players, int):
        raise UnsupportedError(f"{kind.name}: players must be a whole number, not {players!r}")
    if not kind.min_players <= players <= kind.max_players:
        only_one = kind.min_players == kind.max_players
        allowed = f"{kind.min_players}" if only_one else f"{kind.min_players} to {kind.max_players}"
        raise UnsupportedError(f"{kind.name} is for {allowed} players, not {players}")


def _made(kind: GameType, players: int, params: Mapping[str, Value]) -> Game:
    """Return the game that the factory makes; raises `UnsupportedError` when it fails."""
    assert kind.factory is not None
    try:
        game = kind.factory(kind, players, params)
    except EngineError:
        raise
    except Exception as error:
        raise UnsupportedError(f"{kind.name} cannot be set up: {summarise_error(error)}") from error
    if not isinstance(game, Game):
        raise UnsupportedError(f"{kind.name} cannot be set up: its factory gave {type(game).__name__}, not a Game")
    return game
