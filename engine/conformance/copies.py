"""Checks of states: clones, copies, pickles, keys and equality, replaying."""

from __future__ import annotations

import copy
import pickle
import random

from engine.conformance.matches import choices
from engine.conformance.probe import (
    NotApplicableError,
    Probe,
    alike,
    expect,
    replayed,
    same,
    snapshot,
    unchanged,
    without_history,
)
from engine.game import State
from engine.loading import load_game

MOST_PLAYED = 60
"""Plies of a match in which each state is cloned."""
MOST_STATES = 400
"""States of a check among which some with equal keys are looked for."""
MOST_PAIRS = 6
"""Pairs of such states that are played on."""


def children(probe: Probe) -> None:
    for state in probe.stops(9):
        with unchanged("child()", state):
            for choice in choices(state)[:20]:
                same("history of a child", state.child(choice).history(), [*state.history(), choice])


def clones(probe: Probe) -> None:
    rng, state = probe.random(17), probe.start()
    while not state.is_terminal() and len(state.history()) < MOST_PLAYED:
        probe.at(17, state.history())
        before, clone = snapshot(state), state.clone()
        alike("a clone", snapshot(clone), before)
        for _ in range(3):
            if not clone.is_terminal():
                clone.apply_action(rng.choice(choices(clone)))
        alike("the state after plies in its clone", snapshot(state), before)
        ahead = snapshot(clone)
        state.apply_action(rng.choice(choices(state)))
        alike("the clone after a ply in the state", snapshot(clone), ahead)


def played_out(probe: Probe) -> None:
    for state in probe.stops(18):
        seed, played, twins = len(state.history()), set[tuple[int, int]](), set[tuple[int, int]]()
        with unchanged("playout()", state):
            found = state.playout(random.Random(seed), played)
        same("returns of a playout", found, State.playout(state, random.Random(seed), twins))
        same("actions made in a playout", played, twins)


def copies(probe: Probe) -> None:
    for state in probe.stops(9):
        before = snapshot(state)
        for made in (copy.copy(state), copy.deepcopy(state), *copy.deepcopy([state])):
            expect(type(made) is type(state) and made.game is state.game, "a copy has another type or game")
            alike("a copy", snapshot(made), before)
            if choices(made):
                made.apply_action(choices(made)[0])
            alike("the state after a ply in its copy", snapshot(state), before)


def pickles(probe: Probe) -> None:
    for state in probe.stops(10):
        made = pickle.loads(pickle.dumps(state))
        same("game of an unpickled state", made.game, probe.game)
        alike("an unpickled state", snapshot(made), snapshot(state))
        for choice in choices(state)[:2]:
            alike("its child", snapshot(made.child(choice)), snapshot(state.child(choice)))


def pickled_games(probe: Probe) -> None:
    made = pickle.loads(pickle.dumps(probe.game))
    same("an unpickled game", made, probe.game)
    same("its hash", hash(made), hash(probe.game))
    alike("its first state", snapshot(made.new_initial_state()), snapshot(probe.start()))


def replays(probe: Probe) -> None:
    for seed in range(3):
        end = probe.finished(seed)
        alike("the end, played again from its history", snapshot(replayed(end)), snapshot(end))


def equality(probe: Probe) -> None:
    seen: list[State] = []
    for state in probe.stops(15):
        for what, twin in (("played again", replayed(state)), ("copied", copy.copy(state)), ("cloned", state.clone())):
            expect(twin == state, f"the state, {what}, is not equal to itself")
            expect(hash(twin) == hash(state), f"the state, {what}, has another hash")
            expect(twin.key == state.key, f"the state, {what}, has another key")
        expect(state != state.history(), "a state is equal to a list")
        for other in seen:
            if without_history(snapshot(other)) != without_history(snapshot(state)):
                expect(other != state, f"two states are equal that differ; the other one after {other.history()}")
        seen.append(state)


def other_games(probe: Probe) -> None:
    kind = probe.game.type
    others = {kind.min_players, kind.max_players} - {probe.game.players}
    if not others:
        raise NotApplicableError("it has one number of players")
    for players in sorted(others):
        other = load_game(probe.game.spec, players)
        expect(other != probe.game, f"the game for {players} is equal to this one")
        expect(other.new_initial_state() != probe.start(), f"the start for {players} is equal to this one")


def equal_keys(probe: Probe) -> str:
    known: dict[object, State] = {}
    pairs = [0, 0]  # that were met by chance, and by exchanging plies
    for seed in range(40):
        for ply, state in enumerate(probe.walk(seed)):
            if ply > 12 or len(known) > MOST_STATES:
                break
            for how, each in enumerate((state.clone(), *_exchanged(state))):
                other = known.setdefault(each.key, each)
                if other.history() != each.history() and pairs[how] < MOST_PAIRS:
                    pairs[how] += 1
                    _play_on(each.clone(), other.clone(), probe.random(seed))
    if not any(pairs):
        raise NotApplicableError("no two histories with one key were met")
    return f"{sum(pairs)} pairs"


def _exchanged(state: State) -> list[State]:
    """Return the state after the same plies the last and the last but two exchanged; none if they are not legal."""
    history = state.history()
    if len(history) < 3:
        return []
    twin = state.game.new_initial_state()
    for ply in (*history[:-3], *history[:-4:-1]):
        if ply not in choices(twin):
            return []
        twin.apply_action(ply)
    return [twin]


def _play_on(one: State, other: State, rng: random.Random) -> None:
    """Compare two states with one key, ply by ply, over the same random plies."""
    for _ in range(40):
        expect(one == other, f"not equal any more after {one.history()} and {other.history()}")
        same("how the match ended", one.ended, other.ended)
        alike(f"the twin after {other.history()}", without_history(snapshot(one)), without_history(snapshot(other)))
        if one.is_terminal():
            return
        choice = rng.choice(choices(one))
        one.apply_action(choice)
        other.apply_action(choice)
