"""Games played out in full by brute force, in plain Python and exact fractions: what tests hold thinking bots against.

Every seat maximises its own return (minimax with two seats, max^n with more), and dice are averaged. A search may be
cut off after some plies: then all that is known of a state is that each return lies between -1 and 1, and the search
works with such bounds throughout. Where a seat has several best actions, the bounds of the others cover them all.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from engine import CHANCE, TERMINAL, State
from engine.state import KernelState

Returns = tuple[Fraction, ...]
"""One return for each seat."""


@dataclass(frozen=True)
class Bounds:
    """What each seat's return is at least and at most."""

    low: Returns
    high: Returns


Fold = Callable[[Sequence[tuple[Bounds, int]]], Bounds]
"""What to make of a roll, from the bounds after each outcome and the outcomes' weights."""


def averaging(weighted: Sequence[tuple[Bounds, int]]) -> Bounds:
    """Weigh each outcome by its weight."""
    weights: dict[int, int] = defaultdict(int)
    different = {id(bounds): bounds for bounds, _ in weighted}
    for bounds, weight in weighted:
        weights[id(bounds)] += weight
    together = [(bounds, Fraction(weights[key], sum(weights.values()))) for key, bounds in different.items()]
    low, high = (
        tuple(
            sum(weight * getattr(bounds, end)[other] for bounds, weight in together) for other in range(len(bounds.low))
        )
        for end in ("low", "high")
    )
    return Bounds(low, high)


def hoping(seat: int) -> Fold:
    """Let all dice fall as the seat wishes."""
    return lambda weighted: max((bounds for bounds, _ in weighted), key=lambda bounds: bounds.low[seat])


def fearing(seat: int) -> Fold:
    """Let all dice fall as the seat least wishes."""
    return lambda weighted: min((bounds for bounds, _ in weighted), key=lambda bounds: bounds.high[seat])


class BruteForce:
    """A search that remembers what it has seen; `plies` counts decisions, and rolls that leave nothing to decide."""

    def __init__(self, fold: Fold = averaging) -> None:
        self.fold = fold
        self.known: dict[tuple[object, float], Bounds] = {}

    def actions(self, state: State, plies: float = math.inf) -> dict[int, Bounds]:
        """Return the bounds of each legal action, looked ahead so many plies, the action itself included."""
        return {action: self.bounds(state.child(action), plies - 1) for action in state.legal_actions()}

    def bounds(self, state: State, plies: float = math.inf, after_a_roll: bool = False) -> Bounds:
        """Return what each seat's return must lie between."""
        who = state.current_player()
        if who == TERMINAL:
            return after_the_end(tuple(state.ranks()))
        plies -= after_a_roll and who == CHANCE
        if plies < 0 or (plies == 0 and who != CHANCE):
            return unknown(state.game.players)
        key = (identity(state), plies)
        if key not in self.known:
            self.known[key] = self._after_chance(state, plies) if who == CHANCE else self._after_choice(state, plies)
        return self.known[key]

    def _after_chance(self, state: State, plies: float) -> Bounds:
        weighted = [
            (self.bounds(state.child(outcome), plies, True), weight) for outcome, weight in state.chance_outcomes()
        ]
        return self.fold(weighted)

    def _after_choice(self, state: State, plies: float) -> Bounds:
        return best(self.actions(state, plies).values(), state.current_player())


def best(options: Iterable[Bounds], seat: int) -> Bounds:
    """Return the bounds when a seat takes what is best for it; which of its possibly best options stays open."""
    options = list(options)
    floor = max(option.low[seat] for option in options)
    possible = [option for option in options if option.high[seat] >= floor]
    low = [min(values) for values in zip(*(option.low for option in possible), strict=True)]
    high = [max(values) for values in zip(*(option.high for option in possible), strict=True)]
    low[seat] = floor
    if low != high:  # the returns sum to 0
        rest = sum(low)
        high = [min(most, least - rest) for least, most in zip(low, high, strict=True)]
    return Bounds(tuple(low), tuple(high))


def identity(state: State) -> object:
    """Return a value that is equal for states with the same future; with Pyramid Punch's words, also by place."""
    if isinstance(state, KernelState) and state.game.name != "pyramid_punch":
        return state.words.tobytes()
    return state.position


@functools.cache
def after_the_end(ranks: Sequence[int]) -> Bounds:
    """Returns from final ranks as the rules define them: the seats beaten, less those lost to, as a share of all."""
    returns = tuple(Fraction(sum((other > rank) - (other < rank) for other in ranks), len(ranks) - 1) for rank in ranks)
    return Bounds(returns, returns)


@functools.cache
def unknown(players: int) -> Bounds:
    """Return the bounds of a state that is not looked into."""
    return Bounds((Fraction(-1),) * players, (Fraction(1),) * players)


def exact_values(state: State) -> dict[int, Returns]:
    """Return each legal action's return for every seat when all play on perfectly to the end of the match."""
    values = BruteForce().actions(state)
    open_ones = [state.action_to_string(action) for action, bounds in values.items() if bounds.low != bounds.high]
    assert not open_ones, f"several best replies make different returns after {open_ones} in {state.position}"
    return {action: bounds.low for action, bounds in values.items()}
