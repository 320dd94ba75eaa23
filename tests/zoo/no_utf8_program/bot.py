"""Says what is no UTF-8."""

import sys

from talking import talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}


def move(legal):
    sys.stdout.buffer.write(b"\xff\xfe\n")
    sys.stdout.flush()


talk(move)
