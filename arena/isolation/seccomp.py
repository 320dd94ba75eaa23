"""Permit sandboxed bots the system calls that they need: a seccomp filter, made by libseccomp.

The filter is a list of permissions. Whatever is not on it fails with ENOSYS, as on a kernel that does not have the
call: libraries then do without it, or in another way. Calls of a foreign architecture end the process. The list was
found by running CPython with NumPy and Numba, Node, C, and static programs of Go, Rust and musl
(`tests/system/test_runtimes.py`).

Where a call has many meanings its arguments are checked. A bot may not wake itself while it is stopped (SIGCONT, by
whatever sends signals), may not pass a word to another bot (locks and marks on files, the page cache, futexes in shared
pages, counters of the machine or of the user), and may not have the kernel hold memory for it that nobody counts.

A refused call is reported to a tracer if there is one (`SECCOMP_RET_TRACE`), so that `arena check` can name it
(`arena.isolation.refusals`). Without a tracer Linux answers with ENOSYS by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import signal
import tempfile
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

LIBRARY = "libseccomp.so.2"
ALLOW, KILL_PROCESS, ERRNO, TRACE = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FF00000
BAD_ARCHITECTURE_ATTRIBUTE, OPTIMIZE_ATTRIBUTE = 2, 8
BINARY_TREE = 2
MASKED_EQUAL = 7
LOW_HALF = 0xFFFFFFFF
"""The part of an argument that Linux looks at when the argument is an `int`."""

POINTER = 0xFFFFFFFFFFFFFFFF

Audience = Literal["python", "program", "build"]
"""Who gets a filter: the forked process of a Python bot, a program of another language, the build of one."""

PLAIN = (
    # files
    "read write readv writev pread64 pwrite64 preadv pwritev open openat close close_range lseek stat lstat fstat "
    "newfstatat access faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd chdir fchdir dup dup2 dup3 "
    "truncate ftruncate fallocate mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink "
    "symlinkat umask poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait "
    "epoll_pwait2 eventfd eventfd2 recvfrom shutdown "
    # memory
    "brk munmap mremap mprotect "
    # threads and signals
    "exit exit_group set_tid_address set_robust_list get_robust_list rseq rt_sigaction rt_sigprocmask rt_sigreturn "
    "rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack restart_syscall pause sched_yield sched_getaffinity "
    "sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min wait4 waitid "
    # time
    "gettimeofday time nanosleep times getitimer setitimer alarm getrusage "
    # who it is, what it may
    "getpid gettid getppid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid getsid "
    "getpriority getrlimit capget uname getcpu getrandom "
)
"""Calls that are permitted whatever their arguments."""
PROGRAMS_ONLY = "execve"
"""What also starts a program; a Python bot is forked."""
BUILDS_TOO = (
    "execve execveat fork vfork setsid setpgid sched_setaffinity flock fsync fdatasync msync sync_file_range statx "
    "statfs fstatfs sysinfo sendfile splice tee copy_file_range mknod mknodat memfd_create chmod fchmod fchmodat "
    "fchmodat2 utime utimes utimensat futimesat inotify_init inotify_init1 inotify_add_watch inotify_rm_watch "
    "timerfd_create timerfd_settime timerfd_gettime signalfd signalfd4 membarrier getsockopt setsockopt getsockname "
    "sendto sendmsg recvmsg socketpair fadvise64 readahead mincore get_mempolicy personality futex kill tkill tgkill "
    "rt_sigqueueinfo madvise fcntl ioctl pipe pipe2 openat2 preadv2 pwritev2 prlimit64 setrlimit setpriority "
    "clock_gettime clock_getres clock_nanosleep"
)
"""What compilers and build tools need besides; a build runs once, before the bot's matches, under its own limits."""
NOTHING = (
    "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat "
    "fsync fdatasync msync"
)
"""Calls that do nothing and report success: libraries mark the files they copy, and wait for their disk."""
NO_ATTRIBUTES = (
    "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr lsetxattr fsetxattr removexattr "
    "lremovexattr fremovexattr"
)
"""Extended attributes: files have none here, as in many file systems."""
TRIED_FIRST = "clone3 statx io_uring_setup"
"""What libraries try before they do it in another way: refused like all others, but not worth naming to an author."""

CLONE_THREAD = 0x00010000
NEW_NAMESPACES = 0x7E020080
"""Flags of `clone` that ask for new namespaces."""
MAP_HUGETLB = 0x40000
ADVICE = {"NORMAL": 0, "RANDOM": 1, "SEQUENTIAL": 2, "DONTNEED": 4, "DONTFORK": 10, "DOFORK": 11, "NOHUGEPAGE": 15,
          "DONTDUMP": 16, "DODUMP": 17}  # fmt: skip
"""What may be said by `madvise`: what touches neither the page cache nor memory that others share."""
REFUSED_ADVICE = (3, 8, 12, 13, 14, 18, 19, 20, 21, 22, 23, 24, 25)
"""What gets EINVAL, the error after which runtimes try other advice: MERGEABLE, FREE, HUGEPAGE, COLD, PAGEOUT, ..."""
FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_PRIVATE = 0, 9, 0x80
PIPE_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK | os.O_DIRECT
FCNTL = {"DUPFD": 0, "GETFD": 1, "SETFD": 2, "GETFL": 3, "SETFL": 4, "DUPFD_CLOEXEC": 1030}
LOCKS = (5, 6, 7, 36, 37, 38)
"""`fcntl`'s F_GETLK, F_SETLK, F_SETLKW, and the same for open file descriptions."""
IOCTL = {"TCGETS": 0x5401, "TIOCGWINSZ": 0x5413, "FIONREAD": 0x541B, "FIONBIO": 0x5421, "FIONCLEX": 0x5450,
         "FIOCLEX": 0x5451}  # fmt: skip
PRCTL = {"GET_DUMPABLE": 3, "SET_NAME": 15, "GET_NAME": 16, "GET_SECCOMP": 21, "CAPBSET_READ": 23,
         "GET_NO_NEW_PRIVS": 39, "GET_THP_DISABLE": 42}  # fmt: skip
ARCH_PRCTL = {"SET_GS": 0x1001, "SET_FS": 0x1002, "GET_FS": 0x1003, "GET_GS": 0x1004}
CLOCKS = range(12)
"""Fixed clocks. Numbers below 0 are those of processes, and one tells how much work the parent of all bots has done."""
OWN_LIMITS = {"DATA": 2, "STACK": 3, "CORE": 4, "NOFILE": 7, "AS": 9}
"""What a process may bound further. Not processor time: Linux kills whoever is beyond it."""
AF_UNIX, SOCK_STREAM = 1, 1
SOCKET_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK
SIGNALS = (
    *(0, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGUSR1, signal.SIGSEGV),
    *(signal.SIGUSR2, signal.SIGPIPE, signal.SIGALRM, signal.SIGCHLD, signal.SIGURG, signal.SIGVTALRM, signal.SIGPROF),
    *(signal.SIGWINCH, signal.SIGIO, signal.SIGSYS),
    *(signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU),  # it is woken when it is to move
    *(32, 33, 34),  # of thread libraries
)
"""What a bot may send, to itself: what runtimes use, but not SIGCONT, nor what looks like an end from outside."""
SIGNAL_PLACES = {"kill": 1, "tkill": 1, "tgkill": 2}
"""Calls that send a signal, with the place of its number."""


class Compare(ctypes.Structure):
    """One comparison of an argument, as libseccomp takes it."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("mask", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    )


class Rule(NamedTuple):
    """What becomes of a call whose arguments fit."""

    call: str
    action: int = ALLOW
    compare: tuple[tuple[int, int, int], ...] = ()
    """(argument, mask, value)."""


def library() -> ctypes.CDLL:
    """Load libseccomp; raises `OSError` when it is not installed."""
    found = ctypes.CDLL(LIBRARY, use_errno=True)
    found.seccomp_init.restype = ctypes.c_void_p
    found.seccomp_init.argtypes = [ctypes.c_uint32]
    found.seccomp_attr_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]
    found.seccomp_rule_add_array.argtypes = [
        *(ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Compare))
    ]
    found.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    found.seccomp_release.argtypes = [ctypes.c_void_p]
    found.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p
    found.seccomp_syscall_resolve_num_arch.argtypes = [ctypes.c_uint32, ctypes.c_int]
    return found


@functools.cache
def bpf(audience: Audience = "python") -> bytes:
    """Return a filter as Linux takes it, an array of `struct sock_filter`.

    Raises `OSError` when libseccomp is missing or refuses.
    """
    seccomp = library()
    context = seccomp.seccomp_init(TRACE)
    try:
        _check(seccomp.seccomp_attr_set(context, BAD_ARCHITECTURE_ATTRIBUTE, KILL_PROCESS))
        with contextlib.suppress(OSError):  # older than 2.5: calls are compared one after the other
            _check(seccomp.seccomp_attr_set(context, OPTIMIZE_ATTRIBUTE, BINARY_TREE))
        for call, action, compare in rules(audience):
            number = seccomp.seccomp_syscall_resolve_name(call.encode())
            if number >= 0:  # else this machine does not know it
                array = (Compare * len(compare))(*(Compare(place, MASKED_EQUAL, m, v) for place, m, v in compare))
                _check(seccomp.seccomp_rule_add_array(context, action, number, len(compare), array))
        with tempfile.TemporaryFile() as file:
            _check(seccomp.seccomp_export_bpf(context, file.fileno()))
            file.seek(0)
            return file.read()
    finally:
        seccomp.seccomp_release(context)


def name_of(number: int) -> str:
    """Return the name of one of this machine's system calls; raises `OSError` as `library` does."""
    seccomp = library()
    name = seccomp.seccomp_syscall_resolve_num_arch(seccomp.seccomp_arch_native(), number)
    return ctypes.cast(name, ctypes.c_char_p).value.decode() if name else f"call {number}"  # type: ignore[union-attr]


def rules(audience: Audience) -> list[Rule]:
    """Return what is permitted; of rules for one call the first one without a comparison stands alone."""
    found = [Rule(call) for call in PLAIN.split()]
    if audience == "program":
        found += [Rule(call) for call in PROGRAMS_ONLY.split()]
    if audience == "build":
        found += [Rule(call) for call in BUILDS_TOO.split()]
        found.append(Rule("clone", ALLOW, ((0, NEW_NAMESPACES, 0),)))
    plain = {rule.call for rule in found}
    return found + [rule for rule in _checked() if rule.call not in plain]


def _checked() -> Iterator[Rule]:
    """Yield the calls whose arguments are looked at, and those that get an answer of their own."""
    yield Rule("clone", ALLOW, ((0, CLONE_THREAD | NEW_NAMESPACES, CLONE_THREAD),))
    yield Rule("mmap", ALLOW, ((3, MAP_HUGETLB, 0),))
    yield from _one_of("madvise", 2, ADVICE.values())
    yield from (Rule("madvise", ERRNO | errno.EINVAL, ((2, LOW_HALF, advice),)) for advice in REFUSED_ADVICE)
    yield Rule("pipe")
    yield Rule("pipe2", ALLOW, ((1, LOW_HALF & ~PIPE_FLAGS, 0),))
    yield from _one_of("fcntl", 1, FCNTL.values())
    yield from (Rule("fcntl", ERRNO | errno.ENOLCK, ((1, LOW_HALF, lock),)) for lock in LOCKS)
    yield Rule("flock", ERRNO | errno.ENOLCK)
    yield Rule("sendfile", ERRNO | errno.EINVAL)  # the error after which libraries read and write instead
    yield from _one_of("ioctl", 1, IOCTL.values())
    yield from _one_of("prctl", 0, PRCTL.values())
    yield from _one_of("arch_prctl", 0, ARCH_PRCTL.values())
    for call in ("clock_gettime", "clock_getres", "clock_nanosleep"):
        yield from _one_of(call, 0, CLOCKS)
    yield from _futexes()
    yield from _own_limits()
    yield Rule("socketpair", ALLOW, ((0, LOW_HALF, AF_UNIX), (1, LOW_HALF & ~SOCKET_FLAGS, SOCK_STREAM)))
    yield Rule("sendto", ALLOW, ((4, POINTER, 0),))  # to no address
    yield Rule("preadv2", ALLOW, ((5, LOW_HALF, 0),))
    yield Rule("pwritev2", ALLOW, ((5, LOW_HALF, 0),))
    for call, place in SIGNAL_PLACES.items():
        yield from _one_of(call, place, SIGNALS)
    yield from (Rule(call, ERRNO) for call in NOTHING.split())
    yield from (Rule(call, ERRNO | errno.EOPNOTSUPP) for call in NO_ATTRIBUTES.split())
    yield from (Rule(call, ERRNO | errno.ENOSYS) for call in TRIED_FIRST.split())


def _futexes() -> Iterator[Rule]:
    """Yield what is permitted of futexes: those in memory of the process's own.

    Linux finds others by file and page, so that all who can read a file have them in common: one wakes, another is
    woken. To wait for such a one is answered as if it had changed meanwhile. Joining a thread then takes turns of
    asking: threads are joined by such a futex, which Linux itself clears.
    """
    yield Rule("futex", ALLOW, ((1, FUTEX_PRIVATE, FUTEX_PRIVATE),))
    yield from (Rule("futex", ERRNO | errno.EAGAIN, ((1, 0xFF, wait),)) for wait in (FUTEX_WAIT, FUTEX_WAIT_BITSET))


def _own_limits() -> Iterator[Rule]:
    """Yield what is permitted of limits: to read one's own, and to set those that harm nobody."""
    yield Rule("prlimit64", ALLOW, ((0, LOW_HALF, 0), (2, POINTER, 0)))
    for limit in OWN_LIMITS.values():
        yield Rule("prlimit64", ALLOW, ((0, LOW_HALF, 0), (1, LOW_HALF, limit)))
        yield Rule("setrlimit", ALLOW, ((0, LOW_HALF, limit),))


def _one_of(call: str, place: int, values: Iterable[int]) -> Iterator[Rule]:
    """Yield permissions of a call with one of these values (32 bits) as the argument at a place."""
    yield from (Rule(call, ALLOW, ((place, LOW_HALF, value),)) for value in values)


def _check(code: int) -> None:
    if code < 0:
        raise OSError(-code, f"libseccomp: {os.strerror(-code)}")
