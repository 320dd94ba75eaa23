"""Says what is no UTF-8."""

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
        sys.stdout.buffer.write(b"\xff\xfe\n")
        sys.stdout.flush()
