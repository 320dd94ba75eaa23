"""What a watchdog reads of a worker that writes all the while."""

import mmap
import subprocess
import sys
import tempfile
import time

from arena.match.heartbeat import HEARTBEAT_BYTES, NOBODY, Heartbeat
from tests.support.tournaments import PATIENCE

WRITER = """
import mmap, sys
from arena.match.heartbeat import HEARTBEAT_BYTES, Heartbeat
heartbeat = Heartbeat(mmap.mmap(int(sys.argv[1]), HEARTBEAT_BYTES))
print("ready", flush=True)
while True:
    for number in range(3):
        heartbeat.rest(number)
        for seat in range(5):
            heartbeat.work(seat, 7 * seat, 6000.0)
            heartbeat.rest(number)
"""


def test_a_busy_seat_is_never_read_with_an_old_deadline_however_fast_the_worker_writes():
    with tempfile.TemporaryFile() as file:
        file.truncate(HEARTBEAT_BYTES)
        heartbeat = Heartbeat(mmap.mmap(file.fileno(), HEARTBEAT_BYTES))
        heartbeat.rest(0)
        command = [sys.executable, "-c", WRITER, str(file.fileno())]
        with subprocess.Popen(command, pass_fds=(file.fileno(),), stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            try:
                busy = looks = 0
                patience = time.monotonic() + PATIENCE
                while busy < 1000 or looks < 200_000:
                    begun, looks = time.monotonic_ns(), looks + 1
                    assert begun < patience * 1e9, "the writer gets no work done"
                    activity = heartbeat.read()
                    if activity.seat != NOBODY:
                        busy += 1
                        assert activity.until > begun + 500 * 10**9, activity  # at least what a resting worker may take
            finally:
                writer.kill()
        heartbeat.close()
