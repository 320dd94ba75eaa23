"""Build programs once on each machine; what a build writes is bounded while it runs, and checked afterwards."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from arena.core.errors import has_no_room
from arena.core.exit_codes import may_be_from_outside, unwrapped
from arena.core.files import own_folder
from arena.core.process_trees import below, resident, threads_of, wait_for, wake
from arena.match.faults import Fault, Killed
from arena.registry.bundles import Bundle
from arena.registry.manifest import Program
from arena.workers.sandbox.bot_process import opened
from arena.workers.sandbox.launch import MOST_FILES
from arena.workers.sandbox.levels import KilledAtStart, Spawn, program_environment, program_paths
from arena.workers.sandbox.process_source import bound_threads
from engine.cache import cache_root

if TYPE_CHECKING:
    from arena.core.limits import Isolation

BUILD_LIMIT = 300.0
BUILD_MEMORY, BUILD_MEMORY_IN_ALL = 2048, 4096
"""MiB: of a process, and of all together."""
MOST_THREADS = 1024
"""Processes and threads of a build."""
TRIES = 3
"""Builds of a program that may be killed, by whomever, all in the time of one."""
BUILD_BYTES = 256 * 2**20
LOOK = 0.1
"""Seconds between two looks at the folder of a build outside the sandbox."""
INSIDE = "/bot"
WAIT = 'echo && read -r _ && exec "$@" </dev/null >&2'
"""A shell's command line: say that the sandbox is there, and begin when its files are."""
TOO_MUCH = f"its build made more than {BUILD_BYTES >> 20} MiB or {MOST_FILES:,} files"


def built(bundle: Bundle, program: Program, isolation: Isolation) -> Path:
    """Return the folder with a program's built files, made once on each machine; raises `Fault` when that fails."""
    key = hashlib.blake2b(f"{bundle.hash} {isolation}".encode(), digest_size=16).hexdigest()
    folder = cache_root() / "programs" / key
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with own_folder(folder.parent, "build-") as desk:
        fresh = _built(program, bundle.files, isolation, desk)
        with contextlib.suppress(OSError):  # another process was first
            os.rename(fresh, folder)
    return folder


def _built(program: Program, files: Mapping[str, bytes], isolation: Isolation, desk: Path) -> Path:
    """Build the files in a new folder on the desk; again when the build is killed, which may be from outside."""
    until = time.monotonic() + BUILD_LIMIT
    for number in range(TRIES):
        fresh = desk / str(number)
        fresh.mkdir()
        try:
            if program.build and isolation == "sandbox":
                _build_in_sandbox(program, files, fresh, until)
                return fresh
            _write(files, fresh)
            if program.build:
                _build_here(program, fresh, until)
            return fresh
        except Killed as error:
            why = str(error)
    raise Fault("init", f"{why}, {TRIES} times")


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder; they, and the folders that they take, belong to whom it belongs to."""
    owner = folder.stat()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
        if owner.st_uid != os.geteuid():  # of a sandbox that has a user of its own
            for made in (path, *path.parents[: len(Path(name).parts) - 1]):
                os.chown(made, owner.st_uid, owner.st_gid)


def _build_in_sandbox(program: Program, files: Mapping[str, bytes], folder: Path, until: float) -> None:
    """Build in a file system in memory that holds no more than is allowed; what is good in it goes to the folder.

    It is copied when no process of the build is left.
    """
    spawn = Spawn(
        ["/bin/sh", "-c", WAIT, "sh", *program.build],
        "sandbox",
        environment=program_environment(program.build[0], "sandbox"),
        readable=program_paths(program.build[0]),
        room=(INSIDE, BUILD_BYTES),
        folder=INSIDE,
        limits={"memory": BUILD_MEMORY, "seconds": BUILD_LIMIT},
        processes=True,
    )
    with contextlib.ExitStack() as stack, tempfile.TemporaryFile() as said:
        (stdin, begin), (ready, stdout) = os.pipe(), os.pipe()
        ends = [stack.enter_context(os.fdopen(end, "rb")) for end in (stdin, stdout, ready)]
        begins = stack.enter_context(os.fdopen(begin, "wb", buffering=0))
        with _explained(program), spawn.start(stdin, stdout, said.fileno()) as (process, number):
            for end in ends[:2]:
                end.close()
            bound_threads(number, MOST_THREADS)
            there = wait_for(ends[2].fileno(), number, BUILD_LIMIT) and ends[2].read(1)
            place = None
            if there:
                with contextlib.suppress(OSError):  # it has just ended, and how is seen below
                    held = stack.enter_context(opened(f"/proc/{number}/root{INSIDE}", os.O_DIRECTORY))
                    place = Path(f"/proc/self/fd/{held}")  # also when the sandbox is gone
            if place is not None:
                _write(files, place)
                with contextlib.suppress(BrokenPipeError):
                    begins.write(b"\n")
            code = _watched(process, number, until)
        _check_end(code, said)
        if place is not None:
            with _explained(program):
                _copy(place, folder)


def _build_here(program: Program, folder: Path, until: float) -> None:
    """Build in the folder, with the user's rights, looking again and again how much is there."""
    spawn = Spawn(
        program.build,
        "process",
        environment=program_environment(program.build[0], "process"),
        folder=str(folder),
        limits={"memory": BUILD_MEMORY, "seconds": BUILD_LIMIT},
        processes=True,
    )
    with tempfile.TemporaryFile() as said:
        with _explained(program), spawn.start(subprocess.DEVNULL, said.fileno(), said.fileno()) as (process, number):
            code = _watched(process, number, until, lambda: _look_at(folder))
        _check_end(code, said)
    with _explained(program):
        _look_at(folder, lambda entry: None if entry.is_symlink() else os.chmod(entry.path, 0o755))


def _watched(
    process: subprocess.Popen[bytes], number: int, until: float, look: Callable[[], None] = lambda: None
) -> int:
    """Watch a build and return its exit code; `number` is that of its own first process."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(LOOK)
        wake(number)
        processes = [number, *below(number)]
        if sum(map(threads_of, processes)) > MOST_THREADS:
            raise Fault("init", f"its build ran more than {MOST_THREADS:,} processes and threads")
        if sum(map(resident, processes)) > BUILD_MEMORY_IN_ALL << 20:
            raise Fault("init", f"its build used more than {BUILD_MEMORY_IN_ALL:,} MiB in all")
        with contextlib.suppress(OSError):  # it changes while we look
            look()
        if time.monotonic() > until:
            raise subprocess.TimeoutExpired(process.args, BUILD_LIMIT)


@contextlib.contextmanager
def _explained(program: Program) -> Iterator[None]:
    """Turn errors into faults of the bot, but for a full disk."""
    try:
        yield
    except subprocess.TimeoutExpired:
        raise Fault("init", f"its build took longer than {BUILD_LIMIT:g} s") from None
    except KilledAtStart as error:
        raise Killed(f"its build could not be started: {error}") from None
    except OSError as error:
        if has_no_room(error):
            raise
        raise Fault("init", f"its build '{program.build[0]}' failed: {error.strerror or error}") from None


def _check_end(code: int, said: BinaryIO) -> None:
    if code:
        said.seek(0)
        words = said.read(65_536).decode(errors="replace").strip()
        kind = Killed if may_be_from_outside(unwrapped(code)) else functools.partial(Fault, "init")
        raise kind(f"its build ended with code {code}: {words[-2000:]}")


def _look_at(folder: Path, visit: Callable[[os.DirEntry[str]], None] = lambda entry: None) -> None:
    """Visit all that is below a folder, the outer before the inner; raises `Fault` for too much."""
    size = count = 0
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                size += entry.stat(follow_symlinks=False).st_size
                if size > BUILD_BYTES or count > MOST_FILES:
                    raise Fault("init", TOO_MUCH)
                visit(entry)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _copy(source: Path, target: Path) -> None:
    """Copy folders, links and files, as ordinary ones which lend nobody rights; what else there may be is left out."""

    def visit(entry: os.DirEntry[str]) -> None:
        place = target / os.path.relpath(entry.path, source)
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            place.symlink_to(os.readlink(entry.path))
        elif stat.S_ISDIR(mode):
            os.chmod(entry.path, 0o755)
            place.mkdir()
        elif stat.S_ISREG(mode):
            os.chmod(entry.path, 0o755)
            shutil.copyfile(entry.path, place)
            place.chmod(0o755)

    os.chmod(source, 0o755)
    _look_at(source, visit)
