"""Words: sentences about what is to be decided, what happened and how a match ended, with the parts they speak of.

A game says them in its module `words`; `State.prompt`, `State.tell` and `State.verdict` return them. The functions at
the end of this module are what a game without such a module says: its notation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from engine.errors import one_line

MAX_SENTENCE_CHARS = 280
MAX_LIST_CHARS = 200
"""Of a sentence that lists what happened, from where on it counts the rest."""
MIN_NAME_CHARS, MAX_NAME_CHARS = 20, 40
"""Of a player's name in a sentence where there are many players, and where there are two; a longer one is cut."""
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
CHANCE, TERMINAL = -1, -4


class Motion(NamedTuple):
    """A piece that moved: from a part of the drawing before to a part of the drawing after.

    Empty where it came from, or went to, no part of the drawing.
    """

    source: str
    target: str


@dataclass(frozen=True)
class Sentence:
    """One or two sentences on one line, of at most `MAX_SENTENCE_CHARS` characters, and what they speak of."""

    text: str
    parts: tuple[str, ...] = ()
    """Parts of the drawing (`data-part`): of a prompt those that can be clicked now, else those to highlight."""
    motions: tuple[Motion, ...] = ()
    """Which pieces moved, in order, where that is well defined."""
    section: str = ""
    """Where `RULES.md` has the rule: the heading's text without its marks, such as `§4 Placing`; or empty."""

    def __str__(self) -> str:
        return self.text

    @property
    def anchor(self) -> str:
        """The heading as the end of an address: `4-placing`."""
        return slug(self.section)


class Reason(str):
    """A reason why a part of a drawing cannot be clicked, and the rule that says so."""

    section: str
    """Where `RULES.md` has it, as of a `Sentence`."""

    def __new__(cls, text: str, section: str) -> Reason:
        """Return the text, which knows its rule."""
        made = super().__new__(cls, text)
        made.section = section
        return made


def told_apart(labels: Sequence[str], seat: int) -> str:
    """Return a player's label for a drawing; with the colour where several read the same: `greedy (Blue)`."""
    label = labels[seat]
    return f"{label} ({colour_name(seat)})" if labels.count(label) > 1 else label


def first_places(ranks: Sequence[int], labels: Sequence[str]) -> str:
    """Return who came first, for a drawing: `first: greedy and you`."""
    return f"first: {listed([told_apart(labels, seat) for seat, rank in enumerate(ranks) if rank == 0])}"


def unusual(ended: str) -> str:
    """Return how a match ended, in brackets for a drawing: ` (full board)`; nothing where that was normal."""
    return "" if ended in ("", "normal") else f" ({ending_name(ended)})"


def ending_name(ended: str) -> str:
    """Return how a match ended in a word or two, for tables: `by the rules`, `longest length`, `full board`."""
    return SHORT_ENDINGS.get(ended, ended)


def slug(heading: str) -> str:
    """Return a heading as GitHub and MyST write it in addresses: lower case, hyphens for spaces, no other marks."""
    kept = (letter for letter in heading.strip().lower() if letter.isalnum() or letter in " -_")
    return "".join(kept).strip().replace(" ", "-")


@dataclass(frozen=True)
class Names:
    """What sentences call the players, by seat; who reads them is spoken to as `you`."""

    labels: tuple[str, ...]
    you: int | None = None

    def __post_init__(self) -> None:
        length = max_name_chars(len(self.labels))
        object.__setattr__(self, "labels", tuple(_cut(label, length) for label in self.labels))

    @classmethod
    def of_colours(cls, players: int, you: int | None = None) -> Names:
        """Return the colours in which seats are drawn: Blue, Orange and so on."""
        return cls(tuple(colour_name(seat) for seat in range(players)), you)

    @classmethod
    def of_seats(cls, players: int, you: int | None = None) -> Names:
        """Return seats by number, for games whose drawings may have no colours."""
        return cls(tuple(f"Seat {seat}" for seat in range(players)), you)

    @classmethod
    def of_players(cls, players: Sequence[str], you: int | None = None) -> Names:
        """Return the players' names; where several read the same, each with its colour: `greedy (Blue)`."""
        length = max_name_chars(len(players))
        short = [_cut(name, length) for name in players]
        labels = (
            f"{_cut(name, length - 9)} ({colour_name(seat)})" if short.count(name) > 1 else name
            for seat, name in enumerate(short)
        )
        return cls(tuple(labels), you)

    def who(self, seat: int) -> str:
        """Return a player within a sentence: `you`, or the name."""
        return "you" if seat == self.you else self.labels[seat]

    def whose(self, seat: int) -> str:
        """Return the same as an owner: `your`, or the name with 's."""
        return "your" if seat == self.you else f"{self.labels[seat]}'s"

    def does(self, seat: int, verb: str) -> str:
        """Return a player with a verb: `you roll`, `Blue rolls`; for `be` and `have` too."""
        if seat == self.you:
            return f"you {'are' if verb == 'be' else verb}"
        irregular = {"be": "is", "have": "has"}
        return (
            f"{self.labels[seat]} {irregular.get(verb) or verb + ('es' if verb.endswith(('s', 'sh', 'ch')) else 's')}"
        )

    def all_of(self, seats: Iterable[int]) -> str:
        """Return several players: `you, Blue and Pink`."""
        return listed([self.who(seat) for seat in seats])

    def begin(self, text: str) -> str:
        """Return a text with `you` or `your` at its start as the start of a sentence; names stay as they are."""
        return f"Y{text[1:]}" if self.you is not None and text.startswith(("you ", "your ", "you:", "you,")) else text

    def spoken_to(self, seat: int) -> Names:
        """Return the same names for words that are said to a player, whoever reads them."""
        return Names(self.labels, seat)

    def ask(self, seat: int, what: str) -> str:
        """Return what a player is asked to do: `Blue: place a small mid.`, or `Place a small mid.` for you.

        In `what` the player asked is `you` (`spoken_to`).
        """
        return f"{capital(what)}." if seat == self.you else f"{self.labels[seat]}: {what}."


def max_name_chars(players: int) -> int:
    """Return how many characters of a player's name a sentence has room for."""
    return max(MIN_NAME_CHARS, min(MAX_NAME_CHARS, 2 * MAX_NAME_CHARS // players))


def _cut(name: str, length: int) -> str:
    name = one_line(name)
    return name if len(name) <= length else f"{name[: length - 1]}…"


def colour_name(seat: int) -> str:
    """Return the colour that a seat is drawn in, in a word; a number for those that have none."""
    from engine.svg import SEAT_COLOUR_NAMES  # no match needs the drawings

    return SEAT_COLOUR_NAMES[seat] if seat < len(SEAT_COLOUR_NAMES) else f"Seat {seat}"


# Words for sentences


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return words in a row: `a, b and c`."""
    return f" {last} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 mid`, `2 mids`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def following(
    targets: Mapping[int, Sequence[str]] | None, chosen: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return as many of the parts chosen as some action goes on from, and the parts that can be clicked after them.

    `targets` are those of the state, `State.targets`.
    """
    sequences = list((targets or {}).values())
    for length in range(len(chosen), -1, -1):
        begun = tuple(chosen[:length])
        parts = dict.fromkeys(
            each[length] for each in sequences if tuple(each[:length]) == begun and len(each) > length
        )
        if parts:
            return begun, tuple(parts)
    return (), ()


# How a match ended


def placing(ranks: Sequence[int], seat: int | None, names: Names) -> str:
    """Return a seat's place: `You won`, `Blue came third`, `Blue and Pink share first place`; None is the winners'."""
    if seat is None:
        seat = names.you if names.you is not None and ranks[names.you] == 0 else ranks.index(0)
    tied = [other for other, rank in enumerate(ranks) if rank == ranks[seat] and other != seat]
    if tied and names.you != seat:
        return names.begin(f"{names.all_of(sorted([seat, *tied]))} share {_place(ranks[seat])} place")
    if tied:
        return f"You share {_place(ranks[seat])} place with {names.all_of(tied)}"
    if ranks[seat] == 0:
        return names.begin(f"{names.who(seat)} won")
    return names.begin(f"{names.who(seat)} {'lost' if len(ranks) == 2 else f'came {_place(ranks[seat])}'}")


def margin(ranks: Sequence[int], scores: Sequence[int], seat: int | None, noun: str, rest: str = "") -> str:
    """Return by which scores, `, 9 mids on the board to 7`: the seat's and the winner's, or the winner's and the next.

    Nothing where all seats share first place with different scores. `noun` is the unit for one, `rest` what follows it.
    """
    seat = ranks.index(0) if seat is None else seat
    others = [score for score, rank in zip(scores, ranks, strict=True) if (rank > 0) == (ranks[seat] == 0)]
    words = f", {counted(scores[seat], noun)}{rest and f' {rest}'}"
    if others:
        return f"{words} to {max(others):,}"
    return f"{words} each" if len({*scores}) == 1 else ""


def with_winner(said: Sentence, ranks: Sequence[int], seat: int | None, names: Names) -> Sentence:
    """Return what is said of a seat's place with who won, if the seat did not and had more than one rival."""
    if seat is None or ranks[seat] == 0 or len(ranks) == 2:
        return said
    text = f"{said.text} {placing(ranks, ranks.index(0), names)}."
    return replace(said, text=text) if len(text) <= MAX_SENTENCE_CHARS else said


def _place(rank: int) -> str:
    return PLACES[rank] if rank < len(PLACES) else f"{rank + 1}th"


# What is said of a game without words of its own

SHORT_ENDINGS = {"normal": "by the rules", "cap": "longest length", "repetition": "position repeated"}
ENDINGS = {
    "cap": "the match reached its longest length",
    "repetition": "the same position came up too often",
    "full board": "the board is full",
}


def plain_prompt(who: int, rolling_seat: int, names: Names, parts: tuple[str, ...]) -> Sentence:
    """Return who is to move, by what `State.current_player` and `State.rolling_seat` return."""
    if who == TERMINAL:
        return Sentence("The match is over.")
    if who != CHANCE:
        return Sentence(names.begin(f"{names.does(who, 'be')} to move."), parts)
    if rolling_seat < 0:
        return Sentence("Chance decides.")
    return Sentence(names.begin(f"{names.does(rolling_seat, 'roll')}."))


def plain_told(who: int, rolling_seat: int, names: Names, notation: str) -> Sentence:
    """Return who did what, in notation."""
    if who != CHANCE:
        return Sentence(names.begin(f"{names.does(who, 'play')} {notation}."))
    if rolling_seat < 0:
        return Sentence(f"Chance decides: {notation}.")
    return Sentence(names.begin(f"{names.does(rolling_seat, 'roll')} {notation}."))


def plain_verdict(ranks: Sequence[int], ended: str, seat: int | None, names: Names) -> Sentence:
    """Return the place, and how the match ended unless that was normal."""
    why = "" if ended in ("", "normal") else f": {ENDINGS.get(ended, ended)}"
    return with_winner(Sentence(f"{placing(ranks, seat, names)}{why}."), ranks, seat, names)
