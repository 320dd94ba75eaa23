from bots import Bot

EXPECTED = {"none": "crash", "process": "crash", "sandbox": "crash"}


class DeepRecursion(Bot):
    def choose(self, state):
        return self.choose(state)
