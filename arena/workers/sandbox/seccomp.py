"""Refuse system calls to sandboxed bots: a seccomp filter, made by libseccomp.

The filter is a list of refusals, not of permissions: interpreters and their libraries need hundreds of calls, and what
keeps a bot from the machine are namespaces, a read-only file system and lost capabilities. Refused is what reaches
deep into the kernel, what a bot could use to look at other processes, what is not bounded by other limits, what could
wake a stopped process (signals from timers and descriptors), and (strictly) what would look like being killed from
outside, every further process, and what passes a word from one bot to another: locks and watches on files that all
read, the page cache, huge pages, counters of the whole machine. Calls that are newer than this list are refused as on a
kernel that does not have them.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import functools
import os
import signal
import struct
import tempfile

LIBRARY = "libseccomp.so.2"
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
KILL_PROCESS = 0x80000000
NOT_EQUAL, MASKED_EQUAL = 1, 7
NEW_NAMESPACES = [place for place in range(64) if 0x7E020080 >> place & 1]
"""Bits of `clone`'s flags that ask for new namespaces."""
CLONE_THREAD = 0x00010000
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
F_SETSIG, F_SETLEASE, F_NOTIFY = 10, 1024, 1026
LOCKS = (5, 6, 7, 36, 37, 38)
"""`fcntl`'s F_GETLK, F_SETLK, F_SETLKW, and the same for open file descriptions."""
RWF_NOWAIT = 8
PR_SET_THP_DISABLE = 41
ADVICE = (3, 12, 14, 20, 21, 22, 23, 25)
"""`madvise`'s MADV_WILLNEED, MERGEABLE, HUGEPAGE, COLD, PAGEOUT, POPULATE_READ, POPULATE_WRITE, COLLAPSE."""
OF_NAMESPACES = 0xB700
"""`ioctl`s that ask for the numbers of namespaces, by their second byte."""
NEWEST = 450
"""The last system call that this list knows; from 424 on numbers are the same on all machines."""
UNRELATED = (
    "acct add_key adjtimex bind bpf cachestat chroot clock_adjtime clock_settime create_module delete_module "
    "fanotify_init finit_module fsconfig fsmount fsopen fspick get_kernel_syms get_mempolicy init_module "
    "io_uring_enter io_uring_register io_uring_setup ioperm iopl ioprio_set kcmp kexec_file_load kexec_load keyctl "
    "lookup_dcookie mbind memfd_create memfd_secret migrate_pages mincore modify_ldt mount mount_setattr move_mount "
    "move_pages mq_open msgget name_to_handle_at nfsservctl open_by_handle_at open_tree perf_event_open personality "
    "pidfd_getfd pidfd_open pivot_root process_madvise process_vm_readv process_vm_writev ptrace query_module "
    "quotactl quotactl_fd reboot request_key semget set_mempolicy set_mempolicy_home_node setdomainname sethostname "
    "setns setpriority settimeofday shmget socket stime swapoff swapon syslog timer_create umount umount2 unshare "
    "uselib userfaultfd vhangup vmsplice "
)
OWN_ONLY = "prlimit64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler"
"""Calls whose first argument is a process: 0, the caller, is allowed."""
PROCESSES_AND_WATCHES = "fork vfork inotify_init inotify_init1 inotify_add_watch"
MACHINE_WIDE = "fadvise64 readahead sync syncfs sync_file_range statfs fstatfs ustat sysinfo"
"""What asks for, or acts on, the state of the whole machine: page cache, disks, memory, load."""
MARKS = (
    "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat setxattr lsetxattr "
    "fsetxattr"
)
"""Calls that change a file's rights, owner or times; they do nothing and report success, as libraries copy files."""
NOTHING = -1
"""In place of an error: do nothing, report success."""
SIGNALS = {"kill": 1, "tkill": 1, "tgkill": 2, "rt_sigqueueinfo": 1, "rt_tgsigqueueinfo": 2, "pidfd_send_signal": 1}
"""Calls that send a signal, with the place of its number."""
LIKE_SIGKILL = 128 + signal.SIGKILL
"""What bubblewrap ends with when the sandbox's first process was killed."""
CLOCKED = (0, 15)
"""Limits of processor time, RLIMIT_CPU and RLIMIT_RTTIME: the kernel kills whoever is beyond them."""


class _Compare(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def library() -> ctypes.CDLL:
    """Load libseccomp; raises `OSError` when it is not installed."""
    found = ctypes.CDLL(LIBRARY, use_errno=True)
    found.seccomp_init.restype = ctypes.c_void_p
    found.seccomp_init.argtypes = [ctypes.c_uint32]
    found.seccomp_rule_add_array.argtypes = [
        *(ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(_Compare))
    ]
    found.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    found.seccomp_release.argtypes = [ctypes.c_void_p]
    return found


@functools.cache
def bpf(processes: bool = False) -> bytes:
    """Return the filter as the kernel takes it, an array of `struct sock_filter`; `processes` allows new processes.

    Raises `OSError` when libseccomp is missing or refuses.
    """
    seccomp = library()
    context = seccomp.seccomp_init(ALLOW)
    try:
        for number, error, compare in _rules(seccomp, processes):
            rules = (_Compare * len(compare))(*compare)
            action = ERRNO | max(error, 0) if error else KILL_PROCESS
            _check(seccomp.seccomp_rule_add_array(context, action, number, len(compare), rules))
        with tempfile.TemporaryFile() as file:
            _check(seccomp.seccomp_export_bpf(context, file.fileno()))
            file.seek(0)
            return _refusing_newer() + file.read()
    finally:
        seccomp.seccomp_release(context)


def _refusing_newer() -> bytes:
    """Return the filter's beginning: load the call's number; above `NEWEST` fail, else go on."""
    load, above, give = 0x20, 0x25, 0x06
    steps = [(load, 0, 0, 0), (above, 0, 1, NEWEST), (give, 0, 0, ERRNO | errno.ENOSYS)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _rules(seccomp: ctypes.CDLL, processes: bool) -> list[tuple[int, int, list[_Compare]]]:
    """Return (system call, error or `NOTHING` or 0 to end the process, comparisons), without calls unknown here."""
    wanted: list[tuple[str, int, list[_Compare]]] = [
        *((name, errno.EPERM, []) for name in UNRELATED.split()),
        ("clone3", errno.ENOSYS, []),  # its flags cannot be looked at; libraries fall back on clone
        *(("clone", errno.EPERM, [_Compare(0, MASKED_EQUAL, 1 << bit, 1 << bit)]) for bit in NEW_NAMESPACES),
        *_given("ioctl", errno.EPERM, 1, TIOCSTI, TIOCLINUX),
        *_given("fcntl", errno.EPERM, 1, F_SETSIG, F_SETLEASE, F_NOTIFY),
        *((name, errno.EPERM, [_Compare(0, NOT_EQUAL, 0, 0)]) for name in OWN_ONLY.split()),
    ]
    if not processes:
        wanted += [("clone", errno.EPERM, [_Compare(0, MASKED_EQUAL, CLONE_THREAD, 0)])]
        wanted += [(name, errno.EPERM, []) for name in (*PROCESSES_AND_WATCHES.split(), *MACHINE_WIDE.split())]
        wanted += [("preadv2", errno.EOPNOTSUPP, [_Compare(5, MASKED_EQUAL, RWF_NOWAIT, RWF_NOWAIT)])]
        wanted += [("flock", errno.ENOLCK, []), *_given("fcntl", errno.ENOLCK, 1, *LOCKS)]
        wanted += [(name, NOTHING, []) for name in MARKS.split()]
        wanted += [("statx", errno.ENOSYS, [])]  # tells numbers of mounts; libraries fall back on other calls
        wanted += _given("madvise", errno.EINVAL, 2, *ADVICE)
        wanted += [("ioctl", errno.EPERM, [_Compare(1, MASKED_EQUAL, 0xFF00, OF_NAMESPACES)])]
        wanted += _given("prctl", errno.EPERM, 0, PR_SET_THP_DISABLE)
        wanted += _death_by_its_own_hand()
    numbered = [(seccomp.seccomp_syscall_resolve_name(name.encode()), error, rule) for name, error, rule in wanted]
    return [(number, error, rule) for number, error, rule in numbered if number >= 0]


def _death_by_its_own_hand() -> list[tuple[str, int, list[_Compare]]]:
    """Refuse what would end a process as if by SIGKILL, which then is evidence that it did not do it.

    Other signals it may send to itself: runtimes do.
    """
    changed = _Compare(2, NOT_EQUAL, 0, 0)
    return [
        *(rule for name, at in SIGNALS.items() for rule in _given(name, errno.EPERM, at, signal.SIGKILL)),
        *((name, 0, [_Compare(0, MASKED_EQUAL, 0xFF, LIKE_SIGKILL)]) for name in ("exit", "exit_group")),
        *_given("setrlimit", errno.EPERM, 0, *CLOCKED),
        *((name, error, [*compare, changed]) for name, error, compare in _given("prlimit64", errno.EPERM, 1, *CLOCKED)),
    ]


def _given(name: str, error: int, argument: int, *values: int) -> list[tuple[str, int, list[_Compare]]]:
    """Return rules for a call with one of these values (32 bits) as its argument of that number."""
    return [(name, error, [_Compare(argument, MASKED_EQUAL, 0xFFFFFFFF, value)]) for value in values]


def _check(code: int) -> None:
    if code < 0:
        raise OSError(-code, f"libseccomp: {os.strerror(-code)}")
