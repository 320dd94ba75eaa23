"""Faults of games: a game's rules raise, give what no game can give, or do not end. No bot is to blame for them.

What a bot's own call of a game's methods raises inside `choose` is that bot's fault, whatever raised it: what it hands
in is its own choice, and a bot that could blame the game could stop the board on which it loses. Before a bot is asked,
the referee calls every method that a turn needs (`current_player`, `legal_actions`, `clone`), so that a game that is
broken there is found out first.
"""

from __future__ import annotations

import contextlib
import json
import math
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.core.errors import ArenaError
from arena.core.files import read_json, write_file
from arena.match.dice import DRAW_RANGE
from engine import CHANCE, TERMINAL, Game, State, load_game
from engine.errors import one_line, place, summarise_error
from engine.game import as_int

DEFAULT_MAX_PLIES = 20_000
"""Plies after which a match of a game that does not tell its longest one is taken for one that never ends."""
NO_NUMBER = -math.inf
MAX_POSITION_CHARS = 500
MAX_TRACEBACK_CHARS = 4000
GAME_FAULTS_FILE = "game_faults.json"
"""Beside a log: the faults that stopped boards in its last run."""


class BrokenRules(Exception):
    """A game gave what no game can give."""

    def __init__(self, state: State, method: str, why: str) -> None:
        found = getattr(type(state), method)
        code = getattr(found.fget if isinstance(found, property) else found, "__code__", None)
        where = f" ({place(code.co_filename, code.co_firstlineno)})" if code is not None else ""
        super().__init__(f"{method} {why}{where}")


@dataclass(frozen=True)
class GameFault:
    """How a game failed in a match."""

    what: str
    """One line: what was raised, with file and line."""
    trace: str
    moves: list[str] = field(repr=False)
    """What was played before, the ply in which it failed included if it failed there."""
    position: str
    """The last one that the game could write; empty when it has none."""
    match: str = ""
    """The match's id; these four are known to whoever planned it."""
    game: str = ""
    players: int = 0
    bots: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """All of it in one line but for the moves and the traceback."""
        at = f"after {len(self.moves)} plies" if self.moves else "before the first ply"
        position = f", position {self.position}" if self.position else ""
        match = f" of match {self.match}" if self.match else ""
        return one_line(f"{self.what}; {at}{match}{position}")


class TimeUp(BaseException):
    """Raised inside a bot's code, or a game's, when its time is up."""


class GameFailure(Exception):
    """A match cannot go on, for its game has failed."""

    def __init__(self, fault: GameFault) -> None:
        super().__init__(fault.line)
        self.fault = fault


class GameError(ArenaError):
    """A game failed in a match outside any tournament."""

    def __init__(self, fault: GameFault) -> None:
        super().__init__(f"the game {fault.game} failed, no bot is to blame: {fault.line}")
        self.fault = fault


def game_fault_of(error: BaseException, moves: Sequence[str], state: State | None) -> GameFault:
    """Return a game's fault, from what it raised."""
    lines = traceback.format_exception(error)
    what = str(error) if isinstance(error, BrokenRules) else summarise_error(error, inner=isinstance(error, TimeUp))
    return GameFault(one_line(what), "".join(lines)[-MAX_TRACEBACK_CHARS:], list(moves), _position(state))


def _position(state: State | None) -> str:
    """Return the position as the game writes it; empty if it cannot."""
    if state is None or not state.game.position:
        return ""
    try:
        return one_line(str(state.position))[:MAX_POSITION_CHARS]
    except Exception:
        return ""


def max_plies(game: Game) -> int:
    """Return the plies that no match of a game exceeds, by its own bounds."""
    return DEFAULT_MAX_PLIES if game.type.bounds is None else game.max_game_length + game.max_chance_nodes


def check_length(state: State, moves: Sequence[object], most: int) -> None:
    """Raise `BrokenRules` for a match that goes on for longer than any of its game."""
    if len(moves) > most:
        raise BrokenRules(state, "current_player", f"gave no end of the match in {most:,} plies")


def check_turn(state: State, who: int) -> None:
    """Raise `BrokenRules` for a turn that no game can have."""
    if who == CHANCE:
        outcomes = _as_list(state, "chance_outcomes", state.chance_outcomes())
        pairs = [pair if isinstance(pair, (tuple, list)) else () for pair in outcomes]
        if not pairs or not all(
            len(pair) == 2 and _whole_number(pair[0]) >= 0 and _whole_number(pair[1]) > 0 for pair in pairs
        ):
            raise BrokenRules(
                state, "chance_outcomes", f"gave {_short_repr(outcomes)}, not pairs of outcome and weight"
            )
        if sum(int(weight) for _, weight in pairs) > DRAW_RANGE:
            raise BrokenRules(state, "chance_outcomes", "gave weights whose sum is above 2^64")
    elif who != TERMINAL:
        _check_decision(state, who)


def _check_decision(state: State, who: int) -> None:
    game = state.game
    if type(who) is not int or not 0 <= who < game.players:
        why = (
            f"gave {_short_repr(who)}, not a seat from 0 to {game.players - 1}, {CHANCE} (chance) or {TERMINAL} (over)"
        )
        raise BrokenRules(state, "current_player", why)
    legal = _as_list(state, "legal_actions", state.legal_actions())
    known = range(game.num_distinct_actions)
    if not legal or not all(_whole_number(action) in known for action in legal) or len({*legal}) < len(legal):
        why = f"gave {_short_repr(legal)} to seat {who}, not one or more different numbers from 0 to {len(known) - 1}"
        raise BrokenRules(state, "legal_actions", why)
    if game.clone and ((copy := state.clone()) is state or type(copy) is not type(state)):
        raise BrokenRules(state, "clone", f"gave {_short_repr(copy)}, not another state")


def check_word(state: State, word: object) -> None:
    """Raise `BrokenRules` for what cannot be a move of a match."""
    if not isinstance(word, str) or not word.isprintable() or word.split() != [word]:
        raise BrokenRules(state, "action_to_string", f"gave {_short_repr(word)}, not a word without spaces")


def check_end(state: State) -> None:
    """Raise `BrokenRules` for a result that no match can have."""
    players = state.game.players
    if state.current_player() == TERMINAL:
        ranks = [_whole_number(rank) for rank in _as_list(state, "ranks", state.ranks())]
        if len(ranks) != players or ranks != [sum(other < rank for other in ranks) for rank in ranks]:
            raise BrokenRules(
                state, "ranks", f"gave {_short_repr(ranks)}, not {players} places from 0, shared ones the better"
            )
        if not isinstance(state.ended, str) or not state.ended or not state.ended.isprintable():
            raise BrokenRules(state, "ended", f"gave {_short_repr(state.ended)}, not a word such as normal or cap")
        utilities = state.utilities() if state.game.type.own_utilities else [0.0] * players
        if len(_as_list(state, "utilities", utilities)) != players or not all(map(_finite, utilities or ())):
            raise BrokenRules(state, "utilities", f"gave {_short_repr(utilities)}, not {players} finite numbers")
    scores = state.scores()
    if scores is not None and (
        len(_as_list(state, "scores", scores)) != players or NO_NUMBER in map(_whole_number, scores)
    ):
        raise BrokenRules(state, "scores", f"gave {_short_repr(scores)}, neither None nor {players} whole numbers")


def _as_list(state: State, method: str, found: Any) -> list[Any]:
    if not isinstance(found, (list, tuple)):
        raise BrokenRules(state, method, f"gave {_short_repr(found)}, not a list")
    return list(found)


def _whole_number(thing: object) -> float:
    """Return a whole number, or `NO_NUMBER`."""
    try:
        return as_int(thing)
    except TypeError:
        return NO_NUMBER


def _finite(thing: object) -> bool:
    return type(thing) is float and math.isfinite(thing)


def _short_repr(thing: object) -> str:
    try:
        text = one_line(repr(thing))
    except Exception:
        text = f"an object of type {type(thing).__name__}"
    return text if len(text) <= 80 else f"{text[:80]}…"


def write_faults(folder: Path, faults: Sequence[GameFault]) -> None:
    """Write the faults that stopped boards beside a log, in place of those of an earlier run."""
    path = folder / GAME_FAULTS_FILE
    if faults:
        write_file(path, [json.dumps([asdict(fault) for fault in faults], indent=1).encode()])
    else:
        path.unlink(missing_ok=True)


def read_faults(folder: Path) -> list[GameFault]:
    """Return the faults that stopped boards in a log's last run; none where they cannot be read."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        return [_fault_from_json(row) for row in read_json(folder / GAME_FAULTS_FILE)]
    return []


def _fault_from_json(row: dict[str, Any]) -> GameFault:
    """Return a fault from untrusted data."""
    texts = {name: one_line(str(row[name])) for name in ("what", "position", "match", "game")}
    moves = [one_line(str(word)) for word in row["moves"]]
    bots = tuple(one_line(str(bot)) for bot in row["bots"])
    trace = "\n".join(map(one_line, str(row["trace"]).split("\n")))
    return GameFault(**texts, trace=trace, moves=moves, players=int(row["players"]), bots=bots)


def replay_fault(fault: GameFault) -> GameFault:
    """Replay a fault's moves by the rules and return how the game fails now; `what` is empty when it does not."""
    state: State | None = None
    played: list[str] = []
    try:
        game = load_game(fault.game, fault.players)
        most = max_plies(game)
        state = game.new_initial_state()
        for word in fault.moves:
            check_turn(state, state.current_player())
            action = state.string_to_action(word)
            played.append(word)
            state.apply_action(action)
        check_length(state, played, most)
        check_turn(state, state.current_player())
        check_end(state)
    except (Exception, TimeUp) as error:
        found = game_fault_of(error, played, state)
        return replace(fault, what=found.what, trace=found.trace, moves=played, position=found.position)
    return replace(fault, what="", trace="", position=_position(state))


def fault_lines(faults: Sequence[GameFault], log: Path) -> Iterator[str]:
    """Yield lines on what stopped boards, and how to see it again."""
    for fault in faults:
        yield f"{fault.game}, {fault.players} players: stopped, for the game failed, and no bot: {fault.line}"
        yield f"  to see it again: arena replay {fault.match} --in {log}"
