"""Closes what it is told things by, after an answer."""

import os

from bots import Bot

EXPECTED = {"process": "protocol", "sandbox": "protocol"}


class HangsUp(Bot):
    def choose(self, state):
        os.close(4)
        while True:
            pass
