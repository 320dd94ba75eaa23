"""Tournaments at `process` whose bots' processes get signals from outside: no bot is charged within the budget."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest

from arena.match.referee import MAX_KILL_REPLAYS
from arena.verify.verification import verify
from tests.support.tournaments import ARENA, count, home_of, results, rows, write

SENT = [signal.SIGKILL] * 12 + [signal.SIGTERM] * 3
WAITS = """
import os
import time
from pathlib import Path

FOLDER = Path({folder!r})


def wait(seed):
    '''Tell the number of this process, and wait for a signal; not once a match has had its share, or all were sent.'''
    if not (FOLDER / "over").exists() and not (FOLDER / f"{{seed}}.had").exists():
        (FOLDER / f"{{seed}}.new").write_text(str(os.getpid()))
        os.rename(FOLDER / f"{{seed}}.new", FOLDER / f"{{seed}}.waits")
        while not (FOLDER / "over").exists():
            time.sleep(0.005)
"""
BOT = """

class Waits(Bot):
    def choose(self, state):
        wait(self.seed)
        return state.legal_actions()[-1]
"""
PROGRAM = """
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "newgame":
        seed = message["seed"]
    if message["type"] in ("hello", "newgame"):
        print('{"type":"ready"}', flush=True)
    if message["type"] == "move":
        wait(seed)
        print(json.dumps({"type": "action", "action": message["legal"][0]}), flush=True)
"""
CONFIG = """
name = "small"
seed = 5
blocks = 4
games = [{ game = "epicycle", players = 2 }]
bots = [
    { bot = "random" },
    { bot = "b.py:Waits", isolation = "process" },
    { bot = "program/bot.toml", isolation = "process" },
]
limits = { seconds_per_move = 3600 }
"""
MATCHES = 4 * 3 * 2
"""Its blocks have eight seeds of bots, each of which is good for two signals at least."""


def laid_out(folder: Path) -> Path:
    """A tournament of a bot and a program that wait for signals."""
    waits = WAITS.format(folder=str(folder))
    config = write(folder, CONFIG, f"{waits}\n\nfrom bots import Bot\n{BOT}")
    (folder / "program").mkdir()
    (folder / "program" / "bot.py").write_text(waits + PROGRAM)
    (folder / "program" / "bot.toml").write_text('command = ["python3", "bot.py"]\nresettable = true\n')
    return config


def shoot(folder: Path, stopping: threading.Event, shot: list[int]) -> None:
    """Send every signal, to each match of a bot at most as many as it is played again for."""
    had: Counter[str] = Counter()
    sent = random.Random(1).sample(SENT, len(SENT))
    while len(shot) < len(sent) and not stopping.wait(0.01):
        for place in list(folder.glob("*.waits"))[: len(sent) - len(shot)]:
            number = int(place.read_text())
            place.unlink()
            had[place.stem] += 1
            if had[place.stem] == MAX_KILL_REPLAYS:
                place.with_suffix(".had").touch()
            os.kill(number, sent[len(shot)])
            shot.append(number)
    (folder / "over").touch()


def run(config: Path, prefix: list[str]) -> None:
    options = ["--home", str(home_of(config)), "--backend", "local", "--workers", "2"]
    ended = subprocess.run([*prefix, *ARENA, "run", str(config), *options], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("who", ["this user", "no capability"])
def test_signals_from_outside_charge_nobody_and_the_log_is_sound(tmp_path, who):
    prefix = [] if who == "this user" else ["unshare", "--user"]
    if prefix and subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    config = laid_out(tmp_path / "shot")
    stopping, shot = threading.Event(), []
    shooter = threading.Thread(target=shoot, args=(config.parent, stopping, shot))
    shooter.start()
    try:
        run(config, prefix)
    finally:
        stopping.set()
        shooter.join()
    assert (len(shot), count(config)) == (len(SENT), MATCHES)
    assert rows(config, "SELECT count(*) FROM seats WHERE cause IS NOT NULL") == [(0,)]
    assert rows(config, "SELECT sum(attempts - 1) FROM timings") == [(len(SENT),)]
    report = verify(config, home_of(config), rerun="all")
    assert (report.sound, report.findings) == (True, [])
    assert not [remark for remark in report.remarks if "not compared" in remark]
    found = results(config)
    shutil.rmtree(home_of(config))
    run(config, [])  # left alone
    assert results(config) == found
