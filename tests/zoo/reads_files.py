"""The arena's log, the user's home, the configuration, other people's secrets."""

import os

from attempts import TARGETS, Attempting

EXPECTED = {"sandbox": "plays on"}


class ReadsFiles(Attempting):
    def attempts(self):
        for path in TARGETS["files"]:
            yield path, lambda path=path: open(path, "rb").read(20)
            yield path, lambda path=path: os.stat(path).st_size
        for path in TARGETS["folders"]:
            yield path, lambda path=path: os.listdir(path)
        yield "names", self.known_names

    def known_names(self):
        """Anything named like a target, wherever it may be in sight."""
        names = set(TARGETS["names"])
        for folder, folders, files in os.walk("/"):
            if folder == "/":
                folders[:] = [name for name in folders if name not in ("proc", "usr", "lib", "bin", "sbin", "lib64")]
            folders[:] = [name for name in folders if name != "site-packages"]
            found = names & {*folders, *files}
            if found:
                return folder, found
