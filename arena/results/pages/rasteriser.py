"""Drawings as PNG, made by a process of their own, which is ended when one takes too much processor time.

The library that makes them has no bound of its own, and games of others draw what they like. The process is this file
as a script: it reads a list of drawings with their scales as JSON, and writes each PNG after its length in 8 bytes.
"""

from __future__ import annotations

import json
import math
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

PICTURE_CPU_SECONDS = 10
"""Processor time that one drawing may take; those of the games here take some 20 ms."""
LENGTH_BYTES = 8
MAX_ERROR_CHARS = 300


class RasterError(ValueError):
    """A drawing cannot be made into pixels, or takes too long."""


def pngs(pictures: Sequence[str], scale: float) -> list[bytes]:
    """Return drawings as PNG, so many pixels a unit; raises `RasterError`."""
    asked = json.dumps({"pictures": list(pictures), "scale": scale, "seconds": PICTURE_CPU_SECONDS}).encode()
    done = subprocess.run([sys.executable, "-P", __file__], input=asked, capture_output=True, check=False)
    if done.returncode == -signal.SIGXCPU:
        raise RasterError(f"takes more than {PICTURE_CPU_SECONDS} s to be drawn")
    if done.returncode:
        *_, line = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["cannot be drawn"]
        raise RasterError(f"cannot be drawn: {line[:MAX_ERROR_CHARS]}")
    found, at = [], 0
    while at < len(done.stdout):
        length = int.from_bytes(done.stdout[at : at + LENGTH_BYTES])
        found.append(done.stdout[at + LENGTH_BYTES : at + LENGTH_BYTES + length])
        at += LENGTH_BYTES + length
    return found


def main() -> None:
    """Draw what standard input asks for; the kernel ends this process when a drawing takes too long."""
    import vl_convert

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.load(sys.stdin)
    for picture in asked["pictures"]:
        most = math.ceil(time.process_time()) + asked["seconds"]
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
        content = vl_convert.svg_to_png(picture, scale=asked["scale"])
        sys.stdout.buffer.write(len(content).to_bytes(LENGTH_BYTES))
        sys.stdout.buffer.write(content)


if __name__ == "__main__":
    main()
