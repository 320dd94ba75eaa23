"""Leaves marks on devices that all matches see, and counts in the kernel that all bots share; looks for those of others."""

import ctypes
import os
import platform
import socket

from attempts import Attempting, libc, syscall

EXPECTED = {"sandbox": "plays on"}


class LeavesMarks(Attempting):
    def attempts(self):
        if platform.machine() == "x86_64":
            yield "asynchronous I/O", lambda: syscall(206, 64, ctypes.create_string_buffer(8)) == 0 or None
            yield "merged pages", lambda: syscall(157, 67, 1, 0, 0, 0) == 0 or None
            yield "a value with a signal", lambda: syscall(129, os.getpid(), 40, self.about_signal()) == 0 or None
        for path in ("/dev/null", "/dev/zero"):
            yield f"a mark on {path}", lambda path=path: self.mark(path)
        yield "descriptors on their way", lambda: socket.send_fds(socket.socketpair()[0], [b"x"], [3])
        yield "a larger pipe", lambda: __import__("fcntl").fcntl(os.pipe()[0], 1031, 2**20)
        yield "large buffers", lambda: socket.socketpair()[0].setsockopt(1, 7, 2**22) or "done"
        yield "SIGCONT", lambda: os.kill(os.getpid(), 18) or "sent"
        yield "memory that changes", self.memory

    def mark(self, path):
        before = os.stat(path).st_ctime_ns
        libc.removexattr(path.encode(), b"user.word")
        return os.stat(path).st_ctime_ns - before or None

    def about_signal(self):
        return (ctypes.c_int * 32)(40, 0, -1)

    def memory(self):
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return None if pages == 128 * 2**20 else pages
