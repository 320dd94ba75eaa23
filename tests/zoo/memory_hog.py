from bots import Bot

EXPECTED = {"process": "memory", "sandbox": "memory"}


class MemoryHog(Bot):
    def choose(self, state):
        kept = []
        while True:
            kept.append(bytearray(2**24))
