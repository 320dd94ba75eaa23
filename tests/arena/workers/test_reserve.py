"""A reserve keeps workers for the next plan: no more than it may, and none that an error has come from."""

from __future__ import annotations

import pytest

from arena.workers.reserve import WorkerReserve


def test_workers_are_kept_up_to_a_number_and_the_others_are_stopped():
    reserve = WorkerReserve(1)
    workers = [reserve.take(), reserve.take()]
    for worker in workers:
        worker.start()
        reserve.give_back(worker)
    assert [worker.supervisor is not None for worker in workers] == [True, False]
    assert reserve.take() is workers[0]
    assert reserve.take() not in workers
    workers[0].stop()


def test_a_worker_is_stopped_by_an_error():
    reserve = WorkerReserve(1)
    worker = reserve.take()
    worker.start()
    reserve.give_back(worker)
    with pytest.raises(ZeroDivisionError), reserve.worker():
        1 / 0  # noqa: B018
    assert worker.supervisor is None
    assert reserve.take() is not worker


def test_the_default_reserve_keeps_none():
    reserve = WorkerReserve()
    with reserve.worker() as worker:
        worker.start()
    assert worker.supervisor is None


def test_workers_that_have_waited_long_are_stopped():
    reserve = WorkerReserve(2)
    with reserve.worker() as worker:
        worker.start()
    reserve.stop_idle(3600.0)
    assert worker.supervisor is not None
    reserve.stop_idle()
    assert worker.supervisor is None
    assert reserve.take() is not worker
