"""The preloaded parent of workers: it has imported what every worker needs, and forks one in milliseconds.

It holds Numba and those games of plans that are ours and compiled, but no key and no plan; it runs no bot's code and a
single thread, so that all workers begin alike. It forks supervisors (`arena.workers.supervisor`), whose children the
workers are: what a worker does touches no other, nor this process. Run by `arena.workers.parent` as `python -m
arena.workers.preloaded DRIVER SOCKET`, with the driver's process number and a descriptor; when the driver is gone it
ends, and all workers with it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from arena.core.process_trees import protect_memory, signal_at_parents_end, thread_count
from arena.core.versions import code_hash
from arena.workers.parent import FORK, LOAD, MAX_ORDER_BYTES, REAP

POLL_SECONDS = 0.5
"""Seconds from one look at the driver to the next, should its socket be held open by somebody else."""


def main(driver: int, orders: socket.socket) -> None:
    """Take orders until the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which then lets its workers finish
    signal_at_parents_end(signal.SIGCONT)  # also while it is stopped
    protect_memory()
    gc.disable()  # imports are a sixth faster; a worker enables it again
    with _hidden("yaml"), _hidden("coverage"):  # what Numba reads settings and reports compiling with, slow to import
        import engine.kernel  # noqa: F401
    from arena.workers.supervisor import supervise

    code_hash()
    orders.settimeout(POLL_SECONDS)
    while os.getppid() == driver:
        with contextlib.suppress(TimeoutError):
            order, descriptors, _, _ = socket.recv_fds(orders, MAX_ORDER_BYTES, 3)
            if order == FORK:
                process = fork_worker(orders, lambda here: supervise(here, *descriptors))  # noqa: B023 - called at once
                descriptors.append(os.pidfd_open(process))
                socket.send_fds(orders, [b"%d" % process], descriptors[-1:])
            elif order.startswith(REAP):
                orders.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(int(order[1:]), 0)[1]))
            elif order.startswith(LOAD):
                _load(*json.loads(order[1:]))
            else:
                break
            for descriptor in descriptors:
                os.close(descriptor)
    os._exit(0)


@contextlib.contextmanager
def _hidden(module: str) -> Iterator[None]:
    """Let a module that is not loaded not be found by those that can do without."""
    nothing: Any = None  # as the import system means it
    here = sys.modules.setdefault(module, nothing)
    yield
    if here is None:
        del sys.modules[module]


_loaded: set[tuple[str, int]] = set()


def _load(name: str, players: int) -> None:
    """Load what matches call on a board, of our own games and if it is compiled."""
    from arena.match.referee import warm_up  # with Numba, so not before it
    from engine import load_game
    from engine.kernel import from_cache_alone
    from engine.registry import game_type, is_provided

    if (name, players) in _loaded:
        return
    with contextlib.suppress(Exception), from_cache_alone():
        if not is_provided(name) and game_type(name).package.startswith("engine."):
            warm_up(load_game(name, players))
            _loaded.add((name, players))


def fork_worker(orders: socket.socket, run: Callable[[int], None]) -> int:
    """Return the number of a new process that does nothing but run a function of this process's number."""
    if thread_count(os.getpid()) > 1:
        raise RuntimeError("the parent of workers has threads, whose locks would stay locked in a worker")
    gc.freeze()
    here, process = os.getpid(), os.fork()
    if process == 0:
        try:
            orders.close()
            run(here)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return process


if __name__ == "__main__":
    main(int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
