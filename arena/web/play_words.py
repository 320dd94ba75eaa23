"""What pages of sessions call players, and what they say of a match: who plays, what is due, how it ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from arena.sessions.narration import spoken
from arena.sessions.setup import DEFAULT_NAME
from arena.sessions.view import Phase, SeatView, SessionView
from engine import TERMINAL, State
from engine.words import Names, Sentence, colour_name, listed, placing

ROLL = re.compile(r"[1-6ab](?:-?[1-6ab]){0,5}")
"""A roll in notation: faces, `b` for a blank one and `a` for an ace."""
FORFEITS = {
    "resigned": "resigned",
    "timeout": "used up the time",
    "memory": "used up the memory",
    "crash": "crashed",
    "init": "could not start",
    "protocol": "broke the protocol",
    "illegal_action": "chose an illegal action",
}
"""What a seat that forfeits has done, by cause."""


CHANCE_WORDS = {True: "The dice fall.", False: "Chance decides."}
"""What is said while chance is due, by whether it is somebody's dice."""


def reader_of(seats: Sequence[SeatView], owner: bool) -> int | None:
    """Return the seat that a page speaks to as `you`: that of the only person, for whoever opened the session."""
    persons = [number for number, seat in enumerate(seats) if seat.person]
    return persons[0] if owner and len(persons) == 1 else None


def names_for(seats: Sequence[SeatView], owner: bool) -> Names:
    """Return what a page calls the players; persons without a name go by their colour."""
    labels = [
        colour_name(number) if seat.person and seat.name == DEFAULT_NAME else short_name(seat.name)
        for number, seat in enumerate(seats)
    ]
    return Names.of_players(labels, reader_of(seats, owner))


def label_of(names: Names, seat: int) -> str:
    """Return what a player is called where the name stands alone: `You`, or the name."""
    return "You" if seat == names.you else names.labels[seat]


def drawn_names(names: Names) -> list[str]:
    """Return what drawings call the players: without their colours, which are beside the names there."""
    return [names.who(seat).removesuffix(f" ({colour_name(seat)})") for seat in range(len(names.labels))]


def short_name(spec: str) -> str:
    """Return a bot's name with the value of its first parameter alone: `uct 10000`."""
    name, _, options = spec.partition(":")
    value = options.partition(",")[0].partition("=")[2]
    return f"{name} {value}".strip()


def title_of(seats: Sequence[SeatView], names: Names) -> str:
    """Return who plays: `You against greedy and random`."""
    everybody = [names.who(seat) for seat in range(len(seats))]
    if names.you is not None:
        others = [who for seat, who in enumerate(everybody) if seat != names.you]
        return f"You against {listed(others)}"
    return f"{everybody[0]} against {listed(everybody[1:])}"


def prompt_of(state: State, names: Names, chosen: Sequence[str] = ()) -> Sentence:
    """Return what is to be decided now; who is to move where the game's words fail."""
    who = state.current_player()
    return spoken(lambda: state.prompt(names, chosen)) or Sentence(
        names.begin(f"{names.does(who, 'be')} to move.") if who >= 0 else CHANCE_WORDS[state.rolling_seat() >= 0]
    )


def verdict_of(view: SessionView, names: Names) -> Sentence:
    """Return how a match that is over ended, and why: by the rules, or because seats have forfeited."""
    assert view.ranks is not None
    forfeits = [
        f"{names.who(number)} {FORFEITS.get(seat.forfeit[0], 'forfeited')}"
        for number, seat in enumerate(view.seats)
        if seat.forfeit is not None
    ]
    if not forfeits and view.state.is_terminal():
        said = spoken(lambda: view.state.verdict(names.you, names))
        return said or Sentence(f"{placing(view.ranks, names.you, names)}.")
    why = f": {listed(forfeits)}" if forfeits else ""
    return Sentence(f"{placing(view.ranks, names.you, names)}{why}.")


def status_of(view: SessionView, names: Names, turn: bool) -> Sentence:
    """Return the sentence at the head of a session's page; `turn` is whether who looks is to move."""
    if view.phase == Phase.FAILED:
        return Sentence(f"The match failed: {view.line}")
    if view.phase == Phase.OVER and view.ranks is not None:
        return verdict_of(view, names)
    if view.line:
        return Sentence(f"{view.line[:1].upper()}{view.line[1:]}.")
    if view.phase == Phase.PREPARING:
        return Sentence("The match is being prepared.")
    if view.seat >= 0 and (turn or view.phase == Phase.WAITING):
        return prompt_of(view.state, names)
    if view.seat == TERMINAL or (view.seat >= 0 and view.seats[view.seat].person):  # the result, or a move, is taken in
        return Sentence("One moment.")
    if view.seat >= 0:
        return Sentence(names.begin(f"{names.does(view.seat, 'be')} thinking."))
    return Sentence(CHANCE_WORDS[view.state.rolling_seat() >= 0])


def sentence_data(sentence: Sentence) -> dict[str, Any]:
    """Return a sentence as scripts of pages read it."""
    return {
        "text": sentence.text,
        "parts": list(sentence.parts),
        "motions": [list(motion) for motion in sentence.motions],
        "section": sentence.section,
        "anchor": sentence.anchor,
    }


def faces_of(text: str, rolled_by: int) -> list[str]:
    """Return the faces of a roll; none for other chance outcomes."""
    return re.findall("[1-6ab]", text) if rolled_by >= 0 and ROLL.fullmatch(text) else []
