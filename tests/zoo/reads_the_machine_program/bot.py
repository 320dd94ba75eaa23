"""Reads what /proc and /sys tell of the machine: counters of memory, disks, processors and processes."""

import os

from talking import say_action, talk

EXPECTED = {"sandbox": "plays on"}
NOTES = {"sandbox": "got nothing"}
STAYS = "cmdline consoles devices dma execdomains fb filesystems misc version"
"""Tells of the machine, but the same in every match."""


def got():
    found = []
    for name in os.listdir("/proc"):
        path = f"/proc/{name}"
        if name == str(os.getpid()) or os.path.islink(path) or name in STAYS.split():
            continue
        try:
            told = os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(100)
        except OSError:
            continue
        if told:
            found.append(name)
    return found + [path for path in ("/sys", "/run", "/var") if os.path.exists(path)]


talk(lambda legal: say_action(legal, note=f"got {' '.join(got())}" if got() else "got nothing"))
