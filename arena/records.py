"""Matches as text for people: a header of `[Key "value"]` lines, then the moves. A file holds any number of them.

Writing, here, and reading, in `arena.record_reader`, are each other's inverse; reports/README.md has the grammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from arena.errors import RecordError
from arena.schedule import Entry, match_id
from arena.store import StoredMatch

WIDTH = 80

NUMBER = re.compile(r"[0-9]+\.")
SIMPLE = re.compile(r"[!#-\[\]-z|~ ]*")
"""Texts that need no escapes."""


@dataclass(frozen=True)
class Record:
    """A match of a plan, with all that its text says."""

    match: StoredMatch
    """Without what the log keeps in side tables, and without a key."""
    labels: tuple[str, ...]
    identities: tuple[str, ...]
    """`name@hash` of the bots, by seat."""
    rules_version: int
    secret: str
    """Hash of the secret dice's key; empty when the dice are public."""

    @classmethod
    def of(cls, match: StoredMatch, seats: Sequence[Entry], rules_version: int, secret: str) -> Record:
        """The record of a match in the log; `seats` are the contestants by seat."""
        labels, identities = tuple(entry.label for entry in seats), tuple(entry.identity for entry in seats)
        return cls(bare(match), labels, identities, rules_version, secret)

    @property
    def id(self) -> str:
        return match_id(self.match.identity, self.match.lineup)

    def begins_with(self, prefix: str) -> bool:
        """Whether this is the match of that id, or of one whose part before the dash begins so."""
        stem, _, lineup = prefix.partition("-")
        return self.match.identity.hex().startswith(stem) and lineup in ("", str(self.match.lineup))


def bare(match: StoredMatch) -> StoredMatch:
    """A match without what the log keeps in side tables, and without a key."""
    return replace(match, details={}, clocks=[], again=False, secret=None)


def record_text(record: Record) -> str:
    """A match as text; raises `RecordError` for a log whose notes are not those of its moves, one after the other."""
    header = "".join(f"[{key} {_quoted(value)}]\n" for key, value in _header(record))
    moves = "".join(f"{line}\n" for line in _lines(_words(record)))
    return f"{header}\n{moves}\n"


def _header(record: Record) -> Iterator[tuple[str, str]]:
    match = record.match
    yield "Match", record.id
    yield "Block", match.block_id.hex()
    yield "Game", match.game
    yield "Rules", str(record.rules_version)
    yield "Players", str(match.players)
    yield "Round", str(match.round)
    yield "Opening", str(match.opening)
    yield "Seed", str(match.seed)
    yield "Dice", f"secret {record.secret}" if record.secret else "public"
    for seat in range(match.players):
        yield f"Bot{seat}", record.labels[seat]
        yield f"Spec{seat}", match.bots[seat]
        yield f"Identity{seat}", record.identities[seat]
    yield "Places", " ".join(str(rank + 1) for rank in match.ranks)
    if any(score is not None for score in match.scores):
        yield "Scores", " ".join("none" if score is None else str(score) for score in match.scores)
    for seat, (cause, ply) in sorted(match.falls.items()):
        yield f"Forfeit{seat}", f"{cause} {ply + 1}"
    yield "Ended", match.ended
    if match.timed:
        yield "Timed", "yes"
    yield "Plies", str(len(match.course))
    yield "Final", match.final


def _quoted(text: str) -> str:
    """A text as a JSON string of printable characters."""
    return f'"{text}"' if SIMPLE.fullmatch(text) else json.dumps(text, ensure_ascii=not text.isprintable())


def _words(record: Record) -> Iterator[tuple[str, int]]:
    """The moves and notes word by word, each with the number of its ply; 0 within notes."""
    match = record.match
    notes = dict(match.notes)
    if [ply for ply, _ in match.notes] != [ply for ply in range(len(match.course)) if ply in notes]:
        raise RecordError(f"match {record.id}: its notes do not belong to its plies, one each in their order")
    simple = SIMPLE.fullmatch(" ".join(match.course)) and not any(move.endswith(".") for move in match.course)
    for ply, move in enumerate(match.course):
        yield (move if simple else _word(move)), ply + 1
        if ply in notes:
            yield from ((word, 0) for word in _comment(notes[ply]).split(" "))


def _word(move: str) -> str:
    """A move so that it cannot be taken for anything else."""
    text = _quoted(move)[1:-1]
    return f"\\u{ord(text[0]):04x}{text[1:]}" if text[0] == "{" or NUMBER.fullmatch(text) else text


def _comment(note: str) -> str:
    """A note in braces, with single spaces between its words alone, where lines may be broken."""
    text = _quoted(note)[1:-1].replace("}", "\\u007d")
    return f"{{{re.sub('^ | $|(?<= ) ', lambda space: chr(92) + 'u0020', text)}}}"


def _lines(words: Iterator[tuple[str, int]]) -> Iterator[str]:
    """Words in lines; one that begins with a move begins with the number of its ply."""
    line = ""
    for word, ply in words:
        if line and len(line) + 1 + len(word) <= WIDTH:
            line = f"{line} {word}"
            continue
        if line:
            yield line
        line = f"{ply}. {word}" if ply else word
    if line:
        yield line
