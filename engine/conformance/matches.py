"""Random matches, one step at a time, for checks and tests."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator

from engine.game import Game, State, rolled


def choices(state: State) -> list[int]:
    """Return legal actions, or at a chance node the outcomes that can happen."""
    return [outcome for outcome, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()


def drawn(state: State, rng: random.Random) -> int:
    """Return a random action, all legal ones equally likely, or an outcome by the weights."""
    outcomes = state.chance_outcomes()
    if outcomes:
        return rng.choices(*zip(*outcomes, strict=True))[0]
    legal = state.legal_actions()
    return legal[int(rng.random() * len(legal))]


def walk(game: Game, seed: int) -> Iterator[State]:
    """Yield the state of one random match before every ply and after the last; always the same object."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    while not state.is_terminal():
        yield state
        state.apply_action(drawn(state, rng))
    yield state


def finish(state: State, rng: random.Random) -> None:
    """Play a state to its end as `State.playout` does."""
    while True:
        if legal := state.legal_actions():
            state.apply_action(legal[int(rng.random() * len(legal))])
        elif (chances := state.chances())[0]:
            state.apply_action(rolled(*chances, rng))
        else:
            return


def stretched(game: Game, seed: int) -> Iterator[State]:
    """Yield the states of a match in which seats shun whatever ends it at once, and its end; dice are random."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    while not state.is_terminal():
        yield state
        state.apply_action(drawn(state, rng) if state.is_chance_node() else _delaying(state, rng))
    yield state


def _delaying(state: State, rng: random.Random) -> int:
    """Return a random action that does not end the match, if there is one."""
    legal = state.legal_actions()
    rng.shuffle(legal)
    return next((action for action in legal if not state.child(action).is_terminal()), legal[0])


def plies(state: State) -> tuple[int, int]:
    """Return how many actions of players and how many chance outcomes led from the start to a state."""
    again, outcomes = state.game.new_initial_state(), 0
    for ply in state.history():
        outcomes += again.is_chance_node()
        again.apply_action(ply)
    return len(state.history()) - outcomes, outcomes


def is_stop(ply: int, state: State) -> bool:
    """Return whether a state is one of a match's first, some of the later ones, or the last."""
    return ply < 8 or ply % 23 == 0 or state.is_terminal()


def stops(game: Game, seed: int) -> Iterator[State]:
    """Return copies of a random match's first states, of some of the later ones, and of the last."""
    for ply, state in enumerate(walk(game, seed)):
        if is_stop(ply, state):
            yield state.clone()


def finished(game: Game, seed: int) -> State:
    """Return the end of a random match."""
    *_, last = walk(game, seed)
    return last


def playthrough(game: Game, seed: int) -> str:
    """Return a random match in words: every position, what could happen there and what did, and the result."""
    lines = []
    for state in walk(game, seed):
        possible = " ".join(map(state.action_to_string, choices(state)))
        weights = {weight for _, weight in state.chance_outcomes()}
        lines.append(f"{state.current_player()} {state.scores()} {sorted(weights)} {possible}")
        lines.append(state.position if game.position else str(state))
    return "\n".join([*lines, str(state.history()), str(state.ranks()), state.ended])


def seen(game: Game, seed: int = 3) -> str:
    """Return one short digest of what all seats see in a random match."""
    hasher = hashlib.blake2b(digest_size=8)
    for state in stops(game, seed):
        for seat in range(game.players):
            hasher.update(state.observe(seat).tobytes())
    return hasher.hexdigest()
