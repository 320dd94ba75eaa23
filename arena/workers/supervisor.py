"""The parent of one worker: ends it, and all that bots started, when its driver says so or is gone.

No bot's code runs here, so it can act whatever the worker does: stopped, stuck in foreign code, or dead. What bots'
processes leave behind becomes its child, and it ends as the worker did. It is forked by `arena.workers.preloaded`, and
forks the worker.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import tempfile
from multiprocessing.connection import Connection

from arena.core import records
from arena.core.files import remove
from arena.core.process_trees import adopt_orphans, kill_descendants, signal_at_parents_end
from arena.workers.messages import Start
from arena.workers.parent import CACHE_VARIABLE
from arena.workers.worker import main as work

SIGNALS = (signal.SIGCHLD, signal.SIGCONT, signal.SIGTERM)
"""A child has ended; the parent is gone, even while this process was stopped; the driver orders the end."""
POLL_SECONDS = 0.5
"""Seconds from one look at the parent to the next, should a signal go astray."""


def supervise(parent: int, connection: int, heartbeat: int, complaints: int) -> None:
    """Start a worker, wait for the end of it or of the parent, and leave nothing behind; takes three descriptors."""
    os.setsid()
    os.dup2(complaints, 2)
    os.close(complaints)
    adopt_orphans()
    signal_at_parents_end(signal.SIGCONT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    channel = Connection(connection)
    start = records.decode(Start, channel.recv_bytes())
    _adopt(start)
    worker = os.fork()
    if worker == 0:
        os.setpgid(0, 0)  # a bot that kills its process group spares this process
        signal_at_parents_end(signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        work(channel, heartbeat)
        os._exit(0)  # whatever threads of bots are still there
    channel.close()  # the driver is to see that the worker's end is closed
    status = _wait(worker, parent)
    kill_descendants(os.getpid())
    if os.path.lexists(start.folder):
        remove(start.folder)
    _end_with(status)


def _adopt(start: Start) -> None:
    """Become a process like one that the driver has started anew: folder, environment, random numbers, collector."""
    os.chdir(start.folder)
    for name in os.environ.keys() - start.environment.keys() - {CACHE_VARIABLE}:
        del os.environ[name]
    os.environ.update(start.environment)
    tempfile.tempdir = None
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # Python's and Numba's generators see to it themselves
    gc.enable()


def _wait(worker: int, parent: int) -> int:
    """Return how the worker has ended; 0 when the driver orders the end or the parent is gone."""
    while os.getppid() == parent:
        if (status := _reap(worker)) is not None:
            return status
        received = signal.sigtimedwait(SIGNALS, POLL_SECONDS)
        if received is not None and received.si_signo == signal.SIGTERM:
            break
    return 0


def _reap(worker: int) -> int | None:
    """Reap the children that have ended; return the worker's status if it is among them."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == worker:
                found = ended[1]
    return found


def _end_with(status: int) -> None:
    """End as another process did."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(OSError):  # the default of SIGKILL cannot be set again
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))
