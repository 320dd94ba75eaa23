"""Play one match: dice, clocks, faults. Pure given its inputs, but for bots that look at a clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.core.errors import WorkerError, has_no_room
from arena.core.limits import Limits
from arena.core.text import without_controls
from arena.match.alarm import Alarm, Clock
from arena.match.dice import Dice, Streams
from arena.match.estimates import MOST, MOST_VISITED, Given, Kept
from arena.match.faults import CLOCK_CAUSES, MAX_DETAIL, Charge, Fault, Killed, Lingered, fault_of_player
from arena.match.game_faults import (
    GameFailed,
    check_end,
    check_length,
    check_turn,
    check_word,
    fault_of,
    most_plies,
)
from arena.match.heartbeat import NOBODY, STARVED
from arena.match.player import (
    MAX_NOTES,
    Absent,
    Answer,
    Contestant,
    Entrant,
    First,
    LocalPlayer,
    Player,
)
from arena.match.result import PER_CALL, Forfeit, Result, final_hash, final_scores, ranks_with_forfeits
from engine import CHANCE, TERMINAL, Game
from engine.state import KernelGame

BEFORE_PLAY = -1
KILLS = 2
"""Times that a match is played again for one bot whose process anybody may have killed."""


@dataclass(frozen=True)
class Overrun:
    """How the first try of a match ended: a bot overran its time while it had little of the processor."""

    seat: int
    ply: int
    detail: str
    call: list[int]
    """As in `Result.calls`."""
    actions: list[int]
    """All plies before."""
    forfeits: dict[int, Forfeit]
    """Other seats' forfeits before."""


class Course(NamedTuple):
    """What was played of a match before, so that it can go on."""

    position: str | None = None
    """Position string that it starts from; None for the start of the game."""
    actions: Sequence[int] = ()
    """All plies so far. Bots are asked for theirs again, which stand whatever they answer now."""


class Replay(Exception):
    """A match is to be played again from its start: after an overrun, or since a seat's process was killed."""

    def __init__(self, overrun: Overrun | None = None, killed: int = NOBODY) -> None:
        super().__init__(overrun.detail if overrun is not None else f"seat {killed} was killed")
        self.overrun, self.killed = overrun, killed


NOT_THE_GAMES = (Replay, WorkerError, MemoryError, KeyboardInterrupt)
"""Exceptions in a match that are no fault of its game."""
_kept_for_ever: list[Any] = []
"""Bots whose end has ended a worker before."""

Report = Callable[[int, int, float], None]
"""Called with who is at work, for a watchdog outside: seat or `NOBODY`, ply, seconds at most."""


def _unwatched(seat: int, ply: int, limit: float) -> None:
    pass


def _unseen(match: Match) -> None:
    pass


def play_match(
    game: Game,
    entrants: Sequence[Entrant],
    streams: Streams,
    opening: int = 0,
    limits: Limits | None = None,
    charges: Sequence[Charge] = (),
    report: Report = _unwatched,
    clock: Clock | None = None,
    spent: Collection[int] = (),
    course: Course = Course(),  # noqa: B008 - it is frozen
    begun: Callable[[Match], None] = _unseen,
) -> Result:
    """Play a match from the start to its end and return it; a bot's fault forfeits its seat and nothing else.

    `opening` is the number of random opening plies. `charges` are faults of earlier tries, which ended their workers.
    When a bot's process ends by a signal that anybody may have sent, the match is played again with what was played so
    far as its course, and faults so far stand: a bot that ends itself draws nothing anew. That is done `KILLS` times at
    most for each seat, then it is a fault; for the seats in `spent` at once.
    `course` is what was played before: bots see the match as they did then, so those that keep a state have it again,
    and one that now answers otherwise (it looks at a clock) is not heard.
    `begun` is called with the match, and with that of a second try.
    When a bot overruns its time while it has little of the processor, the whole match is played once more, for good,
    with the same moves up to there; a bot that chooses otherwise on the way gets no second chance.
    """
    faults = {charge.seat: charge for charge in charges}
    first, timed = None, False
    killed: list[int] = []
    with Alarm() as alarm:
        while True:
            match = Match(game, streams, limits or Limits(), faults, alarm, report, clock or Clock(), first)
            match.begin(course)
            begun(match)
            match.timed = timed
            match.spent = {*spent, *(seat for seat in killed if killed.count(seat) >= KILLS)}
            try:
                result = match.play(entrants, opening)
                result.killed = tuple(killed)
                return result
            except Replay as replay:
                if replay.overrun is not None:
                    first = replay.overrun
                else:
                    killed.append(replay.killed)
                    course, faults, timed = match.so_far(), match.known_faults(), match.timed
            finally:
                match.dismiss()


def overrun(took: float, limit: float, used: float) -> Fault:
    """Return the fault of a call that took too long."""
    return Fault("timeout", f"took {took:.3g} s, more than {limit:g} s ({used:.3g} s of processor time)")


def warm_up(game: Game) -> None:
    """Compile, or load, everything of a game that a match calls."""
    play_match(game, [Contestant(First, {})] * game.players, Streams(bytes(32), bytes(32), bytes(16)), 2)


@dataclass
class Match:
    """One match in play."""

    game: Game
    streams: Streams
    limits: Limits
    charges: Mapping[int, Charge]
    """By seat."""
    alarm: Alarm
    report: Report
    clock: Clock
    first: Overrun | None
    """How the first try ended, in the second."""
    forfeits: dict[int, Forfeit] = field(default_factory=dict)
    notes: list[tuple[int, str]] = field(default_factory=list)
    estimates: list[Kept] = field(default_factory=list)
    dropped: dict[int, int] = field(default_factory=dict)
    """By seat: evaluations, lines and visit counts that were wrong."""
    calls: list[int] = field(default_factory=list)
    noted: int = 0
    """Characters of notes so far."""
    visited: int = 0
    """Visit counts so far."""
    timed: bool = False
    clocked: set[int] = field(default_factory=set)
    """Seats whose bots say that their moves depend on a clock."""
    playing: bool = False
    decided: bool = False
    """Whether forfeits have left one seat, or none."""
    finished: bool = False
    spent: Collection[int] = ()
    """Seats for whose killed process the match is not played again."""

    def __post_init__(self) -> None:
        self.dice = Dice(self.streams)
        self.doubtful = not self.game.kernels
        """Whether what the game gives is checked; kernels have no types to get wrong."""
        try:
            self.most_plies = most_plies(self.game)
            self.state = self.game.new_initial_state()
        except Exception as error:
            raise GameFailed(fault_of(error, [], None)) from error
        self.players: list[Player] = []
        self.course = Course()
        self.direct: dict[int, LocalPlayer] = {}
        """By seat: players of bots that are asked directly."""
        self.rested: dict[int, int] = {}
        """By seat: microseconds of processor time that its process has used between its calls."""
        self._moves: list[str] = []
        self.movers: list[int] = []
        """By ply: the seat that moved, or `CHANCE`."""
        self.left = [self.limits.seconds_per_match or math.inf] * self.game.players
        """By seat: seconds for the rest of the match."""
        self.at_least = 0.0 if self.limits.seconds_per_match else self.limits.seconds_per_move
        """Seconds that any seat has for any move."""

    def begin(self, course: Course) -> None:
        """Go by what was played before; raises `GameFailed` for a position that cannot be read."""
        self.course = course
        if course.position is not None:
            try:
                self.state = self.game.state_from_position(course.position)
            except Exception as error:
                raise GameFailed(fault_of(error, [], None)) from error

    def so_far(self) -> Course:
        """Return what was played, here or before."""
        played = self.state.history()
        return self.course if len(played) < len(self.course.actions) else self.course._replace(actions=played)

    def known_faults(self) -> dict[int, Charge]:
        """Return faults by seat, those that are to come again and those so far."""
        found = dict(self.charges)
        for seat, forfeit in self.forfeits.items():
            if seat not in found or forfeit.ply < found[seat].ply:
                found[seat] = Charge(seat, forfeit.ply, forfeit.cause, known=forfeit.detail)
        return found

    def play(self, entrants: Sequence[Entrant], opening: int) -> Result:
        """Seat the bots, have them prepare, and play to the end."""
        for seat, entrant in enumerate(entrants):
            is_direct = isinstance(entrant, Contestant) and entrant.direct
            if not is_direct:
                self.report(NOBODY, BEFORE_PLAY, 0.0)  # each may take its time: a program may have to be built
            player = self.player_of(seat, entrant)
            self.players.append(player)
            if is_direct and isinstance(player, LocalPlayer) and not (self.doubtful or seat in self.charges):
                self.direct[seat] = player
        for seat, player in enumerate(self.players):
            self.set_up(seat, player)
        try:
            if self.doubtful:
                self.alarm.get_ready()
                self.alarm.guards_rules = True
            return self.play_on(opening)
        except NOT_THE_GAMES:
            raise
        except BaseException as error:
            if isinstance(error, OSError) and has_no_room(error):
                raise
            raise GameFailed(fault_of(error, self.moves, self.state)) from error
        finally:
            self.alarm.guards_rules = False

    def play_on(self, opening: int) -> Result:
        """Play when the bots are ready; whatever is raised, but `NOT_THE_GAMES`, is the game's fault."""
        self.playing = True
        self.play_opening(opening)
        dice, state = self.dice, self.state
        while not self.decided and (who := self.whose_turn()) != TERMINAL:
            action = dice.roll(state) if who == CHANCE else self.move_of(who)
            if not self.decided:
                self.apply(action, who)
        return self.result()

    def player_of(self, seat: int, entrant: Entrant) -> Player:
        """Return a seat's player; one that cannot take its seat is at fault itself, but for a machine's faults."""
        try:
            return entrant.join(self, seat)
        except WorkerError:
            raise
        except BaseException as error:
            if isinstance(error, OSError) and has_no_room(error):
                raise
            return Absent(error)

    def whose_turn(self) -> int:
        """Return the seat to move, `CHANCE` or `TERMINAL`; raises `Impossible` for what no game can say."""
        who = self.state.current_player()
        if self.doubtful:
            check_turn(self.state, who)
        return who

    def set_up(self, seat: int, player: Player) -> None:
        """Have a seat's bot get ready; failing is an `init` fault."""
        if not player.guarded:
            self.ask(seat, player.start, self.limits.seconds_to_start)
        ask = self.ask_directly if seat in self.direct else self.ask
        if seat not in self.forfeits and ask(seat, player.prepare, self.limits.seconds_to_prepare):
            self.clocked.add(seat)
            self.timed = True

    def dismiss(self) -> None:
        """Drop the bots, each under its clock: dropping runs code of theirs too. It is no fault any more."""
        for seat, player in enumerate(self.players):
            if seat in self.charges and self.charges[seat].known is None:
                _kept_for_ever.append(player)
            elif player.guarded and seat not in self.direct:
                self.drop(seat, player)
            else:
                player.close()
        self.players.clear()  # they refer to this match: without the circle, both are freed at once
        self.direct.clear()

    def drop(self, seat: int, player: Player) -> None:
        """Drop a bot in this process."""
        limit = self.limits.seconds_per_move
        self.report(seat, self.ply, limit)
        try:
            self.alarm.arm(limit)
            player.close()
        except BaseException:
            pass
        finally:
            self.alarm.disarm()
        self.report(NOBODY, self.ply, 0.0)

    def play_opening(self, plies: int) -> None:
        """Play random plies, the same for all line-ups of a block, but none that would end the match."""
        while plies > 0 and not self.decided and self.whose_turn() != TERMINAL:
            if self.state.is_chance_node():
                self.apply(self.dice.roll(self.state))
                continue
            action = self.dice.opening(self.state)
            if self.state.child(action).is_terminal():
                return
            self.apply(action)
            plies -= 1

    def move_of(self, seat: int) -> int:
        """Return the move for a seat: forced, that of the first try as far as it went, or chosen now."""
        legal = self.state.legal_actions()
        if len(legal) == 1:
            return legal[0]
        chosen = self.choice_of(seat, legal)
        if self.ply < len(self.course.actions):
            return self.as_before(seat, chosen)
        if self.first is None or self.ply >= self.first.ply:
            return chosen
        before = self.first.actions[self.ply]
        if chosen == before or seat != self.first.seat or seat in self.forfeits:
            return before
        self.let_stand(self.first, chosen)
        return self.dice.substitute(self.state)

    def as_before(self, seat: int, chosen: int) -> int:
        """Return the move that was made here before; a seat that forfeits only now ends what was played before."""
        before = self.course.actions[self.ply]
        if seat in self.forfeits and chosen != before:
            self.course = self.course._replace(actions=self.course.actions[: self.ply])
            return chosen
        return before

    def choice_of(self, seat: int, legal: list[int]) -> int:
        """Return what its bot chooses; after a forfeit, a random move."""
        if (direct := self.direct.get(seat)) is not None and seat not in self.forfeits:
            action = self.ask_directly(seat, direct.bot.choose, self.state)
            return self.dice.substitute(self.state) if action is None else action
        if seat not in self.forfeits:
            answer: Answer | None = self.ask(seat, self.players[seat].choose, self.allowed(seat))
            if answer is not None and answer.action in legal:
                self.keep_note(answer.note)
                if answer.given is not None:
                    self.keep_estimate(seat, answer.given)
                return answer.action
            if answer is not None:
                self.forfeit(seat, "illegal_action", answer.refusal or str(self.state.refuse(answer.action)))
        return self.dice.substitute(self.state)

    def let_stand(self, first: Overrun, chosen: int) -> None:
        """Go to where the first try ended, and let its overrun count: its bot did not choose the same moves again."""
        now, then = (self.state.action_to_string(action) for action in (chosen, first.actions[self.ply]))
        detail = f"{first.detail}; when the match was played again, it chose {now} at ply {self.ply + 1}, before {then}"
        for action in first.actions[self.ply :]:
            self.apply(action)
        self.forfeits |= first.forfeits
        self.calls += first.call
        self.forfeit(first.seat, "timeout", detail)

    def allowed(self, seat: int) -> float:
        """Return the seconds that a seat has for its next move."""
        return max(0.0, min(self.limits.seconds_per_move, self.left[seat]))

    def margin(self, seat: int) -> float:
        """Return the seconds by which it may overrun them, less those by which it has overrun the match's."""
        return max(0.0, self.limits.margin + min(0.0, self.left[seat]))

    @property
    def ply(self) -> int:
        """Number of the next ply; `BEFORE_PLAY` before the first."""
        return len(self.movers) if self.playing else BEFORE_PLAY

    @property
    def moves(self) -> list[str]:
        """Every ply so far in notation."""
        if not self.doubtful:
            assert isinstance(self.game, KernelGame)
            known = len(self._moves)
            self._moves += self.game.words(self.movers[known:], self.state.history()[known:])
        return self._moves

    def ask_directly(self, seat: int, method: Callable[[Any], Any], argument: Any) -> Any:
        """Call a method of a bot that is asked directly and return what it returns; None when its seat forfeits.

        Reading its processor time would take longer than it does: the time on the wall counts as such, and an overrun
        as the machine's doing.
        """
        wall, fault, value = self.clock.wall, None, None
        started = wall()
        try:
            value = method(argument)
        except BaseException as error:
            fault = fault_of_player(error, guarded=True)
        took = wall() - started
        spent = int(took * 1e6 + 0.5)
        self.calls += seat, self.ply, spent, spent, 0
        if took > self.at_least or not self.playing:  # else the match has no clock
            limit = self.allowed(seat) if self.playing else self.limits.seconds_to_prepare
            if took > limit + self.margin(seat) and fault is None:
                fault = overrun(took, limit, took)
            if self.playing:
                self.left[seat] += self.limits.increment - took
        return value if fault is None else self.judge(seat, fault, starved=True)

    def ask(self, seat: int, method: Callable[[float], Any], limit: float) -> Any:
        """Call a method of a seat's player under its clock and return what it returns.

        The other outcomes: a fault forfeits the seat, and None is returned; a killed process or a starved machine
        raises `Replay`.
        """
        ply, charge = self.ply, self.charges.get(seat)
        if charge is not None and charge.ply <= ply:
            return self.forfeit(seat, charge.cause, charge.detail)
        player, alarm, clock = self.players[seat], self.alarm, self.clock
        guarded = player.guarded
        cpu_time = clock.cpu if guarded else player.cpu
        latest = limit + self.margin(seat)
        fault = value = None
        cpu, started = cpu_time(), clock.wall()
        self.report(seat, ply, latest)
        try:
            alarm.bot_at_work = True
            try:
                if guarded:
                    alarm.arm(latest)
                value = method(limit)
            finally:
                if guarded:
                    alarm.disarm()
                alarm.bot_at_work = False
        except BaseException as error:
            fault = fault_of_player(error, guarded)
        wall, used = clock.wall() - started, cpu_time() - cpu
        self.report(NOBODY, ply, 0.0)
        self.calls += seat, ply, int(wall * 1e6 + 0.5), int(used * 1e6 + 0.5), self.between(seat)
        if ply >= 0:
            self.left[seat] += self.limits.increment - wall
        if guarded and (alarm.rang or (wall > latest and fault is None)):  # whatever the bot made of the alarm
            fault = overrun(wall, limit, used)
        fault = fault or self.paused(player)
        return value if fault is None else self.judge(seat, fault, starved=used < STARVED * wall)

    def between(self, seat: int) -> int:
        """Return the microseconds of processor time that a seat's process has used since it was asked before."""
        before = self.rested.get(seat, 0)
        self.rested[seat] = int(self.players[seat].between() * 1e6 + 0.5)
        return self.rested[seat] - before

    def paused(self, player: Player) -> Fault | None:
        """Wait until a player's process is stopped, on nobody's time; return the fault of one that went on for long."""
        try:
            player.pause()
        except Fault as fault:
            return fault
        return None

    def judge(self, seat: int, fault: Fault, starved: bool) -> None:
        """Have a seat forfeit for a fault, or raise `Replay` for one that may not be its own."""
        if isinstance(fault, Killed):
            if seat not in self.spent:
                raise Replay(killed=seat)
            self.timed = True  # played again it may go otherwise
        may_be_starved = fault.cause == "timeout" and self.first is None and seat not in self.clocked
        if may_be_starved and (starved or isinstance(fault, Lingered)):
            actions, others = self.state.history(), dict(self.forfeits)
            raise Replay(Overrun(seat, self.ply, str(fault), self.calls[-PER_CALL:], actions, others))
        self.forfeit(seat, fault.cause, str(fault))

    def forfeit(self, seat: int, cause: str, detail: str) -> None:
        """Note a fault; before play it is an `init` fault, unless memory ran out."""
        self.timed |= cause in CLOCK_CAUSES
        if not self.playing and cause != "memory":
            cause = "init"
        self.forfeits[seat] = Forfeit(cause, self.ply, without_controls(detail[-MAX_DETAIL:]))
        self.decided = len(self.forfeits) >= self.game.players - 1

    def keep_note(self, note: str | None) -> None:
        """Keep a bot's note on its move, unless the notes are too long already."""
        if note and self.noted < MAX_NOTES:
            self.noted += len(note)
            self.notes.append((len(self.movers), note))

    def keep_estimate(self, seat: int, given: Given) -> None:
        """Keep what a bot tells of its search, unless there is too much already, and count what was wrong."""
        evaluation, line, wrong, counts = given
        if self.visited >= MOST_VISITED:
            counts = ()
        if wrong:
            self.dropped[seat] = self.dropped.get(seat, 0) + wrong
        if (evaluation or line or counts) and len(self.estimates) < MOST:
            self.visited += len(counts) // 2
            self.estimates.append((len(self.movers), evaluation, line, counts))

    def apply(self, action: int, who: int | None = None) -> None:
        """Play an action of whose turn it is."""
        state = self.state
        if self.doubtful:
            word = state.action_to_string(action)
            check_word(state, word)
            self._moves.append(word)
        self.movers.append(state.current_player() if who is None else who)
        if len(self.movers) > self.most_plies:
            check_length(state, self.movers, self.most_plies)
        state.apply_action(action)

    @property
    def ended(self) -> str:
        """How the match ended."""
        return self.state.ended if self.state.is_terminal() else "forfeit"

    def ranks(self) -> list[int]:
        """Return the final ranks by seat."""
        order = self.state.ranks() if self.state.is_terminal() else [0] * self.game.players
        return ranks_with_forfeits(order, {seat: forfeit.ply for seat, forfeit in self.forfeits.items()})

    def result(self) -> Result:
        """Return the result of the match, which is over."""
        if self.doubtful:
            check_end(self.state)
        self.finished = True
        return Result(
            ranks=self.ranks(),
            scores=final_scores(self.state),
            ended=self.ended,
            moves=self.moves,
            final_hash=final_hash(self.state),
            timed=self.timed,
            forfeits=dict(self.forfeits),
            notes=self.notes,
            calls=list(self.calls),
            retried=self.first is not None,
            estimates=self.estimates,
            dropped=self.dropped,
        )
