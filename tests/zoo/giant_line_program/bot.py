"""A line without an end."""

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
        while True:
            sys.stdout.write("x" * 65_536)
