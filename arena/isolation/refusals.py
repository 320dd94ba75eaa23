"""Watch which system calls a sandboxed process is refused, as its tracer: `python -I -S refusals.py PROCESS`.

For `arena check` alone, on x86-64. The filter reports refused calls to a tracer (`SECCOMP_RET_TRACE`); this one writes
the number of each, a line, and refuses it as Linux does when there is no tracer. It ends with the process, and the
process with it. Runs without the arena's other modules and without site-packages.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

CONT, POKEUSER, SEIZE, LISTEN, GET_SYSCALL_INFO = 7, 6, 0x4206, 0x4208, 0x420E
TRACE_FORK, TRACE_VFORK, TRACE_CLONE, TRACE_EXEC, TRACE_SECCOMP, EXIT_KILL = 0x2, 0x4, 0x8, 0x10, 0x80, 0x100000
OPTIONS = TRACE_FORK | TRACE_VFORK | TRACE_CLONE | TRACE_EXEC | TRACE_SECCOMP | EXIT_KILL
EVENT_SECCOMP, EVENT_STOP = 7, 128
WAIT_FOR_ALL = 0x40000000
STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
NUMBER_OF_CALL = 120
"""Where Linux keeps the number of the call that a process is in, in what it calls `struct user` on x86-64."""
NUMBER_IN_INFO = 24
MACHINE = "x86_64"
ENDING_SECONDS = 10.0


class Refusals:
    """What a process is refused from now on."""

    def __init__(self, process: int) -> None:
        """Begin to watch; raises `OSError` when it cannot be watched."""
        command = [sys.executable, "-I", "-S", __file__, str(process)]
        self._tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert self._tracer.stdout is not None
        if self._tracer.stdout.readline() != "ready\n":
            self._tracer.communicate()
            raise OSError("the system calls of this process cannot be watched")

    def numbers(self) -> list[int]:
        """Return the refused calls, each once, in their order; the process has ended, or ends now."""
        try:
            lines = self._tracer.communicate(timeout=ENDING_SECONDS)[0].split()
        except subprocess.TimeoutExpired:
            self._tracer.kill()
            lines = self._tracer.communicate()[0].split()
        return [*map(int, lines)]


class Tracer:
    """Traces all threads of a process."""

    def __init__(self, process: int) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.restype = ctypes.c_long
        self.seen: set[int] = set()
        for thread in Path(f"/proc/{process}/task").iterdir():
            self.ptrace(SEIZE, int(thread.name), 0, OPTIONS)

    def ptrace(self, request: int, process: int, address: int, data: int | ctypes.Array[ctypes.c_char]) -> None:
        """Call `ptrace`; raises `OSError`."""
        given = ctypes.c_long(data) if isinstance(data, int) else data
        if self.libc.ptrace(ctypes.c_long(request), process, ctypes.c_long(address), given) < 0:
            raise OSError(ctypes.get_errno(), "ptrace")

    def serve(self) -> None:
        """Answer until all threads have ended."""
        while True:
            try:
                thread, status = os.waitpid(-1, WAIT_FOR_ALL)
            except ChildProcessError:
                return
            if os.WIFSTOPPED(status):
                with contextlib.suppress(ProcessLookupError):  # it has just been killed
                    self.resume(thread, status >> 16, os.WSTOPSIG(status))

    def resume(self, thread: int, event: int, number: int) -> None:
        """Let a thread go on after an event, or a signal with that number."""
        if event == EVENT_SECCOMP:
            self.refuse(thread)
        if event == EVENT_STOP and number in STOPS:
            self.ptrace(LISTEN, thread, 0, 0)  # it stays stopped
        else:
            self.ptrace(CONT, thread, 0, 0 if event else number)

    def refuse(self, thread: int) -> None:
        """Note the call that a thread is in, and have it answered as one that Linux does not know."""
        info = ctypes.create_string_buffer(128)
        self.ptrace(GET_SYSCALL_INFO, thread, len(info), info)
        self.ptrace(POKEUSER, thread, NUMBER_OF_CALL, -1)
        number = int.from_bytes(info.raw[NUMBER_IN_INFO : NUMBER_IN_INFO + 8], sys.byteorder)
        if number not in self.seen:
            self.seen.add(number)
            print(number, flush=True)


def main() -> None:
    """Trace the process that the command line names."""
    tracer = Tracer(int(sys.argv[1]))
    print("ready", flush=True)
    tracer.serve()


if __name__ == "__main__":
    main()
