"""What bots tell of their search: expected returns of all seats, a line of play, visit counts, and its steps.

Whatever a bot gives is read here, quantised, and packed for the log. It follows from floating-point arithmetic that may
differ between processors, so no digest that is compared covers it.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

from arena.core.errors import StoreError
from arena.match.game_faults import TimeUp
from engine import EngineError, State
from engine.game import as_int

SEARCH_INFO_ATTRIBUTE = "_given"
"""Attribute in which `bots.Bot` notes what a bot has given since it was last asked: values by name."""
EVALUATION_STEPS = 1000
"""Steps of an evaluation between 0 and a return of 1."""
MAX_LINE_PLIES = 16
"""Plies that are kept of a line."""
MAX_LINE_ACTION = 2**31 - 1
"""Largest number of an action in a line."""
MAX_MATCH_ESTIMATES = 4000
"""Moves of a match of which they are kept."""
MAX_MOVE_VISIT_COUNTS = 1_000
"""Actions of a move whose visit counts are kept."""
MAX_MATCH_VISIT_COUNTS = 100_000
"""Visit counts of a match; none are kept after the move with which they reach it."""
MAX_VISIT_COUNT = 2**31 - 1
"""Largest visit count."""
MAX_SEARCH_STEPS = 2**63 - 1
"""Largest number of steps of a search."""
MAX_UNPACKED_BYTES = 2**22
"""Largest size in bytes of those of a match when they are unpacked."""
PROTOCOL_KEYS = ("evaluation", "line", "visit_counts", "search_steps")
"""Keys of the protocol by which a bot tells them, with its action."""
DAMAGED_MESSAGE = "the log is damaged: a match's evaluations cannot be read"


class Estimate(NamedTuple):
    """What a bot expected when it chose a move."""

    evaluation: tuple[float, ...] | None
    """Return of each seat, from -1 to 1, in steps of 1/1000; None where the bot gave none."""
    line: tuple[int, ...]
    """Actions from its own move on, chance outcomes included, as numbers of the engine; nobody has checked them."""
    visit_counts: Mapping[int, int] = MappingProxyType({})
    """How often its search had tried legal actions, by their numbers; empty where it did not say."""
    search_steps: int = 0
    """Simulations, nodes or playouts that its search took for the move; 0 where it did not say."""


NO_ESTIMATE = Estimate(None, ())


class SearchInfo(NamedTuple):
    """An estimate as it is packed, and how much of what the bot gave was wrong."""

    evaluation: Sequence[int]
    """In steps; empty for none."""
    line: Sequence[int]
    wrong: int = 0
    visit_counts: Sequence[int] = ()
    """Action, count, action, count, ... by action."""
    search_steps: int = 0


PackedEstimate = tuple[int, Sequence[int], Sequence[int], Sequence[int], int]
"""Ply, evaluation in steps, line, visit counts and steps of the search, as in `SearchInfo`."""


def read_search_info(given: Mapping[str, object], action: int, state: State) -> SearchInfo:
    """Return what a bot gave with an action in a state; what is wrong is left out and counted.

    It may run the bot's code.
    """
    wrong = 0

    def part(name: str, read: Callable[[Any], list[int]]) -> Sequence[int]:
        nonlocal wrong
        try:
            return [] if (value := given.get(name)) is None else read(value)
        except TimeUp:
            raise
        except BaseException:  # elements may be the bot's own, and raise anything
            wrong += 1
            return []

    evaluation = part("evaluation", lambda value: evaluation_in_steps(value, state.game.players))
    line = part("line", lambda value: read_line(value, action))
    counts = part("visit_counts", lambda value: read_visit_counts(value, state))
    steps = part("search_steps", lambda value: [read_search_steps(value)])
    return SearchInfo(evaluation, line, wrong, counts or (), *steps)


def evaluation_in_steps(value: object, players: int) -> list[int]:
    """Return an evaluation in steps; raises an error of any kind unless it has a number from -1 to 1 for each seat."""
    values = _items(value, players)
    steps = [round(EVALUATION_STEPS * _number(each)) for each in values]
    if len(steps) != players or min(steps) < -EVALUATION_STEPS or max(steps) > EVALUATION_STEPS:
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
    line = [as_int(each) for each in _items(value, MAX_LINE_PLIES - 1)][:MAX_LINE_PLIES]
    if line and (line[0] != action or min(line) < 0 or max(line) > MAX_LINE_ACTION):
        raise ValueError
    return line


def read_visit_counts(value: Any, state: State) -> list[int]:
    """Return visit counts as `SearchInfo` has them; raises an error of any kind unless they are of legal actions."""
    if not isinstance(value, Mapping) or len(value) > MAX_MOVE_VISIT_COUNTS:
        raise TypeError
    counts = {as_int(action): as_int(count) for action, count in value.items()}
    if len(counts) < len(value) or not counts.keys() <= {*state.legal_actions()}:
        raise ValueError
    if counts and not 0 <= min(counts.values()) <= max(counts.values()) <= MAX_VISIT_COUNT:
        raise ValueError
    return [number for pair in sorted(counts.items()) for number in pair]


def read_search_steps(value: object) -> int:
    """Return the steps of a search; raises an error of any kind unless it is a whole number within bounds."""
    steps = as_int(value)
    if not 0 <= steps <= MAX_SEARCH_STEPS:
        raise ValueError
    return steps


def _items(value: Any, most: int) -> list[Any]:
    """Return the items of a list, a tuple or an array, at most one more than `most`; raises for anything else."""
    if not isinstance(value, (list, tuple)):
        value = value.tolist()
        if not isinstance(value, list):
            raise TypeError
    return list(islice(iter(value), most + 1))


def pack_estimates(kept: Iterable[tuple[Any, ...]]) -> str:
    """Return the estimates of a match as base64 over deflated text, for `unpack_estimates`; empty for none.

    Each is a `PackedEstimate`, in which steps of the search that are 0 may be left out.
    """
    text = " ".join([pack_part(*each) for each in kept])
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode() if text else ""


def unpack_estimates(packed: str, players: int, plies: int) -> list[PackedEstimate]:
    """Read what `pack_estimates` wrote; raises `StoreError` when it is damaged, or does not fit the match."""
    if not packed:
        return []
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(base64.b64decode(packed, validate=True), MAX_UNPACKED_BYTES).decode("ascii")
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError
        kept = [
            unpack_part(part) for part in text.split(" ", MAX_MATCH_ESTIMATES)
        ]  # the last of too many has all the rest
    except (ValueError, zlib.error, binascii.Error):
        raise StoreError(DAMAGED_MESSAGE) from None
    check_estimates(kept, players, plies)
    return kept


def pack_part(ply: int, evaluation: Sequence[int], line: Sequence[int], counts: Sequence[int], steps: int = 0) -> str:
    """Return an estimate as text for `unpack_part`; steps that are 0 are left out."""
    lists = ":".join([",".join(map(str, numbers)) for numbers in (evaluation, line, counts)])
    return f"{ply}:{lists}:{steps}" if steps else f"{ply}:{lists}"


def unpack_part(part: str) -> PackedEstimate:
    ply, evaluation, line, visit_counts, steps = (f"{part}:0" if part.count(":") == 3 else part).split(":")
    return int(ply), _numbers(evaluation), _numbers(line), _numbers(visit_counts), int(steps)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")] if text else []


def check_estimates(kept: Sequence[PackedEstimate], players: int, plies: int) -> None:
    """Raise `StoreError` unless estimates are such as the referee keeps of a match."""
    at = [ply for ply, *_ in kept]
    fits = at == sorted(set(at)) and len(at) <= MAX_MATCH_ESTIMATES and (not at or 0 <= at[0] <= at[-1] < plies)
    visited = 0
    for _, evaluation, line, counts, steps in kept:
        actions = counts[::2]
        fits = fits and (not counts or visited < MAX_MATCH_VISIT_COUNTS) and len(counts) <= 2 * MAX_MOVE_VISIT_COUNTS
        fits = fits and not len(counts) % 2 and list(actions) == sorted({*actions})
        fits = fits and all(0 <= number <= MAX_VISIT_COUNT for number in counts)
        visited += len(actions)
        fits = (
            fits
            and len(evaluation) in (0, players)
            and all(-EVALUATION_STEPS <= value <= EVALUATION_STEPS for value in evaluation)
        )
        fits = fits and len(line) <= MAX_LINE_PLIES and all(0 <= action <= MAX_LINE_ACTION for action in line)
        fits = fits and 0 <= steps <= MAX_SEARCH_STEPS and bool(evaluation or line or counts or steps)
    if not fits:
        raise StoreError(DAMAGED_MESSAGE)


def estimate_of(
    evaluation: Sequence[int], line: Sequence[int], visit_counts: Sequence[int], search_steps: int
) -> Estimate:
    """Return an estimate from its packed parts."""
    counts = dict(zip(visit_counts[::2], visit_counts[1::2], strict=True))
    return Estimate(tuple(value / EVALUATION_STEPS for value in evaluation) or None, tuple(line), counts, search_steps)


def line_notation(state: State, line: Iterable[int]) -> tuple[str, ...]:
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


def read_protocol_info(answer: Mapping[str, object], action: int, state: State) -> SearchInfo | None:
    """Return what a bot of the protocol gave with an action in a state, its actions in notation; None for nothing."""
    given: dict[str, object] = {name: answer.get(name) for name in PROTOCOL_KEYS}
    if all(value is None for value in given.values()):
        return None
    for name, read in (("line", parse_line), ("visit_counts", parse_visit_counts)):
        if given[name] is not None:
            try:
                given[name] = read(state, given[name])
            except Exception:  # a plug-in game may fail in its own way
                given[name] = False
    return read_search_info(given, action, state)


def write_protocol_info(given: SearchInfo, state: State) -> dict[str, object]:
    """Return what a bot gave as keys of the protocol; what was wrong is told so that it is counted."""
    told: dict[str, object] = {}
    if given.evaluation:
        told["evaluation"] = [step / EVALUATION_STEPS for step in given.evaluation]
    if given.line:
        told["line"] = list(line_notation(state, given.line))
    if given.visit_counts:
        pairs = zip(given.visit_counts[::2], given.visit_counts[1::2], strict=True)
        told["visit_counts"] = {state.action_to_string(action): count for action, count in pairs}
    if given.search_steps:
        told["search_steps"] = given.search_steps
    free = [name for name in PROTOCOL_KEYS if name not in told]
    return told | dict.fromkeys(free[: given.wrong], False)


def parse_visit_counts(state: State, given: object) -> dict[int, object]:
    """Return visit counts that were given by actions in notation, by their numbers; raises an error of any kind."""
    if not isinstance(given, dict) or len(given) > MAX_MOVE_VISIT_COUNTS:
        raise TypeError
    counts = {state.string_to_action(word): count for word, count in given.items()}
    if len(counts) < len(given):
        raise ValueError
    return counts


def parse_line(state: State, words: object) -> list[int]:
    """Return a line that was given in notation as numbers, up to the first ply that is not legal.

    Raises `TypeError` unless it is a list of texts.
    """
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words[:MAX_LINE_PLIES]):
        raise TypeError
    line = []
    state = state.clone()
    try:
        for word in words[:MAX_LINE_PLIES]:
            action = state.string_to_action(word)
            state.apply_action(action)
            line.append(action)
    except EngineError:
        pass
    return line
