"""A match in play: its position, whose turn it is, its clocks and forfeits."""

from __future__ import annotations

import math

from arena.core.limits import Limits
from arena.core.text import without_controls
from arena.match.dice import Dice, Streams
from arena.match.estimates import MAX_MATCH_ESTIMATES, MAX_MATCH_VISIT_COUNTS, PackedEstimate, SearchInfo
from arena.match.faults import CLOCK_CAUSES, MAX_DETAIL_CHARS
from arena.match.game_faults import GameFailure, check_length, check_turn, check_word, game_fault_of, max_plies
from arena.match.player import MAX_MATCH_NOTES_CHARS, Player
from arena.match.result import Forfeit, ranks_with_forfeits
from engine import Game, State
from engine.state import KernelGame

BEFORE_PLAY = -1
"""Ply of what happens before the first one."""


class Annotations:
    """Notes and estimates of one match, within its bounds."""

    def __init__(self) -> None:
        self.notes: list[tuple[int, str]] = []
        """Ply and text."""
        self.estimates: list[PackedEstimate] = []
        self.dropped: dict[int, int] = {}
        """By seat: evaluations, lines and visit counts that were wrong, and are not kept."""
        self._note_chars = self._visit_counts = 0

    @property
    def has_room(self) -> bool:
        """Whether another estimate would be kept."""
        return len(self.estimates) < MAX_MATCH_ESTIMATES

    def add_note(self, ply: int, note: str | None) -> None:
        """Keep a bot's note on its move, unless the notes of the match are too long already."""
        if note and self._note_chars < MAX_MATCH_NOTES_CHARS:
            self._note_chars += len(note)
            self.notes.append((ply, note))

    def add_estimate(self, ply: int, seat: int, info: SearchInfo) -> None:
        """Keep a bot's estimate, unless the match has too many already, and count its wrong parts."""
        evaluation, line, wrong, counts, steps = info
        if self._visit_counts >= MAX_MATCH_VISIT_COUNTS:
            counts = ()
        if wrong:
            self.dropped[seat] = self.dropped.get(seat, 0) + wrong
        if (evaluation or line or counts or steps) and self.has_room:
            self._visit_counts += len(counts) // 2
            self.estimates.append((ply, evaluation, line, counts, steps))


class Match:
    """The state of one match. Players, persons and the worker look at it; the referee changes it."""

    def __init__(self, game: Game, streams: Streams, limits: Limits, position: str | None = None) -> None:
        """Begin at a position; raises `GameFailure` for one that cannot be read."""
        self.game, self.streams, self.limits = game, streams, limits
        self.dice = Dice(streams)
        self.checks_rules = not game.kernels
        """Whether what the game returns is checked; kernels have no types to get wrong."""
        try:
            self.max_plies = max_plies(game)
            self.state: State = game.new_initial_state() if position is None else game.state_from_position(position)
        except Exception as error:
            raise GameFailure(game_fault_of(error, [], None)) from error
        self.players: list[Player] = []
        """By seat."""
        self._moves: list[str] = []
        self.movers: list[int] = []
        """By ply: the seat that moved, or `CHANCE`."""
        self.left = [limits.seconds_per_match or math.inf] * game.players
        """By seat: seconds for the rest of the match."""
        self.forfeits: dict[int, Forfeit] = {}
        """By seat."""
        self.annotations = Annotations()
        self.playing = False
        """Whether the bots are ready, and plies are played."""
        self.decided = False
        """Whether forfeits have left one seat, or none."""
        self.adjudicated: tuple[str, tuple[int, ...]] | None = None
        """How the referee ended it early, and with which ranks."""
        self.finished = False
        self.timed = False
        """Whether its moves depend on a clock, so that it cannot be repeated."""

    @property
    def ply(self) -> int:
        """Number of the next ply; `BEFORE_PLAY` before the first."""
        return len(self.movers) if self.playing else BEFORE_PLAY

    @property
    def moves(self) -> list[str]:
        """Every ply so far in notation."""
        if not self.checks_rules:
            assert isinstance(self.game, KernelGame)
            known = len(self._moves)
            self._moves += self.game.words(self.movers[known:], self.state.history()[known:])
        return self._moves

    def whose_turn(self) -> int:
        """Return the seat to move, `CHANCE` or `TERMINAL`; raises `BrokenRules` for what no game can return."""
        who = self.state.current_player()
        if self.checks_rules:
            check_turn(self.state, who)
        return who

    def apply(self, action: int, who: int | None = None) -> None:
        """Play an action of the seat to move, or a chance outcome."""
        state = self.state
        if self.checks_rules:
            word = state.action_to_string(action)
            check_word(state, word)
            self._moves.append(word)
        self.movers.append(state.current_player() if who is None else who)
        if len(self.movers) > self.max_plies:
            check_length(state, self.movers, self.max_plies)
        state.apply_action(action)

    def allowed(self, seat: int) -> float:
        """Return the seconds that a seat has for its next move."""
        return max(0.0, min(self.limits.seconds_per_move, self.left[seat]))

    def margin(self, seat: int) -> float:
        """Return the seconds by which a seat may overrun them, less those by which it has overrun the match's."""
        return max(0.0, self.limits.margin + min(0.0, self.left[seat]))

    def forfeit(self, seat: int, cause: str, detail: str) -> None:
        """Record a seat's forfeit; before play every cause but `memory` is an `init` fault."""
        self.timed |= cause in CLOCK_CAUSES
        if not self.playing and cause != "memory":
            cause = "init"
        self.forfeits[seat] = Forfeit(cause, self.ply, without_controls(detail[-MAX_DETAIL_CHARS:]))
        self.decided = len(self.forfeits) >= self.game.players - 1

    @property
    def ended(self) -> str:
        """How the match ended."""
        if self.adjudicated is not None:
            return self.adjudicated[0]
        return self.state.ended if self.state.is_terminal() else "forfeit"

    def ranks(self) -> list[int]:
        """Return the final ranks by seat."""
        if self.adjudicated is not None:
            return [*self.adjudicated[1]]
        order = self.state.ranks() if self.state.is_terminal() else [0] * self.game.players
        return ranks_with_forfeits(order, {seat: forfeit.ply for seat, forfeit in self.forfeits.items()})
