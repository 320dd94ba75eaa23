"""Measure how long a person waits for a bot's answer beyond its thinking: `python -m benchmarks.table_latency`."""

from __future__ import annotations

import http.client
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any
from urllib.parse import urlencode

MATCHES_PER_GAME = 5
GAMES = ("epicycle", "midgard", "magic_mids", "pyramid_punch")


class Browser:
    """A browser at one server, over one kept connection."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.headers = {"Cookie": "", "X-Arena-Token": "", "Content-Type": "application/x-www-form-urlencoded"}

    def ask(
        self, method: str, address: str, fields: dict[str, Any] | None = None
    ) -> tuple[http.client.HTTPResponse, str]:
        """Return the answer and its content."""
        body = None if fields is None else urlencode(fields)
        self.connection.request(method, address, body, self.headers)
        answer = self.connection.getresponse()
        return answer, answer.read().decode()

    def state(self, address: str, after: int = -1) -> Any:
        """Return a table past a version."""
        return json.loads(self.ask("GET", f"{address}/state?after={after}")[1] or "null")


def answer_times(visitor: Browser, game: str) -> list[float]:
    """Return the milliseconds of each answer of `greedy`, without those that it thought."""
    found = []
    for seed in range(MATCHES_PER_GAME):
        fields = {"game": game, "players": 2, "seat-0": "person", "seat-1": "greedy", "seed": seed}
        answer, _ = visitor.ask("POST", "/play", fields)
        visitor.headers["Cookie"] = (answer.getheader("set-cookie") or "").partition(";")[0] or visitor.headers[
            "Cookie"
        ]
        address = answer.getheader("location") or ""
        data = visitor.state(address)
        while data["phase"] not in ("over", "failed"):
            if data["phase"] != "waiting":
                data = visitor.state(address, data["version"]) or data
                continue
            plies, started = len(data["plies"]), time.perf_counter()
            move = {"action": data["legal"][0]["action"], "version": data["version"]}
            data = json.loads(visitor.ask("POST", f"{address}/move", move)[1])
            while data["phase"] not in ("waiting", "over", "failed"):
                data = visitor.state(address, data["version"]) or data
            took = time.perf_counter() - started
            thought = (
                sum(ply["seat"] == 1 and not ply["by"] for ply in data["plies"][plies:]) and data["seats"][1]["seconds"]
            )
            found.append(1000 * max(0.0, took - thought))
    return found


def main() -> None:
    """Print the median, the 95th percentile and the longest wait of every game."""
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "arena", "serve", "--port", "0", "--home", home]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            visitor = Browser(int(re.findall(r":(\d+)/", server.stdout.readline())[0]))
            token = re.search(r'name="arena-token" content="([^"]+)"', visitor.ask("GET", "/play")[1])
            assert token is not None
            visitor.headers["X-Arena-Token"] = token[1]
            for game in GAMES:
                found = sorted(answer_times(visitor, game))
                late = found[int(0.95 * len(found))]
                print(f"{game:14} {len(found):4} moves, milliseconds: median {statistics.median(found):.1f}, ", end="")
                print(f"95 % {late:.1f}, longest {found[-1]:.1f}", flush=True)
            server.terminate()


if __name__ == "__main__":
    main()
