"""Steps of batches with observations and masks, against bots, by Gymnasium, beside single steps and other libraries."""

from __future__ import annotations

import os
import random
import time
from functools import partial
from typing import Any

import numpy as np

import engine
from benchmarks.batches import OTHERS, beside, decisions, measured, our_steps, shortest, vector_steps
from benchmarks.figures import Figure, Measured, Seconds, Skipped, rate
from benchmarks.sections.engine import boards
from engine.batch import BatchEnv

BATCH_MATCHES = 256
TIMED_STEPS = 100
SINGLE_DECISIONS = 2000
"""Decisions of one measurement by `State`."""
OPPONENTS = ("random", "greedy", "flat_mc:playouts=10", "uct:simulations=32")
OPPONENT_BOARDS = (("connect_four", 2), ("epicycle", 2), ("epicycle", 3))
"""Games and numbers of players in which opponents are measured."""


def measure(full: bool) -> Measured:
    repeat = 15 if full else 5
    for game in boards():
        what = f"{game.name}, {game.players} players"
        try:
            batch = BatchEnv(game, BATCH_MATCHES, 1)
        except engine.UnsupportedError:
            continue
        together = min(batch_seconds(batch) for _ in range(repeat)) / (BATCH_MATCHES * TIMED_STEPS)
        alone = min(single_seconds(game, seed) for seed in range(repeat)) / SINGLE_DECISIONS
        note = f"{BATCH_MATCHES} matches; observation, mask, reset"
        yield rate(f"{what}: batch", "M decisions/s", 1, Seconds(together, together), 1e6, note)
        yield rate(f"{what}: single", "M decisions/s", 1, Seconds(alone, alone), 1e6, "the same by `State`")
        yield Figure(f"{what}: batch by single", alone / together, "times", "higher")
    yield from against_bots(repeat)
    if "connect_four" not in engine.game_names():
        yield Skipped("connect four", "not installed: pip install --editable examples/connect_four")
        return
    yield from in_threads(repeat)
    for other in OTHERS:
        for n in other.sizes:
            ours = measured(our_steps(connect_four(n)), max(other.step_count, 20_000 // n))
            theirs = partial(measured, other.steps(n), other.step_count)
            yield from beside(f"{other.name}, {n:,} matches", ours, theirs, other)


def connect_four(n: int, **options: Any) -> BatchEnv:
    return BatchEnv(engine.load_game("connect_four"), n, 1, **options)


def against_bots(repeat: int) -> Measured:
    """Measure the agent's decisions against bots that play within the step, by batch and by Gymnasium's interface."""
    try:
        from arena.interop.gymnasium import make_vec
        from bots.batch import policy
    except ImportError:
        yield Skipped("opponents", "this checkout has none")
        return
    for name, players in OPPONENT_BOARDS:
        if name not in engine.game_names():
            continue
        game = engine.load_game(name, players)
        what, note = f"{name}, {players} players", f"of the agent; {players - 1} play within the step"
        for spec in OPPONENTS:
            opponents = {seat: policy(spec, game) for seat in range(1, players)}
            batch = BatchEnv(game, BATCH_MATCHES, 1, opponents=opponents, rotate="match")
            yield decisions(
                f"{what}: against {spec}", shortest(measured(our_steps(batch), TIMED_STEPS // 5), repeat), note
            )
        try:
            steps = vector_steps(make_vec(name, players, BATCH_MATCHES))
        except engine.UnsupportedError as error:
            yield Skipped("Gymnasium", str(error))
        else:
            yield decisions(
                f"{what}: against random, by Gymnasium", shortest(measured(steps, TIMED_STEPS), repeat), note
            )


def in_threads(repeat: int) -> Measured:
    """Measure large batches in one thread and in one for each core, by the time that passes."""
    for threads in sorted({1, os.cpu_count() or 1}):
        steps = measured(our_steps(connect_four(4096, threads=threads)), TIMED_STEPS // 5)
        best = min((steps() for _ in range(repeat)), key=lambda seconds: seconds.wall)
        yield decisions(f"connect_four: batch of 4,096, {threads} threads", best, "time that passes")


def batch_seconds(batch: BatchEnv) -> float:
    """Return the processor seconds of some steps, without those of choosing actions at random."""
    rng = np.random.default_rng(1)
    mask = batch.reset(1).legal_mask
    seconds = 0.0
    for _ in range(TIMED_STEPS):
        actions = np.argmax(mask * rng.random(mask.shape, np.float32), axis=1)
        begun = time.process_time()
        mask = batch.step(actions).legal_mask
        seconds += time.process_time() - begun
    return seconds


def single_seconds(game: engine.Game, seed: int) -> float:
    """Return the processor seconds of as many decisions by `State`; choosing them is a small part."""
    rng = random.Random(seed)
    out = np.zeros(game.observation_spec().size, np.float32)
    state = game.new_initial_state()
    decisions = 0
    begun = time.process_time()
    while decisions < SINGLE_DECISIONS:
        if state.is_terminal():
            state.returns()
            state = game.new_initial_state()
        elif state.is_chance_node():
            outcomes, sums = state.chances()
            state.apply_action(rng.choices(outcomes, cum_weights=sums)[0])
        else:
            state.observe(out=out)
            state.legal_actions_mask()
            state.apply_action(rng.choice(state.legal_actions()))
            decisions += 1
    return time.process_time() - begun
