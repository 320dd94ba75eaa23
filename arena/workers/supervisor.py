"""Run as the parent of a worker: end it, and all that bots started, when its driver says so or is gone.

No bot's code runs here, so it can act whatever the worker does: stopped, stuck in foreign code, or dead. What bots'
processes leave behind becomes its child, and it ends as the worker did. Run as `python -m arena.workers.supervisor
DRIVER ...`, with the driver's process number and the arguments of `arena.workers.worker`, which is forked from it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

from arena.core.process_trees import close_to_others, end_below, keep_orphans, signal_at_parents_end

SIGNALS = (signal.SIGCHLD, signal.SIGCONT, signal.SIGTERM)
"""A child has ended; the driver is gone, even while this process was stopped; the driver orders the end."""
LOOK = 0.5
"""Seconds from one look at the driver to the next, should a signal go astray."""


def main(driver: int, arguments: list[str]) -> None:
    """Start a worker, wait for the end of it or of the driver, and leave nothing behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which then lets its workers finish
    keep_orphans()
    close_to_others()
    signal_at_parents_end(signal.SIGCONT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    worker = os.fork()
    if worker == 0:
        os.setpgid(0, 0)  # a bot that kills its process group spares this process
        signal_at_parents_end(signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        from arena.workers.worker import main as work

        work(arguments)
        os._exit(0)  # whatever threads of bots are still there
    os.close(int(arguments[0]))  # the driver is to see that the worker's end is closed
    status = _wait(worker, driver)
    end_below(os.getpid())
    if os.path.lexists(arguments[2]):
        from arena.core.files import remove  # not before: what supervisors load, all workers' memory holds

        remove(arguments[2])
    _end_with(status)


def _wait(worker: int, driver: int) -> int:
    """Return how the worker has ended; 0 when the driver orders the end or is gone."""
    while os.getppid() == driver:
        if (status := _reap(worker)) is not None:
            return status
        received = signal.sigtimedwait(SIGNALS, LOOK)
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


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
