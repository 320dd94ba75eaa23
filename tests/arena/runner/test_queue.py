"""Which matches of a plan a run finds missing, and hands out."""

from __future__ import annotations

from arena.runner import board_queue
from arena.runner.dispatcher import Dispatcher
from arena.runner.interruption import Interruption
from arena.runner.queue import MatchQueue
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support.samples import fill, schedule

PLAN = schedule(["alice", "bob"], players=(2, 3), blocks=40)


def test_a_run_that_is_cut_off_stops_searching_its_log_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(board_queue, "LOOKUP_BLOCKS", 3)
    fill(tmp_path / "matches.db", PLAN)
    with Store.open(tmp_path / "matches.db") as store:
        queue = MatchQueue(Tournament(store, PLAN), is_due=lambda: cut_off)
        cut_off = True
        assert not queue.any_missing()
        assert not queue.count_remaining()
        found = queue.found
        assert 0 < found < PLAN.total_matches
        assert not queue.count_remaining() and queue.found == found
        cut_off = False
        assert queue.count_remaining() and queue.found == PLAN.total_matches


class Workers:
    """Workers of which the first that gets a chunk has the run interrupted."""

    size = 4

    def __init__(self, interruption):
        self.interruption, self.given = interruption, []

    def idle(self, ahead):
        return [worker for worker in range(self.size) if worker not in self.given]

    def submit(self, worker, chunk):
        self.given.append(worker)
        self.interruption.request()


def test_a_run_that_is_interrupted_while_it_hands_out_matches_hands_out_no_more(tmp_path):
    with Store.create(tmp_path / "matches.db") as store:
        interruption = Interruption()
        dispatcher = Dispatcher(MatchQueue(Tournament(store, PLAN)), interruption)
        workers = Workers(interruption)
        dispatcher.pools.append(workers)
        dispatcher.hand_out()
        assert workers.given == [0] and not dispatcher.is_idle()
        dispatcher.hand_out()
        assert workers.given == [0]
