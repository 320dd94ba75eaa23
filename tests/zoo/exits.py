import os

from bots import Bot

EXPECTED = {"process": "crash", "sandbox": "crash"}


class Exits(Bot):
    def choose(self, state):
        os._exit(0)
