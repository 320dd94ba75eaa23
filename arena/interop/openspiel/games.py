"""OpenSpiel's games as game types of ours, by their names: `openspiel.go(board_size=9)`.

Which of them can be played, and with what parameters, OpenSpiel says. Numbers of players are ours: the parameter
`players` is set by the seats of a match. `provide` is the entry point `openspiel` of the group `arena.game_providers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache, partial
from typing import Any
from urllib.parse import quote, unquote

from arena.interop.game_probe import GameProbe
from arena.interop.openspiel.library import ARENA_PREFIX, library_version, pyspiel, quiet, version_number
from arena.interop.openspiel.state import OpenSpielGame
from engine.errors import NotationError, ParameterError, UnknownNameError, UnsupportedError, did_you_mean, one_line
from engine.game_types import Bounds, Credit, GameType
from engine.specs import Parameter, Value, split_game_spec

GAME_PREFIX = "openspiel."
PROBE = GameProbe("OpenSpiel", "pyspiel", "arena.interop.openspiel.games")
ADAPTER_REVISION = 1
"""Of the adapter; raised when games play on otherwise than before with the same OpenSpiel."""
MIN_PLAYERS, MAX_PLAYERS = 2, 10
"""Players."""
MAX_OPTION, MAX_OPTION_FACTOR = 100, 10
"""Largest whole number that an option takes, or this many times its default: sizes of boards are memory and time."""
OPTION_LIMITS = {
    ("gomoku", "dims"): 4,
    ("gomoku", "size"): 30,
    ("havannah", "board_size"): 50,
    ("y", "board_size"): 100,
    ("yacht", "num_dice"): 10,
}
"""Largest numbers by game and option, where OpenSpiel writes beyond its arrays or takes all memory below that bound."""
MAX_ACTIONS = 1_000_000
"""Distinct actions of a game."""
MAX_OUTCOMES = 100_000
"""Of a chance node."""
MAX_NESTING = 8
"""Games one in the other."""
PLAYERS_PARAMETER = "players"
OPTION_HELP = "as OpenSpiel has it"
TURN_BASED = "turn_based_simultaneous_game"
TWO_PLAYER_OPTIONS = {"pathfinding": "grid=A.b%0AB.a"}
"""Options by which two can play a game whose defaults are for one."""
LASER_TAG = "laser_tag("
"""OpenSpiel counts one chance node a turn: who acts first. Two more place the players, and one whoever was hit."""
FILE_PARAMETERS = ("filename",)
"""Parameters that name files, which a plan does not hold."""
SAFE_CHARS = "!#$&'*+-./:;<>?@[]^_{}~"
"""What stands for itself in a text; everything else but letters and digits is written as in addresses, `%20`."""


def provide(name: str, options: Mapping[str, str]) -> GameType:
    """Return the game type of `openspiel.NAME`; raises an `EngineError` when there is none, or it cannot be played.

    Of a game that is made of another one (`openspiel.misere(game=tic_tac_toe())`) the options tell the players.
    """
    PROBE.prepare()
    return _game_type(name.removeprefix(GAME_PREFIX), tuple(sorted(options.items())))


@lru_cache(maxsize=1000)
def _game_type(name: str, options: tuple[tuple[str, str], ...]) -> GameType:
    kind = _registered(name)
    inner = [key for key, default in kind.parameter_specification.items() if isinstance(default, dict)]
    given = {key: value for key, value in options if key in inner}
    if not inner:
        refusal = _refusal(kind)
        if refusal is not None:
            raise UnsupportedError(f"{GAME_PREFIX}{name} {refusal}")
    players = _players(name, given)
    return _described(name, players.start, players.stop - 1)


@cache
def _described(name: str, fewest: int, most: int) -> GameType:
    kind = _registered(name)
    return GameType(
        name=f"{GAME_PREFIX}{name}",
        title=f"{kind.long_name} (OpenSpiel)",
        summary=f"{kind.long_name}, as OpenSpiel {library_version()} plays it.",
        min_players=fewest,
        max_players=most,
        num_distinct_actions=0,
        rules_version=version_number(ADAPTER_REVISION),
        credit=Credit(
            "see OpenSpiel's list of games", "OpenSpiel (Lanctot et al., 2019), arXiv:1908.09453", "Apache 2.0"
        ),
        own_utilities=True,
        parameters=tuple(_parameter(name, key, default) for key, default in _own_parameters(kind).items()),
        factory=_make,
        bounds=partial(_bounds, name),
    )


def _registered(name: str) -> Any:
    """Return OpenSpiel's record of a game."""
    every = pyspiel().registered_games()
    kinds = {kind.short_name: kind for kind in every if not kind.short_name.startswith(ARENA_PREFIX)}
    if name not in kinds:
        raise UnknownNameError(f"OpenSpiel has no game '{name}'{did_you_mean(name, kinds)}")
    return kinds[name]


def _own_parameters(kind: Any) -> dict[str, Any]:
    """Return a game's parameters with their defaults, but for the number of players."""
    return {key: value for key, value in kind.parameter_specification.items() if key != PLAYERS_PARAMETER}


def _refusal(kind: Any, turned: bool = False) -> str | None:
    """Return why a game cannot be played here, in words that follow its name; None when it can.

    `turned` is for a game of simultaneous moves inside OpenSpiel's wrapper that asks the seats one after the other.
    """
    types = pyspiel().GameType
    name, dynamics = kind.short_name, kind.dynamics
    if any(key in FILE_PARAMETERS for key in kind.parameter_specification):
        return "is read from a file, which a plan does not hold"
    if dynamics == types.Dynamics.MEAN_FIELD:
        return "is a mean field game, without players of its own"
    if dynamics == types.Dynamics.SIMULTANEOUS and not turned:
        inner = f"{name}({TWO_PLAYER_OPTIONS.get(name, '')})"
        turns = f"has its players move at the same time; {GAME_PREFIX}{TURN_BASED}(game={inner}) plays it in turns"
        return _refusal(kind, turned=True) or turns
    if kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC:
        return "does not give the probabilities of its chance outcomes"
    open_information = [types.Information.PERFECT_INFORMATION, *[types.Information.ONE_SHOT] * turned]
    if kind.information not in open_information:
        return "hides information from its players; such games cannot be played here"
    if kind.max_num_players < MIN_PLAYERS:
        return "is for one player alone"
    return None


def _parameter(name: str, key: str, default: Any) -> Parameter:
    """Return a parameter of a game as an option of ours."""
    if isinstance(default, dict):
        return Parameter(key, str, "", "a game of OpenSpiel: name(key=value,...)", check=_nested, nested=True)
    if isinstance(default, bool):
        return Parameter(key, bool, default, OPTION_HELP)
    if isinstance(default, int):
        most = OPTION_LIMITS.get((name, key), max(MAX_OPTION, MAX_OPTION_FACTOR * abs(default)))
        return Parameter(key, int, default, OPTION_HELP, minimum=min(default, 1), maximum=most)
    if isinstance(default, float):
        return Parameter(key, float, default, OPTION_HELP)
    return Parameter(
        key, str, str(default), f"{OPTION_HELP}; spaces and the like as %20", check=lambda text: _escaped(str(text))
    )


def _escaped(text: str) -> str:
    return quote(unquote(text), safe=SAFE_CHARS)


def _nested(spec: Value) -> str:
    """Return the canonical form of a game in a game, `name(key=value,...)`; raises `ParameterError`."""
    return _canonical(str(spec), MAX_NESTING)


def _canonical(spec: str, depth: int) -> str:
    try:
        name, options = split_game_spec(spec)
        own = _own_parameters(_registered(name))
    except (NotationError, UnknownNameError) as error:
        raise ParameterError(str(error)) from None
    if depth == 0:
        raise ParameterError(f"more than {MAX_NESTING} games are one in the other")
    changed = []
    for key, text in sorted(options.items()):
        if key == PLAYERS_PARAMETER:
            raise ParameterError(f"{name}: {PLAYERS_PARAMETER} is set by the seats of a match")
        if key not in own:
            raise ParameterError(f"{name} has no option '{key}'{did_you_mean(key, own) if own else '; it has none'}")
        if isinstance(own[key], dict):
            changed.append(f"{key}={_canonical(text, depth - 1)}")
        elif (value := (option := _parameter(name, key, own[key])).read(text, name)) != option.default:
            changed.append(f"{key}={option.write(value)}")
    return f"{name}({','.join(changed)})"


def _native_parameters(name: str, options: Mapping[str, str], players: int | None) -> dict[str, Any]:
    """Return what OpenSpiel loads a game by, of options in canonical form: those that are not the default."""
    own = _registered(name).parameter_specification
    found: dict[str, Any] = {}
    for key, text in options.items():
        default = own[key]
        if isinstance(default, dict):
            inner, inner_options = split_game_spec(text)
            found[key] = {"name": inner, **_native_parameters(inner, inner_options, players)}
        else:
            value = _parameter(name, key, default).read(text, name)
            found[key] = unquote(value) if isinstance(value, str) else value
    if PLAYERS_PARAMETER in own and players is not None:
        found[PLAYERS_PARAMETER] = players
    return found


def _players(name: str, options: Mapping[str, str]) -> range:
    """Return the numbers of players of a game; of games inside it the innermost ones tell."""
    kind = _registered(name)
    fewest, most = max(MIN_PLAYERS, kind.min_num_players), min(MAX_PLAYERS, kind.max_num_players)
    for text in options.values():
        try:
            inner, inner_options = split_game_spec(_nested(text))
        except ParameterError:
            continue  # which is told when the options are read
        inside = _registered(inner)
        games = {key for key, default in inside.parameter_specification.items() if isinstance(default, dict)}
        found = _players(inner, {key: value for key, value in inner_options.items() if key in games})
        fewest, most = max(fewest, found.start), min(most, found.stop - 1)
    return range(fewest, max(most, fewest) + 1)


def _make(kind: GameType, players: int, params: Mapping[str, Value]) -> OpenSpielGame:
    """Return a game; raises `UnsupportedError` for one that cannot be played, `ParameterError` for its options."""
    return OpenSpielGame(
        kind, players, params, _loaded(kind.name.removeprefix(GAME_PREFIX), players, _changed(kind, params))
    )


def _changed(kind: GameType, params: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    """Return the options that are not the default, as they stand in a spec."""
    return tuple(
        (option.name, option.write(params[option.name]))
        for option in kind.parameters
        if params[option.name] != option.default
    )


def _bounds(name: str, players: int, params: Mapping[str, Value]) -> Bounds:
    kind = provide(f"{GAME_PREFIX}{name}", {key: str(value) for key, value in params.items()})
    native = _loaded(name, players, _changed(kind, params))
    outcomes = native.max_chance_outcomes()
    rolls = native.max_chance_nodes_in_history() if outcomes else 0
    if any(LASER_TAG in str(value) for value in params.values()):
        rolls = 2 * rolls + 2
    return Bounds(native.max_game_length(), rolls, outcomes)


@lru_cache(maxsize=1000)
def _loaded(name: str, players: int, options: tuple[tuple[str, str], ...]) -> Any:
    """Return OpenSpiel's game; raises `ParameterError` with OpenSpiel's reason, or `UnsupportedError` with ours."""
    own = _registered(name).parameter_specification
    missing = [key for key, default in own.items() if isinstance(default, dict) and key not in dict(options)]
    if missing:
        raise ParameterError(f"{GAME_PREFIX}{name} needs {missing[0]}=name(), a game of OpenSpiel")
    PROBE.take(f"{GAME_PREFIX}{name}({','.join('='.join(option) for option in options)})", players)
    with quiet():
        try:
            native = pyspiel().load_game(name, _native_parameters(name, dict(options), players))
            refusal = _refusal_of(name, native, dict(options), players)
            if refusal is None:
                _try(native)
        except MemoryError:
            raise UnsupportedError(f"{GAME_PREFIX}{name} takes too much memory with these options") from None
        except Exception as error:
            reason = one_line(" ".join(str(error).split()))
            raise ParameterError(f"{GAME_PREFIX}{name}: OpenSpiel refuses these options: {reason}") from None
    if refusal is not None:
        raise UnsupportedError(f"{GAME_PREFIX}{name} {refusal}")
    return native


def _refusal_of(name: str, native: Any, options: Mapping[str, str], players: int) -> str | None:
    """Return why a game that OpenSpiel has loaded cannot be played here, as `_refusal`."""
    if native.num_players() != players:
        return f"is for {native.num_players()} players with these options, not {players}"
    if not 0 < native.num_distinct_actions() <= MAX_ACTIONS:
        return f"has more than {MAX_ACTIONS:,} distinct actions with these options"
    if native.max_chance_outcomes() > MAX_OUTCOMES:
        return f"has more than {MAX_OUTCOMES:,} chance outcomes with these options"
    if name != TURN_BASED:
        return _refusal(native.get_type())
    inner, inner_options = split_game_spec(options["game"])
    turned = pyspiel().load_game(inner, _native_parameters(inner, inner_options, players))
    return _refusal(turned.get_type(), turned=True)


def _try(native: Any) -> None:
    """Raise something unless a match can begin: some options fail only then."""
    state = native.new_initial_state()
    str(state)
    for action in state.legal_actions():
        state.action_to_string(action)
    if not state.legal_actions():
        raise ValueError("there is nothing to do at the start")
