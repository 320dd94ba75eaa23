"""Gives up for a reason that is not its own to give."""

from talking import say, talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}

talk(lambda legal: say('{"type":"fault","cause":"timeout","detail":"the machine is slow"}'))
