import os
import signal

from bots import Bot

EXPECTED = {"process": "plays on", "sandbox": "plays on"}


class StopsItself(Bot):
    def choose(self, state):
        os.kill(os.getpid(), signal.SIGSTOP)
        return state.legal_actions()[0]
