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
        yield "chmod", lambda: os.chmod("/", 0o777) or "done"
        yield "touch", lambda: os.utime("/") or "done"
