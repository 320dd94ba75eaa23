"""Through C, without Python's own limit, until the stack ends."""

import sys

from bots import Bot

EXPECTED = {"process": "crash", "sandbox": "crash"}


class BottomlessRecursion(Bot):
    def choose(self, state):
        sys.setrecursionlimit(2**31 - 1)
        return max([state], key=self.choose)
