"""System calls that lead out of a sandbox, or into other processes."""

import ctypes
import errno
import mmap
import os
import platform

from attempts import Attempting, libc, syscall

EXPECTED = {"sandbox": "plays on"}
NEW_USER, NEW_SPACE, NEW_PID, NEW_NET = 0x10000000, 0x00020000, 0x20000000, 0x40000000
BUFFER = ctypes.create_string_buffer(4096)


class KernelDoors(Attempting):
    def attempts(self):
        if platform.machine() == "x86_64":
            yield from self.by_number()
        yield "mount", lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 or None
        for name, flag in [("user", NEW_USER), ("mnt", NEW_SPACE), ("pid", NEW_PID), ("net", NEW_NET)]:
            yield f"unshare {name}", lambda flag=flag: libc.unshare(flag) == 0 or None
            yield (
                f"setns {name}",
                lambda name=name: libc.setns(os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0) == 0 or None,
            )
        yield "become root", lambda: os.setuid(0) or "root"
        yield "chroot", lambda: os.chroot("/tmp") or "done"
        yield "hostname", lambda: os.sethostname if libc.sethostname(b"zoo", 3) == 0 else None
        yield "nice", lambda: os.nice(-5)
        yield "huge pages", lambda: libc.prctl(41, 0, 0, 0, 0) == 0 or None
        yield "huge pages allowed", lambda: libc.prctl(42, 0, 0, 0, 0) != 1 or None
        for advice in (3, 12, 14, 20, 21, 22, 23, 25):
            yield f"madvise {advice}", lambda advice=advice: mmap.mmap(-1, 2**22).madvise(advice) or "done"
        yield "capabilities", self.capabilities
        yield "new privileges", lambda: libc.prctl(39, 0, 0, 0, 0) != 1 or None
        yield "no filter", lambda: libc.prctl(21, 0, 0, 0, 0) != 2 or None

    def by_number(self):
        parent = os.getppid()
        calls = {
            "ptrace": (101, 16, parent, 0, 0),
            "prlimit": (302, 1, 7, 0, BUFFER),
            "prlimit parent": (302, parent, 7, BUFFER, 0),
            "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0),
            "umount": (166, b"/tmp", 2),
            "pivot_root": (155, b"/tmp", b"/tmp"),
            "clone3": (435, BUFFER, 88),
            "clone user": (56, NEW_USER | 17, 0, 0, 0, 0),
            "fork": (57,),
            "vfork": (58,),
            "io_uring_setup": (425, 8, BUFFER),
            "keyctl": (250, 0, -3, 1),
            "add_key": (248, b"user", b"zoo", b"memo", 4, -4),
            "bpf": (321, 0, BUFFER, 64),
            "perf_event_open": (298, BUFFER, 0, -1, -1, 0),
            "process_vm_readv": (310, parent, BUFFER, 1, BUFFER, 1, 0),
            "pidfd_open": (434, parent, 0),
            "pidfd_getfd": (438, 0, 0, 0),
            "userfaultfd": (323, 0),
            "memfd_create": (319, b"zoo", 0),
            "shmget": (29, 0, 4096, 0o1600),
            "msgget": (68, 0, 0o1600),
            "mq_open": (240, b"zoo", 0o102, 0o600, 0),
            "open_by_handle_at": (304, -100, BUFFER, 0),
            "name_to_handle_at": (303, -100, b"/", BUFFER, BUFFER, 0),
            "fsopen": (430, b"tmpfs", 0),
            "open_tree": (428, -100, b"/", 1),
            "move_mount": (429, -100, b"/usr", -100, b"/tmp", 0),
            "kexec_load": (246, 0, 0, 0, 0),
            "init_module": (175, BUFFER, 0, b""),
            "settimeofday": (164, BUFFER, 0),
            "personality": (135, 0x0040000),
            "syslog": (103, 3, BUFFER, 4096),
            "timer_create": (222, 1, 0, BUFFER),
            "fcntl setsig": (72, 3, 10, 18),
            "sched_setaffinity parent": (203, parent, 8, BUFFER),
            "setpriority": (141, 0, 0, -5),
            "fadvise64": (221, 3, 0, 0, 4),
            "readahead": (187, 3, 0, 4096),
            "mincore": (27, 0, 4096, BUFFER),
            "sync": (162,),
            "syncfs": (306, 3),
            "statfs": (137, b"/", BUFFER),
            "fstatfs": (138, 3, BUFFER),
            "ustat": (136, 1, BUFFER),
            "sysinfo": (99, BUFFER),
            "statx": (332, -100, b"/", 0, 0x4000, BUFFER),
            "ioctl of a namespace": (16, 3, 0xB701, 0),
            "preadv2 of what is cached": (327, 3, BUFFER, 1, 0, 0, 8),
            "process_madvise": (440, -1, BUFFER, 1, 21, 0),
            "cachestat": (451, 3, BUFFER, BUFFER, 0),
            "statmount": (457, BUFFER, BUFFER, 4096, 0),
            "listmount": (458, BUFFER, BUFFER, 16, 0),
            "a call to come": (600,),
        }
        for name, (number, *arguments) in calls.items():
            yield name, lambda number=number, arguments=arguments: self.enter(number, arguments)

    def enter(self, number, arguments):
        """A call that fails for its arguments was let in all the same."""
        try:
            result = syscall(number, *arguments)
        except OSError as error:
            return (
                None if error.errno in (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP) else errno.errorcode[error.errno]
            )
        if number in (56, 57, 58, 435) and result == 0:
            os._exit(0)
        return result

    def capabilities(self):
        """By `capget`: those in effect, permitted, and inheritable."""
        header, held = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        return "unknown" if libc.capget(header, held) else [bits for bits in held if bits] or None
