"""How soon pages of a server answer on a large log, and what an answer costs it.

`python -m scripts.first_byte HOME NAME`: HOME is a home with the tournament NAME, for instance of 1,000,000 matches by

    name = "million"
    blocks = 17858
    games = [{ game = "epicycle", players = 2 }]
    bots = [{ bot = "random", label = "bot 1" }, ..., { bot = "random", label = "bot 8" }]

Prints for each page the medians of the time to the first byte and of the server's processor time, and its bytes.
"""

from __future__ import annotations

import http.client
import re
import statistics
import sys
import time
from pathlib import Path

from scripts.loopback import Server, process_of, serving

ASKED = 10
WAIT_SECONDS = 900.0


def ask(server: Server, path: str) -> tuple[float, bytes]:
    """Ask on a connection of its own; return the seconds to the first byte, and the body."""
    connection = http.client.HTTPConnection(*server.address, timeout=WAIT_SECONDS)
    begun = time.monotonic()
    connection.request("GET", path)
    answer = connection.getresponse()
    first = time.monotonic() - begun
    body = answer.read()
    connection.close()
    if answer.status != http.HTTPStatus.OK:
        raise RuntimeError(f"{path}: {answer.status}")
    return first, body


def wait_for_figures(server: Server, path: str) -> float:
    """Return how many seconds it takes until a page says no more that something is being computed."""
    begun = time.monotonic()
    while b"being computed" in ask(server, path)[1]:
        if time.monotonic() - begun > WAIT_SECONDS:
            raise TimeoutError(f"{path} is not complete after {WAIT_SECONDS:.0f} s")
        time.sleep(1.0)
    return time.monotonic() - begun


def main(home: Path, name: str) -> None:
    """Measure, and print."""
    with serving(home) as server:
        tournament = f"/tournaments/{name}"
        begun = time.monotonic()
        ask(server, tournament)
        print(f"first answer of {tournament}: {time.monotonic() - begun:.1f} s")
        print(f"complete: {wait_for_figures(server, tournament):.1f} s later")
        matches = ask(server, f"{tournament}/matches")[1].decode()
        found = re.search(rf"{tournament}/matches/[0-9a-f]{{32}}-\d+", matches)
        if found is None:
            raise RuntimeError(f"{tournament} has no match")
        for path in ("/", "/bots", tournament, f"{tournament}/matches", f"{tournament}/matches?sort=longest", found[0]):
            ask(server, path)
            before = process_of(server.pid).cpu_seconds
            answers = [ask(server, path) for _ in range(ASKED)]
            used = (process_of(server.pid).cpu_seconds - before) / ASKED
            first = 1000 * statistics.median(seconds for seconds, _ in answers)
            size = len(answers[0][1])
            print(f"{path}: first byte {first:.0f} ms, processor {1000 * used:.0f} ms, {size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
