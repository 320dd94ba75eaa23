"""What the claims of all games share: what was said where, and how places are told."""

import re
from typing import NamedTuple

from engine import Names, Sentence

PLACES = ["first", "second", "third", "fourth", "fifth"]


class Said(NamedTuple):
    """A sentence, and what it was said of."""

    sentence: Sentence
    players: int
    options: dict
    position: str
    """Before the action; of a verdict the last one."""
    action: str = ""
    """In notation; of a prompt empty."""
    after: str = ""
    chosen: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    ended: str = ""
    seat: int | None = None
    """Of a verdict: for whom."""
    plies: tuple[tuple[str, str], ...] = ()
    """Of a verdict: the positions of the match, each with what was played there."""

    @property
    def text(self):
        """Without who won, which `placed` checks."""
        return self.sentence.text if self.winner is None else self.sentence.text.removesuffix(f" {self.winner}")

    @property
    def winner(self):
        """How a sentence about a seat that did not win has to end, where there are more than two."""
        if self.seat is None or self.players == 2 or self.ranks[self.seat] == 0:
            return None
        first = [f"P{seat}" for seat, rank in enumerate(self.ranks) if rank == 0]
        together = " and ".join(part for part in (", ".join(first[:-1]), first[-1]) if part)
        return f"{together} {'won' if len(first) == 1 else 'share first place'}."

    @property
    def motions(self):
        return [tuple(motion) for motion in self.sentence.motions]


def labels(players):
    return Names(tuple(f"P{seat}" for seat in range(players)))


def whole(pattern, text):
    """Return the groups of a pattern that a whole text has to match."""
    found = re.fullmatch(pattern, text)
    assert found, text
    return found.groups()


def seats(words):
    """Return the seats that are named, in order."""
    return [int(seat) for seat in re.findall(r"\bP(\d)", words)]


def row(words, last="and"):
    """Return the members of `a, b and c`."""
    return re.split(rf", | {last} ", words)


def placed(said, words):
    """Check what is said of a seat's place, such as `P1 came second` or `P0 and P2 share first place`."""
    ranks = said.ranks
    who = seats(words)
    assert said.winner is None or said.sentence.text.endswith(f" {said.winner}")
    assert who == sorted(who)
    alike = [seat for seat, rank in enumerate(ranks) if rank == ranks[who[0]]]
    assert who == alike
    assert said.seat in who if said.seat is not None else ranks[who[0]] == 0
    place = PLACES[ranks[who[0]]]
    if len(who) > 1:
        assert words.endswith(f" share {place} place")
    elif place == "first":
        assert words == f"P{who[0]} won"
    else:
        assert words == f"P{who[0]} {'lost' if said.players == 2 else f'came {place}'}"


def compared(said, scores, words):
    """Check scores such as `8 to 7`: the seat's, and the winner's or the next one's; none of an unequal draw."""
    ranks = said.ranks
    if words is None:
        assert not any(ranks) and len(set(scores)) > 1
        return
    seat = ranks.index(0) if said.seat is None else said.seat
    mine, _, theirs = whole(r"([\d,]+)( to ([\d,]+)| each|)", words)
    assert int(mine) == scores[seat]
    behind = [score for score, rank in zip(scores, ranks, strict=True) if rank > 0]
    if ranks[seat] > 0:
        assert int(theirs) == max(score for score, rank in zip(scores, ranks, strict=True) if rank == 0)
    elif behind:
        assert int(theirs) == max(behind)
    else:
        assert theirs is None and " each" in words and len(set(scores)) == 1


THIRD = {
    "are": "is",
    "have": "has",
    "won": "won",
    "lost": "lost",
    "came": "came",
    "do": "does",
    "had": "had",
    "held": "held",
}


def without_you(text, you):
    """Return a sentence that speaks to a player as one that speaks of the player."""
    label = f"P{you}"
    if text.startswith("You "):
        text = re.sub(r" and (capture|take|enclose|leave) ", lambda found: f" and {_third(found[1])} ", text, count=1)
    text = re.sub(r"(\byou \w+ [^;]*) and are out", r"\1 and is out", text)
    text = text.replace("your own", "their own").replace("you roll a die each", f"{label} roll a die each")
    text = re.sub(r"\b[Yy]ours?\b", f"{label}'s", text)
    text = re.sub(r"\b[Yy]ou (?!and\b)([a-z]+)", lambda found: f"{label} {THIRD.get(found[1], _third(found[1]))}", text)
    return re.sub(r"\b[Yy]ou\b", label, text)


def _third(verb):
    return verb + ("es" if re.search("(s|sh|ch)$", verb) else "s")
