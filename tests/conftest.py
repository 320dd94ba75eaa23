"""Property tests draw the same examples on every run, and none depends on the machine's speed."""

import os
import signal

import hypothesis
import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: starting threads is a fifth of a short command
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption("--chaos", action="store_true", help="Kill, cut and fill up hundreds of times instead of a few.")


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script; what we start inherits it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "chaos: only run with --chaos")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--chaos"):
        left_out = [item for item in items if item.get_closest_marker("chaos")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def chaos_in_full(pytestconfig):
    return pytestconfig.getoption("--chaos")
