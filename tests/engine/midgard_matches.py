"""Seeded random matches of Midgard for tests; run as a module it prints a digest of some."""

import hashlib
import os
import random

import numpy as np

import engine
from bots.heuristics.midgard import evaluate
from engine.chance import new_rng
from engine.midgard import rules

SPECS = (
    "midgard",
    "midgard(variant=mere_mortal)",
    "midgard(variant=odin)",
    "midgard(variant=loki)",
    "midgard(variant=loki,seeds=69)",
    "midgard(variant=loki,seeds=f6+f7+f8+g7+h9)",
)
START = (
    "./...../......./........./.........../............./.......*......./................."
    "/.................../.................../........ s -"
)


def choice(state, seed):
    """Return a ply that depends on the seed and the position alone."""
    plies = [outcome for outcome, _ in state.chance_outcomes()] or state.legal_actions()
    return random.Random(f"{seed} {state.position}").choice(plies)


def match(game, seed):
    """Return the states of one random match, each of them before the next ply is made."""
    state = game.new_initial_state()
    yield state
    while not state.is_terminal():
        state = state.child(choice(state, seed))
        yield state


def advance(game, seed, plies):
    """Return the state after so many random plies, or at the end."""
    state = game.new_initial_state()
    for _ in range(plies):
        if not state.is_terminal():
            state.apply_action(choice(state, seed))
    return state


def finish(game, seed):
    return advance(game, seed, 200)


def greedy_wins(game, seed, seat):
    """Return whether one-ply greedy play by `evaluate` wins from that seat against random play."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    while not state.is_terminal():
        legal = state.legal_actions()
        if state.current_player() == seat:
            values = [worth(state.child(action), seat) for action in legal]
            best = max(values)
            legal = [action for action, value in zip(legal, values, strict=True) if value == best]
        state.apply_action(rng.choice(legal))
    return state.ranks()[seat] == 0


def worth(state, seat):
    return 2 * state.returns()[seat] if state.is_terminal() else evaluate(state.record, seat)


def digest():
    """Return a hash of every position, evaluation and random finish on the way through a few matches."""
    hasher = hashlib.blake2b(digest_size=16)
    drops = np.zeros(rules.MAX_ACTIONS, np.int64)
    for number, spec in enumerate(SPECS):
        game = engine.load_game(spec, 2)
        for state in match(game, number):
            hasher.update(state.position.encode())
            if state.current_player() >= 0:
                hasher.update(repr(float(evaluate(state.record, 0))).encode())
        played = engine.random_playouts(game, 3, seed=number)
        hasher.update(repr((played.actions, played.plies, played.rank_sums.tolist())).encode())
        words = game.new_initial_state().words.copy()
        rules.random_finish(game.record(words), new_rng(number), drops)
        hasher.update(repr(words.tolist()).encode())
    return hasher.hexdigest()


def interpreted_environment():
    """Return this process's environment with compilation turned off."""
    return {**os.environ, "NUMBA_DISABLE_JIT": "1"}


if __name__ == "__main__":
    print(digest())
