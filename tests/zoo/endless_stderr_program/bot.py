"""Talks to standard error without end."""

import json
import sys

EXPECTED = {"process": "timeout", "sandbox": "timeout"}


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
            sys.stderr.write("x" * 65_536)
