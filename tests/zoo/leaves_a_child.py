"""A child of a child, in a session of its own, that keeps the bot's descriptors and ignores signals."""

import os
import signal
import time

from attempts import TARGETS
from bots import Bot

EXPECTED = {"process": "plays on", "sandbox": "plays on"}
NOTES = {"process": "got a child"}


class LeavesAChild(Bot):
    def choose(self, state):
        try:
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    signal.signal(signal.SIGHUP, signal.SIG_IGN)
                    os.execvp("sleep", ["sleep", TARGETS["sleep"]])
                os._exit(0)
            os.wait()
            self.note = "got a child"
        except OSError:
            self.note = "got nothing"
        return state.legal_actions()[0]
