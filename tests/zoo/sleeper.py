import time

from bots import Bot

EXPECTED = {"none": "timeout", "process": "timeout", "sandbox": "timeout"}
AGAIN = True  # it uses no processor, so that its match is played once more before it forfeits


class Sleeper(Bot):
    def choose(self, state):
        time.sleep(3600)
