"""Give each sandbox a user of its own outside, where this machine lets us.

Linux keeps some counters by user: bytes in pipes, pending signals, threads, watched files. Sandboxes that share a user
share these, and may tell each other something, or take from each other, by using them up. Inside, every bot has the
same number, `NOBODY`; outside it is drawn at random from a range that nobody else uses: of ten sandboxes, two of root's
have the same number once in six million times, and two of a user with 65,536 subordinate numbers once in 1,500. Root
maps numbers by itself; other users need subordinate ones (`/etc/subuid`) and `newuidmap`.

Such a user is a user namespace, made beforehand, which bubblewrap enters (`--userns`). The caller's own number is in it
too, so that bubblewrap can mount what only the caller may reach; it then becomes `NOBODY` for good.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pwd
import secrets
import select
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.isolation.launch import copy_above_held

NOBODY, CALLER = 65534, 1
"""Numbers inside: of a bot, of who runs the arena. Not 0: Linux takes rights from who was 0 and becomes another."""
FIRST_ID, MAX_IDS = 1_879_048_192, 2**28 - 1
"""Numbers for root's sandboxes: systemd's list of ranges leaves these to nobody."""
TOOLS = {"uid": "newuidmap", "gid": "newgidmap"}
READABLE = 0o005
"""Rights of others on folders and files that a sandbox shows."""
MAP_SECONDS = 10.0
MAX_TRIES = 2
"""Namespaces that are tried: one may fail for want of memory, and what was found holds for the process's life."""
_idle: list[OutsideUser] = []


class OutsideUser(NamedTuple):
    """A user namespace that maps `NOBODY` to a number of its own, by a descriptor."""

    number: int
    namespace: int


@contextlib.contextmanager
def lease() -> Iterator[OutsideUser | None]:
    """Give a user that no other sandbox of this process has meanwhile; None where there are none."""
    if missing():
        yield None
        return
    user = _idle.pop() if _idle else _make()
    try:
        yield user
    finally:
        _idle.append(user)


@functools.cache
def missing() -> str:
    """Return why sandboxes share the caller's user on this machine; empty when each has its own."""
    why = ""
    for _ in range(MAX_TRIES):
        try:
            _check_readable()
            _idle.append(_make())
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            why = str(error)
        else:
            return ""
    return why


def disable(why: str) -> None:
    """Let sandboxes share the caller's user from now on."""
    missing.cache_clear()
    _reasons.append(why)


_reasons: list[str] = []


def _check_readable() -> None:
    """Raise `OSError` when other users may not read the code that bots run, or will not: it is what they will be."""
    if _reasons:
        raise OSError(_reasons[-1])
    for file in (__file__, json.__file__, secrets.__file__, contextlib.__file__):
        if not os.stat(file).st_mode & stat.S_IROTH:
            raise OSError(f"{file} can be read by its owner alone")
    os.umask(mask := os.umask(0o077))
    if mask & READABLE:
        raise OSError(f"what is written with umask {mask:03o} can be read by its owner alone")


def _make() -> OutsideUser:
    """Return a new user namespace; raises `OSError` or `ValueError` when this machine gives none."""
    if os.getuid() == 0:
        number = group = FIRST_ID + secrets.randbelow(MAX_IDS)
    else:
        number, group = _subordinate("uid"), _subordinate("gid")
    keeper = subprocess.Popen(["unshare", "--user", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    with keeper:
        assert keeper.stdin is not None and keeper.stdout is not None
        keeper.stdin.write(b"\n")
        if not select.select([keeper.stdout], [], [], MAP_SECONDS)[0] or keeper.stdout.read(1) != b"\n":
            keeper.kill()
            raise OSError("user namespaces cannot be made")
        _map(keeper.pid, "uid", os.getuid(), number)
        _map(keeper.pid, "gid", os.getgid(), group)
        with open(f"/proc/{keeper.pid}/ns/user") as namespace:
            return OutsideUser(number, copy_above_held(namespace.fileno()))


def _map(process: int, kind: str, own: int, number: int) -> None:
    """Map the two numbers of a process's user namespace."""
    if os.getuid() == 0:
        Path(f"/proc/{process}/{kind}_map").write_text(f"{CALLER} {own} 1\n{NOBODY} {number} 1\n")
        return
    command = [TOOLS[kind], process, *(CALLER, own, 1), *(NOBODY, number, 1)]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=MAP_SECONDS)
    if done.returncode:
        raise OSError(f"{TOOLS[kind]}: {done.stderr.strip()}")


def _subordinate(kind: str) -> int:
    """Return one of the caller's subordinate numbers; raises `OSError` when there are none."""
    if shutil.which(TOOLS[kind]) is None:
        raise OSError(f"{TOOLS[kind]} is not installed; Debian and Ubuntu: apt-get install uidmap")
    own = [str(os.getuid())]
    with contextlib.suppress(KeyError):  # nobody has given it a name
        own.append(pwd.getpwuid(os.getuid()).pw_name)
    lines = [line.split(":") for line in Path(f"/etc/sub{kind}").read_text().splitlines()]
    ranges = [(int(first), int(count)) for name, first, count in lines if name in own]
    if not ranges:
        raise OSError(f"/etc/sub{kind} gives user {own[-1]} no numbers")
    first, count = secrets.choice(ranges)
    return first + secrets.randbelow(count)
