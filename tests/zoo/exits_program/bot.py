"""Ends in the middle of a match."""

import json
import sys

EXPECTED = {"process": "crash", "sandbox": "crash"}


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


for text in sys.stdin:
    message = json.loads(text)
    if message["type"] in ("hello", "newgame"):
        say('{"type":"ready"}')
    elif message["type"] == "move":
        legal = message["legal"][0]
        sys.exit(3)
