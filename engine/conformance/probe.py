"""What checks are made of: the matches they look at, and the errors that say what a game breaks."""

from __future__ import annotations

import contextlib
import inspect
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.conformance.matches import drawn, is_stop, stretched
from engine.errors import EngineError, place, summarise_error
from engine.game import Game, State, shown
from engine.registry import is_provided
from engine.state import KernelGame

MOST_MATCHES = 50_000
"""Matches that a check of distributions plays each way, where they are quick."""
DEFAULT_MAX_PLIES = 20_000
"""Plies of a random match of a game that does not tell its bounds."""


class BrokenPromise(Exception):  # a finding, not a failure of the check
    """A game does not keep what a check asks for; the text says what it did."""


class NotApplicableError(Exception):
    """A check has nothing to look at in this game; the text says why."""


@dataclass(frozen=True)
class Check:
    """A promise of the contract between games and the arena, and how it is tried."""

    name: str
    claim: str
    """What holds for every game, as a sentence."""
    group: str
    run: Callable[[Probe], str | None]
    """Returns what it has seen, if that is worth telling; raises `BrokenPromise` or `NotApplicableError`."""


class Probe:
    """The matches of one check. It remembers where it is, so that a failure can be told with its seed and plies."""

    def __init__(self, game: Game, seed: int = 0, most: int = MOST_MATCHES) -> None:
        self.game = game
        self.base = seed
        self.most = most
        """Matches that the check may play each way."""
        self.seed: int | None = None
        self.plies: list[Any] = []

    def at(self, seed: int, history: list[Any]) -> None:
        """Remember where the check is: in which random match, after which plies."""
        self.seed, self.plies = self.base + seed, history if type(history) is list else []

    def start(self) -> State:
        """Return the state at the beginning."""
        self.at(0, [])
        self.seed = None
        return self.game.new_initial_state()

    def walk(self, seed: int) -> Iterator[State]:
        """Yield the state of one random match before every ply and after the last; always the same object."""
        self.at(seed, [])
        rng, most = random.Random(self.base + seed), self._most()
        state, history = self.game.new_initial_state(), self.plies
        while not state.is_terminal():
            if len(history) > most:
                del history[100:]
                raise BrokenPromise(f"a random match is not over after {most:,} plies")
            yield state
            self.at(seed, history)
            ply = drawn(state, rng)
            history.append(ply)
            state.apply_action(ply)
        yield state

    def stretched(self, seed: int) -> Iterator[State]:
        """Yield the states of a match in which whatever would end it at once is shunned."""
        self.at(seed, [])
        most = self._most()
        for state in stretched(self.game, self.base + seed):
            self.at(seed, state.history())
            if len(self.plies) > most:
                raise BrokenPromise(f"a match that shuns its end is not over after {most:,} plies")
            yield state

    def stops(self, seed: int) -> Iterator[State]:
        """Yield copies of a random match's first states, of some of the later ones, and of the last."""
        for ply, state in enumerate(self.walk(seed)):
            if is_stop(ply, state):
                yield state.clone()

    def finished(self, seed: int) -> State:
        """Return the end of a random match."""
        *_, last = self.walk(seed)
        return last

    def random(self, seed: int) -> random.Random:
        """Return a generator that belongs to this check."""
        return random.Random(self.base + seed)

    def _most(self) -> int:
        if self.game.type.bounds is None:
            return DEFAULT_MAX_PLIES
        return self.game.max_game_length + self.game.max_chance_nodes


def expect(holds: object, otherwise: str) -> None:
    """Raise `BrokenPromise` with this text unless something holds."""
    if not holds:
        raise BrokenPromise(otherwise)


def same(what: str, seen: object, wanted: object) -> None:
    """Raise `BrokenPromise` unless two values are equal."""
    if seen != wanted:
        raise BrokenPromise(f"{what}: {shown(seen)} instead of {shown(wanted)}")


def refused(what: str, kind: type[EngineError], call: Callable[..., object], *arguments: Any) -> EngineError:
    """Return the error that a call is refused with; raises `BrokenPromise` for none, another kind or several lines."""
    try:
        call(*arguments)
    except kind as error:
        expect(len(str(error).splitlines()) == 1, f"{what}: the error is not one line")
        return error
    except Exception as error:
        raise BrokenPromise(f"{what}: {summarise_error(error)} instead of {kind.__name__}") from error
    raise BrokenPromise(f"{what}: accepted; {kind.__name__} is expected")


@contextlib.contextmanager
def unchanged(what: str, state: State) -> Iterator[None]:
    """Raise `BrokenPromise` when a state is another one afterwards."""
    before = snapshot(state)
    yield
    alike(f"the state after {what}", snapshot(state), before)


def alike(what: str, seen: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise `BrokenPromise` with the first part in which two snapshots differ."""
    for key in wanted:
        same(f"{what}, {key}", seen.get(key), wanted[key])


def snapshot(state: State) -> dict[str, Any]:
    """Return all that can be asked of a state, in lists of its own."""
    seen = {
        "who": state.current_player(),
        "legal": list(state.legal_actions()),
        "outcomes": list(state.chance_outcomes()),
        "rolling": state.rolling_seat(),
        "history": list(state.history()),
        "scores": state.scores(),
        "ended": state.ended,
        "drawing": str(state),
    }
    if state.game.position:
        seen["position"] = state.position
    if state.is_terminal():
        seen |= {"ranks": state.ranks(), "returns": state.returns()}
    return seen


def without_history(seen: dict[str, Any]) -> dict[str, Any]:
    """Return a snapshot without what a position string leaves out: the last play, and which tie ended the match."""
    return {key: value for key, value in seen.items() if key not in ("history", "drawing", "ended")}


def home(game: Game) -> str:
    """Return the file or folder of a game's own code; "" for a game of another library, whose code is anywhere."""
    if is_provided(game.spec):
        return ""
    module = sys.modules[game.rules.__name__ if isinstance(game, KernelGame) else type(game).__module__]
    file = getattr(module, "__file__", None) or ""
    return str(Path(file).parent) if "." in module.__name__ or hasattr(module, "__path__") else file


def code_place(function: Any) -> str:
    """Return file and line of a function, a kernel or a property."""
    function = getattr(function, "py_func", getattr(function, "fget", function))
    code = inspect.unwrap(function).__code__
    return place(code.co_filename, code.co_firstlineno)


def method_place(state: State, method: str) -> str:
    """Return the name of what a game has for a method of states, with file and line."""
    found = getattr(type(state), method)
    if isinstance(state.game, KernelGame):
        if method == "apply_action" and state.is_chance_node():
            method = "apply_chance"
        found = vars(state.game.rules).get(method, found)
    return f"{method} ({code_place(found)})"


def played(game: Game, plies: Iterable[int]) -> State:
    """Return the state that plies lead to from the start."""
    state = game.new_initial_state()
    for ply in plies:
        state.apply_action(ply)
    return state


def replayed(state: State) -> State:
    """Return the state that the same plies lead to from the start."""
    return played(state.game, state.history())
