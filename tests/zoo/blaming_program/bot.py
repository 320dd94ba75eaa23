"""Gives up for a reason that is not its own to give."""

import json
import sys

EXPECTED = {"process": "protocol", "sandbox": "protocol"}


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


for text in sys.stdin:
    message = json.loads(text)
    if message["type"] in ("hello", "newgame"):
        say('{"type":"ready"}')
    elif message["type"] == "move":
        legal = message["legal"][0]
        say('{"type":"fault","cause":"timeout","detail":"the machine is slow"}')
