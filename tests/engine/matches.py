"""Random matches for tests, one step at a time, and the games to play them with."""

import random
from collections.abc import Iterator

import engine
from engine import Game, GameType, Parameter, State
from engine.specs import Value


def walk(game: Game, seed: int) -> Iterator[State]:
    """Yield the state of one random match before every ply and after the last; always the same object."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    while not state.is_terminal():
        yield state
        outcomes = state.chance_outcomes()
        if outcomes:
            state.apply_action(rng.choices(*zip(*outcomes, strict=True))[0])
        else:
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
    yield state


def stretched(game: Game, seed: int) -> Iterator[State]:
    """Yield the states of a match in which dice and seats shun whatever ends it at once, and its end."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    while not state.is_terminal():
        yield state
        possible = [outcome for outcome, _ in state.chance_outcomes()] or state.legal_actions()
        rng.shuffle(possible)
        state.apply_action(next((each for each in possible if not state.child(each).is_terminal()), possible[0]))
    yield state


def plies(state: State) -> tuple[int, int]:
    """Return how many actions of players and how many chance outcomes led from the start to a state."""
    again, outcomes = state.game.new_initial_state(), 0
    for ply in state.history():
        outcomes += again.is_chance_node()
        again.apply_action(ply)
    return len(state.history()) - outcomes, outcomes


def stops(game: Game, seed: int) -> Iterator[State]:
    """Return copies of a random match's first states, of some of the later ones, and of the last."""
    for ply, state in enumerate(walk(game, seed)):
        if ply < 8 or ply % 23 == 0 or state.is_terminal():
            yield state.clone()


def finished(game: Game, seed: int) -> State:
    """Return the end of a random match."""
    *_, last = walk(game, seed)
    return last


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
