from bots import Bot

EXPECTED = {"none": "crash", "process": "crash", "sandbox": "crash"}


class Raises(Bot):
    def choose(self, state):
        raise RuntimeError("on purpose")
