"""Searches its own memory, its environment and every file it can read under /proc for the key of the dice.

It knows the key by its first bytes and its hash alone, so that it does not find what it brought along.
"""

import ctypes
import hashlib
import os
from pathlib import Path

from attempts import TARGETS, Attempting

EXPECTED = {"process": "plays on", "sandbox": "plays on"}
PLANNED = False  # it takes its time
PART = 2**24


class ReadsTheKey(Attempting):
    searched = False

    def prepare(self):
        self.found = self.search()

    def attempts(self):
        yield "key", lambda: self.found

    def search(self):
        found = self.in_memory()
        for process in ("self", "1"):
            for name in ("environ", "cmdline", "mem", "maps", "auxv", "mountinfo", "fd/0", "fd/3", "fd/4"):
                try:
                    descriptor = os.open(f"/proc/{process}/{name}", os.O_RDONLY | os.O_NONBLOCK)
                    found += self.known(os.read(descriptor, PART), name)
                    os.close(descriptor)
                except OSError:
                    pass
        return found or None

    def in_memory(self):
        """In the sandbox it has no map of its memory; there the test looks from outside."""
        found = []
        maps = Path("/proc/self/maps")
        for line in maps.read_text().splitlines() if maps.exists() else ():
            place, rights, *_ = line.split()
            start, end = (int(word, 16) for word in place.split("-"))
            for at in range(start, end if "rw" in rights else start, PART):
                found += self.known(ctypes.string_at(at, min(PART + 64, end - at)), line)
        return found

    def known(self, content, where):
        """Each secret is told as [first bytes, length, hash]."""
        found = []
        for beginning, length, digest in TARGETS["secrets"]:
            at = -1
            while (at := content.find(bytes.fromhex(beginning), at + 1)) >= 0:
                if hashlib.sha256(content[at : at + length]).hexdigest() == digest:
                    found.append(where)
        return found
