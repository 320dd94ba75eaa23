"""Two answers at once."""

import json

from talking import say, talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}


def move(legal):
    answer = json.dumps({"type": "action", "action": legal})
    say(f"{answer}\n{answer}")


talk(move)
