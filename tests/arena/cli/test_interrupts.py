"""A process that ends soon after a signal, whatever its main thread is doing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from tests.support.tournaments import PATIENCE

DEAF = """
import signal, time
from arena.cli.interrupts import end_in_time

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda *_: None)
end_in_time(["these words"])
print("listening", flush=True)
while True:
    time.sleep(1.0)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("times", [1, 3])
def test_a_process_that_does_not_hear_a_signal_is_ended_with_its_last_words(number, times):
    process = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "listening\n"
    for _ in range(times):
        process.send_signal(number)
    assert process.communicate(timeout=PATIENCE) == ("", "these words\n")
    assert process.returncode == 130


def test_a_process_whose_terminal_takes_nothing_ends_all_the_same():
    read, write = os.pipe()
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write, bytes(4096))
    os.set_blocking(write, True)
    with subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, stderr=write) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    os.close(read)
    os.close(write)
