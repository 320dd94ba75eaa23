"""Checks of games whose rules are kernels: what is compiled against what is played step by step."""

from __future__ import annotations

import random
from collections import Counter
from statistics import mean, stdev

import numpy as np

from engine.chance import new_rng
from engine.conformance.matches import choices
from engine.conformance.probe import NotApplicableError, Probe, expect, same
from engine.conformance.turns import ENDINGS
from engine.playouts import random_playouts
from engine.state import KernelGame, KernelState

DRAWS = 200
"""Random actions drawn for each legal one."""
DEVIATIONS = 6
"""Standard deviations within which counts and means have to be."""


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
    for state in probe.stops(22):
        assert isinstance(state, KernelState)
        legal = state.legal_actions()
        if not legal:
            continue
        compiled, buffer = game.compiled.random_action, game.action_buffer
        drawn = Counter(int(compiled(state.record, rng, buffer)) for _ in range(DRAWS * len(legal)))
        same("actions that random_action draws", sorted(drawn), legal)
        for action, count in drawn.items():
            expect(
                abs(count - DRAWS) <= DRAWS / 2,
                f"random_action draws {action} {count} times of {DRAWS * len(legal)}; about {DRAWS} are expected",
            )


def sampled_outcomes(probe: Probe) -> None:
    game, rng = kernel_game(probe), new_rng(probe.base + 2)
    if not game.has_chance:
        raise NotApplicableError("it has no chance")
    for state in list(probe.stops(23))[:6]:
        assert isinstance(state, KernelState)
        if not state.is_chance_node():
            continue
        weights = dict(state.chance_outcomes())
        count = 40 * len(weights)
        drawn = Counter(int(game.compiled.sample_chance(state.record, rng)) for _ in range(count))
        expect(set(drawn) <= set(weights), f"sample_chance gives {min(set(drawn) - set(weights), default='')}")
        expected = {outcome: count * weight / sum(weights.values()) for outcome, weight in weights.items()}
        chi_square = sum((drawn[outcome] - usual) ** 2 / usual for outcome, usual in expected.items())
        freedom = len(weights) - 1
        expect(
            abs(chi_square - freedom) <= DEVIATIONS * (2 * freedom) ** 0.5 + 6,
            f"outcomes of sample_chance do not follow the weights: chi-square {chi_square:.1f} at {freedom} degrees",
        )


def playouts(probe: Probe) -> None:
    game = kernel_game(probe)
    first, again = (random_playouts(game, 50, seed=probe.base + 7) for _ in range(2))
    same("matches of all endings", sum(first.ended.values()), first.matches)
    expect(set(first.ended) <= {*ENDINGS}, f"an ending is called {min(set(first.ended) - {*ENDINGS}, default='')}")
    expect(0 <= first.actions <= first.plies, f"{first.actions} actions in {first.plies} plies")
    for what in ("actions", "plies", "ended"):
        same(f"{what} of the same seed again", getattr(again, what), getattr(first, what))
    same("ranks of the same seed again", again.rank_sums.tolist(), first.rank_sums.tolist())


def playouts_and_steps(probe: Probe) -> None:
    game = kernel_game(probe)
    matches = [probe.finished(seed) for seed in range(120)]
    compiled = random_playouts(game, 4000, seed=probe.base + 8)
    _agree("plies", [len(end.history()) for end in matches], compiled.plies / compiled.matches)
    for seat in range(game.players):
        ranks = [end.ranks()[seat] for end in matches]
        _agree(f"rank of seat {seat}", ranks, compiled.rank_sums[seat] / compiled.matches)
    for ending in {*compiled.ended, *(end.ended for end in matches)}:
        share = compiled.ended.get(ending, 0) / compiled.matches
        _agree(f"share of the ending {ending}", [end.ended == ending for end in matches], share)


def _agree(what: str, sample: list[int] | list[bool], expected: float) -> None:
    """Expect a sample's mean within a few standard errors of another mean, and a little."""
    room = (DEVIATIONS - 1) * stdev(sample) / len(sample) ** 0.5 + 3 / len(sample)
    expect(
        abs(mean(sample) - expected) <= room,
        f"mean {what}: {mean(sample):.3f} step by step, {expected:.3f} in compiled playouts",
    )
