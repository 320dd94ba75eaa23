"""Build programs once on each machine; what a build writes is bounded while it runs, and checked afterwards."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from arena.core.errors import is_disk_full
from arena.core.exit_codes import may_be_external_kill, unwrapped_exit_code
from arena.core.files import temporary_folder
from arena.core.process_trees import continue_process, descendants, resident_bytes, thread_count
from arena.isolation.launch import MAX_FILES
from arena.isolation.own_process import ProcessLauncher
from arena.isolation.spawn import KilledAtStart
from arena.match.faults import Fault, ProcessKilled
from arena.registry.bundles import Bundle
from arena.registry.manifest import Program
from engine.cache import cache_root

BUILD_SECONDS = 300.0
BUILD_MEMORY, BUILD_MEMORY_IN_ALL = 2048, 4096
"""MiB: of a process, and of all together."""
MAX_BUILD_THREADS = 1024
"""Processes and threads of a build."""
MAX_TRIES = 3
"""Builds of a program that may be killed, by whomever, all in the time of one."""
BUILD_BYTES = 256 * 2**20
POLL_SECONDS = 0.1
"""Seconds between two looks at the folder of a build outside the sandbox."""
TOO_MUCH = f"its build made more than {BUILD_BYTES >> 20} MiB or {MAX_FILES:,} files"


def built(bundle: Bundle, program: Program, level: ProcessLauncher) -> Path:
    """Return the folder with a program's built files, made once on each machine; raises `Fault` when that fails."""
    key = hashlib.blake2b(f"{bundle.hash} {level.name}".encode(), digest_size=16).hexdigest()
    folder = cache_root() / "programs" / key
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(folder.parent, "build-") as desk:
        fresh = _built(program, bundle.files, level, desk)
        with contextlib.suppress(OSError):  # another process was first
            os.rename(fresh, folder)
    return folder


def _built(program: Program, files: Mapping[str, bytes], level: ProcessLauncher, desk: Path) -> Path:
    """Build the files in a new folder on the desk; again when the build is killed, which may be from outside."""
    until = time.monotonic() + BUILD_SECONDS
    for number in range(MAX_TRIES):
        fresh = desk / str(number)
        fresh.mkdir()
        try:
            if program.build:
                level.build(program, files, fresh, until)
            else:
                write(files, fresh)
            return fresh
        except ProcessKilled as error:
            why = str(error)
    raise Fault("init", f"{why}, {MAX_TRIES} times")


def write(files: Mapping[str, bytes], folder: Path) -> None:
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


def limits() -> dict[str, float]:
    """Return what the kernel grants each process of a build."""
    return {"memory": BUILD_MEMORY, "seconds": BUILD_SECONDS}


def watched(
    process: subprocess.Popen[bytes], number: int, until: float, look: Callable[[], None] = lambda: None
) -> int:
    """Watch a build and return its exit code; `number` is that of its own first process."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(POLL_SECONDS)
        continue_process(number)
        processes = [number, *descendants(number)]
        if sum(map(thread_count, processes)) > MAX_BUILD_THREADS:
            raise Fault("init", f"its build ran more than {MAX_BUILD_THREADS:,} processes and threads")
        if sum(map(resident_bytes, processes)) > BUILD_MEMORY_IN_ALL << 20:
            raise Fault("init", f"its build used more than {BUILD_MEMORY_IN_ALL:,} MiB in all")
        with contextlib.suppress(OSError):  # it changes while we look
            look()
        if time.monotonic() > until:
            raise subprocess.TimeoutExpired(process.args, BUILD_SECONDS)


@contextlib.contextmanager
def explained(program: Program) -> Iterator[None]:
    """Turn errors into faults of the bot, but for a full disk."""
    try:
        yield
    except subprocess.TimeoutExpired:
        raise Fault("init", f"its build took longer than {BUILD_SECONDS:g} s") from None
    except KilledAtStart as error:
        raise ProcessKilled(f"its build could not be started: {error}") from None
    except OSError as error:
        if is_disk_full(error):
            raise
        raise Fault("init", f"its build '{program.build[0]}' failed: {error.strerror or error}") from None


def check_end(code: int, said: BinaryIO) -> None:
    """Raise `Fault` with the end of what a build printed, unless its exit code is 0."""
    if code:
        said.seek(0)
        words = said.read(65_536).decode(errors="replace").strip()
        kind = ProcessKilled if may_be_external_kill(unwrapped_exit_code(code)) else functools.partial(Fault, "init")
        raise kind(f"its build ended with code {code}: {words[-2000:]}")


def look_at(folder: Path, visit: Callable[[os.DirEntry[str]], None] = lambda entry: None) -> None:
    """Visit everything below a folder, parents first; raises `Fault` when files are too many or too large."""
    size = count = 0
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                size += entry.stat(follow_symlinks=False).st_size
                if size > BUILD_BYTES or count > MAX_FILES:
                    raise Fault("init", TOO_MUCH)
                visit(entry)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
