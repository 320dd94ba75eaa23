"""Tries to think while others are to move, when a bot's process is stopped: by what could send the signal that wakes it."""

import ctypes
import fcntl
import os
import signal

from attempts import Attempting, libc

EXPECTED = {"sandbox": "plays on"}


class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("number", ctypes.c_int), ("kind", ctypes.c_int), ("_", ctypes.c_char * 64)]


class WakesItself(Attempting):
    def attempts(self):
        yield "a timer", self.timer
        yield "a pipe's signal", lambda: fcntl.fcntl(os.pipe()[0], 10, signal.SIGCONT)
        yield "a file's lease", lambda: fcntl.fcntl(os.open("/usr", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)

    def timer(self):
        timer = ctypes.c_void_p()
        return 1 if libc.timer_create(1, ctypes.byref(Event(0, signal.SIGCONT)), ctypes.byref(timer)) == 0 else None
