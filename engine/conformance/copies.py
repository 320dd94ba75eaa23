"""Checks of states: clones, copies, pickles, keys and equality, replaying."""

from __future__ import annotations

import copy
import pickle
import random
import time

from engine.conformance.matches import choices
from engine.conformance.probe import (
    BrokenPromise,
    NotApplicableError,
    Probe,
    alike,
    expect,
    method_place,
    played,
    replayed,
    same,
    snapshot,
    unchanged,
    without_history,
)
from engine.errors import IllegalActionError
from engine.game import State
from engine.loading import load_game
from engine.state import KernelState

MAX_CLONED_PLIES = 60
"""Plies of a match in which each state is cloned."""
MAX_COMPARED_STATES = 400
"""States of a check among which some with equal keys are looked for."""
MAX_PLAYED_PAIRS = 6
"""Pairs of such states that are played on."""
CLONED_ENDS = 40
"""Ended states that are cloned."""
COIN_SHARE = 0.03
REPLAYED_MATCHES = 915
"""Matches that are played again: with a fair coin hidden in that share of matches, once in a million none differs."""
REPLAYING_SECONDS = 10.0
"""Processor time after which fewer matches are enough."""
MIN_REPLAYED_MATCHES = 3
"""Matches that are played again however long that takes."""
MAX_COMPARED_REPLAYS = 100
"""Times that a match is played ply by ply to find where it differs."""
MADE_BY_PLIES = ("position", "who", "legal", "outcomes", "rolling", "history")
MADE_BY_METHODS = {"scores": "scores", "ended": "ended", "ranks": "ranks", "returns": "returns", "drawing": "__str__"}
"""Parts of a snapshot that tell of a ply, and those that a method tells, each with the method."""


def children(probe: Probe) -> None:
    for state in probe.stops(9):
        with unchanged("child()", state):
            for choice in choices(state)[:20]:
                same("history of a child", state.child(choice).history(), [*state.history(), choice])


def clones(probe: Probe) -> None:
    rng, state = probe.random(17), probe.start()
    while not state.is_terminal() and len(state.history()) < MAX_CLONED_PLIES:
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
    for seed in range(17, 17 + CLONED_ENDS):
        _clones_of_the_end(probe.finished(seed))


def _clones_of_the_end(end: State) -> None:
    """Compare clones of an ended state, and of the one before the last ply."""
    alike("a clone of an ended state", snapshot(end.clone()), snapshot(end))
    *plies, last = end.history()
    state = played(end.game, plies)
    clone, before = state.clone(), snapshot(state)
    state.apply_action(last)
    alike("the clone after the last ply in the state", snapshot(clone), before)
    clone.apply_action(last)
    alike("the clone after the last ply, too", snapshot(clone), snapshot(end))


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


def replays(probe: Probe) -> str:
    begun, count = time.process_time(), min(REPLAYED_MATCHES, probe.most)
    for seed in range(count):
        if seed >= MIN_REPLAYED_MATCHES and time.process_time() - begun > REPLAYING_SECONDS:
            return describe_replays(seed)
        end = probe.finished(seed)
        try:
            alike("the end, played again from its history", snapshot(replayed(end)), snapshot(end))
        except (BrokenPromise, IllegalActionError):
            _first_difference(probe, seed, end.history())
            raise
    return describe_replays(count)


def describe_replays(matches: int) -> str:
    """Return how many matches were replayed, and what fewer than `REPLAYED_MATCHES` leave open."""
    missed = (1 - COIN_SHARE / 2) ** matches
    open_ = f"; a fair coin hidden in {COIN_SHARE:.0%} of matches is missed with probability {missed:.1g}"
    return f"{matches:,} matches{open_ if matches < REPLAYED_MATCHES else ''}"


def _words(state: State) -> bytes:
    """Return the record of a state, if it is one."""
    return state.words.tobytes() if isinstance(state, KernelState) else b""


def _first_difference(probe: Probe, seed: int, history: list[int]) -> None:
    """Raise `BrokenPromise` with the first ply after which two states differ, each made by the same plies."""
    for _ in range(MAX_COMPARED_REPLAYS):
        one, other = probe.game.new_initial_state(), probe.game.new_initial_state()
        for number, ply in enumerate(history, start=1):
            probe.at(seed, history[:number])
            cause = method_place(one, "apply_action")
            try:
                one.apply_action(ply)
                other.apply_action(ply)
            except IllegalActionError as error:
                raise BrokenPromise(
                    f"{cause}: plies that were legal are refused when they are played again: {error}"
                ) from error
            seen, wanted = snapshot(one), snapshot(other)
            moved = _words(one) != _words(other)
            for key in [*MADE_BY_PLIES, *MADE_BY_METHODS]:
                method = None if moved else MADE_BY_METHODS.get(key)
                what = method_place(one, method) if method else cause
                same(f"{what}: {key} after the same plies, played twice", seen.get(key), wanted.get(key))


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
            if ply > 12 or len(known) > MAX_COMPARED_STATES:
                break
            for how, each in enumerate((state.clone(), *_exchanged(state))):
                other = known.setdefault(each.key, each)
                if other.history() != each.history() and pairs[how] < MAX_PLAYED_PAIRS:
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
