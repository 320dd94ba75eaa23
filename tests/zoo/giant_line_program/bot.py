"""A line without an end."""

import sys

from talking import talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}


def move(legal):
    while True:
        sys.stdout.write("x" * 65_536)


talk(move)
