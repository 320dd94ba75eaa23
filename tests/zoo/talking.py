"""What programs in the zoo share: the part of the protocol that they get right.

Not an animal itself: it declares no outcome.
"""

import json
import sys


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say_action(text, **more):
    say(json.dumps({"type": "action", "action": text, **more}))


def talk(move):
    """Answer what comes before the first move; `move` is called with the first legal action at each."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] in ("hello", "newgame"):
            say('{"type":"ready"}')
        elif message["type"] == "move":
            move(message["legal"][0])
