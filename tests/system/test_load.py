"""A server with many connections at once, and a contest with readers and authors: smaller runs of scripts/."""

import asyncio
import resource
import time

import pytest

from scripts import connection_load, contest_load
from scripts.loopback import Server, ask, reader_address, serving

CONNECTIONS = min(3_000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)
ADDRESSES = 300
MAX_GROWTH_BYTES = 300_000_000
"""Of the server's memory: 2,000 connections of 64 KiB, of which each may have a copy."""
MAX_ANSWER_SECONDS = 60.0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Return a server that is there from the first crowd to the last one."""
    with serving(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.mark.parametrize("kind", connection_load.KINDS)
def test_a_crowd_of_connections_is_bounded_and_forgotten(server, kind):
    result = asyncio.run(connection_load.measure(server, kind, CONNECTIONS, ADDRESSES, 2.5))
    assert result.opened
    assert set(result.refused) <= {0, 200, 400, 403, 413, 503}
    assert set(result.statuses) <= {0, 200, 503}
    assert result.most_bytes - result.before_bytes < MAX_GROWTH_BYTES
    assert asyncio.run(ask(server.address, "/healthz", source=reader_address(58_000))).status == 200


def test_who_asks_is_answered_while_thousands_send_nothing(server):
    asyncio.run(_idle_crowd(server))


async def _idle_crowd(server: Server) -> None:
    crowd = connection_load.Crowd(server, "idle", ADDRESSES)
    await crowd.open(CONNECTIONS)
    ends = time.monotonic() + MAX_ANSWER_SECONDS
    while (await ask(server.address, "/games", source=reader_address(58_001))).status != 200:
        assert time.monotonic() < ends
    assert crowd.held
    crowd.let_go()


def test_a_contest_with_readers_and_authors_is_measured(capsys):
    options = ["--readers", "8", "--uploads", "12", "--authors", "2", "--seconds", "12", "--settle", "1"]
    assert contest_load.main([*options, "--reload", "3"]) == 0
    said = capsys.readouterr().out
    assert f"{contest_load.EVENTS_PATH} (first event)" in said
    assert "POST submission" in said
    assert ": 500" not in said
