"""A tournament that commands are tried on, and bots in it."""

from __future__ import annotations

import json

from arena import api
from tests.support.tournaments import home_of

LONG = "a bot with a name of all forty letters.."
CONFIG = f"""
name = "small"
seed = 3
blocks = 2
games = [{{ game = "epicycle", players = [2, 3] }}, {{ game = "epicycle(setup=random)", players = 2 }}]
bots = [{{ bot = "random" }}, {{ bot = "b.py:Low" }}, {{ bot = "b.py:Low", label = "{LONG}" }}]
"""
BOTS = """
from bots import Bot


class Low(Bot):
    '''Take the lowest action.'''

    def choose(self, state):
        self.note = "as low as it gets"
        return state.legal_actions()[0]


class Stuck(Bot):
    '''Never move.'''

    def choose(self, state):
        while True:
            pass


class Wrong(Bot):
    '''Return what is no action.'''

    def choose(self, state):
        return 99
"""


def lines_of(config):
    """The matches of the log, as they are exported."""
    api.export(config, home_of(config), config.parent, ["matches"])
    return [json.loads(line) for line in (config.parent / "matches.jsonl").read_text().splitlines()]
