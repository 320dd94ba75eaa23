"""Stays when it is told to leave, and ignores every signal that can be ignored."""

import json
import signal
import sys
import time

EXPECTED = {"process": "plays on", "sandbox": "plays on"}

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] in ("hello", "newgame"):
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "move":
        print(json.dumps({"type": "action", "action": message["legal"][0], "note": "got nothing"}), flush=True)
time.sleep(3600)
