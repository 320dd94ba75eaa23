"""Random matches by the verbs of `State` from Python, beside other libraries that are installed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import engine
from benchmarks.figures import Figure, Measured, Seconds, Skipped, busy, lasting, rate, timed

TIMED_CLONES = 2000
PAIRED_ROUNDS = 5
"""Times that ours and another library's loop are measured in turn."""
TIMED_MATCHES = 500
MISSING_EXAMPLE = "pip install --editable examples/connect_four"


def measure(full: bool) -> Measured:
    for name in engine.game_names():
        seconds = step_seconds(engine.load_game(name, engine.game_type(name).min_players))
        yield lasting(f"{name}: legal_actions + apply_action", seconds, "µs")
    if "connect_four" not in engine.game_names():
        yield Skipped("connect four", f"not installed: {MISSING_EXAMPLE}")
        return
    game = engine.load_game("connect_four")
    yield rate(
        "connect four: random matches", "matches/s", TIMED_MATCHES, busy(loop(game, TIMED_MATCHES), PAIRED_ROUNDS)
    )
    for name, make, count, requirement in LOOPS:
        yield from beside(name, loop(game, TIMED_MATCHES), TIMED_MATCHES, make, count, requirement, "matches/s")


def step_seconds(game: engine.Game) -> Seconds:
    """Return the time of one step from a position early in a match, without that of making the position."""
    rng = random.Random(1)
    state = game.new_initial_state()
    early, plies = state.clone(), 0
    while not state.is_terminal() and plies < 8:
        choices = state.legal_actions() or [outcome for outcome, _ in state.chance_outcomes()]
        state.apply_action(choices[int(rng.random() * len(choices))])
        plies += 1
        if not state.is_chance_node() and not state.is_terminal():
            early = state.clone()
    action = early.legal_actions()[0]

    def step() -> None:
        for each in [early.clone() for _ in range(TIMED_CLONES)]:
            each.legal_actions()
            each.apply_action(action)

    steps, clones = busy(step, 7), busy(lambda: [early.clone() for _ in range(TIMED_CLONES)], 7)
    return Seconds(*((both - alone) / TIMED_CLONES for both, alone in zip(steps, clones, strict=True)))


def loop(game: Any, count: int) -> Callable[[], None]:
    """Return a call that plays random matches by the verbs that OpenSpiel's states and ours share."""
    rng = random.Random(1)

    def play() -> None:
        for _ in range(count):
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[int(rng.random() * len(legal))])

    return play


def beside(
    name: str,
    ours: Callable[[], object],
    our_count: int,
    make: Callable[[int], Callable[[], object]],
    count: int,
    requirement: str,
    unit: str,
) -> Measured:
    """Measure another library in turn with ours: its rate, and how many times as fast ours is."""
    try:
        theirs = make(count)
        theirs()
    except ImportError:
        yield Skipped(name, f"not installed: pip install {requirement}")
        return
    pairs = [(timed(ours), timed(theirs)) for _ in range(PAIRED_ROUNDS)]
    mine, other = (min(each.processor for each in side) for side in zip(*pairs, strict=True))
    yield rate(f"connect four, {name}", unit, count, Seconds(other, other))
    yield Figure(f"connect four, ours against {name}", other / count * our_count / mine, "times", "higher")


def open_spiel_loop(count: int) -> Callable[[], None]:
    import pyspiel

    return loop(pyspiel.load_game("connect_four"), count)


def petting_zoo_loop(count: int) -> Callable[[], None]:
    from pettingzoo.classic import connect_four_v3

    table = connect_four_v3.env()

    def play() -> None:
        for _ in range(count):
            table.reset(seed=1)
            for seat in table.agent_iter():
                seen, _, over, cut, _ = table.last()
                table.step(None if over or cut else table.action_space(seat).sample(seen["action_mask"]))

    return play


def kaggle_loop(count: int) -> Callable[[], object]:
    import kaggle_environments

    table = kaggle_environments.make("connectx")
    return lambda: [table.run(["random", "random"]) for _ in range(count)]


LOOPS: tuple[tuple[str, Callable[[int], Callable[[], object]], int, str], ...] = (
    ("OpenSpiel's State", open_spiel_loop, TIMED_MATCHES, "open_spiel"),
    ("PettingZoo", petting_zoo_loop, 30, "'pettingzoo[classic]'"),
    ("Kaggle's ConnectX", kaggle_loop, 5, "--no-deps kaggle-environments"),
)
