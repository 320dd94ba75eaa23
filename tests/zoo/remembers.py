"""Leaves word for the next match wherever it can, and looks for word from an earlier one.

The dice of a block's matches are the same, so whatever is found would be a roll known in advance.
"""

import mmap
import os
import socket

from attempts import Attempting

EXPECTED = {"sandbox": "plays on"}
GLOBAL = []
SHARED = mmap.mmap(-1, 4096)
FILES = ["/tmp/memo", "memo", "/tmp/.memo/memo", "/tmp/arena/memo", "/dev/shm/memo", "/var/tmp/memo"]
DEEP = 1200


class Remembers(Attempting):
    looked = False

    def choose(self, state):
        if self.looked:
            return state.legal_actions()[0]
        self.looked = True
        action = super().choose(state)
        self.leave_word()
        return action

    def attempts(self):
        yield "global", lambda: GLOBAL or None
        yield "shared memory", lambda: bytes(SHARED[:4]).strip(b"\0") or None
        yield "environment", lambda: os.environ.get("MEMO")
        for path in FILES:
            yield path, lambda path=path: os.stat(path) and path
        yield "closed folder", lambda: os.chmod("/tmp/closed", 0o700) or os.listdir("/tmp/closed")
        yield "deep folder", lambda: os.listdir("/tmp/deep")
        yield "mode of /tmp", lambda: None if os.stat("/tmp").st_mode == 0o40755 else oct(os.stat("/tmp").st_mode)
        yield "times of /tmp", lambda: None if os.stat("/tmp").st_atime > 10**9 else os.stat("/tmp").st_atime
        yield "attributes of /tmp", lambda: os.getxattr("/tmp", "user.memo")
        yield "links of /tmp", lambda: os.stat("/tmp").st_nlink if os.stat("/tmp").st_nlink > 20 else None
        yield "numbers of files", lambda: self.number_of_a_file() if self.number_of_a_file() > 1000 else None
        yield "numbers of processes", lambda: os.getpid() if os.getpid() > 2 else None
        yield "anything in /proc", lambda: os.listdir("/proc") or None
        yield "parent's badness", lambda: int(open("/proc/1/oom_score_adj").read()) or None
        yield "parent's name", lambda: "memo" if "memo" in open("/proc/1/comm").read() else None
        yield "parent's counts", lambda: [int(word) for word in open("/proc/1/stat").read().split()[9:17]]
        yield "a name taken", self.name_is_taken

    def number_of_a_file(self):
        descriptor = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
        number = os.fstat(descriptor).st_ino
        os.close(descriptor)
        return number

    def name_is_taken(self):
        one, other = socket.socketpair()
        try:
            one.bind("\0memo")
            socket.send_fds(other, [b"."], [one.fileno(), other.fileno()])
        except OSError as error:
            return "taken" if error.errno == 98 else None
        return "bound"

    def leave_word(self):
        GLOBAL.append("memo")
        SHARED[:4] = b"memo"
        os.environ["MEMO"] = "memo"
        for deed in self.deeds():
            try:
                deed()
            except OSError:
                pass

    def deeds(self):
        yield lambda: os.makedirs("/tmp/.memo")
        for path in FILES:
            yield lambda path=path: open(path, "w").write("memo")
        yield lambda: os.mkdir("/tmp/closed")
        yield lambda: open("/tmp/closed/memo", "w").write("memo")
        yield lambda: os.chmod("/tmp/closed", 0)
        yield self.dig
        for _ in range(1500):
            yield self.number_of_a_file
        yield lambda: os.setxattr("/tmp", "user.memo", b"memo")
        yield lambda: open("/proc/1/oom_score_adj", "w").write("7")
        yield lambda: open("/proc/1/comm", "w").write("memo")
        yield lambda: os.chmod("/tmp", 0o711)
        yield lambda: os.utime("/tmp", (4, 2))

    def dig(self):
        """A folder in a folder in a folder, too deep for those who clean up by calling themselves."""
        at = os.open("/tmp", os.O_RDONLY)
        for _ in range(DEEP):
            os.mkdir("deep", dir_fd=at)
            below = os.open("deep", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = below
        os.close(at)
