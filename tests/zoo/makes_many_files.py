"""Empty files cost the kernel memory all the same."""

import os

from bots import Bot

EXPECTED = {"sandbox": "plays on"}


class MakesManyFiles(Bot):
    def choose(self, state):
        self.note = "got more than 20,000 files"
        try:
            for number in range(20_000):
                os.close(os.open(f"/tmp/{number}", os.O_CREAT))
        except OSError:
            self.note = "got nothing"
        return state.legal_actions()[0]
