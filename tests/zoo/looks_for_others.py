import os

from attempts import Attempting

EXPECTED = {"sandbox": "plays on"}


class LooksForOthers(Attempting):
    def attempts(self):
        yield "processes", lambda: os.listdir("/proc") or None
        for number in range(2, 400):
            if number != os.getpid():
                yield f"{number}", lambda number=number: os.kill(number, 0) or "there"
        for part in ("cwd", "root", "exe"):
            yield f"1/{part}", lambda part=part: os.listdir(f"/proc/1/{part}/")
        for part in ("mem", "maps", "environ", "auxv", "syscall"):
            yield f"1/{part}", lambda part=part: open(f"/proc/1/{part}", "rb").read(10)
        for number in range(64):
            yield f"1/fd/{number}", lambda number=number: os.open(f"/proc/1/fd/{number}", os.O_RDONLY)
        yield "host", lambda: None if os.uname().nodename == "arena" else os.uname().nodename
