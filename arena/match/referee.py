"""Play one match: opening, turns, forfeits, result. Pure given its inputs, but for bots that look at a clock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from arena.core.adjudication import AdjudicationRules
from arena.core.errors import WorkerError, is_disk_full
from arena.core.limits import Limits
from arena.match.adjudication import Adjudicator
from arena.match.alarm import Alarm, Clock
from arena.match.calls import ActivityListener, BotCalls
from arena.match.dice import Streams
from arena.match.faults import KnownFault
from arena.match.game_faults import GameFailure, check_end, game_fault_of
from arena.match.match import Match
from arena.match.player import Answer, FirstLegalBot, LocalBot, SeatTaker
from arena.match.replays import Overrun, PlayAgain, PlayedBefore
from arena.match.result import Result, final_hash, final_scores
from engine import CHANCE, TERMINAL, Game

MAX_KILL_REPLAYS = 2
"""Times that a match is played again for one bot whose process anybody may have killed."""
NOT_GAME_FAULTS = (PlayAgain, WorkerError, MemoryError, KeyboardInterrupt)
"""Exceptions in a match that are no fault of its game."""


def _ignore_activity(seat: int, ply: int, limit: float) -> None:
    pass


def _ignore_start(match: Match) -> None:
    pass


def play_match(
    game: Game,
    bots: Sequence[SeatTaker],
    streams: Streams,
    opening: int = 0,
    limits: Limits | None = None,
    known_faults: Sequence[KnownFault] = (),
    on_activity: ActivityListener = _ignore_activity,
    clock: Clock | None = None,
    no_replay_seats: Collection[int] = (),
    before: PlayedBefore = PlayedBefore(),  # noqa: B008 - it is frozen
    on_start: Callable[[Match], None] = _ignore_start,
    adjudication: AdjudicationRules | None = None,
) -> Result:
    """Play a match from the start to its end and return its result; a bot's fault forfeits its seat and nothing else.

    `opening` is the number of random opening plies. `known_faults` are those of earlier tries that ended their workers.
    When a bot's process ends by a signal that anybody may have sent, the match is played again: what was played so far
    becomes `before`, and faults so far stand, so that a bot that ends itself draws nothing anew. That is done at most
    `MAX_KILL_REPLAYS` times for each seat, then it is a fault; for `no_replay_seats` at once.
    `before` is what was played before: bots see the match as they did then, so those that keep a state have it again,
    and one that answers otherwise now (it looks at a clock) is not heard.
    `on_start` is called with the match, and with that of a second try.
    When a bot overruns its time while it has little of the processor, the whole match is played once more, for good,
    with the same moves up to there; a bot that chooses otherwise on the way gets no second chance.
    `adjudication` are the rules by which the match may be ended early; by default it is played to the end.
    """
    faults = {fault.seat: fault for fault in known_faults}
    first_try, timed = None, False
    killed: list[int] = []
    with Alarm() as alarm:
        while True:
            match = Match(game, streams, limits or Limits(), before.position)
            calls = BotCalls(match, alarm, clock or Clock(), on_activity, faults, first_try)
            on_start(match)
            match.timed = timed
            often_killed = (seat for seat in killed if killed.count(seat) >= MAX_KILL_REPLAYS)
            calls.no_replay_seats = {*no_replay_seats, *often_killed}
            adjudicator = Adjudicator(adjudication, game.players) if adjudication else None
            referee = Referee(match, calls, before, adjudicator)
            try:
                result = referee.play(bots, opening)
                result.killed = tuple(killed)
                return result
            except PlayAgain as replay:
                if replay.overrun is not None:
                    first_try = replay.overrun
                else:
                    killed.append(replay.killed)
                    before, faults, timed = referee.played_so_far(), referee.faults_so_far(), match.timed
            finally:
                calls.close()


def warm_up(game: Game) -> None:
    """Compile, or load, everything of a game that a match calls."""
    play_match(game, [LocalBot(FirstLegalBot, {})] * game.players, Streams(bytes(32), bytes(32), bytes(16)), 2)


@dataclass
class Referee:
    """The course of one match, by phases: seats, opening, turns, result."""

    match: Match
    calls: BotCalls
    before: PlayedBefore
    adjudicator: Adjudicator | None = None

    def play(self, bots: Sequence[SeatTaker], opening: int) -> Result:
        """Seat the bots, have them prepare, and play to the end."""
        match, alarm = self.match, self.calls.alarm
        self.calls.seat_bots(bots)
        try:
            if match.checks_rules:
                alarm.get_ready()
                alarm.guards_rules = True
            return self._play_on(opening)
        except NOT_GAME_FAULTS:
            raise
        except BaseException as error:
            if isinstance(error, OSError) and is_disk_full(error):
                raise
            raise GameFailure(game_fault_of(error, match.moves, match.state)) from error
        finally:
            alarm.guards_rules = False

    def _play_on(self, opening: int) -> Result:
        """Play when the bots are ready; whatever is raised, but `NOT_GAME_FAULTS`, is the game's fault."""
        match = self.match
        match.playing = True
        self._play_opening(opening)
        dice, state = match.dice, match.state
        while not match.decided and (who := match.whose_turn()) != TERMINAL:
            if self.adjudicator is not None and not match.forfeits:
                match.adjudicated = self.adjudicator.verdict(state)
                if match.adjudicated is not None:
                    break
            action = dice.roll(state) if who == CHANCE else self._move_of(who)
            if not match.decided:
                match.apply(action, who)
        return self._result()

    def _play_opening(self, plies: int) -> None:
        """Play random plies, the same for all line-ups of a block, but none that would end the match."""
        match, dice = self.match, self.match.dice
        while plies > 0 and not match.decided and match.whose_turn() != TERMINAL:
            if match.state.is_chance_node():
                match.apply(dice.roll(match.state))
                continue
            action = dice.opening(match.state)
            if match.state.child(action).is_terminal():
                return
            match.apply(action)
            plies -= 1

    def _move_of(self, seat: int) -> int:
        """Return the move for a seat: forced, that of the first try as far as it went, or chosen now."""
        match = self.match
        legal = match.state.legal_actions()
        if len(legal) == 1:
            return legal[0]
        chosen = self._choice_of(seat, legal)
        first_try, before = self.calls.first_try, self.before.actions
        if first_try is None and not before:
            return chosen
        if match.ply < len(before):
            return self._move_before(seat, chosen)
        if first_try is None or match.ply >= first_try.ply:
            return chosen
        move = first_try.actions[match.ply]
        if chosen == move or seat != first_try.seat or seat in match.forfeits:
            return move
        self._confirm_overrun(first_try, chosen)
        return match.dice.substitute(match.state)

    def _move_before(self, seat: int, chosen: int) -> int:
        """Return the move that was made here before; a seat that forfeits only now ends what was played before."""
        ply = self.match.ply
        move = self.before.actions[ply]
        if seat in self.match.forfeits and chosen != move:
            self.before = self.before._replace(actions=self.before.actions[:ply])
            return chosen
        return move

    def _choice_of(self, seat: int, legal: list[int]) -> int:
        """Return what its bot chooses; after a forfeit, a random move."""
        match, calls = self.match, self.calls
        if seat in match.forfeits:
            return match.dice.substitute(match.state)
        if (direct := calls.direct.get(seat)) is not None:
            action = calls.ask_directly(seat, direct.bot.choose, match.state)
            self._hear(seat, None)
            return match.dice.substitute(match.state) if action is None else action
        answer: Answer | None = calls.ask(seat, match.players[seat].choose, match.allowed(seat))
        self._hear(seat, answer)
        if answer is not None and answer.action in legal:
            match.annotations.add_note(len(match.movers), answer.note)
            if answer.given is not None:
                match.annotations.add_estimate(len(match.movers), seat, answer.given)
            return answer.action
        if answer is not None:
            match.forfeit(seat, "illegal_action", answer.refusal or str(match.state.refuse(answer.action)))
        return match.dice.substitute(match.state)

    def _hear(self, seat: int, answer: Answer | None) -> None:
        """Tell the adjudicator what a bot expected; where a bot was asked directly, or failed, it is nothing."""
        if self.adjudicator is not None:
            given = answer.given if answer is not None and self.match.annotations.has_room else None
            self.adjudicator.hear(seat, () if given is None else given.evaluation)

    def _confirm_overrun(self, first_try: Overrun, chosen: int) -> None:
        """Go to where the first try ended, and let its overrun count: its bot did not choose the same moves again."""
        match = self.match
        now, then = (match.state.action_to_string(action) for action in (chosen, first_try.actions[match.ply]))
        again = f"when the match was played again, it chose {now} at ply {match.ply + 1}, before {then}"
        for action in first_try.actions[match.ply :]:
            match.apply(action)
        match.forfeits |= first_try.forfeits
        self.calls.durations += first_try.call
        match.forfeit(first_try.seat, "timeout", f"{first_try.detail}; {again}")

    def played_so_far(self) -> PlayedBefore:
        """Return what was played, here or before."""
        played = self.match.state.history()
        return self.before if len(played) < len(self.before.actions) else self.before._replace(actions=played)

    def faults_so_far(self) -> dict[int, KnownFault]:
        """Return faults by seat, those that are to come again and those so far."""
        found = dict(self.calls.known_faults)
        for seat, forfeit in self.match.forfeits.items():
            if seat not in found or forfeit.ply < found[seat].ply:
                found[seat] = KnownFault(seat, forfeit.ply, forfeit.cause, known=forfeit.detail)
        return found

    def _result(self) -> Result:
        """Return the result of the match, which is over."""
        match, annotations = self.match, self.match.annotations
        if match.checks_rules:
            check_end(match.state)
        match.finished = True
        return Result(
            ranks=match.ranks(),
            scores=final_scores(match.state),
            ended=match.ended,
            moves=match.moves,
            final_hash=final_hash(match.state),
            timed=match.timed,
            forfeits=dict(match.forfeits),
            notes=annotations.notes,
            calls=list(self.calls.durations),
            retried=self.calls.first_try is not None,
            estimates=annotations.estimates,
            dropped=annotations.dropped,
        )
