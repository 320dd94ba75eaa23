"""Tuning: every iteration has a plan of its own, with the bots that it compares; the last one makes the claim.

`arena.schedule.tuning_iterations` decides an iteration from the one before. Two players meet in pairs of matches with
seats swapped; with more the two compared take turns in one seat, as in a duel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from arena.core.models import Model, as_tuple
from arena.schedule.boards import Board, Entry
from arena.schedule.kinds.duel import Duel
from arena.schedule.scheduler import Scheduler
from arena.schedule.tables import Table
from arena.schedule.tuning.space import Number, TunedParameter
from arena.schedule.tuning.spsa import Gains

START, TUNED, PLUS, MINUS, CANDIDATE = "start", "tuned", "plus", "minus", "candidate"
ROLES = (START, TUNED, PLUS, MINUS, CANDIDATE)
"""Labels of the bots that are compared."""
Values = Annotated[tuple[Number, ...], BeforeValidator(as_tuple)]
Places = Annotated[tuple[Annotated[float, Field(ge=0, le=1)], ...], BeforeValidator(as_tuple)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]


def _listed(value: object) -> object:
    return tuple(map(as_tuple, value)) if isinstance(value, list | tuple) else value


class Trial(Model):
    """What an iteration has found."""

    first: Values
    """Values of `plus`, or of the candidate."""
    second: Values
    """Values of `minus`, or of `start`."""
    differences: Annotated[tuple[float, ...], BeforeValidator(as_tuple)]
    """Mean return of the first less that of the second, by board."""
    point: Places
    """The point from which the next iteration goes on; the candidate's own where there is none."""

    @property
    def difference(self) -> float:
        """The mean over all boards."""
        return sum(self.differences) / len(self.differences)


class Tuning(Scheduler):
    """An iteration of a tuning run, or its end; `arena tune` makes it."""

    kind = "tuning"
    configurable = False
    has_rounds = True

    method: Literal["spsa", "optuna"]
    parameters: Annotated[tuple[TunedParameter, ...], BeforeValidator(as_tuple), Field(min_length=1)]
    start_values: Values
    """Values of the bot that is tuned, with which it is compared at the end."""
    iterations: Count
    iteration_blocks: Count
    final_blocks: Count
    gains: Gains | None
    """Of the method `spsa`."""
    sampler: str
    """The library that draws candidates, with its version; empty for `spsa`."""
    fillers: Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
    """Labels of the bots in the other seats, ordered by key; the two compared may be among them."""
    trials: Annotated[tuple[Trial, ...], BeforeValidator(as_tuple)] = ()
    """Those of all iterations before."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        count = len(self.parameters)
        points = [self.start_values, *(each for trial in self.trials for each in (trial.first, trial.second))]
        if any(len(each) != count for each in [*points, *(trial.point for trial in self.trials)]):
            raise ValueError("tuning: not every point has a value for each parameter")
        if len({parameter.name for parameter in self.parameters}) < count:
            raise ValueError("tuning: a parameter is listed twice")
        if len(self.trials) > self.iterations or (self.gains is None) != (self.method != "spsa"):
            raise ValueError("tuning: it has more trials than iterations, or gains of another method")
        return self

    @property
    def is_final(self) -> bool:
        """Whether all iterations are over, and the result is compared with the start."""
        return len(self.trials) == self.iterations

    @property
    def pair(self) -> tuple[str, str]:
        """Labels of the two that are compared; the first is expected to be the better one."""
        if self.is_final:
            return TUNED, START
        return (PLUS, MINUS) if self.method == "spsa" else (CANDIDATE, START)

    def describe(self) -> str:
        if self.is_final:
            return f"tuning by {self.method}, {self.iterations:,} iterations: the result against the start"
        return f"tuning by {self.method}, iteration {len(self.trials) + 1:,} of {self.iterations:,}"

    def takes_turns(self, players: int) -> bool:
        return players > 2

    def resolved(self, entries: Sequence[Entry], boards: Sequence[Board]) -> Self:
        labels = [entry.label for entry in entries]
        if missing := {*self.pair, *self.fillers} - {*labels}:
            raise ValueError(f"tuning: there is no bot {min(missing)}")
        for board in boards:
            if board.players > 2 and not self.fillers:
                raise ValueError(f"tuning: {board.title} has no bots for the other seats")
            wanted = {*self.pair, *(self.fillers if board.players > 2 else ())}
            if {labels[entry] for entry in board.entries} != wanted:
                raise ValueError(f"tuning: the bots of {board.title} are not those that are compared there")
        if any(len(trial.differences) != len(boards) for trial in self.trials):
            raise ValueError("tuning: a trial has not one difference for each board")
        return self

    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        labels = [entry.label for entry in entries]
        named = [*sorted(self.pair), *(self.fillers if self.takes_turns(board.players) else ())]
        return (tuple(labels.index(label) for label in named),)

    # Seats: with two players those of most kinds, with more those of a duel

    def base_order(self, players: int, table: Table, number: int) -> Table:
        if self.takes_turns(players):
            return self._duel.base_order(players, table, number)
        return super().base_order(players, table, number)

    def block_name(self, number: int, keys: Sequence[str]) -> list[Any]:
        """Name the iteration too, so that each has dice of its own, whatever values it compares."""
        return [number, ["tuning", len(self.trials), *keys[:2]]]

    def places(self, players: int, permutations: bool) -> list[list[Table]]:
        if self.takes_turns(players):
            return self._duel.places(players, permutations)
        return super().places(players, permutations)

    @property
    def _duel(self) -> Duel:
        first, second = sorted(self.pair)
        return Duel(bots=(first, second), fillers=self.fillers)
