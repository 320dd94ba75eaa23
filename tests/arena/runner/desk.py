"""Bots that are checked, each with a fault of its own."""

from __future__ import annotations

BOTS = """
import os
import random
import time

from bots import Bot

asked = 0


class Base(Bot):
    games = ("epicycle",)
    players = (2, 3)

    def choose(self, state):
        return state.legal_actions()[0]


class Sound(Base):
    '''Take any legal action.'''

    def choose(self, state):
        return self.pick(state.legal_actions())


class Wrong(Base):
    def choose(self, state):
        return 99


class Raises(Base):
    def choose(self, state):
        raise RuntimeError("a word of explanation")


class Dies(Base):
    def choose(self, state):
        os._exit(3)


class Late(Base):
    players = (2,)

    def prepare(self):
        raise ValueError("no weights here")


class Careless(Base):
    games = ("connect_four",)  # so many moves that chance never draws the same ones twice

    def choose(self, state):
        return random.choice(state.legal_actions())


class Remembers(Base):
    '''Its moves depend on what it was asked in other matches.'''

    def choose(self, state):
        global asked
        asked += 1
        actions = state.legal_actions()
        return actions[asked % len(actions)]


class Clocked(Careless):
    timed = True


class OnlyLastSeat(Base):
    '''Fails in one seat only.'''

    def choose(self, state):
        return 99 if self.seat == self.game.players - 1 == 2 else state.legal_actions()[0]


class Elsewhere(Base):
    games = ("epicycle", "epicicle")
"""
