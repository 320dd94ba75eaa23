"""Every signal to everything in sight but itself; the parent goes on, and serves the next match."""

import os
import signal

from bots import Bot

EXPECTED = {"process": "crash", "sandbox": "plays on"}


class KillsItsParent(Bot):
    def choose(self, state):
        for target in self.targets():
            for number in sorted(signal.valid_signals(), key=lambda number: number == signal.SIGKILL):
                try:
                    os.kill(target, number)
                except OSError:
                    pass
        if os.getppid() != 1:
            signal.pause()  # what was sent takes a moment
        return state.legal_actions()[0]

    def targets(self):
        """At level `process` everything else in sight is the user's."""
        return (1, -1) if os.getppid() == 1 else (os.getppid(),)
