"""Results are made once, whoever asks, and again when what they are made from has changed."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.web.keeping import MOST_KEPT, Budget, Keeper, Kept


@pytest.fixture
def keeper():
    found = Keeper()
    yield found
    found.close()


def test_many_who_ask_at_once_have_one_computation(keeper):
    gate, calls = threading.Event(), []

    def compute():
        calls.append(1)
        gate.wait(10)
        return "made"

    with ThreadPoolExecutor(6) as askers:
        asked = [askers.submit(keeper.get, "key", 1, compute) for _ in range(6)]
        gate.set()
        assert {each.result().value for each in asked} == {"made"}
    assert len(calls) == 1


def test_nobody_waits_longer_than_patience_and_who_comes_later_not_at_all(keeper):
    gate = threading.Event()
    assert keeper.get("key", 1, lambda: gate.wait(10), patience=0.01) is None
    assert keeper.get("key", 1, lambda: gate.wait(10), patience=0.01) is None
    gate.set()
    assert keeper.get("key", 1, lambda: False).value is True


def test_another_version_is_made_again_and_the_old_one_is_shown_meanwhile(keeper):
    gate = threading.Event()
    assert keeper.get("key", 1, lambda: "old").value == "old"
    shown = keeper.get("key", 2, lambda: gate.wait(10) and "new", patience=0.01, urgent=True)
    assert (shown.value, shown.version) == ("old", 1)
    gate.set()
    assert keeper.get("key", 2, lambda: "never").value == "new"


def test_what_costs_much_is_not_made_again_soon_unless_it_is_urgent():
    with ThreadPoolExecutor(1) as executor:
        budget = Budget(share=1e-9)
        kept: Kept[int] = Kept(budget)
        assert kept.get(1, lambda: 1, executor, None).version == 1
        assert budget.has_some(), "the first time costs nothing"
        assert kept.get(2, lambda: sum(range(10_000)), executor, None).version == 2
        assert not budget.has_some()
        begun = []
        assert kept.get(3, lambda: len(begun) or begun.append(3) or 3, executor, 0.0).version == 2
        assert begun == []
        assert kept.get(3, lambda: 3, executor, None, urgent=True).value == 3


def test_results_of_one_kind_do_not_wait_until_those_of_another_are_paid_for(keeper, monkeypatch):
    monkeypatch.setattr(Budget.__init__, "__defaults__", (1e-9,))
    for version in (1, 2):
        assert keeper.get("costly", version, lambda: sum(range(10_000)), kind="figures").version == version
    keeper.get("cheap", 1, lambda: 1, kind="standings")
    gate = threading.Event()
    assert keeper.get("cheap", 2, lambda: gate.set() or 2, patience=0.0, kind="standings").value == 1
    assert gate.wait(10), "it was begun"
    assert keeper.get("costly", 3, lambda: 3, patience=0.0, kind="figures").version == 2


def test_an_error_is_raised_for_its_version_alone(keeper):
    def fail():
        raise ValueError("damaged")

    for _ in range(2):
        with pytest.raises(ValueError, match="damaged"):
            keeper.get("key", 1, fail)
    assert keeper.get("key", 2, lambda: "mended").value == "mended"


def test_no_more_is_kept_than_there_is_room_for(keeper):
    for key in range(MOST_KEPT + 10):
        keeper.get(key, 1, lambda key=key: key)
    assert keeper.get(0, 1, lambda: "again").value == "again"
    assert keeper.get(MOST_KEPT + 9, 1, lambda: "again").value == MOST_KEPT + 9
