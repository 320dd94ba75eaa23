"""Property tests draw the same examples on every run, and none depends on the machine's speed."""

import collections
import contextlib
import gc
import hashlib
import importlib
import itertools
import os
import re
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from tests.costs import known_costs, quick_cases, test_of

pytest.register_assert_rewrite("tests.engine.contract")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: starting threads is a fifth of a short command
os.environ["ARENA_NO_REPORT"] = "1"  # a second a board; tests that look at reports ask for them
hypothesis.settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("repeatable")
# else it also draws constants of the modules that happen to be loaded, which tests before may have done or not
providers._get_local_constants = lambda: providers.Constants()  # type: ignore[attr-defined]  # no setting says so

TESTS = Path(__file__).parent
SYSTEM = TESTS / "system"
LONGEST_FIRST = (
    "system/test_pages.py",
    "system/test_chaos.py",
    "system/test_season.py",
    "system/test_cluster.py",
    "system/test_browser.py",
    "system/test_play.py",
    "arena/isolation/test_zoo.py",
    "arena/isolation/test_killed.py",
    "engine/test_contract.py",
    "engine/test_words.py",
    "bots/test_batch.py",
    "bots/test_plain_search.py",
    "bots/test_contract.py",
    "engine/test_conformance.py",
)
"""Files that take longest: they come first, so that no process is left alone with one of them at the end."""
DIVIDED = {
    "system/test_pages.py": r"\[.*",
    "engine/test_contract.py": r"\[.*?-\dp",
    "bots/test_batch.py": r"\[.*",
    "bots/test_plain_search.py": r"\[.*",
}
"""Files whose tests go to several processes: by the part of a test's name that keeps it with others. Such tests share
no expensive fixture, and draw no keys of dice here (`same_dice_keys`)."""


def pytest_addoption(parser):
    parser.addoption("--chaos", action="store_true", help="Kill, cut and fill up hundreds of times instead of a few.")
    parser.addoption(
        "--system",
        action="store_true",
        help="Run the long tests, marked `system` or costly by tests/data/costs.txt, instead of the others.",
    )


def pytest_configure(config):
    ours = {
        signal.SIGINT: signal.default_int_handler,
        **dict.fromkeys((signal.SIGHUP, signal.SIGQUIT), signal.SIG_DFL),
    }
    for number, handler in ours.items():  # ignored in the background of a script or by nohup; what we start inherits it
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    config.addinivalue_line("markers", "chaos: only run with --chaos")
    config.addinivalue_line("markers", "system: only run with --system or --chaos, or by name; all of tests/system is")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):  # type: ignore[misc]  # it has no types
        """Files to processes, and of some files parts."""

        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            part = re.search(DIVIDED.get(file.removeprefix("tests/"), "$"), test)
            return f"{file} {part[0] if part else ''}"

    return Scheduler(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Collect without looking for garbage, which took a fifth of that time, and leave out later what is there now."""
    gc.disable()
    try:
        _import_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_share(config):
    """Import some of the files where others are imported by other processes, before each of them collects all.

    Rewriting asserts takes most of the time of collecting. So hardly a file is rewritten by two processes: each finds
    in the cache what the others have written.
    """
    own = getattr(config, "workerinput", None)
    if own is None or sys.flags.dont_write_bytecode:
        return
    folders = [config.rootpath / argument for argument in config.args]
    files = sorted({file for folder in folders if folder.is_dir() for file in folder.rglob("test_*.py")})
    for file in files[int(own["workerid"].removeprefix("gw")) :: own["workercount"]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # collecting it tells
            importlib.import_module(".".join(file.relative_to(config.rootpath).with_suffix("").parts))


def pytest_collection_modifyitems(config, items):
    """Leave out the tests of other lanes: by marks and, unless files are named, by costs; no test named by `::`."""
    chaos, system = config.getoption("--chaos"), config.getoption("--system")
    is_named = any("::" in argument for argument in config.args)
    costly = frozenset() if any(".py" in argument for argument in config.args) else _costly_cases(items)

    def is_wanted(item):
        is_long = item.path.is_relative_to(SYSTEM) or item.get_closest_marker("system") or item.nodeid in costly
        return chaos or (item.get_closest_marker("chaos") is None and (is_named or bool(is_long) == system))

    left_out = [item for item in items if not is_wanted(item)]
    if left_out:
        items[:] = [item for item in items if is_wanted(item)]
        config.hook.pytest_deselected(items=left_out)
    places = {TESTS / name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def _costly_cases(items):
    """Return the ids of cases for which the short lane has no time."""
    costs, cases = known_costs(), collections.defaultdict(list)
    for item in items:
        cases[test_of(item.nodeid)].append(item.nodeid)
    found = ({*cases[test]} - quick_cases(cases[test], cost) for test, cost in costs.items() if test in cases)
    return frozenset(itertools.chain.from_iterable(found))


@pytest.fixture(scope="session")
def chaos_in_full(pytestconfig):
    return pytestconfig.getoption("--chaos")


@pytest.fixture(scope="session", autouse=True)
def same_dice_keys():
    """Secret dice whose keys are the same on every run: those of a file of tests, one after the other.

    Else a test would now and then meet a tournament in which the match that it looks for did not happen.
    """
    from arena.tournament import dice_keys  # not before it is known which tests run: it takes a while

    counts: dict[str, itertools.count[int]] = {}

    def token_bytes(length: int) -> bytes:
        file = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]
        number = next(counts.setdefault(file, itertools.count()))
        return hashlib.blake2b(f"{file} {number}".encode(), digest_size=length).digest()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dice_keys, "secrets", SimpleNamespace(token_bytes=token_bytes))
        yield
