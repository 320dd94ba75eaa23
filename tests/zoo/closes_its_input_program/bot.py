"""Answers once and listens no more."""

import json
import os
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
        os.close(0)
        say(json.dumps({"type": "action", "action": legal}))
        while True:
            pass
