"""A pool of processes for tests of clocks."""

import pytest

from arena.isolation.process_pool import ProcessPool


@pytest.fixture
def pool():
    running = ProcessPool()
    yield running
    running.close()
