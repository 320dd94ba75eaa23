"""Talks to standard error without end."""

import sys

from talking import talk

EXPECTED = {"process": "timeout", "sandbox": "timeout"}


def move(legal):
    while True:
        sys.stderr.write("x" * 65_536)


talk(move)
