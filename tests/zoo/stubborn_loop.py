"""Swallows whatever would interrupt it."""

import signal

from bots import Bot

EXPECTED = {"process": "timeout", "sandbox": "timeout"}


class StubbornLoop(Bot):
    def choose(self, state):
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
