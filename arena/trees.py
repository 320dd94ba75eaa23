"""Ending a process with everything below it, on Linux found through /proc; elsewhere its process group alone."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
PATIENCE = 5.0


def keep_orphans() -> None:
    """Whatever this process's children leave behind becomes its child, instead of the system's."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def close_to_others() -> None:
    """Keep this process's memory from other processes of the same user, and out of core dumps: it knows the dice."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def below(root: int) -> list[int]:
    """The live processes below one, and in its session: there is still what outlived its parent."""
    children = defaultdict(list)
    session = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent, _, leader = path.read_text().rpartition(")")[2].split()[:4]
            if state not in "ZX":
                children[int(parent)].append(int(path.parent.name))
                if int(leader) == root:
                    session.append(int(path.parent.name))
    found = [root, *(process for process in session if process != root)]
    for process in found:
        found += [child for child in children[process] if child not in found]
    return found[1:]


def end_below(root: int) -> None:
    """Kill everything below a process, which must not be starting others meanwhile; wait until it is gone.

    A process that the kernel does not let die (it waits for a device) is waited for `PATIENCE` seconds.
    """
    until = time.monotonic() + PATIENCE
    while (processes := below(root)) and time.monotonic() < until:
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first: nothing is started while the rest is killed
            for process in processes:
                send(process, number)
        time.sleep(0.001)


def end_tree(root: int) -> None:
    """Kill a process and everything below it."""
    send(root, signal.SIGSTOP)
    end_below(root)
    send(root, signal.SIGKILL)


def send(process: int, number: signal.Signals) -> None:
    """A signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def bury(group: int) -> None:
    """Take notice of the ends of a process group's members that were left to this process."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
