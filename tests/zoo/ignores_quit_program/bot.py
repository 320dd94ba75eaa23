"""Stays when it is told to leave, and ignores every signal that can be ignored."""

import signal
import time

from talking import say_action, talk

EXPECTED = {"process": "plays on", "sandbox": "plays on"}

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
talk(lambda legal: say_action(legal, note="got nothing"))
time.sleep(3600)
