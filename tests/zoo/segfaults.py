import ctypes

from bots import Bot

EXPECTED = {"process": "crash", "sandbox": "crash"}


class Segfaults(Bot):
    def choose(self, state):
        ctypes.string_at(0)
