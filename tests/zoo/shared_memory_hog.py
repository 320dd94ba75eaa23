"""Memory of a kind that the limit on private memory does not see."""

import mmap
import time

from bots import Bot

EXPECTED = {"process": "memory", "sandbox": "memory"}


class SharedMemoryHog(Bot):
    def choose(self, state):
        kept = []
        while len(kept) < 40:
            kept.append(mmap.mmap(-1, 2**24))
            kept[-1].write(b"x" * 2**24)
        time.sleep(3600)
