"""Bench of other libraries on connect four beside ours, those that are installed, all in one run."""

from __future__ import annotations

import contextlib
import io
import logging
import random
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import engine
from benchmarks.search import SIMULATIONS, search_of
from benchmarks.tools import Row

SECONDS = 1.0


class Library(NamedTuple):
    """Something of another library that is measured, and how to get the library."""

    what: str
    measure: Callable[[], float]
    requirement: str


def libraries() -> Iterator[Row]:
    """Searches and random matches a second on one core, and how many times as many ours plays."""
    if "connect_four" not in engine.game_names():
        yield Row("connect four beside other libraries", "not installed: pip install --editable examples/connect_four")
        return
    game = engine.load_game("connect_four")
    yield from compared("simulations/s", "connect four, uct", SIMULATIONS * a_second(search_of(game)), SEARCHES)
    yield from compared("random matches/s", "connect four, State from Python", matches_of_states(game), LOOPS)


def compared(unit: str, what: str, ours: float, others: list[Library]) -> Iterator[Row]:
    """Our rate, and each of the others'."""
    yield Row(what, f"{ours:,.0f} {unit}")
    for library in others:
        try:
            with quiet():
                rate = library.measure()
        except ImportError:
            yield Row(f"connect four, {library.what}", f"not installed: pip install {library.requirement}")
        else:
            times = f"{ours / rate:.1f}" if ours < 10 * rate else f"{ours / rate:,.0f}"
            yield Row(f"connect four, {library.what}", f"{rate:,.0f} {unit}; ours {times} times as many")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing that a library says of itself is shown."""
    shown = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(shown)


def a_second(play: Callable[[], object]) -> float:
    """How often a second it can be done: the best of three counts over a third of a second and more."""
    play()
    return max(_rate(play) for _ in range(3))


def _rate(play: Callable[[], object]) -> float:
    started, count = time.perf_counter(), 0
    while time.perf_counter() - started < SECONDS / 3:
        play()
        count += 1
    return count / (time.perf_counter() - started)


def random_match(start: Any, rng: random.Random) -> None:
    """Play to the end by the verbs that OpenSpiel's states and ours share."""
    while not start.is_terminal():
        legal = start.legal_actions()
        start.apply_action(legal[int(rng.random() * len(legal))])


def matches_of_states(game: Any) -> float:
    """Random matches a second from Python, with a game of ours or of OpenSpiel."""
    rng = random.Random(1)
    return a_second(lambda: random_match(game.new_initial_state(), rng))


def open_spiel_search() -> float:
    import pyspiel

    game = pyspiel.load_game("connect_four")
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)  # one rollout a simulation, as ours; seed 1
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, SIMULATIONS, 4000, False, 1, False)
    return SIMULATIONS * a_second(lambda: bot.step(game.new_initial_state()))


def open_spiel_loop() -> float:
    import pyspiel

    return matches_of_states(pyspiel.load_game("connect_four"))


def petting_zoo_loop() -> float:
    from pettingzoo.classic import connect_four_v3

    table = connect_four_v3.env()

    def play() -> None:
        table.reset(seed=1)
        for seat in table.agent_iter():
            seen, _, over, cut, _ = table.last()
            table.step(None if over or cut else table.action_space(seat).sample(seen["action_mask"]))

    return a_second(play)


def kaggle_loop() -> float:
    import kaggle_environments

    table = kaggle_environments.make("connectx")
    return a_second(lambda: table.run(["random", "random"]))


SEARCHES = [Library("OpenSpiel's MCTS bot in C++", open_spiel_search, "open_spiel")]
LOOPS = [
    Library("OpenSpiel's State from Python", open_spiel_loop, "open_spiel"),
    Library("PettingZoo", petting_zoo_loop, "'pettingzoo[classic]'"),
    Library("Kaggle's ConnectX", kaggle_loop, "--no-deps kaggle-environments"),
]
