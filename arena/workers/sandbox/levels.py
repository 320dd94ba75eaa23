"""Run commands at each level of isolation, and find what this machine lacks for the sandbox.

The sandbox is bubblewrap: namespaces of its own (user, processes, IPC, host name, network without any interface but its
own loopback), a read-only file system with system libraries, Python and the arena's code and nothing else of the
user's, a private /tmp, no capabilities, no new privileges, and a seccomp filter (`arena.workers.sandbox.seccomp`).
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.core.exit_codes import in_words, may_be_from_outside, unwrapped
from arena.core.paths import ROOT
from arena.core.process_trees import end_tree, reap_group, wait_for
from arena.registry.plugin_games import planned_folders
from arena.workers.sandbox import outside_users
from arena.workers.sandbox.launch import TAKE_OVER, TMP_BYTES, out_of_the_way
from arena.workers.sandbox.outside_users import NOBODY, OutsideUser, lease
from arena.workers.sandbox.seccomp import bpf

if TYPE_CHECKING:
    from arena.core.limits import Isolation

BWRAP = "bwrap"
DEVICES = ("null", "zero", "full", "random", "urandom")
SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
LAST_NUMBER = "/proc/sys/kernel/ns_last_pid"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
LAUNCH = Path(__file__).with_name("launch.py")
NEVER_CHANGES = ("cmdline", "consoles", "devices", "dma", "execdomains", "fb", "filesystems", "misc", "version")
"""Files of /proc that tell of the machine, but the same in every match; others are covered in the sandbox."""
TRIAL = ["unshare", "--mount", "true"]
TRIAL_SECONDS = 20.0
TRIALS = 3
START_SECONDS, DYING_SECONDS = 60.0, 5.0
SPARE = ("PATH", "LANG", "LC_ALL", "TZ")
"""What a process outside the sandbox keeps of the environment."""


@dataclass
class Spawn:
    """A command to run at a level of isolation."""

    command: Sequence[str]
    isolation: Isolation
    environment: Mapping[str, str] = field(default_factory=dict)
    readable: Sequence[str] = ()
    """Paths that the sandbox shows, besides the system's, read-only and under their own names."""
    room: tuple[str, int] | None = None
    """A folder of the sandbox, besides /tmp, that may be written to, and how many bytes it takes."""
    bound: Sequence[tuple[str, str]] = ()
    """(folder outside, folder inside) that the sandbox shows read-only."""
    folder: str = "/tmp"
    limits: Mapping[str, float] | None = None
    """For `arena.workers.sandbox.launch`; None for what limits itself."""
    processes: bool = False
    """Whether it may start others."""
    divides: bool = False
    """Whether it is a program of ours that gives each of its children a sandbox within the sandbox.

    It has the capability that this takes, and puts on the seccomp filter itself.
    """

    @contextlib.contextmanager
    def start(self, stdin: int, stdout: int, stderr: int) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
        """Start the process; give it and its number as seen from here, and end it when the context is left.

        Raises `OSError` when it cannot be started, `KilledAtStart` when somebody prevented it.
        """
        with contextlib.ExitStack() as stack:
            command = list(self.command)
            keep: list[int] = []
            groups: dict[str, Any] = {}
            if self.isolation == "sandbox":
                user = stack.enter_context(lease())
                if user is not None:
                    keep.append(user.namespace)
                    groups = {"extra_groups": ()} if os.getuid() == 0 else {}
                arguments = b"\0".join(map(os.fsencode, self._arguments(stack, keep, user))) + b"\0"
                arguments_fd = _kept(stack, arguments)
                status, low = os.pipe()
                stack.callback(os.close, status)
                status_in = out_of_the_way(low)
                os.close(low)
                keep += [arguments_fd, status_in]
                if self.limits is not None:
                    command = ["/bin/sh", "-c", TAKE_OVER, "sh", *command]
                command = [BWRAP, "--args", str(arguments_fd), "--json-status-fd", str(status_in), "--", *command]
            if self.limits is not None:
                limits = {**self.limits, "sandboxed": self.isolation == "sandbox"}
                command = [python(), "-I", "-S", str(LAUNCH), json.dumps(limits), *command]
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=self.folder if self.isolation == "process" else "/",
                env={**{name: os.environ[name] for name in SPARE if name in os.environ}, **self.environment},
                pass_fds=keep,
                start_new_session=self.isolation == "process",
                **groups,
            )
            stack.callback(process.wait)
            number = process.pid
            if self.isolation == "sandbox":
                stack.callback(_end_unstarted, process)
                os.close(status_in)
                number = _child(status, process)
                first = None
                with contextlib.suppress(ProcessLookupError):  # it has ended already
                    first = os.pidfd_open(number)
                stack.callback(_end_sandbox, process, first)
            else:
                stack.callback(_end_session, process)
            yield process, number

    def _arguments(self, stack: contextlib.ExitStack, keep: list[int], user: OutsideUser | None) -> list[str]:
        arguments = [
            *(("--unshare-user",) if user is None else ("--userns", str(user.namespace))),
            *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
            *("--die-with-parent", "--new-session", "--as-pid-1"),
            *("--cap-drop", "ALL", "--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "arena", "--clearenv"),
            *_system(),
            *("--proc", "/proc", *([] if self.divides or self.processes else _own_processes_only())),
            *("--remount-ro", "/proc", *_devices(), "--size", str(TMP_BYTES), "--tmpfs", "/tmp"),
        ]
        if self.divides:
            arguments += ["--cap-add", "CAP_SYS_ADMIN", "--bind-try", LAST_NUMBER, LAST_NUMBER]
        for name, value in {"PATH": SEARCH_PATH, "HOME": "/tmp", **self.environment}.items():
            arguments += ["--setenv", name, value]
        for path in self.readable:
            arguments += ["--ro-bind-try", path, path]
        for outside, inside in self.bound:
            arguments += ["--ro-bind", outside, inside]
        if self.room is not None:
            folder, most = self.room
            arguments += ["--size", str(most), "--tmpfs", folder]
        arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", self.folder]
        if not self.divides:
            keep.append(_kept(stack, bpf("build" if self.processes else "program")))
            arguments += ["--seccomp", str(keep[-1])]
        return arguments


def _kept(stack: contextlib.ExitStack, content: bytes) -> int:
    """Return a descriptor of a nameless file with that content, for bubblewrap to read, out of others' way."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        descriptor = out_of_the_way(file.fileno())
        stack.callback(os.close, descriptor)
        return descriptor


class KilledAtStart(OSError):
    """Bubblewrap was killed before anything ran in the sandbox, so by somebody outside."""


def _child(status: int, bubblewrap: subprocess.Popen[bytes]) -> int:
    """Return the number of the sandbox's first process, from bubblewrap; raises `OSError` when there is none."""
    said = b""
    while b"\n" not in said:
        part = os.read(status, 4096) if wait_for(status, bubblewrap.pid, START_SECONDS) else b""
        if not part:
            with contextlib.suppress(subprocess.TimeoutExpired):
                if may_be_from_outside(code := bubblewrap.wait(DYING_SECONDS)):
                    raise KilledAtStart(f"bubblewrap was {in_words(code)}")
            raise OSError("bubblewrap did not start")
        said += part
    return int(json.loads(said.partition(b"\n")[0])["child-pid"])


def _end_unstarted(bubblewrap: subprocess.Popen[bytes]) -> None:
    """Kill bubblewrap and what it has begun, which outlives it until it has been told to die with it."""
    if bubblewrap.poll() is None:
        end_tree(bubblewrap.pid)


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


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and what it started, also what outlived it."""
    end_tree(process.pid)
    process.wait()
    reap_group(process.pid)


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


def python() -> str:
    """Return the interpreter itself, not a virtual environment's link to it."""
    return os.path.realpath(sys.executable)


@functools.cache
def _packages() -> tuple[Path, ...]:
    """Return the folders or files of our own packages and of plug-in games, with the metadata of these."""
    found = [ROOT / package for package in ("arena", "bots", "engine")]
    for entry in entry_points(group="arena.games"):
        spec = importlib.util.find_spec(entry.value.partition(":")[0].partition(".")[0])
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            found.append(origin.parent if origin.name == "__init__.py" else origin)
        if entry.dist is not None:
            about = f"{entry.dist.name.replace('-', '_')}-{entry.dist.version}.dist-info"
            found.append(Path(str(entry.dist.locate_file(about))))
    return tuple(path for path in dict.fromkeys(found) if path.exists())


def trusted_sources() -> list[str]:
    """Return a source file in each folder that holds some of our engine, our bots and plug-in games."""
    found: dict[Path, str] = {}
    for path in _packages():
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        found |= {file.parent: str(file) for file in files if path != ROOT / "arena" and file.suffix == ".py"}
    return list(found.values())


def _libraries() -> list[str]:
    return [path for path in sys.path if path.endswith(("site-packages", "dist-packages")) and os.path.isdir(path)]


def python_paths() -> tuple[str, ...]:
    """Return what a Python process must be able to read: the interpreter, its libraries, our code, plug-in games."""
    found = [python(), sys.base_prefix, *_libraries(), *planned_folders(), *map(str, _packages())]
    return tuple(dict.fromkeys(path for path in found if not path.startswith("/usr/")))


def import_paths() -> tuple[str, ...]:
    """Return what such a process puts on its `sys.path`, behind the standard library."""
    return tuple(dict.fromkeys([*planned_folders(), *(str(path.parent) for path in _packages()), *_libraries()]))


def program_paths(command: str) -> tuple[str, ...]:
    """Return where a program on the search path lies, with the libraries beside it; empty for the system's."""
    found = shutil.which(command)
    if found is None:
        return ()
    real = Path(found).resolve()
    if real.is_relative_to("/usr") or real.is_relative_to("/bin"):
        return ()
    return tuple(dict.fromkeys([found, str(real), str(real.parent.with_name("lib"))]))


def program_environment(command: str, isolation: Isolation) -> dict[str, str]:
    """Return a program's environment; the sandbox's search path ends where the program lies, if that is elsewhere."""
    found = program_paths(command) if isolation == "sandbox" else ()
    path = {"PATH": f"{SEARCH_PATH}:{os.path.dirname(found[0])}"} if found else {}
    return {"HOME": "/tmp", "TMPDIR": "/tmp", **path}


def missing_requirements() -> str:
    """Return why this machine cannot sandbox, and what would help; empty when it can. It is tried once."""
    try:
        return _missing_requirements()
    except _Disturbed as disturbed:
        return f"bubblewrap could not be tried ({disturbed}); try again"


class _Disturbed(Exception):
    """The trial was killed or starved, which says nothing of this machine and is not remembered."""


@functools.cache
def _missing_requirements() -> str:
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
        outside_users.do_without(why)
        why = _trials()
    return why


def _trials() -> str:
    for _ in range(TRIALS - 1):
        with contextlib.suppress(_Disturbed):
            return _trial()
    return _trial()


def _trial() -> str:
    """Return why bubblewrap does not work here, empty when it does; raises `_Disturbed`."""
    with tempfile.TemporaryFile() as complaints:
        code = None
        try:
            spawn = Spawn(TRIAL, "sandbox", divides=True)
            with spawn.start(subprocess.DEVNULL, subprocess.DEVNULL, complaints.fileno()) as (trial, _):
                code = trial.wait(TRIAL_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            pass
        complaints.seek(0)
        lines = complaints.read().decode(errors="replace").strip().splitlines()
    if code == 0:
        return ""
    if may_be_from_outside(unwrapped(code or 0)) or not (code or lines):
        raise _Disturbed("it was killed" if code else "no word from it")
    why = lines[-1] if lines else f"it ended with code {code}"
    return f"bubblewrap does not work here ({why}); unprivileged user namespaces must be allowed"
