"""What a Python bot prints is no answer and no fault, however much it is."""

import os
import sys

from bots import Bot

EXPECTED = {"none": "plays on", "process": "plays on", "sandbox": "plays on"}


class PrintsALot(Bot):
    def choose(self, state):
        print('{"type":"action","action":"resign"}\n' * 1000)
        os.write(1, b"\xff\xfe\x00{" * 100_000)
        sys.stderr.write("x" * 1_000_000)
        self.note = "talk " * 100_000 + "\x1b[2J"
        return state.legal_actions()[0]
