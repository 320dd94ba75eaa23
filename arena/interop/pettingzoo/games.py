"""PettingZoo's environments as game types of ours, by their names: `pettingzoo.connect_four_v3`.

What cannot be seen from outside, perfect information, is known of some of PettingZoo's own and declared by the authors
of others (`arena.interop.pettingzoo.library`). What can be seen is tried once when an environment is loaded: turns, one
set of numbered actions, no chance inside, and whether it can be copied.
`provide` is the entry point `pettingzoo` of the group `arena.game_providers`.
"""

from __future__ import annotations

import inspect
import random
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from arena.interop.game_probe import GameProbe, in_probe
from arena.interop.pettingzoo.library import GAME_PREFIX, library, source
from arena.interop.pettingzoo.state import RESET_SEED, PettingZooGame, act, copied, legal, observables, over
from arena.interop.versions import version_number
from engine.errors import EngineError, UnsupportedError, summarise_error
from engine.game_types import Credit, GameType
from engine.specs import Parameter, Value, resolve

PROBE = GameProbe("PettingZoo", "pettingzoo", "arena.interop.pettingzoo.games")
ADAPTER_REVISION = 1
"""Of the adapter; raised when games play on otherwise than before with the same environment."""
MIN_PLAYERS, MAX_PLAYERS = 2, 10
"""Players."""
TRIAL_PLIES = 12
"""Plies of the match by which an environment is tried wherever it is loaded."""
CHANCE_MATCHES, CHANCE_PLIES, CHANCE_SECONDS = 20, 300, 5.0
"""Most random matches, plies of all of them, and processor time, by which chance is looked for first."""
PLIES_BETWEEN_COMPARISONS = 10
"""Plies from one comparison of all that is observed to the next; who acts, what is legal and rewards are always so."""
DISPLAY_PARAMETERS = ("render_mode", "render_fps", "screen_height", "screen_width", "screen_scaling")
"""Parameters that only change what is shown."""
MAX_OPTION = 1000
"""Largest whole number that an option takes, unless its default is larger: sizes of boards are memory and time."""
PARAMETER_TYPES = (bool, int, float, str)
OPTION_HELP = "a parameter of the environment"


def provide(name: str, options: Mapping[str, str]) -> GameType:
    """Return the game type of `pettingzoo.NAME` for these options; raises an `EngineError` when it cannot be played."""
    PROBE.prepare()
    return _game_type(name.removeprefix(GAME_PREFIX), tuple(sorted(options.items())))


@lru_cache(maxsize=1000)
def _game_type(name: str, options: tuple[tuple[str, str], ...]) -> GameType:
    PROBE.take(f"{GAME_PREFIX}{name}({','.join('='.join(option) for option in options)})")
    make, version = source(name)
    parameters = _parameters(name)
    env, _ = _trial(name, tuple(resolve(parameters, dict(options), f"{GAME_PREFIX}{name}").items()))
    players = len(env.possible_agents)
    return GameType(
        name=f"{GAME_PREFIX}{name}",
        title=f"{name} (PettingZoo)",
        summary=f"{name}, as {make.__module__.partition('.')[0]} {version} plays it.",
        min_players=players,
        max_players=players,
        num_distinct_actions=int(env.action_space(env.possible_agents[0]).n),
        rules_version=version_number(version, ADAPTER_REVISION),
        credit=Credit("see the environment's page", "PettingZoo (Terry et al., 2021), arXiv:2009.14471", "MIT"),
        parameters=parameters,
        factory=_made,
        explicit_chance=False,
        own_utilities=True,
    )


def _made(kind: GameType, players: int, params: Mapping[str, Value]) -> PettingZooGame:
    return PettingZooGame(
        kind, players, params, *_trial(kind.name.removeprefix(GAME_PREFIX), tuple(sorted(params.items())))
    )


def _parameters(name: str) -> tuple[Parameter, ...]:
    """Return the parameters of an environment that have a plain default, but for those of its display."""
    found = []
    for key, parameter in inspect.signature(source(name)[0]).parameters.items():
        if key in DISPLAY_PARAMETERS or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            raise UnsupportedError(f"{GAME_PREFIX}{name} needs a value for '{key}', which has no default")
        if type(parameter.default) in PARAMETER_TYPES:
            found.append(_parameter(key, parameter.default))
    return tuple(found)


def _parameter(key: str, default: Value) -> Parameter:
    """Return a parameter as an option of ours; whole numbers, which are mostly sizes, have bounds."""
    if type(default) is int:
        return Parameter(key, int, default, OPTION_HELP, minimum=min(default, 1), maximum=max(MAX_OPTION, default))
    return Parameter(key, type(default), default, OPTION_HELP)


@lru_cache(maxsize=100)
def _trial(name: str, params: tuple[tuple[str, Value], ...]) -> tuple[Any, bool]:
    """Return an environment at the start of a match, and whether copies of it play on by themselves.

    Raises `UnsupportedError` for one that cannot be played here, or that fails.
    """
    try:
        env = source(name)[0](**dict(params)).unwrapped
        _check_shape(name, env)
        env.reset(seed=RESET_SEED)
        copies = _copies_well(env)
        if not _has_no_chance(env, source(name)[0](**dict(params)).unwrapped):
            raise UnsupportedError(
                f"{GAME_PREFIX}{name} does not go the same way twice: it rolls dice inside, where bots could see what "
                "comes, or its instances share what they change"
            )
        env.reset(seed=RESET_SEED)
    except EngineError:
        raise
    except Exception as error:
        raise UnsupportedError(f"{GAME_PREFIX}{name} cannot be set up: {summarise_error(error)}") from error
    return env, copies


def _check_shape(name: str, env: Any) -> None:
    """Raise `UnsupportedError` unless an environment has turns, a few players, and one set of numbered actions."""
    if not isinstance(env, library().AECEnv):
        if isinstance(env, library().ParallelEnv):
            raise UnsupportedError(f"{GAME_PREFIX}{name} has its agents act at the same time; a match here has turns")
        raise UnsupportedError(f"{GAME_PREFIX}{name} is no AEC environment but {type(env).__name__}")
    players = len(env.possible_agents)
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise UnsupportedError(
            f"{GAME_PREFIX}{name} is for {players} players; {MIN_PLAYERS} to {MAX_PLAYERS} can be matched here"
        )
    spaces = [env.action_space(agent) for agent in env.possible_agents]
    numbered = all(type(space).__name__ == "Discrete" and space.start == 0 for space in spaces)
    if not numbered or len({int(space.n) for space in spaces}) != 1:
        raise UnsupportedError(
            f"{GAME_PREFIX}{name} has other actions than numbers from 0 on, the same for all players"
        )


def _copies_well(env: Any) -> bool:
    """Return whether a copy of a running environment and the environment play on alike and apart."""
    _play(env, 3)
    try:
        copy = copied(env)
    except Exception:
        return False
    before = observables(env)
    after = _play(copy, TRIAL_PLIES)
    return bool(observables(env) == before and _play(env, TRIAL_PLIES) == after)


def _has_no_chance(env: Any, other: Any) -> bool:
    """Return whether two environments with different seeds go the same way in random matches."""
    begun, plies = time.process_time(), 0
    for match in range(CHANCE_MATCHES if in_probe() else 1):
        rng = random.Random(match)
        env.reset(seed=RESET_SEED + 2 * match)
        other.reset(seed=RESET_SEED + 2 * match + 1)
        while True:
            look = observables if plies % PLIES_BETWEEN_COMPARISONS == 0 or over(env) else _seen_by_all
            if look(env) != look(other):
                return False
            if over(env):
                break
            if plies >= (CHANCE_PLIES if in_probe() else TRIAL_PLIES) or time.process_time() - begun > CHANCE_SECONDS:
                return True
            action = rng.choice(legal(env))
            act(env, action)
            act(other, action)
            plies += 1
    return True


def _seen_by_all(env: Any) -> tuple[Any, ...]:
    return over(env), env.agent_selection, env.rewards, legal(env)


def _play(env: Any, plies: int) -> list[Any]:
    """Play the legal actions in turn; return what is seen after each."""
    observed = []
    for ply in range(plies):
        if over(env):
            break
        legal = observables(env)[1]
        act(env, legal[(7 * ply) % len(legal)])
        observed.append(observables(env))
    return observed
