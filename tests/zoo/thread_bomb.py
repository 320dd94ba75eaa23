"""Threads end with their bot's process, and are bounded by its memory."""

import threading
import time

from bots import Bot

EXPECTED = {"process": "plays on", "sandbox": "plays on"}


class ThreadBomb(Bot):
    def choose(self, state):
        self.note = "got 1000 threads"
        try:
            for _ in range(1000):
                threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
        except RuntimeError:
            self.note = "got nothing"
        return state.legal_actions()[0]
