"""The games to play random matches with; the matches are those of `engine.conformance`."""

import engine
from engine import Game, GameType, Parameter, UnsupportedError
from engine.conformance.matches import finished, plies, stops, walk
from engine.specs import Value

__all__ = ["finished", "is_observed", "observed_tables", "option_sets", "plies", "stops", "tables", "walk"]


def option_sets(kind: GameType) -> list[dict[str, Value]]:
    """Return the defaults, and for every option with known values a few sets in which it alone is changed."""
    return [{}, *({option.name: value} for option in kind.parameters for value in _other_values(option))]


def _other_values(option: Parameter) -> list[Value]:
    if option.kind is bool:
        return [not option.default]
    values = [value for value in option.choices if value != option.default]
    if not values and option.minimum is not None and option.minimum != option.default:
        values = [option.kind(option.minimum)]
    return values if len(values) < 4 else [values[0], values[1], values[-1]]


def is_observed(game: Game) -> bool:
    """Return whether a game has observations."""
    try:
        game.observation_spec()
    except UnsupportedError:
        return False
    return True


def tables() -> list[tuple[str, int, dict[str, Value]]]:
    """Return (name, players, options) for every game of the registry.

    The defaults come with every number of players, other sets of options with the fewest and the most.
    """
    return [
        (name, players, options)
        for name in engine.game_names()
        for kind in [engine.game_type(name)]
        for options in option_sets(kind)
        for players in range(kind.min_players, kind.max_players + 1)
        if not options or players in (kind.min_players, kind.max_players)
    ]


def observed_tables() -> list[tuple[str, int, dict[str, Value]]]:
    """Return those of games that have observations, which environments need."""
    return [
        (name, players, options)
        for name, players, options in tables()
        if is_observed(engine.load_game(name, players, **options))
    ]
