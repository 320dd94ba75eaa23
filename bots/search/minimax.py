"""Alpha-beta search, for games without dice, and expectimax search, for games with dice, in compiled code."""

from __future__ import annotations

import functools
import itertools
import random
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Annotated, ClassVar, cast

import numpy as np

from bots.base import Between, Bot, OneOf, TimeFor, first_decision
from bots.heuristics import heuristics_of
from bots.search import maxn_kernel, minimax_kernel
from bots.search.evaluation import Assessment, heuristic_assessment
from bots.search.minimax_kernel import ENTRY, EVALUATION, FRAME, MAX, SEARCH, Memory
from engine import Game, State
from engine.kernel import bind
from engine.state import KernelGame, KernelState

DEEPEST = 64
MOST = 1 << 62
CHUNK = 1000  # states between two looks at the clock
TOP_PRIORITY = 3.0
LONGEST_LINE = 16
MANY = 5  # players too many to all play against one
ENTRIES = 1 << 18

_generations = itertools.count(1)


@functools.cache
def rolls_dice(game: Game) -> bool:
    """Return whether chance comes up in play, not only before the first decision: whether it does in random matches."""
    rng = random.Random(0)
    for _ in range(3):
        state = first_decision(game)
        for _ in range(1000):
            if state.is_terminal():
                break
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
            if state.is_chance_node():
                return True
    return False


@functools.cache
def transposition_table() -> np.ndarray:
    """Return this process's table for all searches; an entry counts only within the search that wrote it."""
    return np.zeros(ENTRIES * ENTRY.itemsize // 8, np.uint64)


@functools.cache
def minimax_kernels(game: KernelGame, assessment: Assessment | None = None) -> SimpleNamespace:
    """Return the search of `bots.search.minimax_kernel`, bound to a game and what values its states."""
    heuristics = heuristics_of(game.name)
    alike = getattr(heuristics, "outcome_key", None)
    also = {
        "assess": (assessment or heuristic_assessment(game)).kernel,
        "copy_state": game.compiled.copy_state,
        "points_of": game.compiled.points_of,
        "CHANCE_HORIZON": int(getattr(heuristics, "FORESEES_ROLLS", False)),
        "SOME_ALIKE": alike is not None,
    }
    return bind(minimax_kernel, game.rules, game.dtype, **also, **({"outcome_key": alike} if alike else {}))


class Search:
    """One game's compiled search against seats that all play against the one that searches, and its memory."""

    def __init__(self, game: KernelGame, table: np.ndarray, assessment: Assessment | None = None) -> None:
        assessment = assessment or heuristic_assessment(game)
        plies = 2 * DEEPEST + 2  # a chance node may follow every decision
        width = max(game.action_buffer.size, game.outcome_buffer.size)
        search, frames = np.zeros(SEARCH.itemsize // 8, np.uint64), np.zeros(plies * FRAME.itemsize // 8, np.uint64)
        self._search, self._root = search.view(SEARCH)[0], frames.view(FRAME)[0]
        kernels = minimax_kernels(game, assessment)
        self._kernel, self._follow = kernels.search_on, kernels.follow
        self._game, self._line = game, np.zeros(LONGEST_LINE, np.int64)
        self._memory = Memory(
            search=search,
            frames=frames,
            table=table,
            states=np.zeros((plies, game.blank().size), np.uint64),
            moves=np.zeros((plies, width), np.int64),
            priority=np.zeros((plies, width)),
            killers=np.zeros((plies, 2), np.int64),
            history=np.zeros((2, game.num_distinct_actions)),
            counts=game.weight_buffer,
            keys=np.zeros_like(game.outcome_buffer),
            place=np.zeros(game.players, np.int64),
            valued=assessment.memory,
        )

    def begin(self, words: np.ndarray, seat: int, actions: Sequence[int], order: Sequence[float]) -> None:
        """Begin a new search, which knows nothing of earlier ones; of equals the action first in order is taken."""
        self.best = -1
        self._search.seat = seat
        self._search.nodes = 0
        self._search.generation = next(_generations)
        self._memory.states[0] = words
        self._count = len(actions)
        self._memory.moves[0, : self._count] = actions
        self._memory.priority[0, : self._count] = order
        self._memory.killers[:] = -1
        self._memory.history[:] = 0

    def look(self, depth: int) -> None:
        """Begin to look `depth` decisions ahead: the best action so far first, the others by their last values."""
        root, tried = self._root, slice(self._count)
        self._memory.priority[0, tried][self._memory.moves[0, tried] == self.best] = TOP_PRIORITY
        self._search.depth = depth
        self._search.ply = 0
        root.kind, root.depth, root.count, root.next = MAX, depth, self._count, 0
        root.alpha = root.least = -1.0
        root.beta = root.most = 1.0
        root.value, root.best, root.whole = -2.0, -1, 1

    def go_on(self, limit: int) -> bool:
        """Search until the look-ahead is done or `limit` states have been visited in all; return whether it is done."""
        done: bool = self._kernel(self._memory, limit)
        if self._root.best >= 0:
            self.best = int(self._root.best)
        return done

    @property
    def has_value(self) -> bool:
        """Whether this look-ahead has valued the best action, though it may not be done."""
        return bool(self._root.best >= 0)

    def returns(self, value: float) -> list[float] | None:
        """Return what every seat is expected to get, given the root's value; None where nobody knows.

        With several opponents who play against one, what each of them would get is not looked at.
        """
        seat = int(self._search.seat)
        return None if self._game.players > 2 else [value, -value] if seat == 0 else [-value, value]

    def line(self) -> list[int] | None:
        """Return the best action and the replies to it that are known; None where none are."""
        count = self._follow(self._memory, self.best, self._line)
        return self._line[:count].tolist() if count > 1 else None

    @property
    def nodes(self) -> int:
        """States visited since `begin`."""
        return int(self._search.nodes)

    @property
    def value(self) -> float:
        """The root's value to the seat, when the look-ahead is done."""
        return float(self._root.value)

    @property
    def decided(self) -> bool:
        """Whether looking further ahead changes nothing: every line has ended, or the match is won or lost."""
        return bool(self._root.whole) or abs(self.value) > EVALUATION


class MaxnSearch(Search):
    """One game's compiled search against seats each of which maximises its own value."""

    def __init__(self, game: KernelGame, assessment: Assessment) -> None:
        super().__init__(game, np.zeros(0, np.uint64), assessment)
        shared = vars(minimax_kernels(game, assessment))
        names = ("assess", "worth", "bring_forward", "visit_next", "delayed", "open_chance", "CHANCE_HORIZON")
        self._kernel = bind(maxn_kernel, game.rules, game.dtype, **{name: shared[name] for name in names}).search_on
        self._memory = self._memory._replace(table=np.zeros((len(self._memory.states), game.players)))

    def returns(self, value: float) -> list[float] | None:
        """Return the values of the root."""
        return self._memory.table[0].tolist()

    def line(self) -> list[int] | None:
        """Return nothing: no replies are kept."""
        return None

    def look(self, depth: int) -> None:
        super().look(depth)
        self._root.seat = self._search.seat


def compiled_search(game: KernelGame, assessment: Assessment | None = None) -> Search:
    """Return the search of a game, warmed up; by default its own evaluation values states."""
    return _compiled_search(game, assessment or heuristic_assessment(game))


@functools.cache
def _compiled_search(game: KernelGame, assessment: Assessment) -> Search:
    return warmed_up(Search(game, transposition_table(), assessment), game)


def compiled_maxn(game: KernelGame, assessment: Assessment | None = None) -> Search:
    """Return the search of a game by max^n, warmed up; by default its own evaluation values states."""
    return _compiled_maxn(game, assessment or heuristic_assessment(game))


@functools.cache
def _compiled_maxn(game: KernelGame, assessment: Assessment) -> Search:
    return warmed_up(MaxnSearch(game, assessment), game)


def warmed_up(search: Search, game: KernelGame) -> Search:
    state = cast(KernelState, first_decision(game))
    actions = state.legal_actions()
    search.begin(state.words, state.current_player(), actions, [0.0] * len(actions))
    search.look(1)
    search.go_on(1)
    search.line()
    return search


class Minimax(Bot):
    """Look one decision further ahead after another, for as long as the budget lasts."""

    needs = ("kernels",)
    game: KernelGame
    dice: ClassVar[bool]
    """Whether it plays the games with dice, or those without, where it would be the other one under another name."""

    depth: Annotated[int, Between(1, DEEPEST), "decisions looked ahead at most"] = DEEPEST
    nodes: Annotated[int, Between(1, 1_000_000_000), "states visited for a move"] = 20_000
    opponents: Annotated[
        str, OneOf(("auto", "paranoid", "maxn")), "whom the others play against, with three or more"
    ] = "auto"
    seconds: Annotated[float, Between(0, 3600), "time for a move in place of `nodes`; 0 for none"] = 0.0
    time: Annotated[str, TimeFor("nodes", ("seconds",)), "processor time a move, calibrated: 20ms, 1.5s"] = ""

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Refuse games with dice, which spoil the bounds that cut lines off, or, as `dice` says, those without."""
        refused = super().refusal(game)
        if refused is None and rolls_dice(game) != cls.dice:
            what = "with dice, which are not" if cls.dice else "without dice, and they are"
            refused = f"plays games {what} rolled in {game.name}"
        return refused

    def prepare(self) -> None:
        self.timed = self.seconds > 0
        maxn = self.opponents == "maxn" or (self.opponents == "auto" and self.game.players >= MANY)
        maxn = maxn and self.game.players > 2  # between two it would be minimax without cuts
        self._search = (compiled_maxn if maxn else compiled_search)(self.game, self.assessment())

    def assessment(self) -> Assessment | None:
        """Return what values states at the horizon, None for the game's evaluation."""
        return None

    def choose(self, state: State) -> int:
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        end = time.monotonic() + self.seconds
        search = self._search
        search.begin(cast(KernelState, state).words, self.seat, actions, [self.rng.random() for _ in actions])
        search.look(1)
        search.go_on(MOST)
        value = search.value
        for depth in range(2, self.depth + 1):
            if search.decided:
                break
            search.look(depth)
            done = self._go_on(end)
            value = search.value if search.has_value else value
            if not done:
                break
        self.evaluation, self.line, self.search_steps = search.returns(value), search.line(), search.nodes
        return search.best

    def _go_on(self, end: float) -> bool:
        """Spend what is left of the budget on this look-ahead; return whether it is done."""
        if not self.timed:
            return self._search.go_on(self.nodes)
        done = False
        while not done and time.monotonic() < end:
            done = self._search.go_on(self._search.nodes + CHUNK)
        return done


class AlphaBeta(Minimax):
    """Look ahead as far as the budget allows, by alpha-beta search, in games without dice.

    Idea: look one decision ahead, then two, and so on, until the budget is spent; lines that cannot change the choice
    are cut off. At the horizon a state is worth its evaluation in `bots.heuristics`, by default the score margin; a
    real win counts more than any evaluation, and the more the faster, a real loss less than any, and the less the
    faster. States met again are looked up in a table, and actions are tried in the order: best so far, good at this
    depth elsewhere, often good. The search ends early when it has followed every line to its end. Ties are broken at
    random; a forced move is made at once.
    Source: Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975); for more players
    Luckhardt and Irani, "An algorithmic solution of n-person games", AAAI (1986), and Sturtevant and Korf, "On
    pruning techniques for multi-player games", AAAI (2000).
    Parameters: `nodes`, states visited for a move, 1 to 1,000,000,000 (looking one decision ahead is always
    finished); `depth`, decisions looked ahead at most, 1 to 64; `seconds`, time for a move in place of `nodes`, 0 to
    3600, 0 for none: with a clock the choice depends on the machine; `time`, such as `20ms`, which a tournament
    calibrates once into `nodes` for each board; `opponents`, what the other seats are after when
    there are several: `paranoid`, this seat's loss; `maxn`, each its own gain (max^n: nothing can be cut off, and a
    state costs an evaluation for every player); `auto`, `maxn` with five players, else `paranoid`.
    Near the end it is exact: by default in Midgard with up to 11 cells of ice, and in five of six positions of Epicycle
    with three or four players (measured along random matches; with more than two the others are as `opponents` says).
    Cost: about a microsecond a state, so 20 milliseconds a move by default.
    """

    name = "alphabeta"
    dice = False


class Expectimax(Minimax):
    """Look ahead as far as the budget allows in games with dice, averaging over them.

    Idea: look one decision ahead, then two, and so on, until the budget is spent. A roll is worth the mean over its
    outcomes by their weights; outcomes that play alike (`outcome_key` in `bots.heuristics`) are followed once. As all
    values lie between -1 and 1, a few outcomes often settle that the mean is too high or too low to matter (Star1),
    and so lines are cut off as in `alphabeta`, with which it shares all else.
    Source: Michie, "Game-playing and game-learning automata" (1966); Ballard, "The *-minimax search procedure for
    trees containing chance nodes", Artificial Intelligence 21 (1983).
    Parameters: `nodes`, states visited for a move, 1 to 1,000,000,000 (looking one decision ahead is always
    finished); `depth`, decisions looked ahead at most, 1 to 64; `seconds`, time for a move in place of `nodes`, 0 to
    3600, 0 for none: with a clock the choice depends on the machine; `time`, such as `20ms`, which a tournament
    calibrates once into `nodes` for each board; `opponents`, what the other seats are after when
    there are several: `paranoid`, this seat's loss; `maxn`, each its own gain (max^n: nothing can be cut off, and a
    state costs an evaluation for every player); `auto`, `maxn` with five players, else `paranoid`.
    Cost: about a microsecond a state, so at most 20 milliseconds a move by default: two to three decisions ahead in
    Magic Mids, four to six in Pyramid Punch.
    """

    name = "expectimax"
    dice = True
