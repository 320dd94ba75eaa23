"""Call bots under their clocks: what each call took, which fault it was, and whether the match is played again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.core.errors import WorkerError, is_disk_full
from arena.match.alarm import Alarm, Clock
from arena.match.faults import Fault, KnownFault, PauseOverrun, ProcessKilled, fault_of_player
from arena.match.heartbeat import NOBODY, STARVED_CPU_SHARE
from arena.match.match import BEFORE_PLAY, Match
from arena.match.player import AbsentPlayer, LocalBot, LocalPlayer, Player, SeatTaker
from arena.match.replays import Overrun, PlayAgain
from arena.match.result import NUMBERS_PER_CALL

_never_freed: list[Any] = []
"""Bots whose end has ended a worker before."""

ActivityListener = Callable[[int, int, float], None]
"""Called with who is at work, for a watchdog outside: seat or `NOBODY`, ply, seconds at most."""


def overrun(took: float, limit: float, used: float) -> Fault:
    """Return the fault of a call that took too long."""
    return Fault("timeout", f"took {took:.3g} s, more than {limit:g} s ({used:.3g} s of processor time)")


@dataclass
class BotCalls:
    """Calls of the bots of one match, from taking their seats to leaving them."""

    match: Match
    alarm: Alarm
    clock: Clock
    on_activity: ActivityListener
    known_faults: Mapping[int, KnownFault]
    """By seat."""
    first_try: Overrun | None
    """How the first try of the match ended, in the second."""
    no_replay_seats: Collection[int] = ()
    """Seats for whose killed process the match is not played again."""
    durations: list[int] = field(default_factory=list)
    """As in `Result.calls`."""
    clocked: set[int] = field(default_factory=set)
    """Seats whose bots say that their moves depend on a clock."""
    direct: dict[int, LocalPlayer] = field(default_factory=dict)
    """By seat: players of bots that are asked directly."""
    _between: dict[int, int] = field(default_factory=dict)
    """By seat: microseconds of processor time that its process has used between its calls."""

    def __post_init__(self) -> None:
        limits = self.match.limits
        self._min_seconds = 0.0 if limits.seconds_per_match else limits.seconds_per_move
        """Seconds that any seat has for any move."""

    def seat_bots(self, bots: Sequence[SeatTaker]) -> None:
        """Seat the bots, and have each of them prepare."""
        match = self.match
        for seat, bot in enumerate(bots):
            is_direct = isinstance(bot, LocalBot) and bot.direct
            if not is_direct:
                self.on_activity(NOBODY, BEFORE_PLAY, 0.0)  # each may take its time: a program may have to be built
            player = self._player_of(seat, bot)
            match.players.append(player)
            may_be_direct = not (match.checks_rules or seat in self.known_faults)
            if is_direct and isinstance(player, LocalPlayer) and may_be_direct:
                self.direct[seat] = player
        for seat, player in enumerate(match.players):
            self._prepare(seat, player)

    def _player_of(self, seat: int, bot: SeatTaker) -> Player:
        """Return a seat's player; a bot that cannot take its seat is at fault itself, except for a machine's faults."""
        try:
            return bot.join(self.match, seat)
        except WorkerError:
            raise
        except BaseException as error:
            if isinstance(error, OSError) and is_disk_full(error):
                raise
            return AbsentPlayer(error)

    def _prepare(self, seat: int, player: Player) -> None:
        """Have a seat's bot get ready; failing is an `init` fault."""
        match = self.match
        if not player.guarded:
            self.ask(seat, player.start, match.limits.seconds_to_start)
        ask = self.ask_directly if seat in self.direct else self.ask
        if seat not in match.forfeits and ask(seat, player.prepare, match.limits.seconds_to_prepare):
            self.clocked.add(seat)
            match.timed = True

    def ask_directly(self, seat: int, method: Callable[[Any], Any], argument: Any) -> Any:
        """Call a method of a bot that is asked directly and return what it returns; None when its seat forfeits.

        Reading its processor time would take longer than the call: the time on the wall counts as such, and an overrun
        is taken for the machine's doing.
        """
        wall, match, fault, value = self.clock.wall, self.match, None, None
        started = wall()
        try:
            value = method(argument)
        except BaseException as error:
            fault = fault_of_player(error, guarded=True)
        took = wall() - started
        microseconds = int(took * 1e6 + 0.5)
        self.durations += seat, match.ply, microseconds, microseconds, 0
        if took > self._min_seconds or not match.playing:  # else the match has no clock
            limit = match.allowed(seat) if match.playing else match.limits.seconds_to_prepare
            if took > limit + match.margin(seat) and fault is None:
                fault = overrun(took, limit, took)
            if match.playing:
                match.left[seat] += match.limits.increment - took
        return value if fault is None else self._judge(seat, fault, starved=True)

    def ask(self, seat: int, method: Callable[[float], Any], limit: float) -> Any:
        """Call a method of a seat's player under its clock and return what it returns.

        The other outcomes: a fault forfeits the seat, and None is returned; a killed process or a starved machine
        raises `PlayAgain`.
        """
        match = self.match
        ply, known = match.ply, self.known_faults.get(seat)
        if known is not None and known.ply <= ply:
            return match.forfeit(seat, known.cause, known.detail)
        player, alarm, clock = match.players[seat], self.alarm, self.clock
        guarded = player.guarded
        cpu_time = clock.cpu if guarded else player.cpu
        latest = limit + match.margin(seat)
        fault = value = None
        cpu, started = cpu_time(), clock.wall()
        self.on_activity(seat, ply, latest)
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
        self.on_activity(NOBODY, ply, 0.0)
        self.durations += seat, ply, int(wall * 1e6 + 0.5), int(used * 1e6 + 0.5), self._cpu_between(seat, player)
        if ply >= 0:
            match.left[seat] += match.limits.increment - wall
        if guarded and (alarm.rang or (wall > latest and fault is None)):  # whatever the bot made of the alarm
            fault = overrun(wall, limit, used)
        fault = fault or _pause_fault(player)
        return value if fault is None else self._judge(seat, fault, starved=used < STARVED_CPU_SHARE * wall)

    def _cpu_between(self, seat: int, player: Player) -> int:
        """Return the microseconds of processor time that a seat's process has used since it was asked before."""
        before = self._between.get(seat, 0)
        self._between[seat] = int(player.between() * 1e6 + 0.5)
        return self._between[seat] - before

    def _judge(self, seat: int, fault: Fault, starved: bool) -> None:
        """Have a seat forfeit for a fault, or raise `PlayAgain` for one that may not be its own."""
        match = self.match
        if isinstance(fault, ProcessKilled):
            if seat not in self.no_replay_seats:
                raise PlayAgain(killed=seat)
            match.timed = True  # played again it may go otherwise
        may_be_starved = fault.cause == "timeout" and self.first_try is None and seat not in self.clocked
        if may_be_starved and (starved or isinstance(fault, PauseOverrun)):
            actions, others = match.state.history(), dict(match.forfeits)
            raise PlayAgain(Overrun(seat, match.ply, str(fault), self.durations[-NUMBERS_PER_CALL:], actions, others))
        match.forfeit(seat, fault.cause, str(fault))

    def close(self) -> None:
        """Close the players, each bot under its clock: closing runs code of theirs too. It is no fault any more."""
        players = self.match.players
        for seat, player in enumerate(players):
            if seat in self.known_faults and self.known_faults[seat].known is None:
                _never_freed.append(player)
            elif player.guarded and seat not in self.direct:
                self._close_guarded(seat, player)
            else:
                player.close()
        players.clear()  # they refer to the match: without the circle, both are freed at once
        self.direct.clear()

    def _close_guarded(self, seat: int, player: Player) -> None:
        """Close a bot in this process."""
        ply, limit = self.match.ply, self.match.limits.seconds_per_move
        self.on_activity(seat, ply, limit)
        try:
            self.alarm.arm(limit)
            player.close()
        except BaseException:
            pass
        finally:
            self.alarm.disarm()
        self.on_activity(NOBODY, ply, 0.0)


def _pause_fault(player: Player) -> Fault | None:
    """Wait until a player's process is stopped, on nobody's time; return the fault of one that went on for long."""
    try:
        player.pause()
    except Fault as fault:
        return fault
    return None
