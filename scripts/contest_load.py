"""Load on a contest: readers with live pages and authors who hand bots in, on a real server of this machine.

`python -m scripts.contest_load --readers 200 --uploads 20 --seconds 240`. It makes a home of its own, starts
`arena contest serve`, and measures three times: without readers, with them, and without them again. Prints tables.
The clients run on the same cores as the server, so what they take is told too.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from arena.accounts import OPERATOR, Accounts
from arena.contest.config import contest_from
from arena.contest.layout import season_log
from scripts.loopback import Answer, Server, ask, process_of, processes, raise_file_limit, reader_address, serving

CONTEST = "load"
UPLOAD_PATH = f"/api/v1/contests/{CONTEST}/submissions?file=bot.py&name=bot+"
STANDINGS_PATH = f"/api/v1/contests/{CONTEST}/standings"
PAGES = (f"/contests/{CONTEST}", f"/contests/{CONTEST}/season-1/matches", STANDINGS_PATH)
EVENTS_PATH = f"/contests/{CONTEST}/events"
HOUSE = ["random", "greedy"]
BOT = """from bots import Bot


class Handed(Bot):
    def choose(self, state):
        actions = state.legal_actions()
        return actions[{number} % len(actions)]
"""
SAMPLE_SECONDS = 5.0
"""Between two looks at memory and matches."""
RETRY_SECONDS = 3.0
"""Before a page asks for a stream again."""
ENDED_STATES = ("valid", "refused")


class Sample(NamedTuple):
    """The state of the server at a moment."""

    seconds: float
    matches: int
    server_bytes: int
    tree_bytes: int
    server_cpu: float
    client_cpu: float


class Phase(NamedTuple):
    """What was measured in one part of a run."""

    name: str
    samples: list[Sample]

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.samples[-1].seconds - self.samples[0].seconds

    def share(self, field: str) -> float:
        """Return what a field grew by in a second."""
        return float(getattr(self.samples[-1], field) - getattr(self.samples[0], field)) / self.seconds


class Load:
    """A server with a contest, and the clients that ask it."""

    def __init__(self, server: Server, home: Path, options: argparse.Namespace, tokens: Sequence[str]) -> None:
        self.server, self.home, self.options, self.tokens = server, home, options, tokens
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.others: dict[str, int] = defaultdict(int)
        self._begun = time.monotonic()
        self._numbers = itertools.count(len(tokens))

    def note(self, kind: str, answer: Answer, expected: int = 200) -> None:
        """Count an answer."""
        if answer.status == expected:
            self.seconds[kind].append(answer.seconds)
        else:
            self.others[f"{kind}: {answer.status or 'no answer'}"] += 1

    def sample(self) -> Sample:
        """Look at the server."""
        tree = list(processes(self.server.pid))
        own = process_of(self.server.pid)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return Sample(
            time.monotonic() - self._begun,
            matches_of(season_log(self.home, CONTEST, 1)),
            own.resident,
            sum(each.resident for each in tree),
            own.cpu_seconds,
            usage.ru_utime + usage.ru_stime,
        )

    async def phase(self, name: str, seconds: float) -> Phase:
        """Measure for a while."""
        samples, ends = [self.sample()], time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            await asyncio.sleep(min(SAMPLE_SECONDS, left))
            samples.append(self.sample())
        return Phase(name, samples)

    @contextlib.asynccontextmanager
    async def clients(self) -> AsyncIterator[None]:
        """Have readers and authors ask."""
        tasks = [asyncio.create_task(self.reader(number)) for number in range(self.options.readers)]
        if self.options.uploads:
            tasks.append(asyncio.create_task(self.hand_in()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(result, Exception):
                    raise result

    async def reader(self, number: int) -> None:
        """Look at the contest: a page that stays open and is told what is new, and now and then another one."""
        chance, source = random.Random(number), reader_address(number)
        await asyncio.sleep(chance.uniform(0, 5.0))
        following = asyncio.create_task(self.follow(source))
        try:
            while True:
                page = chance.choice(PAGES)
                self.note(page, await ask(self.server.address, page, source=source))
                await asyncio.sleep(chance.uniform(0.5, 1.5) * self.options.reload)
        finally:
            following.cancel()

    async def follow(self, source: str) -> None:
        """Hold a stream of events open; come again where it ends."""
        while True:
            answer = await ask(self.server.address, EVENTS_PATH, source=source, keep=self.event_counter())
            self.others[f"{EVENTS_PATH}: ended with {answer.status or 'no answer'}"] += 1
            await asyncio.sleep(RETRY_SECONDS)

    def event_counter(self) -> Callable[[bytes], None]:
        """Return what counts the events of a stream that is asked for now."""
        begun, number = time.monotonic(), 0

        def count(line: bytes) -> None:
            nonlocal number
            if line.startswith(b"data:"):
                number += 1
                self.others["events received"] += 1
                if number == 1:
                    self.note(f"{EVENTS_PATH} (first event)", Answer(200, time.monotonic() - begun, b""))

        return count

    async def wait_for_standings(self, bots: int) -> None:
        """Wait until so many bots are in the standings: with fewer a round has fewer matches."""
        rows: Sequence[object] = ()
        while len(rows) < bots:
            await asyncio.sleep(1.0)
            answer = await ask(self.server.address, STANDINGS_PATH)
            rows = json.loads(answer.body)["overall"] if answer.status == 200 else ()

    async def hand_in(self) -> None:
        """Hand bots in, so many a minute, each author in turn, and see their checks end."""
        async with asyncio.TaskGroup() as group:
            while True:
                number = next(self._numbers)
                group.create_task(self.upload(number))
                await asyncio.sleep(60.0 / self.options.uploads)

    async def upload(self, number: int) -> None:
        """Hand a bot in, and wait for the end of its check."""
        begun, author = time.monotonic(), number % len(self.tokens)
        token = self.tokens[author]
        source, content = reader_address(5000 + number), BOT.format(number=number).encode()
        answer = await ask(self.server.address, f"{UPLOAD_PATH}{author}", source=source, body=content, token=token)
        self.note("POST submission", answer, 201)
        if answer.status != 201:
            return
        version = json.loads(answer.body)
        path = f"/api/v1/contests/{CONTEST}/bots/{version['bot']}/versions/{version['number']}"
        while version["state"] not in ENDED_STATES:
            await asyncio.sleep(1.0)
            answer = await ask(self.server.address, path, source=source, token=token)
            version = json.loads(answer.body) if answer.status == 200 else version
        self.note("check, from POST to its end", Answer(200, time.monotonic() - begun, b""))


def matches_of(log: Path) -> int:
    """Return how many matches a log has."""
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"{log.as_uri()}?mode=ro", uri=True)) as db,
    ):
        return int(db.execute("SELECT count(*) FROM matches").fetchone()[0])
    return 0


def made_home(home: Path, authors: int) -> list[str]:
    """Make a home with a contest and authors who have a bot each; return their tokens."""
    data = {
        "name": CONTEST,
        "boards": [{"game": "epicycle", "players": [2]}],
        "house": HOUSE,
        "submissions_per_day": 10_000,
        "round_blocks": 100,
    }
    with Accounts.open(home) as accounts:
        config = contest_from(data)
        accounts.contests.add(CONTEST, config.as_data(), OPERATOR)
        tokens = []
        for number in range(authors):
            author = accounts.authors.add(f"author {number}", "author", OPERATOR)
            accounts.contests.join(CONTEST, author.id, OPERATOR)
            tokens.append(accounts.tokens.issue(author, "api", ["read", "submit"], OPERATOR))
    return tokens


async def measure(load: Load) -> list[Phase]:
    """Measure a server without readers, with them, and without them again."""
    options = load.options
    for number in range(len(load.tokens)):  # a field that plays
        await load.upload(number)
    load.seconds.clear()
    load.others.clear()
    await load.wait_for_standings(len(load.tokens) + len(HOUSE))
    await asyncio.sleep(options.settle)
    phases = [await load.phase("before", options.seconds / 4)]
    async with load.clients():
        await asyncio.sleep(min(10.0, options.seconds / 8))
        phases.append(await load.phase("with readers and uploads", options.seconds))
    await asyncio.sleep(min(10.0, options.seconds / 8))
    phases.append(await load.phase("after", options.seconds / 4))
    return phases


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def report(load: Load, phases: Sequence[Phase]) -> str:
    """Return the tables."""
    requests = [
        (
            kind,
            len(found),
            *(f"{1000 * value:.0f}" for value in (statistics.median(found), percentile(found, 0.99), max(found))),
        )
        for kind, found in sorted(load.seconds.items())
    ]
    rates = [
        (
            phase.name,
            f"{phase.seconds:.0f}",
            f"{phase.share('matches'):.1f}",
            f"{phase.share('server_cpu'):.2f}",
            f"{phase.share('client_cpu'):.2f}",
        )
        for phase in phases
    ]
    every = [sample for phase in phases for sample in phase.samples]
    memory = [
        (f"{each.seconds:.0f}", f"{each.server_bytes / 1e6:.1f}", f"{each.tree_bytes / 1e6:.0f}", each.matches)
        for each in every[:: max(1, len(every) // 16)]
    ]
    said = [
        tabulate(requests, headers=["request", "number", "p50 ms", "p99 ms", "max ms"]),
        tabulate(rates, headers=["phase", "s", "matches/s", "server cores", "client cores"]),
        tabulate(memory, headers=["s", "server MB", "all processes MB", "matches"]),
        "\n".join(f"{kind}: {number}" for kind, number in sorted(load.others.items())),
        f"load average {', '.join(f'{each:.1f}' for each in os.getloadavg())}",
    ]
    return "\n\n".join(said)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, and print tables."""
    options = parser().parse_args(words)
    raise_file_limit()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tokens = made_home(home, options.authors)
        with serving(home, "contest", "serve", "--workers", str(options.workers)) as server:
            load = Load(server, home, options, tokens)
            phases = asyncio.run(measure(load))
    print(report(load, phases))
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser("python -m scripts.contest_load", description=__doc__)
    made.add_argument("--readers", type=int, default=200, help="pages that are open")
    made.add_argument("--uploads", type=float, default=20, help="bots handed in a minute")
    made.add_argument("--authors", type=int, default=20, help="authors, with a bot each")
    made.add_argument("--workers", type=int, default=1, help="processes that play")
    made.add_argument("--seconds", type=float, default=240, help="time with readers; a quarter of it before and after")
    made.add_argument("--settle", type=float, default=20, help="seconds between the first bots and the measurement")
    made.add_argument("--reload", type=float, default=30, help="seconds, on average, between two pages of a reader")
    return made


if __name__ == "__main__":
    sys.exit(main())
