"""Replay a stored match through the engine, without its bots, and recompute every draw from the keys."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from arena.core.adjudication import ADJUDICATED
from arena.core.errors import StoreError
from arena.match.dice import Dice, KeyPair
from arena.match.estimates import NO_ESTIMATE, line_notation
from arena.match.faults import FORFEIT_CAUSES
from arena.match.player import MAX_NOTE_CHARS, clean_note
from arena.match.result import final_hash, final_scores, ranks_with_forfeits
from arena.match.stored import StoredMatch
from arena.match.views import lent, view
from arena.schedule.boards import Board
from arena.schedule.foreign import FOREIGN_RESULTS_LABEL, is_foreign_name
from engine import CHANCE, TERMINAL, EngineError, Game, Names, State, load_game
from engine.errors import did_you_mean, summarise_error


class Ply(NamedTuple):
    """One ply of a replay."""

    number: int
    seat: int
    """Who moved; `engine.CHANCE` for a chance outcome."""
    text: str
    by: str
    """`bot`, `forced`, `opening`, `substitute` or `dice`."""
    expected: str | None
    """What the keys say it must be, where chance decided and keys were given."""
    state: State
    """After it."""
    evaluation: tuple[float, ...] | None = None
    """What its bot expected each seat to get."""
    line: tuple[str, ...] = ()
    """The plies that its bot expected from this one on, as far as they are legal."""


class ReplayedPly(NamedTuple):
    """A `Ply` in words, as a worker tells it."""

    number: int
    seat: int
    text: str
    by: str
    expected: str | None
    drawing: str
    """Of the state after it, if that was asked for."""
    evaluation: tuple[float, ...] | None
    line: tuple[str, ...]
    sentence: str = ""
    """What it did, in the game's words, if drawings were asked for."""


def in_words(match: StoredMatch, keys: KeyPair | None, drawn: bool) -> Iterator[ReplayedPly]:
    """Yield every ply of a match as `replay` does, in words; `drawn` with drawings and sentences."""
    names = Names.of_players(match.names)
    for before, ply in follow(match, keys):
        drawing, sentence = (str(ply.state), _sentence(before, ply, names)) if drawn else ("", "")
        yield ReplayedPly(*ply[:5], drawing, ply.evaluation, ply.line, sentence)


def _sentence(before: State, ply: Ply, names: Names) -> str:
    """Return what a ply did; nothing where the game's words fail."""
    with contextlib.suppress(Exception):  # whatever a plug-in's words do: there is the notation
        return before.tell(before.string_to_action(ply.text), names, ply.state).text
    return ""


def replay(match: StoredMatch, keys: KeyPair | None = None) -> Iterator[Ply]:
    """Yield every ply of a match in order, each with a state of its own; with keys, every draw is recomputed.

    Raises `StoreError` when the moves are not legal or do not end as the log says.
    """
    for _, ply in follow(match, keys):
        yield ply._replace(state=view(ply.state, None))


def follow(match: StoredMatch, keys: KeyPair | None = None) -> Iterator[tuple[State, Ply]]:
    """Yield every ply as `replay` does, and the state before it. Both states are lent: the next ply changes them.

    No state is copied, which for some games means that all plies are played again: the match is played twice, the
    second time a ply behind the first.
    """
    game = game_of(match)
    estimates, before = match.estimates, None
    for ply in walk_plies(match, game, keys):
        before = game.new_initial_state() if before is None else before
        told = estimates.get(ply.number, NO_ESTIMATE)
        words = _line_notation(before, told.line, ply) if told.line else ()
        yield lent(before, None), ply._replace(state=lent(ply.state, None), evaluation=told.evaluation, line=words)
        try:
            before.apply_action(before.string_to_action(ply.text))
        except Exception as error:
            name = match.id
            raise StoreError(f"match {name}: its game fails when it is replayed: {summarise_error(error)}") from error


def _line_notation(before: State, line: Iterable[int], ply: Ply) -> tuple[str, ...]:
    """Return a line from before a ply in notation; raises `StoreError` when the game fails in it."""
    try:
        return line_notation(before, line)
    except Exception as error:
        raise StoreError(f"the line of ply {ply.number + 1}: its game fails: {summarise_error(error)}") from error


def check_match(match: StoredMatch, keys: KeyPair | None, game: Game) -> int:
    """Replay a match and recompute its draws, without copies of states; return how many there were.

    Raises `StoreError` for what `replay` and `check_draws` refuse.
    """
    return check_draws(walk_plies(match, game, keys))


def game_of(match: StoredMatch) -> Game:
    """Return the game of a match; raises `StoreError` when this arena does not have it."""
    if is_foreign_name(match.game):
        name = match.id
        raise StoreError(f"match {name}: is one of {FOREIGN_RESULTS_LABEL}, without moves: it cannot be replayed")
    try:
        return load_game(match.game, match.players)
    except EngineError as error:
        raise StoreError(f"match {match.id}: cannot be replayed: {error}") from None


def walk_plies(match: StoredMatch, game: Game, keys: KeyPair | None) -> Iterator[Ply]:
    """Yield the plies of a match, all with one state, which the next one changes; then check its result.

    Raises `StoreError` as `replay` does.
    """
    name = match.id
    try:
        state = game.new_initial_state()
        dice = Dice(match.streams(keys)) if keys else None
        opening = match.opening
        movers = []
        for number, text in enumerate(match.moves):
            who = state.current_player()
            movers.append(who)
            by, drawn = "bot", None
            if who == CHANCE:
                by, drawn = "dice", dice.roll(state) if dice else None
            elif opening:
                drawn = dice.opening(state) if dice else None
                if drawn is not None and state.child(drawn).is_terminal():
                    opening, drawn = 0, None
                else:
                    opening -= 1
                    by = "opening"
            if by == "bot":
                if len(state.legal_actions()) == 1:
                    by = "forced"
                elif who in match.forfeits and match.forfeits[who][1] <= number:
                    by, drawn = "substitute", dice.substitute(state) if dice else None
            expected = None if drawn is None else state.action_to_string(drawn)
            state.apply_action(state.string_to_action(text))
            yield Ply(number, who, text, by, expected, state)
    except EngineError as error:
        raise StoreError(f"match {name}: its moves cannot be replayed: {error}") from None
    except Exception as error:
        raise StoreError(f"match {name}: its game fails when it is replayed: {summarise_error(error)}") from error
    _check_forfeits(match, name, [*movers, state.current_player()])
    _check_end(match, name, state)


def check_draws(plies: Iterable[Ply | ReplayedPly]) -> int:
    """Return how many draws were recomputed; raises `StoreError` for the first that differs."""
    drawn = 0
    for ply in plies:
        drawn += ply.expected is not None
        if ply.expected not in (None, ply.text):
            what = f"ply {ply.number + 1} ({ply.by}) is {ply.text} in the log, {ply.expected} by the keys"
            raise StoreError(f"audit: {what}")
    return drawn


def check_words(match: StoredMatch) -> None:
    """Raise `StoreError` unless causes and notes are such as the referee writes."""
    for cause, _ in match.forfeits.values():
        if cause not in FORFEIT_CAUSES:
            raise StoreError(f"no cause of a forfeit: {cause}{did_you_mean(cause, FORFEIT_CAUSES)}")
    for ply, note in match.notes:
        if clean_note(note) != note:
            raise StoreError(f"the note of ply {ply + 1} is not one of at most {MAX_NOTE_CHARS} printable characters")


def check_game(board: Board) -> Game:
    """Return the game of a board; raises `StoreError` when its rules or options differ from this arena's."""
    try:
        game = load_game(board.game, board.players)
    except EngineError as error:
        raise StoreError(str(error)) from None
    name, version, here = board.game, board.rules_version, game.type.rules_version
    if here != version:
        raise StoreError(f"{name} was played by version {version} of its rules; this arena has version {here}")
    if game.spec != name or dict(game.params) != json.loads(board.params):
        raise StoreError(f"the options of {name} are not those of this arena")
    return game


def _check_forfeits(match: StoredMatch, name: str, movers: list[int]) -> None:
    """Check that seats forfeited on their turns, and that the match ended when one seat was left, no sooner.

    `movers` has who was to move at each ply, and at the end.
    """
    plies = len(match.moves)
    for seat, (_, ply) in match.forfeits.items():
        if not -1 <= ply <= plies or (ply >= 0 and movers[ply] != seat):
            raise StoreError(f"match {name}: seat {seat} cannot have forfeited at ply {ply + 1}")
    over, decided = movers[-1] == TERMINAL, len(match.forfeits) >= match.players - 1
    adjudicated = match.ended in ADJUDICATED
    if adjudicated and (over or match.forfeits):
        raise StoreError(f"match {name}: was over, or a seat had forfeited, before it could be adjudicated")
    last = max((ply for _, ply in match.forfeits.values()), default=-1)
    if not (over or decided or adjudicated):
        raise StoreError(f"match {name}: its moves end before the match does")
    if decided and (over or max(last, 0) != plies):
        raise StoreError(f"match {name}: its moves go on after all seats but one have forfeited")


def _check_end(match: StoredMatch, name: str, state: State) -> None:
    forfeit_plies = {seat: ply for seat, (_, ply) in match.forfeits.items()}
    over = state.is_terminal()
    if match.ended in ADJUDICATED:  # `arena.match.adjudication` checks why
        ended, ranks = match.ended, [sum(other < rank for other in match.ranks) for rank in match.ranks]
    else:
        ended = state.ended if over else "forfeit"
        ranks = ranks_with_forfeits(state.ranks() if over else [0] * match.players, forfeit_plies)
    found: list[tuple[str, Any, Any]] = [
        ("ending", ended, match.ended),
        ("ranks", ranks, match.ranks),
        ("scores", final_scores(state) or [None] * match.players, match.scores),
        ("final position's hash", final_hash(state), match.final),
    ]
    for what, ours, theirs in found:
        if ours != theirs:
            raise StoreError(f"match {name}: {what} {ours} on replay, {theirs} in the log")
