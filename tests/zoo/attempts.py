"""What animals share: trying what must not work, and telling what came of it.

Not an animal itself: it declares no outcome. `targets.json`, written by the test, tells what there is to look for.
"""

import ctypes
import json
import os
from abc import abstractmethod
from pathlib import Path

from bots import Bot

BUNDLE_FILES = ["targets.json"]
TARGETS = json.loads(Path(__file__).with_name("targets.json").read_text())
libc = ctypes.CDLL(None, use_errno=True)


def syscall(number, *arguments):
    """A system call by its x86-64 number; raises `OSError`."""
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class Attempting(Bot):
    """Tries everything that `attempts` yields, notes what worked, and plays the first legal action."""

    @abstractmethod
    def attempts(self):
        """(name, function) pairs; a function that returns something other than None has got through."""

    def choose(self, state):
        got = []
        for name, attempt in self.attempts():
            try:
                found = attempt()
            except Exception:
                continue
            if found is not None:
                got.append(f"{name}={found!r}"[:60])
        self.note = f"got: {' '.join(got)}" if got else "got nothing"
        return state.legal_actions()[0]
