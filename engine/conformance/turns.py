"""Checks of rules: who acts, what is legal, what chance rolls, what is refused, and how matches end."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from engine.conformance.matches import choices
from engine.conformance.probe import BrokenPromise, Probe, alike, expect, refused, same, snapshot, unchanged
from engine.errors import IllegalActionError, UnsupportedError
from engine.game import CHANCE, TERMINAL, shown

ENDINGS = ("normal", "cap", "repetition", "full board")
NOT_ACTIONS: tuple[Any, ...] = (
    *(None, True, False, 0.0, 1.0, float("nan"), "0", b"0", "", [0], (0,), {}, object()),
    *(np.zeros(2), np.array([1])),
)
MAX_TRIED_ACTIONS = 200
"""Actions of one state that are tried though they are not legal."""


def ends(probe: Probe) -> str:
    lengths = [sum(1 for _ in probe.walk(seed)) - 1 for seed in range(10)]
    return f"{min(lengths):,} to {max(lengths):,} plies"


def who_acts(probe: Probe) -> None:
    for state in probe.walk(1):
        who = state.current_player()
        expect(
            type(who) is int and (who in (CHANCE, TERMINAL) or 0 <= who < probe.game.players),
            f"current_player() is {shown(who)}: no seat from 0 to {probe.game.players - 1}, CHANCE or TERMINAL",
        )
        same("is_chance_node()", state.is_chance_node(), who == CHANCE)
        same("is_terminal()", state.is_terminal(), who == TERMINAL)
        if who == CHANCE:
            seat = state.rolling_seat()
            expect(-1 <= seat < probe.game.players, f"rolling_seat() is {shown(seat)}, which is no seat")


def legal_actions(probe: Probe) -> None:
    most = probe.game.num_distinct_actions
    for state in probe.walk(2):
        legal = state.legal_actions()
        expect(type(legal) is list, f"legal_actions() is {shown(legal)}, not a list")
        same("whether there are legal actions", bool(legal), state.current_player() >= 0)
        for action in legal:
            expect(type(action) is int, f"the legal action {shown(action)} is of type {type(action).__name__}, not int")
            expect(0 <= action < most, f"the legal action {action} is not below num_distinct_actions, {most}")
        expect(legal == sorted(set(legal)), f"legal_actions() is {shown(legal)}: not ascending, or one twice")


def handed_out(probe: Probe) -> None:
    for state in probe.stops(3):
        with unchanged("changing the lists it handed out", state):
            state.legal_actions().clear()
            state.chance_outcomes().clear()
            state.history().append(0)


def chance_outcomes(probe: Probe) -> None:
    for state in probe.stops(4):
        outcomes = state.chance_outcomes()
        same("whether there are chance outcomes", bool(outcomes), state.is_chance_node())
        for outcome, weight in outcomes:
            expect(type(outcome) is int, f"the chance outcome {shown(outcome)} is no int")
            expect(type(weight) is int and weight > 0, f"the weight {shown(weight)} is no whole number above 0")
        expect(sum(weight for _, weight in outcomes) <= 2**64, "the weights sum to more than 2^64")
        numbers = [outcome for outcome, _ in outcomes]
        expect(len(set(numbers)) == len(numbers), f"a chance outcome is there twice: {shown(numbers)}")
        sums = list(itertools.accumulate(weight for _, weight in outcomes))
        same("chances()", state.chances(), (numbers, sums))


def illegal_actions(probe: Probe) -> None:
    most = probe.game.num_distinct_actions
    for state in probe.stops(6):
        allowed = choices(state)
        others = [action for action in range(most) if action not in allowed]
        inside = probe.random(6).sample(others, min(MAX_TRIED_ACTIONS, len(others)))
        outside = [-5, -4, -1, most, max(allowed, default=0) + 1, 2**31, 2**63, -(2**70), 10**5000]
        with unchanged("refused actions", state):
            for action in sorted({*inside, *outside} - {*allowed}):
                refused(f"apply_action({shown(action)})", IllegalActionError, state.apply_action, action)


def no_numbers(probe: Probe) -> None:
    for state in probe.stops(7):
        with unchanged("refused values", state):
            for thing in NOT_ACTIONS:
                refused(f"apply_action({shown(thing)})", IllegalActionError, state.apply_action, thing)


def numpy_numbers(probe: Probe) -> None:
    for state in probe.stops(8):
        for choice in choices(state)[:3]:
            child = state.clone()
            child.apply_action(np.int32(choice))  # type: ignore[arg-type]  # as bots may do
            alike(f"after np.int32({choice})", snapshot(child), snapshot(state.child(choice)))
            expect(type(child.history()[-1]) is int, "history() holds a number of NumPy")


def refusal_helps(probe: Probe) -> None:
    state = next((state for state in probe.walk(7) if state.current_player() >= 0), None)
    if state is None:
        raise BrokenPromise("nobody is ever to move")
    error = refused("apply_action(-1)", IllegalActionError, state.apply_action, -1)
    missing = {*map(state.action_to_string, state.legal_actions())} - {*str(error).split()}
    expect(not missing, f"the error does not name the legal action {min(missing, default='')}: {error}")


def mask(probe: Probe) -> None:
    for state in probe.stops(16):
        marks = state.legal_actions_mask()
        same("shape and type", (marks.shape, marks.dtype), ((probe.game.num_distinct_actions,), np.bool_))
        same("marked actions", np.flatnonzero(marks).tolist(), state.legal_actions())
        marks[:] = True
        same("marks after changing a mask", int(state.legal_actions_mask().sum()), len(state.legal_actions()))


def results_after_the_end(probe: Probe) -> None:
    for state in probe.walk(11):
        if state.is_terminal():
            expect(state.ended in ENDINGS, f"ended is {shown(state.ended)}; it may be {', '.join(ENDINGS)}")
        else:
            same("ended before the end", state.ended, "")
            refused("ranks() before the end", UnsupportedError, state.ranks)
            refused("returns() before the end", UnsupportedError, state.returns)


def ranks_and_returns(probe: Probe) -> None:
    for seed in range(10):
        end = probe.finished(seed)
        ranks, returns = end.ranks(), end.returns()
        expect(
            type(ranks) is list and len(ranks) == probe.game.players, f"ranks() is {shown(ranks)}: one for each seat"
        )
        expect(all(type(rank) is int for rank in ranks), f"ranks() is {shown(ranks)}, which are not all int")
        wanted = [sum(other < rank for other in ranks) for rank in ranks]
        expect(
            ranks == wanted, f"ranks() is {ranks}: a rank counts the seats that did better, {wanted} from best to worst"
        )
        expect(
            len(returns) == len(ranks) and all(isinstance(value, float) and math.isfinite(value) for value in returns),
            f"returns() is {shown(returns)}: a finite float for each seat",
        )
        for one, other in itertools.permutations(range(len(ranks)), 2):
            expect(
                (ranks[one] < ranks[other]) == (returns[one] > returns[other]),
                f"seats {one} and {other} have ranks {ranks} and returns {returns}, in another order",
            )


def scores(probe: Probe) -> None:
    for state in probe.stops(12):
        found = state.scores()
        if probe.game.type.score_unit is None:
            expect(found is None, f"scores() is {shown(found)}, but the game type has no score_unit")
        else:
            expect(
                found is not None and [type(score) for score in found] == [int] * probe.game.players,
                f"scores() is {shown(found)}: a whole number for each seat",
            )


def bounds_told(probe: Probe) -> str | None:
    game = probe.game
    if game.type.bounds is None:
        same("has_chance", game.has_chance, game.explicit_chance)
        for name in ("max_game_length", "max_chance_nodes", "max_chance_outcomes", "min_utility", "max_utility"):
            refused(name, UnsupportedError, getattr, game, name)
        return "the game does not tell bounds"
    told = game.bounds
    expect(told.max_game_length > 0, f"max_game_length is {told.max_game_length}")
    expect(told.min_utility < told.max_utility, f"utilities from {told.min_utility} to {told.max_utility}")
    has = (game.has_chance, told.max_chance_nodes > 0, told.max_chance_outcomes > 0)
    expect(len({*has}) == 1, f"has_chance, max_chance_nodes > 0 and max_chance_outcomes > 0 are {has}")
    expect(game.explicit_chance or not game.has_chance, "bounds tell of chance, explicit_chance does not")
    return None


def bounds_kept(probe: Probe) -> str:
    game = probe.game
    longest = 0
    kinds = [probe.walk] if game.type.bounds is None else [probe.walk, probe.stretched]
    for seed in range(4):
        for match in (kind(seed) for kind in kinds):
            rolls = nodes = plies = 0
            for state in match:
                outcomes = len(state.chance_outcomes())
                rolls, nodes, plies = rolls + (outcomes > 0), max(nodes, outcomes), plies + 1
            actions = plies - 1 - rolls
            longest = max(longest, actions)
            expect(game.has_chance or not rolls, "a chance node in a game that says that it has none")
            if game.type.bounds is None:
                continue
            for what, seen, most in (
                ("actions of players", actions, game.max_game_length),
                ("chance outcomes", rolls, game.max_chance_nodes),
                ("outcomes of one chance node", nodes, game.max_chance_outcomes),
            ):
                expect(seen <= most, f"{seen:,} {what}; the game tells {most:,} at most")
            for value in state.returns():
                expect(
                    game.min_utility <= value <= game.max_utility,
                    f"a return of {value}; the game tells {game.min_utility} to {game.max_utility}",
                )
    return f"up to {longest:,} actions"
