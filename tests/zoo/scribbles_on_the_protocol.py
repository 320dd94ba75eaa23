"""Writes on every descriptor that it has."""

import os

from bots import Bot

EXPECTED = {"process": "protocol", "sandbox": "protocol"}


class ScribblesOnTheProtocol(Bot):
    def choose(self, state):
        for descriptor in range(64):
            try:
                os.write(descriptor, b"garbage\n")
            except OSError:
                pass
        return state.legal_actions()[0]
