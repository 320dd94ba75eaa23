"""Threads end with their bot's process, and there may not be many."""

import threading
import time

from bots import Bot

EXPECTED = {"process": "memory", "sandbox": "memory"}


class ThreadBomb(Bot):
    def choose(self, state):
        threading.stack_size(65_536)
        try:
            for _ in range(1000):
                threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
        except RuntimeError:
            pass
        time.sleep(3600)
