import os
import signal

from bots import Bot

EXPECTED = {"process": "timeout", "sandbox": "timeout"}
AGAIN = True


class StopsItself(Bot):
    def choose(self, state):
        os.kill(os.getpid(), signal.SIGSTOP)
        return state.legal_actions()[0]
