"""Persons in seats: players like bots, whose moves somebody else fetches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from arena.match.player import Answer, MatchView, Player, ProcesslessPlayer

PERSON = "person"
"""In place of a bot's spec, alone or with a name: `person:ada`."""


def is_person(seat: str) -> bool:
    """Return whether a seat is a person's."""
    return seat.partition(":")[0] == PERSON


@dataclass
class Person:
    """Somebody who is asked for moves; what was answered is kept for a match that has to be played again."""

    ask: Callable[[MatchView, int], Answer]
    """Return the move for a seat of a match; raises `Fault` when the seat forfeits."""
    before: Sequence[int]
    """Plies that were played before, about which nobody is asked again."""
    answers: dict[tuple[int, ...], Answer] = field(default_factory=dict)
    """By all plies before."""

    def join(self, match: MatchView, seat: int) -> Player:
        return PersonPlayer(self, match, seat)


class PersonPlayer(ProcesslessPlayer):
    """A person in a seat of one match. Whoever asks keeps the person's clock, if there is one."""

    guarded = False

    def __init__(self, person: Person, match: MatchView, seat: int) -> None:
        self.person, self.match, self.seat = person, match, seat

    def start(self, limit: float) -> None:
        """Do nothing: a person has no process."""

    def prepare(self, limit: float) -> bool:
        """Say that the match cannot be repeated."""
        return True

    def choose(self, limit: float) -> Answer:
        played, person = tuple(self.match.state.history()), self.person
        if len(played) < len(person.before) and played == tuple(person.before[: len(played)]):
            return Answer(person.before[len(played)], None)
        if played not in person.answers:
            person.answers[played] = person.ask(self.match, self.seat)
        return person.answers[played]

    def cpu(self) -> float:
        return 0.0

    def close(self) -> None:
        """Do nothing."""
