"""Checks of texts: notation, saved states, positions, drawings for the terminal, and what a game says of itself."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator
from typing import TypeVar

from engine.conformance.matches import choices
from engine.conformance.probe import (
    BrokenPromise,
    NotApplicableError,
    Probe,
    alike,
    expect,
    refused,
    same,
    snapshot,
    without_history,
)
from engine.errors import EngineError, NotationError, PositionError, UnsupportedError, summarise_error
from engine.game import State, shown
from engine.loading import load_game
from engine.registry import is_provided

Read = TypeVar("Read")
MAX_DRAWING_COLUMNS = 80
"""Columns of a drawing for the terminal."""
MAX_WRITTEN_ACTIONS = 1000
"""Actions of one state that are written and read back."""
STRANGE_TEXTS = ["", " ", "0", "-1", "a1 ", "\n", "é", "١", "\x00", "x" * 1000, "None", "{}", "0x0", "1.0", "🎲"]
"""Texts that are no actions in most games."""


def notation(probe: Probe) -> None:
    for state in probe.stops(5):
        numbers = choices(state) if state.is_chance_node() else [*range(probe.game.num_distinct_actions)]
        if len(numbers) > MAX_WRITTEN_ACTIONS:
            numbers = sorted(
                {*choices(state), *probe.random(5).sample(numbers, MAX_WRITTEN_ACTIONS)} if state.history() else numbers
            )
        known: dict[str, int] = {}
        for number in numbers:
            text = state.action_to_string(number)
            expect(
                type(text) is str and text and text.split() == [text] and text.isprintable(),
                f"action {number} is written {shown(text)}: one word of printable letters is expected",
            )
            expect(text not in known, f"actions {known.get(text)} and {number} are both written {shown(text)}")
            known[text] = number
            same(f"action {number}, written {text} and read", state.string_to_action(text), number)


def no_action_no_text(probe: Probe) -> None:
    state = next((state for state in probe.walk(5) if not state.is_chance_node()), None)
    if state is None:
        raise BrokenPromise("nobody is ever to move")
    for number in (-1, probe.game.num_distinct_actions):
        refused(f"action_to_string({number})", NotationError, state.action_to_string, number)


def strange_notation(probe: Probe) -> None:
    state, rng = probe.start(), probe.random(6)
    letters = string.printable + "äß٣"
    texts = STRANGE_TEXTS + ["".join(rng.choices(letters, k=rng.randint(1, 8))) for _ in range(50)]
    for text in texts:
        number = _or_refused(f"string_to_action({shown(text)})", NotationError, state.string_to_action, text)
        if number is not None:
            same(f"action {number}, read from {shown(text)} and written", state.action_to_string(number), text)


def saved(probe: Probe) -> None:
    for state in probe.stops(18):
        text = state.serialize()
        expect(text.isprintable(), f"serialize() gives {shown(text)}, which is not one printable line")
        read = probe.game.deserialize_state(text)
        expect(read == state, "a state that is written and read is not equal to itself")
        alike("a state that is written and read", snapshot(read), snapshot(state))
        same("that, written again", read.serialize(), text)
        if probe.game.position and not state.is_terminal():
            moved = probe.game.state_from_position(state.position)
            moved.apply_action(choices(moved)[-1])
            read = probe.game.deserialize_state(moved.serialize())
            alike("a state played on from a position", snapshot(read), snapshot(moved))
            same("its origin", read.origin, state.position)


def garbled_saves(probe: Probe) -> None:
    for text in _garbled(probe, 19, lambda state: state.serialize(), '-x0123456789[]{}",.eE'):
        read = _or_refused(f"deserialize_state({text!r})", EngineError, probe.game.deserialize_state, text)
        if read is not None:
            same("game of a garbled state", read.game, probe.game)


def positions(probe: Probe) -> None:
    if not probe.game.position:
        refused("position", UnsupportedError, getattr, probe.start(), "position")
        refused("state_from_position('')", UnsupportedError, probe.game.state_from_position, "")
        raise NotApplicableError("it has no position strings")
    for state in probe.stops(20):
        text = state.position
        expect(text == " ".join(text.split()), f"the position {shown(text)} has other white space than single blanks")
        read = probe.game.state_from_position(text)
        alike(f"the position {text}, read", without_history(snapshot(read)), without_history(snapshot(state)))
        same("whether it is over", bool(read.ended), bool(state.ended))
        same("history of a position", read.history(), [])


def garbled_positions(probe: Probe) -> None:
    if not probe.game.position:
        raise NotApplicableError("it has no position strings")
    for text in _garbled(probe, 21, lambda state: state.position, "-x0123456789 \n"):
        call = f"state_from_position({text!r})"
        read = _or_refused(call, PositionError, probe.game.state_from_position, text)
        if read is not None:
            same(f"{call}, written", read.position, text)
            expect(read.is_terminal() or choices(read), f"{call} has nothing to play and is not over")


def _or_refused(what: str, kind: type[EngineError], call: Callable[[str], Read], text: str) -> Read | None:
    """Return what a call returns, or None when it is refused in one line; raises `BrokenPromise` for other errors."""
    try:
        return call(text)
    except kind as error:
        whole = not isinstance(error, PositionError) or (error.field and error.why)
        expect(whole and len(str(error).splitlines()) == 1, f"{what}: the error is not one line that says where")
        return None
    except Exception as error:
        raise BrokenPromise(f"{what}: {summarise_error(error)} instead of {kind.__name__}") from error


def _garbled(probe: Probe, seed: int, write: Callable[[State], str], letters: str, count: int = 40) -> Iterator[str]:
    """Yield texts of a match's states with some letters cut out and others put in."""
    rng = probe.random(seed)
    texts = [write(state) for state in probe.stops(seed)]
    for _ in range(count):
        yield _garble(rng.choice(texts), rng, letters)


def _garble(text: str, rng: random.Random, letters: str) -> str:
    start, cut = rng.randint(0, len(text)), rng.randint(0, 2)
    put = "".join(rng.choices(sorted({*text, *letters}), k=rng.randint(0, 2)))
    return text[:start] + put + text[start + cut :]


def drawings(probe: Probe) -> None:
    for state in probe.stops(13):
        text = str(state)
        expect(text.strip(), "str() of a state is empty")
        for line in text.splitlines():
            expect(line.isprintable(), f"str() of a state holds {line!r}, which cannot be printed")
            expect(
                len(line) <= MAX_DRAWING_COLUMNS,
                f"str() of a state has a line of {len(line)} columns; {MAX_DRAWING_COLUMNS} fit",
            )


def description(probe: Probe) -> None:
    game, kind = probe.game, probe.game.type
    same("name", game.name, kind.name)
    expect(kind.min_players <= game.players <= kind.max_players, f"players: {game.players}")
    for what in ("title", "summary"):
        expect(getattr(kind, what), f"the game type has no {what}")
    for what in ("designer", "source", "terms"):
        expect(getattr(game.credit, what), f"the credit has no {what}")
    expect(kind.rules_version >= 1, f"rules_version is {kind.rules_version}")
    for option in kind.parameters:
        expect(option.help, f"the option {option.name} has no help")
    opening = game.default_opening
    length = opening.removeprefix("random:")
    expect(
        opening == "none" or (opening != length and length.isdecimal() and int(length) > 0),
        f"default_opening is {shown(opening)}: none or random:k",
    )


def canonical_spec(probe: Probe) -> None:
    game = probe.game
    again = load_game(game.spec, game.players)
    same("the game of its spec", again, game)
    same("the spec of that", again.spec, game.spec)
    same("its options", dict(again.params), dict(game.params))
    same("its hash", hash(again), hash(game))
    if is_provided(game.spec):
        return  # the type itself may depend on the options of the spec
    options = {each.name: game.params[each.name] for each in game.type.parameters}
    changed = {each.name: options[each.name] for each in game.type.parameters if options[each.name] != each.default}
    same("the game of its changed options", load_game(game.name, game.players, **changed), game)
