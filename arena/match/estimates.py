"""What bots expect: the return of every seat and the line of play that they give with their moves.

Whatever a bot gives is read here, quantised, and packed for the log. It follows from floating-point arithmetic that may
differ between processors, so no digest that is compared covers it.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from arena.core.errors import StoreError
from arena.match.game_faults import TimeUp
from engine import EngineError, State
from engine.game import as_int

GIVEN = "_given"
"""Attribute in which `bots.Bot` notes what a bot has given since it was last asked: values by name."""
STEPS = 1000
"""Steps of an evaluation between 0 and a return of 1."""
MAX_PLIES = 16
"""Plies that are kept of a line."""
MAX_ACTION = 2**31 - 1
"""Largest number of an action in a line."""
MOST = 4000
"""Moves of a match of which they are kept."""
MAX_SIZE = 2**22
"""Largest size in bytes of those of a match when they are unpacked."""
DAMAGED = "the log is damaged: a match's evaluations cannot be read"


class Estimate(NamedTuple):
    """What a bot expected when it chose a move."""

    evaluation: tuple[float, ...] | None
    """Return of each seat, from -1 to 1, in steps of 1/1000; None where the bot gave none."""
    line: tuple[int, ...]
    """Actions from its own move on, chance outcomes included, as numbers of the engine; nobody has checked them."""


NOTHING = Estimate(None, ())


class Given(NamedTuple):
    """An estimate as it is packed, and how much of what the bot gave was wrong."""

    evaluation: Sequence[int]
    """In steps; empty for none."""
    line: Sequence[int]
    wrong: int = 0


Kept = tuple[int, Sequence[int], Sequence[int]]
"""Ply, evaluation in steps, and line."""


def read_given(given: Mapping[str, object], action: int, players: int) -> Given:
    """Return what a bot gave with an action; what is wrong is left out and counted. It may run the bot's code."""
    evaluation: list[int] = []
    line: list[int] = []
    wrong = 0
    try:
        if (value := given.get("evaluation")) is not None:
            evaluation = in_steps(value, players)
    except TimeUp:
        raise
    except BaseException:  # elements may be the bot's own, and raise anything
        wrong += 1
    try:
        if (value := given.get("line")) is not None:
            line = read_line(value, action)
    except TimeUp:
        raise
    except BaseException:
        wrong += 1
    return Given(evaluation, line, wrong)


def in_steps(value: object, players: int) -> list[int]:
    """Return an evaluation in steps; raises an error of any kind unless it has a number from -1 to 1 for each seat."""
    values = _items(value, players)
    steps = [round(STEPS * _number(each)) for each in values]
    if len(steps) != players or min(steps) < -STEPS or max(steps) > STEPS:
        raise ValueError
    return steps


def _number(value: Any) -> float:
    if type(value) is float:
        return value
    if isinstance(value, (str, bytes, bytearray, bool)):
        raise TypeError
    return float(value)


def read_line(value: object, action: int) -> list[int]:
    """Return the first plies of a line; raises an error of any kind unless it begins with the action."""
    line = [as_int(each) for each in _items(value, MAX_PLIES - 1)][:MAX_PLIES]
    if line and (line[0] != action or min(line) < 0 or max(line) > MAX_ACTION):
        raise ValueError
    return line


def _items(value: Any, most: int) -> list[Any]:
    """Return the items of a list, a tuple or an array, at most one more than `most`; raises for anything else."""
    if not isinstance(value, (list, tuple)):
        value = value.tolist()
        if not isinstance(value, list):
            raise TypeError
    return list(islice(iter(value), most + 1))


def pack(kept: Iterable[Kept]) -> str:
    """Return the estimates of a match as base64 over deflated text, which `unpack` reads; nothing for none."""
    text = " ".join(
        [f"{ply}:{','.join(map(str, evaluation))}:{','.join(map(str, line))}" for ply, evaluation, line in kept]
    )
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode() if text else ""


def unpack(packed: str, players: int, plies: int) -> list[Kept]:
    """Read what `pack` wrote; raises `StoreError` when it is damaged, or does not fit the match."""
    if not packed:
        return []
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(base64.b64decode(packed, validate=True), MAX_SIZE).decode("ascii")
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError
        kept = [_read(part) for part in text.split(" ", MOST)]  # the last of too many has all the rest
    except (ValueError, zlib.error, binascii.Error):
        raise StoreError(DAMAGED) from None
    check(kept, players, plies)
    return kept


def _read(part: str) -> Kept:
    ply, evaluation, line = part.split(":")
    return int(ply), _numbers(evaluation), _numbers(line)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")] if text else []


def check(kept: Sequence[Kept], players: int, plies: int) -> None:
    """Raise `StoreError` unless estimates are such as the referee keeps of a match."""
    at = [ply for ply, _, _ in kept]
    fits = at == sorted(set(at)) and len(at) <= MOST and (not at or 0 <= at[0] <= at[-1] < plies)
    for _, evaluation, line in kept:
        fits = fits and len(evaluation) in (0, players) and all(-STEPS <= value <= STEPS for value in evaluation)
        fits = fits and len(line) <= MAX_PLIES and all(0 <= action <= MAX_ACTION for action in line)
        fits = fits and bool(evaluation or line)
    if not fits:
        raise StoreError(DAMAGED)


def estimate_of(evaluation: Sequence[int], line: Sequence[int]) -> Estimate:
    """Return an estimate from its packed parts."""
    return Estimate(tuple(value / STEPS for value in evaluation) or None, tuple(line))


def line_words(state: State, line: Iterable[int]) -> tuple[str, ...]:
    """Return a line from a state in the game's notation, up to the first action that is not legal."""
    words = []
    state = state.clone()
    try:
        for action in line:
            word = state.action_to_string(action)
            state.apply_action(action)
            words.append(word)
    except EngineError:
        pass
    return tuple(words)


def read_told(answer: Mapping[str, object], action: int, state: State) -> Given | None:
    """Return what a bot of the protocol gave with an action in a state, its line in notation; None for nothing."""
    evaluation, line = answer.get("evaluation"), answer.get("line")
    if evaluation is None and line is None:
        return None
    if line is not None:
        try:
            line = line_of_words(state, line)
        except Exception:  # a plug-in game may fail in its own way
            line = False
    return read_given({"evaluation": evaluation, "line": line}, action, state.game.players)


def tell(given: Given, state: State) -> dict[str, object]:
    """Return what a bot gave as keys of the protocol; what was wrong is told so that it is counted."""
    told: dict[str, object] = {}
    wrong = given.wrong
    if given.evaluation:
        told["evaluation"] = [step / STEPS for step in given.evaluation]
    elif wrong:
        told["evaluation"], wrong = [], wrong - 1
    if given.line:
        told["line"] = list(line_words(state, given.line))
    elif wrong:
        told["line"] = False
    return told


def line_of_words(state: State, words: object) -> list[int]:
    """Return a line that was given in notation as numbers, up to the first ply that is not legal.

    Raises `TypeError` unless it is a list of texts.
    """
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words[:MAX_PLIES]):
        raise TypeError
    line = []
    state = state.clone()
    try:
        for word in words[:MAX_PLIES]:
            action = state.string_to_action(word)
            state.apply_action(action)
            line.append(action)
    except EngineError:
        pass
    return line
