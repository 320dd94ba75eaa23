"""Matches in play, drawn once for all who watch them: ply by ply, then their end as the log has it."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any, NamedTuple

from arena.core.errors import ArenaError
from arena.match.alarm import GAME_CPU_SECONDS
from arena.match.estimates import EVALUATION_STEPS
from arena.match.stored import StoredMatch
from arena.match.views import view
from arena.results.pages.replay import bounded, drawn, outcome_of, says_of
from arena.results.pages.templates import board_name, packed
from arena.runner.in_play import MAX_SHOWN_MATCHES, InPlay, InPlayFeed
from arena.web.catalog import Log, LogCatalog, LogPlan
from arena.web.links import Links
from arena.web.pages.match import stored_match_of
from arena.web.pages.matches import shown_id
from arena.web.rendering import fragment
from engine import load_game
from engine.words import Names, colour_name

TICK_SECONDS = 1.0
"""Time between two events of a stream."""
FIRST_WAIT_SECONDS = 0.3
"""Time that a page waits for the run to send what is in play."""
MAX_FRAMES = 4
"""Plies of a match that are drawn for one event."""
MAX_BACKLOG = 3 * MAX_FRAMES
"""Plies that may wait to be drawn; of more, all but the last ones are left out."""
RESULT_TICKS = 5
"""Events for which a match is shown after its end."""
MAX_MISSING_TICKS = 10
"""Events for which a match that is no longer in play may be missing in the log."""
MAX_CURVE_POINTS = 400
MIN_GRAPH_PLIES = 20
"""Plies that the graph has room for at least."""


class LiveFrame(NamedTuple):
    """A position as a page shows it."""

    ply: int
    says: str
    """What the ply did."""
    picture: str
    text: str
    values: list[float | None]
    """By seat: the return that was expected last."""


class LiveBoard:
    """One match, from when it was seen first."""

    def __init__(self, plan: LogPlan, match: InPlay) -> None:
        """Raises `IndexError` for boards and entries that the plan has not, and what the game raises."""
        schedule = plan.schedule
        board = schedule.boards[match.board]
        self.id, self.seats = match.id, match.seats
        self.labels = [plan.name(schedule.entries[entry].label) for entry in match.seats]
        self.names = Names.of_players(self.labels)
        self.title = board_name(board.game, board.players)
        self.game = load_game(board.game, board.players)
        if len(self.labels) != self.game.players:
            raise IndexError("another number of players")
        self.moves: list[int] = []
        """As far as they are known."""
        self.evaluations: dict[int, tuple[float, ...]] = {}
        """By ply."""
        self.frames: list[LiveFrame] = []
        """Those of the latest event; the last one is the present position."""
        self.verdict = ""
        self._result: StoredMatch | None = None
        self.state, self._drawn = self.game.new_initial_state(), 0
        self._movers: list[int] = []
        """By ply that was drawn or left out: the seat that moved."""
        self.is_failed = False
        """Whether its moves are not those of the plan's game, or that draws nothing."""
        self.ended_ticks = 0

    def begin(self) -> None:
        self.state, self._drawn, self._movers = self.game.new_initial_state(), 0, []

    def take(self, match: InPlay) -> None:
        """Learn how far a match in play has come; it begins again when its moves are others."""
        if match.moves[: self._drawn] != self.moves[: self._drawn]:
            self.begin()
        self.moves, self.ended_ticks = match.moves, 0
        self.evaluations = {ply: tuple(each / EVALUATION_STEPS for each in steps) for ply, *steps in match.evaluations}

    def end(self, result: StoredMatch) -> None:
        """Learn how the match went on and ended."""
        moves, state = [], self.game.new_initial_state()
        for word in result.moves:
            moves.append(state.string_to_action(word))
            state.apply_action(moves[-1])
        if moves[: self._drawn] != self.moves[: self._drawn]:
            self.begin()
        self.moves = moves
        self.evaluations = {
            ply: each.evaluation for ply, each in result.estimates.items() if each.evaluation is not None
        }
        self._result = result

    @property
    def is_over(self) -> bool:
        """Whether its end is known, drawn or not."""
        return self._result is not None

    def draw(self) -> bool:
        """Draw what is new, a bounded number of plies; return whether there was any."""
        left = len(self.moves) - self._drawn
        if self.frames and not left and (self._result is None or self.verdict):
            return False
        skipped = max(0, left - 1) if not self.frames else left - MAX_FRAMES if left > MAX_BACKLOG else 0
        first = self._drawn + skipped
        frames: list[LiveFrame] = []
        with bounded(f"match {self.id}") as alarm:
            alarm.arm(GAME_CPU_SECONDS)
            for number in range(self._drawn, min(len(self.moves), first + MAX_FRAMES)):
                before = self.state.clone() if number >= first else None
                action = self.moves[number]
                self._movers.append(self.state.current_player())
                self.state.apply_action(action)
                if before is not None:
                    frames.append(self._frame(says_of(before, action, self.state, self.names)))
            self._drawn = len(self._movers)
            if self._result is not None and self._drawn == len(self.moves):
                self.verdict = outcome_of(self._result, self.state, self.names)
        self.frames = frames or self.frames[-1:] or [self._frame("")]
        return True

    def _frame(self, says: str) -> LiveFrame:
        shown = view(self.state, None)
        words, picture = str(shown), drawn(shown, self.labels, narrow=True)
        ply = len(self._movers)
        values = [points[-1][1] if points else None for points in self._points(ply)]
        return LiveFrame(ply, says, picture, words, values)

    def _points(self, plies: int) -> list[list[tuple[int, float]]]:
        """Return by seat plies and expected returns, those of its own bot, or the others' where that gives none."""
        shown = [(ply, values) for ply, values in sorted(self.evaluations.items()) if ply < plies]
        found = []
        for seat in range(len(self.labels)):
            own = [(ply + 1, values[seat]) for ply, values in shown if self._movers[ply] == seat]
            found.append(own or [(ply + 1, values[seat]) for ply, values in shown])
        return found

    def curves(self) -> list[str]:
        """Return by seat the points of its graph: ply, and how far below 0 the expected return is."""
        found = []
        for points in self._points(self._drawn):
            step = -(-len(points) // MAX_CURVE_POINTS) or 1
            found.append(" ".join(f"{ply},{-value:.3g}" for ply, value in [*points[:-1:step], *points[-1:]]))
        return found


class Watcher:
    """The matches in play of one log, for one stream of events or one page. Not to be used by two threads at once."""

    def __init__(self, catalog: LogCatalog, links: Links, name: str) -> None:
        self._catalog, self._links, self._name = catalog, links, name
        self.feed: InPlayFeed | None = None
        self._slots: list[LiveBoard | None] = [None] * MAX_SHOWN_MATCHES
        self._event = ""

    def event(self) -> str:
        """Return what open pages are told: all boards that are shown, packed, each with its newest plies."""
        changed, boards = self.look()
        if changed or not self._event:
            self._event = (
                '{"boards":"' + packed([board_values(self._links, self._name, each) for each in boards]) + '"}'
            )
        return self._event

    def look(self) -> tuple[bool, list[LiveBoard]]:
        """Draw what is new; return whether anything is, and the boards that are shown."""
        log = self._catalog.log(self._name)
        first = self.feed is None
        self.feed = self.feed or InPlayFeed(log.path.parent)
        shown = self.feed.read(FIRST_WAIT_SECONDS if first else 0.0)
        changed = self._seat(log, {each.id: each for each in shown}) if shown or any(self._slots) else False
        boards = [each for each in self._slots if each is not None and not each.is_failed]
        return changed, [each for each in boards if each.frames]

    def _seat(self, log: Log, shown: dict[str, InPlay]) -> bool:
        plan = self._catalog.plan(log)
        changed = False
        for slot, board in enumerate(self._slots):
            if board is not None and self._is_done(board, shown):
                self._slots[slot], changed = None, True
        for match in shown.values():
            board = next((each for each in self._slots if each is not None and each.id == match.id), None)
            if board is None and None in self._slots:
                board = self._slots[self._slots.index(None)] = _board_of(plan, match)
            if board is not None and not board.is_failed and board.seats == match.seats:
                board.take(match)
        for board in self._slots:
            if board is not None and not board.is_failed:
                changed |= self._advance(log, plan, board, shown)
        return changed

    def _is_done(self, board: LiveBoard, shown: dict[str, InPlay]) -> bool:
        """Return whether a board is not to be shown any more."""
        if board.id in shown:
            return False
        board.ended_ticks += 1
        if board.is_failed:
            return True
        return board.ended_ticks > (RESULT_TICKS if board.verdict else MAX_MISSING_TICKS)

    def _advance(self, log: Log, plan: LogPlan, board: LiveBoard, shown: dict[str, InPlay]) -> bool:
        """Draw what is new of a board; return whether it has changed."""
        result = None
        if board.id not in shown and not board.is_over:
            with contextlib.suppress(ArenaError, OSError, sqlite3.Error):  # it is not written yet, or never will be
                result = stored_match_of(log, plan, board.id)
        try:
            if result is not None:
                board.end(result)
            had_verdict = board.verdict
            changed = board.draw()
            if board.verdict and not had_verdict:
                board.ended_ticks = 0
            return changed
        except Exception:  # a game that fails, or moves that are none: there is nothing to show
            board.is_failed = True
            return True

    def close(self) -> None:
        """Stop watching."""
        if self.feed is not None:
            self.feed.close()


def _board_of(plan: LogPlan, match: InPlay) -> LiveBoard | None:
    try:
        return LiveBoard(plan, match)
    except (ArenaError, IndexError, ValueError, TypeError):
        return None


def board_values(links: Links, name: str, board: LiveBoard) -> dict[str, Any]:
    """Return what pages show of a board: its frame of HTML, and the newest plies."""
    return {
        "id": board.id,
        "html": fragment("live_board.html", links, picture="", **template_values(links, name, board)),
        "frames": [each._asdict() for each in board.frames],
        "curves": board.curves(),
        "verdict": board.verdict,
        "address": links.match(name, board.id) if board.verdict else "",
    }


def template_values(links: Links, name: str, board: LiveBoard) -> dict[str, Any]:
    """Return the values of the template of a board."""
    return {
        "board": board,
        "match": shown_id(board.id),
        "frame": board.frames[-1],
        "seats": list(zip(board.labels, map(colour_name, range(len(board.labels))), board.curves(), strict=True)),
        "width": max(MIN_GRAPH_PLIES, board.frames[-1].ply),
        "address": links.match(name, board.id) if board.verdict else "",
    }
