"""Reading records of matches, which anybody may have written: nothing is run, every size is bounded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from arena.errors import RecordError
from arena.records import NUMBER, SIMPLE, Record
from arena.store import StoredMatch
from engine.errors import did_you_mean

MAX_LINE = 2**16
"""Bytes of a line."""
MAX_HEADER = 100
"""Lines of a header."""
MAX_MOVES = 2**24
"""Bytes of a match's moves and notes."""
MAX_PLAYERS = 20

HEADER_LINE = re.compile(r'\[([A-Z][a-z]+)(0|[1-9][0-9]?)? ("(?:[^"\\]|\\.)*")\]')
ONCE = (
    *("Match", "Block", "Game", "Rules", "Players", "Round", "Opening", "Seed", "Dice"),
    *("Places", "Ended", "Plies", "Final"),
)
"""Keys that every match has."""
BY_SEAT = ("Bot", "Spec", "Identity")
KEYS = (*ONCE, "Scores", "Timed", *BY_SEAT, "Forfeit")
NUMBERS = ("Rules", "Players", "Round", "Opening", "Seed", "Plies")
SHAPES = {
    "Match": "[0-9a-f]{32}-[0-9]{1,9}",
    "Block": "[0-9a-f]{32}",
    "Final": "[0-9a-f]{16}",
    "Dice": "public|secret [0-9a-f]{64}",
    "Places": "[0-9]{1,3}( [0-9]{1,3})*",
    "Scores": "(-?[0-9]{1,19}|none)( (-?[0-9]{1,19}|none))*",
    "Forfeit": "[a-z_]{1,40} [0-9]{1,9}",
    "Timed": "yes",
    **dict.fromkeys(NUMBERS, "[0-9]{1,19}"),
}
"""What the values of a key look like, where they are no free text."""


class _Lines:
    """The lines of a file, counted and bounded."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.file = file
        self.name = name
        self.number = 0

    def next(self) -> str | None:
        """The next line without its end; None at the end of the file."""
        line = self.file.readline(MAX_LINE + 1)
        self.number += 1
        if not line:
            return None
        if len(line) > MAX_LINE:
            raise self.error(f"a line of more than {MAX_LINE:,} bytes")
        try:
            return line.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise self.error("no UTF-8") from None

    def error(self, why: str, number: int | None = None) -> RecordError:
        return RecordError(f"{self.name}, line {number or self.number}: {why}")


def read_records(path: Path) -> Iterator[tuple[int, Record]]:
    """The matches of a file, each with the number of its first line; raises `RecordError` for what is none."""
    with path.open("rb") as file:
        lines = _Lines(file, str(path))
        while (line := lines.next()) is not None:
            if line:
                start = lines.number
                yield start, _record(lines, line, start)


def _record(lines: _Lines, line: str, start: int) -> Record:
    header = _read_header(lines, line)
    first = lines.number + 1
    course, notes = _read_moves(lines)
    _check_seats(header, lambda why: lines.error(why, start))
    if len(course) != int(header["Plies"]):
        raise lines.error(f"{len(course)} moves, but the header says {header['Plies']}", first)
    return _made(header, course, notes)


def _read_header(lines: _Lines, line: str | None) -> dict[str, str]:
    """Keys with the number of a seat, and their values."""
    header: dict[str, str] = {}
    while line:
        found = HEADER_LINE.fullmatch(line)
        if found is None:
            raise lines.error('not a header line, which looks like [Key "value"]')
        key, seat, value = found.groups("")
        if key not in KEYS or (seat == "") == (key in (*BY_SEAT, "Forfeit")):
            raise lines.error(f"no such key '{key}{seat}'{did_you_mean(key, KEYS)}")
        if key + seat in header:
            raise lines.error(f"a second [{key}{seat}]")
        header[key + seat] = _value(lines, key, value)
        if len(header) > MAX_HEADER:
            raise lines.error(f"a header of more than {MAX_HEADER} lines")
        line = lines.next()
    if line is None:
        raise lines.error("the file ends within a match")
    if missing := [key for key in ONCE if key not in header]:
        raise lines.error(f"the header lacks [{missing[0]}]")
    return header


def _value(lines: _Lines, key: str, quoted: str) -> str:
    value = _unquoted(lines, quoted)
    fits = key not in SHAPES or re.fullmatch(SHAPES[key], value)
    if not fits or (key in (*NUMBERS, "Scores") and any(int(n) >= 2**63 for n in re.findall("[0-9]+", value))):
        raise lines.error(f"[{key}] cannot be '{value[:80]}'")
    return value


def _unquoted(lines: _Lines, quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        raise lines.error(f"not a JSON string: {quoted[:80]}") from None


def _read_moves(lines: _Lines) -> tuple[list[str], list[tuple[int, str]]]:
    """Moves and notes, up to the empty line that ends a match."""
    course: list[str] = []
    notes: list[tuple[int, str]] = []
    comment: list[str] = []
    size = 0
    while line := lines.next():
        size += len(line)
        if size > MAX_MOVES:
            raise lines.error(f"moves of more than {MAX_MOVES >> 20} MiB")
        for word in line.split(" "):
            if comment or word.startswith("{"):
                comment.append(word)
                if word.endswith("}"):
                    _note(lines, course, notes, " ".join(comment))
                    comment = []
            elif NUMBER.fullmatch(word):
                if word != f"{len(course) + 1}.":
                    raise lines.error(f"ply {word[:20]} where {len(course) + 1}. is next")
            elif word:
                course.append(_move(lines, word))
    if comment:
        raise lines.error("a note without its closing brace", lines.number - 1)
    return course, notes


def _note(lines: _Lines, course: list[str], notes: list[tuple[int, str]], comment: str) -> None:
    if not course or (notes and notes[-1][0] == len(course) - 1):
        raise lines.error("a note that follows no move")
    notes.append((len(course) - 1, _unquoted(lines, f'"{comment[1:-1]}"')))


def _move(lines: _Lines, word: str) -> str:
    move = word if SIMPLE.fullmatch(word) else _unquoted(lines, f'"{word}"')
    if move.split() != [move]:
        raise lines.error(f"'{word[:80]}' is no move")
    return move


def _check_seats(header: Mapping[str, str], error: Callable[[str], RecordError]) -> None:
    """That every seat has its three keys, and no other seat has any."""
    players = int(header["Players"])
    if not 2 <= players <= MAX_PLAYERS:
        raise error(f"[Players] must be 2 to {MAX_PLAYERS}")
    wanted = {f"{key}{seat}" for key in BY_SEAT for seat in range(players)}
    allowed = {*wanted, *(f"Forfeit{seat}" for seat in range(players))}
    if missing := sorted(wanted - header.keys()):
        raise error(f"the header lacks [{missing[0]}]")
    if spare := sorted(key for key in header if key[-1].isdigit() and key not in allowed):
        raise error(f"[{spare[0]}] is for no seat of {players}")
    for key in ("Places", "Scores"):
        if key in header and len(header[key].split()) != players:
            raise error(f"[{key}] must have {players} numbers")
    if not all(1 <= int(place) <= players for place in header["Places"].split()):
        raise error(f"[Places] must be 1 to {players}")


def _made(header: Mapping[str, str], course: list[str], notes: list[tuple[int, str]]) -> Record:
    players = int(header["Players"])
    identity, lineup = header["Match"].split("-")
    scores = header["Scores"].split() if "Scores" in header else ["none"] * players
    falls = {seat: header[f"Forfeit{seat}"].split() for seat in range(players) if f"Forfeit{seat}" in header}
    bots, labels, identities = (
        [header[f"{key}{seat}"] for seat in range(players)] for key in ("Spec", "Bot", "Identity")
    )
    match = StoredMatch(
        identity=bytes.fromhex(identity),
        block_id=bytes.fromhex(header["Block"]),
        lineup=int(lineup),
        game=header["Game"],
        players=players,
        round=int(header["Round"]),
        opening=int(header["Opening"]),
        seed=int(header["Seed"]),
        ended=header["Ended"],
        course=course,
        final=header["Final"],
        timed="Timed" in header,
        notes=notes,
        bots=bots,
        ranks=[int(place) - 1 for place in header["Places"].split()],
        scores=[None if score == "none" else int(score) for score in scores],
        falls={seat: (cause, int(ply) - 1) for seat, (cause, ply) in falls.items()},
        details={},
        clocks=[],
        again=False,
    )
    secret = header["Dice"].removeprefix("public").removeprefix("secret ")
    return Record(match, tuple(labels), tuple(identities), int(header["Rules"]), secret)
