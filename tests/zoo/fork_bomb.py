"""A bounded one: at level `process` some children can be started at each move, and all end with the match."""

import os
import time

from bots import Bot

EXPECTED = {"process": "plays on", "sandbox": "plays on"}
NOTES = {"process": "got 4 children"}
MOST = 4


class ForkBomb(Bot):
    def choose(self, state):
        started = 0
        try:
            while started < MOST:
                if os.fork() == 0:
                    time.sleep(3600)
                    os._exit(0)
                started += 1
        except OSError:
            pass
        self.note = f"got {started} children" if started else "got nothing"
        return state.legal_actions()[0]
