"""A pool of processes for tests of clocks."""

import pytest

from arena.workers.sandbox.process_pool import ProcessPool


@pytest.fixture
def pool():
    running = ProcessPool()
    yield running
    running.close()
