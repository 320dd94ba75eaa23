"""Steps of batches with observations and masks in one thread, beside single steps by `State`."""

from __future__ import annotations

import random
import time

import numpy as np

import engine
from benchmarks.figures import Figure, Measured, Seconds, rate
from benchmarks.sections.engine import boards
from engine.batch import BatchEnv

MATCHES = 256
STEPS = 100
SINGLE = 2000
"""Decisions of one measurement by `State`."""


def measure(full: bool) -> Measured:
    repeat = 15 if full else 5
    for game in boards():
        what = f"{game.name}, {game.players} players"
        try:
            batch = BatchEnv(game, MATCHES, 1)
        except engine.UnsupportedError:
            continue
        together = min(batch_seconds(batch) for _ in range(repeat)) / (MATCHES * STEPS)
        alone = min(single_seconds(game, seed) for seed in range(repeat)) / SINGLE
        note = f"{MATCHES} matches; observation, mask, reset"
        yield rate(f"{what}: batch", "M decisions/s", 1, Seconds(together, together), 1e6, note)
        yield rate(f"{what}: single", "M decisions/s", 1, Seconds(alone, alone), 1e6, "the same by `State`")
        yield Figure(f"{what}: batch by single", alone / together, "times", "higher")


def batch_seconds(batch: BatchEnv) -> float:
    """Return the processor seconds of some steps, without those of choosing actions at random."""
    rng = np.random.default_rng(1)
    mask = batch.reset(1).legal_mask
    seconds = 0.0
    for _ in range(STEPS):
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
    while decisions < SINGLE:
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
