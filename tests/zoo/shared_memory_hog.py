"""Memory of a kind that the limit on private memory does not see."""

import mmap
import time

from bots import Bot

EXPECTED = {"process": "memory", "sandbox": "memory"}


class SharedMemoryHog(Bot):
    def choose(self, state):
        memory = mmap.mmap(-1, 2**29)
        memory[:: mmap.PAGESIZE] = bytes(2**29 // mmap.PAGESIZE)
        time.sleep(3600)
