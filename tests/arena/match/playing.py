"""Matches of bots that tests write, played by the referee in this process."""

from collections.abc import Callable
from typing import Any, ClassVar

import engine
from arena.core.limits import Limits
from arena.match.dice import BOTS_PERSON, DICE_PERSON, Streams, public_key
from arena.match.player import LocalBot
from arena.match.referee import play_match
from bots.random_bot import Random


def streams(block=7, seed=1):
    keys = public_key(seed, DICE_PERSON), public_key(seed, BOTS_PERSON)
    return Streams(*keys, block.to_bytes(16, "big"))


def play(*bots, block=7, spec="epicycle", opening=0, known_faults=(), more=(), **limits):
    game = engine.load_game(spec, players=len(bots))
    seats = [LocalBot(bot, {}) for bot in bots]
    return play_match(game, seats, streams(block), opening, Limits(**limits), known_faults, *more)


def replayed(result, players, spec="epicycle"):
    """The state after the moves of a result, and who was at each ply."""
    state = engine.load_game(spec, players=players).new_initial_state()
    who = []
    for text in result.moves:
        who.append(state.current_player())
        state.apply_action(state.string_to_action(text))
    return state, who


class Faulty(Random):
    """Plays at random until its own move number `after`, then does `fault`."""

    after = 0
    fault: ClassVar[Callable[[Any, Any], Any]]

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.asked = 0

    def choose(self, state):
        self.asked += 1
        return self.fault(state) if self.asked > self.after else super().choose(state)


def faulty(fault, after=0):
    return type("Bad", (Faulty,), {"fault": lambda self, state: fault(state), "after": after})


def raising(error):
    def fault(state):
        raise error

    return fault


def noting(note):
    class Noting(Random):
        def choose(self, state):
            self.note = note
            return super().choose(state)

    return Noting
