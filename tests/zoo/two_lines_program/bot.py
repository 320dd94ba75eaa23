"""Two answers at once."""

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
        answer = json.dumps({"type": "action", "action": legal})
        say(answer + "\n" + answer)
