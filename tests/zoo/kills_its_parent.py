"""Every signal to everything in sight but itself; the parent goes on, and serves the next match."""

import os
import signal

from bots import Bot

EXPECTED = {"process": "crash", "sandbox": "plays on"}


class KillsItsParent(Bot):
    def choose(self, state):
        for number in sorted(signal.valid_signals(), key=lambda number: number == signal.SIGKILL):
            for target in (1, os.getppid()) if os.getppid() == 1 else (os.getppid(),):
                try:
                    os.kill(target, number)
                except OSError:
                    pass
        if os.getppid() == 1:
            os.kill(-1, signal.SIGKILL)
        return state.legal_actions()[0]
