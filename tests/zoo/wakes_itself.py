"""Tries to think while others are to move, when a bot's process is stopped: by a timer whose signal would wake it.

It tells how much of the processor it had between two of its moves.
"""

import ctypes
import signal
import threading
import time

from attempts import libc
from bots import Bot

EXPECTED = {"sandbox": "plays on"}
MILLISECOND = 1_000_000


class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("number", ctypes.c_int), ("kind", ctypes.c_int), ("_", ctypes.c_char * 64)]


class WakesItself(Bot):
    had = None

    def prepare(self):
        signal.signal(signal.SIGCONT, lambda *_: None)
        timer = ctypes.c_void_p()
        libc.timer_create(1, ctypes.byref(Event(0, signal.SIGCONT, 0, b"")), ctypes.byref(timer))
        libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, MILLISECOND, 0, MILLISECOND), None)
        threading.Thread(target=self.think, daemon=True).start()

    def think(self):
        while True:
            pass

    def choose(self, state):
        used = time.process_time()
        between = 0 if self.had is None else used - self.had
        self.note = "got nothing" if between < 0.1 else f"got {between:.3f} s"
        self.had = time.process_time()
        return state.legal_actions()[0]
