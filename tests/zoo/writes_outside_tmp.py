import os
import sys

from attempts import TARGETS, Attempting

EXPECTED = {"sandbox": "plays on"}


class WritesOutsideTmp(Attempting):
    def attempts(self):
        seen = ["/", "/usr", "/usr/lib", "/etc", "/dev", "/dev/shm", "/proc", "/proc/sys", "/bot", *sys.path]
        for folder in [*seen, os.environ.get("NUMBA_CACHE_DIR", "/"), *TARGETS["folders"]]:
            if not folder.startswith("/tmp/"):
                yield folder, lambda folder=folder: os.open(f"{folder}/zoo", os.O_CREAT | os.O_WRONLY)
        for file in ["sys/kernel/core_pattern", "sys/vm/overcommit_memory", "sysrq-trigger", "1/oom_score_adj"]:
            yield file, lambda file=file: os.open(f"/proc/{file}", os.O_WRONLY)
        for file in TARGETS["files"]:
            yield file, lambda file=file: os.open(file, os.O_WRONLY | os.O_APPEND)
        yield "remove", lambda: os.rmdir("/dev/shm")
        for path in ["/", "/tmp", *(f"/dev/{name}" for name in os.listdir("/dev"))]:
            yield f"rights of {path}", lambda path=path: marked(path, os.chmod, os.stat(path).st_mode & 0o777 ^ 1)
            yield f"times of {path}", lambda path=path: marked(path, os.utime, (1, 1))


def marked(path, call, mark):
    """Whether something of a file can be changed; it is put back."""
    before = os.stat(path)
    call(path, mark)
    after = os.stat(path)
    os.chmod(path, before.st_mode & 0o7777)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return (before.st_mode, before.st_mtime_ns) != (after.st_mode, after.st_mtime_ns) or None
