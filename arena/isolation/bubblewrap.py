"""Run commands in a sandbox, and find what this machine lacks for it.

The sandbox is bubblewrap: namespaces of its own (user, processes, IPC, host name, network without any interface but its
own loopback), a read-only file system with system libraries, Python and the arena's code and nothing else of the
user's, a private /tmp, no capabilities, no new privileges, and a seccomp filter (`arena.isolation.seccomp`).
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.core.exit_codes import exit_description, may_be_external_kill, unwrapped_exit_code
from arena.core.process_trees import kill_tree, wait_readable
from arena.isolation import outside_users
from arena.isolation.launch import TAKE_OVER, TMP_BYTES, copy_above_held
from arena.isolation.outside_users import NOBODY, OutsideUser, lease
from arena.isolation.seccomp import bpf
from arena.isolation.spawn import TEMPORARY_ENVIRONMENT, KilledAtStart, Spawn

BWRAP = "bwrap"
DEVICES = ("null", "zero", "full", "random", "urandom")
SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
LAST_NUMBER = "/proc/sys/kernel/ns_last_pid"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
NEVER_CHANGES = ("cmdline", "consoles", "devices", "dma", "execdomains", "fb", "filesystems", "misc", "version")
"""Files of /proc that tell of the machine, but the same in every match; others are covered in the sandbox."""
TRIAL = ["unshare", "--mount", "true"]
TRIAL_SECONDS = 20.0
TRIALS = 3
START_SECONDS, DYING_SECONDS = 60.0, 5.0


@contextlib.contextmanager
def run(spawn: Spawn, stdin: int, stdout: int, stderr: int) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run a command in a sandbox, as `ProcessLauncher.run`."""
    with contextlib.ExitStack() as stack:
        keep: list[int] = []
        groups: dict[str, Any] = {}
        user = stack.enter_context(lease())
        if user is not None:
            keep.append(user.namespace)
            groups = {"extra_groups": ()} if os.getuid() == 0 else {}
        arguments = b"\0".join(map(os.fsencode, _arguments(spawn, stack, keep, user))) + b"\0"
        arguments_fd = _kept(stack, arguments)
        status, low = os.pipe()
        stack.callback(os.close, status)
        status_in = copy_above_held(low)
        os.close(low)
        keep += [arguments_fd, status_in]
        command = ["/bin/sh", "-c", TAKE_OVER, "sh"] if spawn.limits is not None else []
        bubblewrap = [BWRAP, "--args", str(arguments_fd), "--json-status-fd", str(status_in), "--"]
        process = subprocess.Popen(
            spawn.limited([*bubblewrap, *command, *spawn.command], sandboxed=True),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd="/",
            env=spawn.outer_environment(),
            pass_fds=keep,
            **groups,
        )
        stack.callback(process.wait)
        stack.callback(_end_unstarted, process)
        os.close(status_in)
        number = child_of(status, process)
        first = None
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            first = os.pidfd_open(number)
        stack.callback(_end_sandbox, process, first)
        yield process, number


def _arguments(spawn: Spawn, stack: contextlib.ExitStack, keep: list[int], user: OutsideUser | None) -> list[str]:
    arguments = [
        *(("--unshare-user",) if user is None else ("--userns", str(user.namespace))),
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *("--die-with-parent", "--new-session", "--as-pid-1"),
        *("--cap-drop", "ALL", "--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "arena", "--clearenv"),
        *_system(),
        *("--proc", "/proc", *([] if spawn.divides or spawn.processes else _own_processes_only())),
        *("--remount-ro", "/proc", *_devices(), "--size", str(TMP_BYTES), "--tmpfs", "/tmp"),
    ]
    if spawn.divides:
        arguments += ["--cap-add", "CAP_SYS_ADMIN", "--bind-try", LAST_NUMBER, LAST_NUMBER]
    for name, value in {"PATH": SEARCH_PATH, "HOME": "/tmp", **spawn.environment}.items():
        arguments += ["--setenv", name, value]
    for path in spawn.readable:
        arguments += ["--ro-bind-try", path, path]
    for outside, inside in spawn.bound:
        arguments += ["--ro-bind", outside, inside]
    if spawn.room is not None:
        folder, most = spawn.room
        arguments += ["--size", str(most), "--tmpfs", folder]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", spawn.folder]
    if not spawn.divides:
        keep.append(_kept(stack, bpf("build" if spawn.processes else "program")))
        arguments += ["--seccomp", str(keep[-1])]
    return arguments


def _kept(stack: contextlib.ExitStack, content: bytes) -> int:
    """Return a descriptor of a nameless file with that content, for bubblewrap to read, out of others' way."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        descriptor = copy_above_held(file.fileno())
        stack.callback(os.close, descriptor)
        return descriptor


def child_of(status: int, bubblewrap: subprocess.Popen[bytes]) -> int:
    """Return the number of the sandbox's first process, from bubblewrap; raises `OSError` when there is none."""
    said = b""
    while b"\n" not in said:
        part = os.read(status, 4096) if wait_readable(status, bubblewrap.pid, START_SECONDS) else b""
        if not part:
            with contextlib.suppress(subprocess.TimeoutExpired):
                if may_be_external_kill(code := bubblewrap.wait(DYING_SECONDS)):
                    raise KilledAtStart(f"bubblewrap was {exit_description(code)}")
            raise OSError("bubblewrap did not start")
        said += part
    return int(json.loads(said.partition(b"\n")[0])["child-pid"])


def _end_unstarted(bubblewrap: subprocess.Popen[bytes]) -> None:
    """Kill bubblewrap and what it has begun, which outlives it until it has been told to die with it."""
    if bubblewrap.poll() is None:
        kill_tree(bubblewrap.pid)


def _end_sandbox(bubblewrap: subprocess.Popen[bytes], first: int | None) -> None:
    """Kill bubblewrap, then the sandbox's first process and with it all others: it need not die with its parent.

    A program can see to that (`PR_SET_PDEATHSIG`). Without its parent it is ours to reap.
    """
    bubblewrap.kill()
    bubblewrap.wait()
    if first is not None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(first, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PIDFD, first, os.WEXITED)
        os.close(first)


@functools.cache
def _own_processes_only() -> list[str]:
    """Return arguments that cover all of /proc but processes; kernels differ in what there is."""
    arguments = []
    for path in sorted(Path("/proc").iterdir()):
        if path.name.isdigit() or path.name in NEVER_CHANGES or path.is_symlink():
            continue
        if path.is_dir():
            arguments += ["--tmpfs", str(path), "--remount-ro", str(path)]
        else:
            arguments += ["--ro-bind", "/dev/null", str(path)]
    return arguments


def _devices() -> list[str]:
    """Return arguments for harmless devices; `--dev` brings terminals, and a user namespace that cannot be divided."""
    arguments = ["--tmpfs", "/dev", "--dir", "/dev/shm", "--symlink", "/proc/self/fd", "/dev/fd"]
    for name in DEVICES:
        arguments += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        arguments += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
    return arguments


def _system() -> list[str]:
    arguments = []
    for path in SYSTEM:
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            arguments += ["--ro-bind", path, path]
    return arguments


def program_paths(command: str) -> tuple[str, ...]:
    """Return where a program on the search path lies, with the libraries beside it; empty for the system's."""
    found = shutil.which(command)
    if found is None:
        return ()
    real = Path(found).resolve()
    if real.is_relative_to("/usr") or real.is_relative_to("/bin"):
        return ()
    return tuple(dict.fromkeys([found, str(real), str(real.parent.with_name("lib"))]))


def program_environment(command: str) -> dict[str, str]:
    """Return a program's environment; the search path ends where the program lies, if that is elsewhere."""
    found = program_paths(command)
    path = {"PATH": f"{SEARCH_PATH}:{os.path.dirname(found[0])}"} if found else {}
    return {**TEMPORARY_ENVIRONMENT, **path}


def missing_requirements() -> str:
    """Return why this machine cannot sandbox, and what would help; empty when it can. It is tried once."""
    try:
        return find_missing_requirements()
    except _Disturbed as disturbed:
        return f"bubblewrap could not be tried ({disturbed}); try again"


class _Disturbed(Exception):
    """The trial was killed or starved, which says nothing of this machine and is not remembered."""


@functools.cache
def find_missing_requirements() -> str:
    if sys.platform != "linux":
        return "the sandbox needs Linux (namespaces, seccomp)"
    if shutil.which(BWRAP) is None:
        return "bubblewrap is not installed; Debian and Ubuntu: apt-get install bubblewrap"
    try:
        bpf()
    except OSError:
        return "libseccomp is not installed; Debian and Ubuntu: apt-get install libseccomp2"
    why = _trials()
    if why and not outside_users.missing():
        outside_users.disable(why)
        why = _trials()
    return why


def _trials() -> str:
    for _ in range(TRIALS - 1):
        with contextlib.suppress(_Disturbed):
            return try_out()
    return try_out()


def try_out() -> str:
    """Return why bubblewrap does not work here, empty when it does; raises `_Disturbed`."""
    with tempfile.TemporaryFile() as complaints:
        code = None
        try:
            spawn = Spawn(TRIAL, divides=True)
            with run(spawn, subprocess.DEVNULL, subprocess.DEVNULL, complaints.fileno()) as (trial, _):
                code = trial.wait(TRIAL_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            pass
        complaints.seek(0)
        lines = complaints.read().decode(errors="replace").strip().splitlines()
    if code == 0:
        return ""
    if may_be_external_kill(unwrapped_exit_code(code or 0)) or not (code or lines):
        raise _Disturbed("it was killed" if code else "no word from it")
    why = lines[-1] if lines else f"it ended with code {code}"
    return f"bubblewrap does not work here ({why}); unprivileged user namespaces must be allowed"
