"""Its own environment and everybody else's, and how everybody was started."""

import os
from pathlib import Path

from attempts import TARGETS, Attempting

EXPECTED = {"sandbox": "plays on"}


class ReadsTheEnvironment(Attempting):
    def attempts(self):
        yield "own", lambda: {name for name in os.environ if name in TARGETS["variables"]} or None
        for process in Path("/proc").glob("[0-9]*"):
            yield f"{process}/cmdline", lambda process=process: self.known((process / "cmdline").read_text())
            yield f"{process}/environ", lambda process=process: self.known((process / "environ").read_text())

    def known(self, text):
        return [word for word in (*TARGETS["variables"], *TARGETS["files"]) if word in text] or None
