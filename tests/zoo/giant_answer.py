"""A line without an end, where the answer is due."""

import os

from bots import Bot

EXPECTED = {"process": "protocol", "sandbox": "protocol"}


class GiantAnswer(Bot):
    def choose(self, state):
        while True:
            os.write(4, b"[" * 65_536)
