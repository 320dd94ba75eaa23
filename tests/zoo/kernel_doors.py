"""System calls that lead out of a sandbox, or into other processes."""

import ctypes
import errno
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
        yield "capabilities", self.capabilities
        yield "confined", self.confined

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
        }
        for name, (number, *arguments) in calls.items():
            yield name, lambda number=number, arguments=arguments: self.enter(number, arguments)

    def enter(self, number, arguments):
        """A call that fails for its arguments was let in all the same."""
        try:
            result = syscall(number, *arguments)
        except OSError as error:
            return None if error.errno in (errno.EPERM, errno.ENOSYS) else errno.errorcode[error.errno]
        if number in (56, 57, 58, 435) and result == 0:
            os._exit(0)
        return result

    def capabilities(self):
        fields = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
        held = {name: fields[name] for name in ("CapPrm", "CapEff", "CapInh", "CapAmb") if int(fields[name], 16)}
        return held or None

    def confined(self):
        text = open("/proc/self/status").read()
        return None if "NoNewPrivs:\t1" in text and "Seccomp:\t2" in text else "not confined"
