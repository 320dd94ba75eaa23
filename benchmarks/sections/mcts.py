"""`uct` without kernels, against OpenSpiel's Monte-Carlo tree search and against itself with kernels.

All think as long as the same number of simulations. A match is played twice with the same dice, seats changed.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Sequence
from typing import NamedTuple

from scipy.special import stdtrit

import engine
from benchmarks.figures import Figure, Measured, Skipped
from bots import Bot, make_bot
from bots.search.plain_uct import PlainTree
from bots.search.uct import UCT
from engine import CHANCE, TERMINAL, Game, State
from engine.game import rolled

SIMULATIONS = 100
EXPLORATION = 0.7
THEIR_GAMES = ("openspiel.connect_four", "openspiel.breakthrough(columns=6,rows=6)", "openspiel.pig(winscore=30)")
OUR_GAMES = (("epicycle", 2), ("epicycle", 3), ("magic_mids", 2))
PAIRS, FULL_PAIRS = 10, 250
"""Pairs of matches a game, and with `--full`."""


class PlainUCT(UCT):
    """`uct` as if the game had no kernels."""

    name = "plain_uct"

    def prepare(self) -> None:
        super().prepare()
        self.tree = PlainTree(self.game, *self._settings())


class OpenSpielMCTS(Bot):
    """OpenSpiel's search in C++, with one random rollout a simulation as ours.

    Its constant is twice ours: it counts a loss as -1, where ours is 0. Both prove what is certain: without that, the
    end of a match has no exploration term in OpenSpiel's search, and in ours it has, which wins more matches.
    """

    name = "openspiel_mcts"

    def prepare(self) -> None:
        import pyspiel

        evaluator = pyspiel.RandomRolloutEvaluator(1, self.rng.getrandbits(31))
        seed, native = self.rng.getrandbits(31), self.game.new_initial_state().native.get_game()  # type: ignore[attr-defined]
        self._bot = pyspiel.MCTSBot(native, evaluator, 2 * EXPLORATION, SIMULATIONS, 1000, True, seed, False)

    def choose(self, state: State) -> int:
        return int(self._bot.step(state.native))  # type: ignore[attr-defined]  # a state of OpenSpiel


class PairedResult(NamedTuple):
    """What matches between two bots came to."""

    returns: Sequence[float]
    """By pair: mean return of the first."""
    seconds: tuple[float, float]
    """Processor time of a move, of both."""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.returns)

    @property
    def half_width(self) -> float:
        """Half of Student's 95 % interval of the mean."""
        pairs = len(self.returns)
        return float(stdtrit(pairs - 1, 0.975)) * statistics.stdev(self.returns) / math.sqrt(pairs)


def measure(full: bool) -> Measured:
    pairs = FULL_PAIRS if full else PAIRS
    for name, players in OUR_GAMES:
        board = f"{name}, {players} players"
        yield from figures(board, "compiled", play_pairs(engine.load_game(name, players), PlainUCT, UCT, pairs))
    for name in THEIR_GAMES:
        try:
            game = engine.load_game(name, 2)
        except engine.EngineError as error:
            yield Skipped(name, str(error))
            return
        yield from figures(name, "OpenSpiel's", play_pairs(game, UCT, OpenSpielMCTS, pairs))


def figures(board: str, other: str, found: PairedResult) -> Measured:
    """Yield the mean return of plain `uct`, and its time beside the other's."""
    note = f"± {found.half_width:.3f} (95 %), {len(found.returns)} pairs, {SIMULATIONS} simulations a move"
    yield Figure(f"{board}: return of plain uct against {other}", found.mean, "-1 to 1", "neither", note=note)
    mine, theirs = found.seconds
    yield Figure(f"{board}: time of a move, plain uct by {other}", mine / theirs, "times", "lower", mine)


def play_pairs(game: Game, one: type[Bot], other: type[Bot], pairs: int) -> PairedResult:
    """Return the outcome of matches of one bot against the other in all other seats, and the reverse."""
    spent = {one: [0.0, 0], other: [0.0, 0]}
    returns = [
        statistics.fmean(one_match(game, one, other, seat, pair, spent) for seat in range(game.players))
        for pair in range(pairs)
    ]
    return PairedResult(returns, tuple(seconds / moves for seconds, moves in spent.values()))  # type: ignore[arg-type]


def one_match(
    game: Game, one: type[Bot], other: type[Bot], seat: int, seed: int, spent: dict[type[Bot], list[float]]
) -> float:
    """Return what the first bot gets in a seat; processor time and number of moves are added to `spent`."""
    dice, state = random.Random(seed), game.new_initial_state()
    params = {"simulations": SIMULATIONS, "exploration": EXPLORATION, "solve": True}
    kinds = [one if each == seat else other for each in range(game.players)]
    bots = [
        make_bot(kind, game, each, 1000 * seed + each, params if issubclass(kind, UCT) else None)
        for each, kind in enumerate(kinds)
    ]
    while (who := state.current_player()) != TERMINAL:
        if who == CHANCE:
            state.apply_action(rolled(*state.chances(), dice))
            continue
        before = time.process_time()
        action = bots[who].choose(state)
        spent[kinds[who]][0] += time.process_time() - before
        spent[kinds[who]][1] += 1
        state.apply_action(action)
    return state.returns()[seat]
