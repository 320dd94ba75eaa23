"""Results are made once, whoever asks, and again when what they are made from has changed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
import pytest

from arena.web.result_cache import MAX_RESULTS, CacheEntry, RefreshBudget, ResultCache
from arena.web.value_sizes import size_of
from tests.support.tournaments import PATIENCE


@pytest.fixture
def results():
    found = ResultCache()
    yield found
    found.close()


def test_many_who_ask_at_once_have_one_computation(results):
    gate, calls = threading.Event(), []

    def compute():
        calls.append(1)
        gate.wait(PATIENCE)
        return "made"

    with ThreadPoolExecutor(6) as askers:
        asked = [askers.submit(results.get, "key", 1, compute) for _ in range(6)]
        gate.set()
        assert {each.result().value for each in asked} == {"made"}
    assert len(calls) == 1


def test_nobody_waits_longer_than_patience_and_who_comes_later_not_at_all(results):
    gate = threading.Event()
    assert results.get("key", 1, lambda: gate.wait(PATIENCE), patience=0.01) is None
    assert results.get("key", 1, lambda: gate.wait(PATIENCE), patience=0.01) is None
    gate.set()
    assert results.get("key", 1, lambda: False).value is True


def test_another_version_is_made_again_and_the_old_one_is_shown_meanwhile(results):
    gate = threading.Event()
    assert results.get("key", 1, lambda: "old").value == "old"
    shown = results.get("key", 2, lambda: gate.wait(PATIENCE) and "new", patience=0.01, urgent=True)
    assert (shown.value, shown.version) == ("old", 1)
    gate.set()
    assert results.get("key", 2, lambda: "never").value == "new"


def test_what_costs_much_is_not_made_again_soon_unless_it_is_urgent():
    with ThreadPoolExecutor(1) as executor:
        budget = RefreshBudget(share=1e-9)
        kept: CacheEntry[int] = CacheEntry(budget)
        assert kept.get(1, lambda: 1, executor, None).version == 1
        assert budget.has_some(), "the first time costs nothing"
        assert kept.get(2, lambda: sum(range(10_000)), executor, None).version == 2
        assert not budget.has_some()
        begun = []
        assert kept.get(3, lambda: len(begun) or begun.append(3) or 3, executor, 0.0).version == 2
        assert begun == []
        assert kept.get(3, lambda: 3, executor, None, urgent=True).value == 3


def test_results_of_one_kind_do_not_wait_until_those_of_another_are_paid_for(results, monkeypatch):
    monkeypatch.setattr(RefreshBudget.__init__, "__defaults__", (1e-9,))
    for version in (1, 2):
        assert results.get("costly", version, lambda: sum(range(10_000)), kind="figures").version == version
    results.get("cheap", 1, lambda: 1, kind="standings")
    gate = threading.Event()
    assert results.get("cheap", 2, lambda: gate.set() or 2, patience=0.0, kind="standings").value == 1
    assert gate.wait(PATIENCE), "it was begun"
    assert results.get("costly", 3, lambda: 3, patience=0.0, kind="figures").version == 2


def test_an_error_is_raised_for_its_version_alone(results):
    def fail():
        raise ValueError("damaged")

    for _ in range(2):
        with pytest.raises(ValueError, match="damaged"):
            results.get("key", 1, fail)
    assert results.get("key", 2, lambda: "mended").value == "mended"


def test_no_more_is_kept_than_there_is_room_for(results):
    for key in range(MAX_RESULTS + 10):
        results.get(key, 1, lambda key=key: key)
    assert results.get(0, 1, lambda: "again").value == "again"
    assert results.get(MAX_RESULTS + 9, 1, lambda: "again").value == MAX_RESULTS + 9


def test_no_more_results_are_kept_than_a_cache_may_have():
    found, made = ResultCache(most=2, threads=1), []
    try:
        for key in (1, 2, 3, 1):
            found.get(key, 0, partial(made.append, key))
    finally:
        found.close()
    assert made == [1, 2, 3, 1]


def test_no_more_bytes_are_kept_than_a_cache_may_have_whatever_they_are_in():
    found, made = ResultCache(threads=1, most_bytes=2_500_000), []

    def make(size):
        made.append(size)
        return {
            "rows": [np.zeros(size // 16), ["x" * (size // 200)] * 2, *("y" * 10_000 for _ in range(size // 20_000))]
        }

    try:
        for version, key in enumerate((1, 2, 1, 3, 2, 3, 3)):
            found.get(key, 0 if version < 6 else 1, partial(make, 1_000_000 + key))
        kept = found.bytes
        found.get(4, 0, partial(make, 5_000_000))
        alone = found.bytes
        found.get(4, 0, partial(make, 5_000_004))
    finally:
        found.close()
    assert [size % 10 for size in made] == [1, 2, 3, 2, 3, 0], "the one that was asked for longest ago goes"
    assert 2_000_000 < kept < 2_500_000
    assert 5_000_000 < alone < 5_500_000, "one that is too large is kept, and nothing beside it"


@pytest.mark.parametrize(
    ("value", "least"),
    [
        (b"x" * 1_000_000, 1_000_000),
        (np.zeros((1_000, 1_000))[10:20], 8_000_000),
        ([b"x" * number * 100 for number in range(1_000)], 49_000_000),
        ({f"key {number}": (number, f"value {number}" * 10) for number in range(10_000)}, 2_900_000),
        (pd.DataFrame({"number": np.arange(100_000)}), 800_000),
        ([["shared" * 100_000]] * 100, 600_000),
    ],
)
def test_the_size_of_a_value_is_that_of_all_its_parts(value, least):
    assert least <= size_of(value) < 1.2 * least


def test_code_and_circles_are_counted_once():
    def function():
        return circle

    circle = [function, np, b"x" * 1_000]
    circle.append(circle)
    assert 1_000 < size_of(circle) < 1_500


def test_who_waits_is_told_when_a_result_is_there_and_when_it_has_failed(results):
    told = []
    assert results.get("a", 1, lambda: 1, done=lambda: told.append("there")).value == 1
    with pytest.raises(ZeroDivisionError):
        results.get("b", 1, lambda: 1 // 0, done=lambda: told.append("failed"))
    assert results.get("a", 1, lambda: 2, done=lambda: told.append("again")).value == 1
    assert told == ["there", "failed"]
