"""Connect four in batches of other libraries: random legal actions, of which only the steps are timed.

Each step gives observations and masks of legal actions as the library makes them, and begins another match where one
has ended. What else a library's step includes, or leaves out, is in its note.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.figures import Figure, Measured, Seconds, Skipped, rate
from engine.batch import BatchEnv

Steps = Generator[tuple[np.ndarray, int], Any, None]
"""Is sent actions; yields masks of legal actions, shape (n, actions), and how many matches will take an action."""


class OtherLibrary(NamedTuple):
    """A library to measure."""

    name: str
    steps: Callable[[int], Steps]
    sizes: tuple[int, ...]
    """Matches in a batch."""
    step_count: int
    """Steps of one measurement."""
    note: str
    requirement: str
    """What pip is to install."""


PAIRED_ROUNDS = 5
"""Times that ours and another library's steps are measured in turn."""


def measured(steps: Steps, count: int) -> Callable[[], Seconds]:
    """Return what measures the time of a decision over so many steps; it goes on with each call."""
    rng = np.random.default_rng(1)
    mask, deciding = next(steps)

    def measure() -> Seconds:
        nonlocal mask, deciding
        passed, used, decisions = 0.0, 0.0, 0
        for _ in range(count):
            actions = np.argmax(mask * rng.random(mask.shape, np.float32), axis=1).astype(np.int32)
            decisions += deciding
            wall, processor = time.perf_counter(), time.process_time()
            mask, deciding = steps.send(actions)
            used += time.process_time() - processor
            passed += time.perf_counter() - wall
        return Seconds(passed / decisions, used / decisions)

    measure()  # compiles what is to be compiled
    return measure


def decisions(name: str, seconds: Seconds, note: str = "") -> Figure:
    """Return a rate from the time of a decision."""
    return rate(name, "M decisions/s", 1, seconds, 1e6, note)


def shortest(measure: Callable[[], Seconds], repeat: int) -> Seconds:
    """Return the shortest processor time of a decision, as `benchmarks.figures.busy` does."""
    processor = min(measure().processor for _ in range(repeat))
    return Seconds(processor, processor)


def beside(
    name: str, ours: Callable[[], Seconds], make: Callable[[], Callable[[], Seconds]], other: OtherLibrary
) -> Measured:
    """Measure another library in turn with ours: its rate, and how many times as fast ours is."""
    try:
        theirs = make()
    except ImportError:
        yield Skipped(name, f"not installed: pip install {other.requirement}")
        return
    pairs = [(ours(), theirs()) for _ in range(PAIRED_ROUNDS)]
    mine, their = (min(each.processor for each in side) for side in zip(*pairs, strict=True))
    yield decisions(f"connect four, {name}", Seconds(their, their), other.note)
    yield Figure(f"connect four, ours against {name}", their / mine, "times", "higher")


def our_steps(batch: BatchEnv) -> Steps:
    actions = yield batch.reset(1).legal_mask, batch.n
    while True:
        actions = yield batch.step(actions).legal_mask, batch.n


def vector_steps(env: Any) -> Steps:
    """Step what `arena.interop.gymnasium.make_vec` makes."""
    _, info = env.reset(seed=1)
    while True:
        actions = yield info["action_mask"], env.num_envs
        *_, info = env.step(actions)


def pgx_steps(n: int) -> Steps:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import pgx
    from pgx.experimental import auto_reset

    game = pgx.make("connect_four")
    keys = jax.random.split(jax.random.PRNGKey(1), n)
    step = jax.jit(jax.vmap(auto_reset(game.step, game.init)))
    state = jax.jit(jax.vmap(game.init))(keys)
    while True:
        np.asarray(state.observation)
        actions = yield np.asarray(state.legal_action_mask), n
        state = step(state, actions, keys)


def envpool_steps(n: int) -> Steps:
    import envpool

    table = envpool.make("ConnectFour-v1", env_type="gymnasium", num_envs=n, num_threads=1)
    _, info = table.reset()
    done = np.zeros(n, np.bool_)
    while True:
        actions = yield info["legal_action_mask"], int(n - done.sum())  # what has ended is reset by its next step
        _, _, done, _, info = table.step(actions)


def open_spiel_steps(n: int) -> Steps:
    import pyspiel

    game = pyspiel.load_game("connect_four")
    states = [game.new_initial_state() for _ in range(n)]
    masks = np.zeros((n, game.num_distinct_actions()), np.bool_)
    actions = None
    while True:
        for i in range(n):
            if actions is not None:
                states[i].apply_action(actions[i])
            if states[i].is_terminal():
                states[i].returns()
                states[i] = game.new_initial_state()
            states[i].observation_tensor(states[i].current_player())
            masks[i] = states[i].legal_actions_mask()
        actions = yield masks, n


def petting_zoo_steps(n: int) -> Steps:
    from pettingzoo.classic import connect_four_v3

    tables = [connect_four_v3.raw_env() for _ in range(n)]
    masks = np.zeros((n, 7), np.int8)
    for table in tables:
        table.reset(seed=1)
    actions = None
    while True:
        for i, table in enumerate(tables):
            if actions is not None:
                table.step(int(actions[i]))
            seen, _, over, _, _ = table.last()
            if over:
                table.reset()
                seen = table.last()[0]
            masks[i] = seen["action_mask"]
        actions = yield masks, n


OTHERS = (
    OtherLibrary("pgx", pgx_steps, (256, 4096), 60, "one compiled call, by JAX on the processor", "'pgx>=2.6'"),
    OtherLibrary(
        "EnvPool",
        envpool_steps,
        (256, 4096),
        60,
        "one thread; observations of both seats; begins anew by steps of their own, not counted",
        "'envpool>=1.2.5'",
    ),
    OtherLibrary("OpenSpiel's states in a list", open_spiel_steps, (256,), 8, "by pyspiel from Python", "open_spiel"),
    OtherLibrary("PettingZoo's in a list", petting_zoo_steps, (256,), 2, "raw environments", "'pettingzoo[classic]'"),
)
