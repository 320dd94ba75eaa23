"""Passes a word to whoever plays at the same time, through a file that both can read.

A number as large as a lock's place in a file would be a roll that the other match of the block has yet to come to.
"""

import fcntl
import os
import struct

from attempts import Attempting, libc

EXPECTED = {"sandbox": "plays on"}
LOCK = "hhqqi4x"


class SignalsToOthers(Attempting):
    def attempts(self):
        file = os.open(os.__file__, os.O_RDONLY)
        for name, command in [("lock", fcntl.F_SETLK), ("lock of the file", 37), ("question", fcntl.F_GETLK)]:
            asked = struct.pack(LOCK, fcntl.F_RDLCK, os.SEEK_SET, 42_000_000, 1, 0)
            yield name, lambda command=command, asked=asked: fcntl.fcntl(file, command, asked)
        yield "whole lock", lambda: fcntl.flock(file, fcntl.LOCK_SH) or "locked"
        yield "watch", lambda: self.watch(libc.inotify_init1(0))
        yield "what is in memory", lambda: os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
        os.close(file)

    def watch(self, queue):
        return "watching" if libc.inotify_add_watch(queue, os.__file__.encode(), 0x20) >= 0 or queue >= 0 else None
