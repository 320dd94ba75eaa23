"""Set this process's limits, then become another program: `python -I -S launch.py '{"memory": ..., ...}' PROGRAM ...`.

Runs without the arena's other modules and without site-packages, as it is started for every match of a program.
"""

import ctypes
import fcntl
import json
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_THP_DISABLE = 1, 22, 36, 38, 41
MAX_OPEN_FILES = 64
FILE_BYTES = TMP_BYTES = 64 * 2**20
MAX_FILES = 10_000
MAX_PENDING_SIGNALS = 64
HELD_IN, HELD_OUT = 8, 9
TAKE_OVER = f'exec "$@" <&{HELD_IN} >&{HELD_OUT} {HELD_IN}<&- {HELD_OUT}>&-'
"""A shell's command line that puts standard input and output back in their places."""


def limit(memory: int, seconds: float, sandboxed: bool) -> None:
    """Bound this process and its children: MiB of private memory, seconds of CPU time, sizes and numbers of files.

    Address space is left alone: runtimes reserve far more than they use. Signals that wait are bounded in the sandbox,
    whose own are counted; elsewhere those of all the user's processes are.
    """
    bounds = {
        resource.RLIMIT_DATA: memory * 2**20,
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_FSIZE: FILE_BYTES,
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        **({resource.RLIMIT_SIGPENDING: MAX_PENDING_SIGNALS} if sandboxed else {}),
    }
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def control(option: int, value: int) -> None:
    """Call `prctl`; raises `OSError`."""
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def hand_over() -> None:
    """Give standard input and output other numbers: bubblewrap, outside, keeps the usual ones open as long as it runs.

    What a bot closes would stay open.
    """
    os.dup2(0, HELD_IN)
    os.dup2(1, HELD_OUT)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)


def copy_above_held(descriptor: int) -> int:
    """Return a copy of a descriptor above those that `hand_over` uses."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HELD_OUT + 1)


def main() -> None:
    limits = json.loads(sys.argv[1])
    if limits["sandboxed"]:
        hand_over()
        control(PR_SET_THP_DISABLE, 1)
    control(PR_SET_PDEATHSIG, signal.SIGKILL)
    control(PR_SET_CHILD_SUBREAPER, 1)
    control(PR_SET_NO_NEW_PRIVS, 1)
    limit(limits["memory"], limits["seconds"], limits["sandboxed"])
    try:
        os.execvp(sys.argv[2], sys.argv[2:])
    except OSError as error:
        sys.exit(f"'{sys.argv[2]}' cannot be started: {error.strerror}")


if __name__ == "__main__":
    main()
