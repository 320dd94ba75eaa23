"""An action that no game knows, with characters that no text has."""

import json
import sys

EXPECTED = {"process": "illegal_action", "sandbox": "illegal_action"}


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


for text in sys.stdin:
    message = json.loads(text)
    if message["type"] in ("hello", "newgame"):
        say('{"type":"ready"}')
    elif message["type"] == "move":
        legal = message["legal"][0]
        say('{"type":"action","action":"\\ud800\\u0000\\u001b[2J"}')
