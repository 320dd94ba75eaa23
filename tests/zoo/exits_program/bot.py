"""Ends in the middle of a match."""

import sys

from talking import talk

EXPECTED = {"process": "crash", "sandbox": "crash"}

talk(lambda legal: sys.exit(3))
