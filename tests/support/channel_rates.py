"""Measure what two sandboxed bots can tell each other by what remains of channels.

Run it by `python -m tests.support.channel_rates` on a machine that does nothing else.

Both know a schedule of slots by the machine's clock. In each the sender does something for a one and nothing for a
zero; the receiver measures. A threshold is learned from one half of the slots, and errors are counted in the other. A
rate is the capacity of a binary symmetric channel with that share of errors, at the best length of slots tried.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.support.cells import Cell, Cells

SLOTS = 300
SLOT_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05)
LEAD_SECONDS = 0.5
COMMON = """
import time, os
import numpy
def slots(start, length, count, act):
    found = []
    for number in range(count):
        while time.monotonic() < start + number * length:
            pass
        found.append(act(number, start + (number + 1) * length))
    return found
"""
CHANNELS = {
    "processor": (
        "while time.monotonic() < until: pass",
        "while time.monotonic() < until: count += 1",
    ),
    "memory": (
        "while time.monotonic() < until: large += 1",
        "while time.monotonic() < until: large.sum(); count += 1",
    ),
    "caches": (
        "while time.monotonic() < until: small += 1",
        "while time.monotonic() < until: small.sum(); count += 1",
    ),
    "numbers of inodes": (
        "[os.close(end) for _ in range(max(1, int(length * 60000))) for end in os.pipe()]",
        "ends = os.pipe(); count = os.fstat(ends[0]).st_ino; [os.close(end) for end in ends]; "
        "time.sleep(max(0, until - time.monotonic()))",
    ),
}
"""By name: what a sender does for a one, and what a receiver does and counts."""


def heard(sender: Cell, receiver: Cell, sends: str, hears: str, bits: list[int], length: float) -> list[float]:
    """What the receiver counted in each slot."""
    setup = COMMON + "large = numpy.zeros(4_000_000); small = numpy.zeros(30_000); count = 0\n"
    for cell in (sender, receiver):
        cell.run(setup)
    start = float(receiver.run("result = time.monotonic()")) + LEAD_SECONDS
    send = f"""
def act(number, until, length={length}, bits={bits}):
    global large, small
    if bits[number]:
        {sends}
slots({start}, {length}, {len(bits)}, act)
"""
    hear = f"""
def act(number, until, length={length}):
    count = 0
    {hears}
    return count
result = slots({start}, {length}, {len(bits)}, act)
"""
    with sender.running(send):
        return [float(value) for value in receiver.run(hear)]


def capacity(errors: float) -> float:
    """Bits that one use of a binary symmetric channel carries."""
    errors = min(max(errors, 1e-9), 1 - 1e-9)
    return 1 + errors * math.log2(errors) + (1 - errors) * math.log2(1 - errors)


def rate(counted: list[float], bits: list[int], length: float, differences: bool) -> tuple[float, float]:
    """Bits a second, and the share of errors, by the best threshold of the first half of the slots."""
    values, sent = np.array(counted), np.array(bits)
    if differences:
        values, sent = np.diff(values), sent[:-1]
    half = len(sent) // 2
    limits = np.unique(values[:half])
    wrong = [
        min(np.mean((values[:half] > limit) == sent[:half]), np.mean((values[:half] <= limit) == sent[:half]))
        for limit in limits
    ]
    limit = limits[int(np.argmin(wrong))]
    above = np.mean((values[:half] > limit) == sent[:half]) >= 0.5
    errors = float(np.mean(((values[half:] > limit) == above) != (sent[half:] == 1)))
    # fewer errors than this cannot be told apart from it by so few slots
    return capacity(max(min(errors, 0.5), 1 / half)) / length, errors


def main() -> None:
    """Print a table of rates."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        cells = Cells(Path(folder))
        print("two bots that play at once, on one machine\n")
        print("| channel | bits a second | slot | errors |\n|---|---|---|---|")
        for name, (sends, hears) in CHANNELS.items():
            found = []
            for length in SLOT_SECONDS:
                bits = [rng.randrange(2) for _ in range(SLOTS)]
                with cells.open(0) as sender, cells.open(1) as receiver:
                    counted = heard(sender, receiver, sends, hears, bits, length)
                found.append((*rate(counted, bits, length, name == "numbers of inodes"), length))
            best, errors, length = max(found)
            print(f"| {name} | {best:.0f} | {length * 1000:g} ms | {errors:.1%} |")
            sys.stdout.flush()
        cells.close()


if __name__ == "__main__":
    main()
