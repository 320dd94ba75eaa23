"""Further checks of `arena doctor`: Ray, disks, clock, nodes of a cluster."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arena.core.findings import MISSING, OK, WARNING, Finding, format_bytes
from arena.core.paths import ROOT, home_path
from arena.core.versions import code_hash, differences, versions

SHARED_MEMORY = Path("/dev/shm")
MIN_SHARED_BYTES = 256 * 2**20
"""Bytes of shared memory below which Ray uses files instead, which is slow."""
SOCKET_FOLDER = Path("/tmp")
"""Folder of the sockets of our own Ray, whatever TMPDIR is: their paths may have 107 bytes."""
NETWORK_FILE_SYSTEMS = (
    "nfs",
    "cifs",
    "smb",
    "ceph",
    "gluster",
    "lustre",
    "afs",
    "9p",
    "fuse.sshfs",
    "fuse.s3",
    "beegfs",
)
"""Beginnings of names of file systems on which SQLite's write-ahead log is not safe."""
MAX_CLOCK_SKEW_SECONDS = 2.0
"""Seconds by which the clock of a node may differ."""


def ray() -> Finding:
    """Check that Ray can be imported, and what it needs, without starting it."""
    try:
        text = f"{version('ray')}, not started here"
    except PackageNotFoundError:
        return Finding(MISSING, "Ray", "not installed; see packages")
    if find_spec("ray") is None:
        return Finding(MISSING, "Ray", f"{text}; cannot be imported")
    if not os.access(SOCKET_FOLDER, os.W_OK | os.X_OK):
        text = f"{text}; {SOCKET_FOLDER} is not writable, but its sockets lie there: play with --backend local"
        return Finding(WARNING, "Ray", text)
    room = shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.is_dir() else 0
    if room < MIN_SHARED_BYTES:
        text = (
            f"{text}; {SHARED_MEMORY} has {format_bytes(room)} free, which makes it slow; in a container: --shm-size=1g"
        )
        return Finding(WARNING, "Ray", text)
    return Finding(OK, "Ray", f"{text}; {SHARED_MEMORY} has {format_bytes(room)} free, sockets lie in {SOCKET_FOLDER}")


def disks(home: str | Path | None = None, mounts: str | None = None) -> Iterator[Finding]:
    """Check the file systems of the folders that are written to; `mounts` is the kernel's list of mounts."""
    mounts = Path("/proc/self/mountinfo").read_text() if mounts is None else mounts
    folders = {"home": home_path(home), "temporary": Path(tempfile.gettempdir())}
    if "NUMBA_CACHE_DIR" in os.environ:
        folders["cache"] = Path(os.environ["NUMBA_CACHE_DIR"])
    found = {what: (folder, *_mount_of(folder, mounts)) for what, folder in folders.items()}
    text = ", ".join(f"{what} on {kind} ({place})" for what, (_, place, kind) in found.items())
    kind = found["home"][2]
    if kind.startswith(NETWORK_FILE_SYSTEMS):
        yield Finding(
            WARNING,
            "disks",
            f"{text}: logs are not safe on {kind}, which several machines may write to; choose a local home (--home, "
            "ARENA_HOME) and copy the log when a run has ended",
        )
    else:
        yield Finding(OK, "disks", text)


def _mount_of(folder: Path, mounts: str) -> tuple[str, str]:
    """Return mount point and type of the file system of a folder."""
    path = folder.resolve()
    best = ("?", "?")
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        place = before.split()[4].encode().decode("unicode_escape").encode("latin-1").decode(errors="surrogateescape")
        if path.is_relative_to(place) and len(place) >= len(best[0]):
            best = place, after.split()[0]
    return best


def clock(now: float | None = None, root: Path = ROOT) -> Finding:
    """Check that the clock is not before the arena's newest file."""
    now = time.time() if now is None else now
    moment = datetime.fromtimestamp(now, UTC).isoformat(sep=" ", timespec="seconds").removesuffix("+00:00")
    newest = max((path.stat().st_mtime for path in root.glob("arena/*.py")), default=0.0)
    if now + MAX_CLOCK_SKEW_SECONDS < newest:
        written = datetime.fromtimestamp(newest, UTC).isoformat(sep=" ", timespec="seconds").removesuffix("+00:00")
        text = f"{moment} UTC is before the arena's newest file was written ({written}); set the clock"
        return Finding(WARNING, "clock", text)
    step = time.get_clock_info("monotonic").resolution * 1e9
    return Finding(OK, "clock", f"{moment} UTC; limits of time are measured in steps of {step:.0f} ns")


def compiled(ours: str | None = None) -> Iterator[Finding]:
    """Report compiled code for other versions and settings in the cache, and how to remove it."""
    ours = ours or os.environ.get("NUMBA_CACHE_DIR", "")
    others = [path for path in Path(ours).parent.glob("*") if path.is_dir() and path != Path(ours)] if ours else []
    if others:
        held = format_bytes(
            sum(path.lstat().st_size for other in others for path in other.rglob("*") if path.is_file())
        )
        text = f"{held} for {len(others)} other versions or settings; rm -r {Path(ours).parent} frees it"
        yield Finding(OK, "compiled code", text)


def cluster(address: str) -> Iterator[Finding]:
    """Compare the nodes of a Ray cluster with this machine."""
    from arena.workers.ray.driver import survey

    rows = survey(address)
    cpus = sum(int(row["cpus"]) for row in rows)
    yield Finding(OK, "cluster", f"{len(rows)} node{'s' * (len(rows) != 1)}, {cpus} cores; from {socket.gethostname()}")
    for row in rows:
        yield node(row, code_hash())


def node(row: dict[str, Any], ours: str) -> Finding:
    """Check one node, as described by `arena.workers.ray.driver.survey`."""
    what = str(row["host"])[:16]
    if row.get("error"):
        return Finding(WARNING, what, f"{row['cpus']} cores; cannot be asked: {row['error']}")
    text = f"{row['cpus']} cores, Python {row['python']}, Ray {row['ray']}, arena {row['arena'] or 'not installed'}"
    if row["code"] != ours:
        return Finding(WARNING, what, f"{text}, other code than here: it will be refused; install this version there")
    if decisive := differences(row["versions"], versions())[0]:
        return Finding(WARNING, what, f"{text}, same code, but {', '.join(decisive)}: it will be refused")
    if abs(row["ahead"]) > MAX_CLOCK_SKEW_SECONDS:
        return Finding(WARNING, what, f"{text}, same code; its clock is {row['ahead']:+.1f} s from this one's")
    return Finding(OK, what, f"{text}, same code")
