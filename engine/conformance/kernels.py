"""Checks of games whose rules are kernels: what is compiled against what is played step by step."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np

from engine.chance import new_rng
from engine.conformance.matches import choices
from engine.conformance.probe import NotApplicableError, Probe, expect, same
from engine.conformance.samples import most_surprise, surprise
from engine.state import KernelGame, KernelState

DRAWS_PER_ACTION = 200
"""Random actions drawn for each legal one, and outcomes for each that can come."""
MAX_DRAWS = 20_000
"""Outcomes drawn at one chance node, at most."""
TESTED_CHANCE_NODES = 6
"""Chance nodes at which outcomes are drawn."""


def kernel_game(probe: Probe) -> KernelGame:
    """Return the game; raises `NotApplicableError` when its rules are no kernels."""
    if not isinstance(probe.game, KernelGame):
        raise NotApplicableError("its rules are no kernels")
    return probe.game


def used_words(probe: Probe) -> None:
    game = kernel_game(probe)
    for state in probe.stops(21):
        assert isinstance(state, KernelState)
        dirty = np.full_like(state.words, 0xABCDEF0123456789)
        game.compiled.copy_state(state.words, dirty)
        rng = random.Random(5)
        copy = KernelState(game, dirty)
        while not state.is_terminal():
            seen = (copy.current_player(), choices(copy))
            same("what a copy of the used words has to play", seen, (state.current_player(), choices(state)))
            choice = rng.choice(choices(state))
            copy.apply_action(choice)
            state.apply_action(choice)
        ends = [(each.position, each.ranks(), each.ended) for each in (copy, state)]
        same("the end of a copy of the used words", *ends)


def random_actions(probe: Probe) -> None:
    game, rng = kernel_game(probe), new_rng(probe.base + 1)
    states = [state for state in probe.stops(22) if state.current_player() >= 0]
    most = most_surprise(sum(len(state.legal_actions()) for state in states))
    for state in states:
        assert isinstance(state, KernelState)
        probe.at(22, state.history())
        legal = state.legal_actions()
        drawn = Counter(
            int(game.compiled.random_action(state.record, rng, game.action_buffer))
            for _ in range(DRAWS_PER_ACTION * len(legal))
        )
        same("actions that random_action draws", sorted(drawn), legal)
        _expect_shares("random_action", drawn, dict.fromkeys(legal, 1), most)


def sampled_outcomes(probe: Probe) -> None:
    game, rng = kernel_game(probe), new_rng(probe.base + 2)
    if not game.has_chance:
        raise NotApplicableError("it has no chance")
    states = list(itertools.islice((state for state in probe.stops(23) if state.is_chance_node()), TESTED_CHANCE_NODES))
    most = most_surprise(sum(len(state.chance_outcomes()) for state in states))
    for state in states:
        assert isinstance(state, KernelState)
        probe.at(23, state.history())
        weights = dict(state.chance_outcomes())
        drawn = Counter(
            int(game.compiled.sample_chance(state.record, rng))
            for _ in range(min(DRAWS_PER_ACTION * len(weights), MAX_DRAWS))
        )
        expect(set(drawn) <= set(weights), f"sample_chance gives {min(set(drawn) - set(weights), default='')}")
        _expect_shares("sample_chance", drawn, weights, most)


def _expect_shares(kernel: str, drawn: Counter[int], weights: dict[int, int], most: float) -> None:
    """Expect that counts of what a kernel has drawn follow the weights, as far as chance allows."""
    draws, whole = drawn.total(), sum(weights.values())
    for each, weight in weights.items():
        usual = draws * weight / whole
        expect(
            surprise(drawn[each], draws, weight / whole) <= most,
            f"{kernel} draws {each} {drawn[each]:,} times of {draws:,}; about {usual:,.0f} are expected",
        )
