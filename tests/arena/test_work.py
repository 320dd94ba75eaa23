"""What comes next: workers stay busy to the end, however long and short matches are mixed, and memory stays flat."""

from __future__ import annotations

import heapq
import tracemalloc

import pytest

from arena import work
from arena.costs import Costs
from arena.runner import LONG
from arena.store import Store, reading
from arena.work import Work
from tests.arena.samples import begin, board, row, schedule


class Machine:
    """Workers that take made-up seconds on a made-up clock, served as a run serves them."""

    def __init__(self, work, workers, seconds):
        self.work, self.workers, self.seconds = work, workers, seconds
        self.queues = [[] for _ in range(workers)]
        self.replies = []
        self.now = self.played = 0.0
        self.matches = 0

    def play(self):
        """Until nothing is left; how long that took."""
        self.hand_out()
        while self.replies:
            self.now, worker, took = heapq.heappop(self.replies)
            chunk = self.queues[worker].pop(0)
            plain = [row(spec.lineup, [0, 1]) for spec, _ in chunk.matches]
            rows = [each._replace(seconds=seconds) for each, seconds in zip(plain, took, strict=True)]
            self.work.take(chunk, rows)
            self.work.passed.clear()
            self.matches += len(rows)
            if self.queues[worker]:
                self.begin(worker)
            self.hand_out()
        return self.now

    def hand_out(self):
        while (worker := self.free()) is not None and (chunk := self.work.next_chunk(self.workers)) is not None:
            self.queues[worker].append(chunk)
            if len(self.queues[worker]) == 1:
                self.begin(worker)

    def free(self):
        ahead = self.work.ahead(self.workers)
        held = [(len(queue), worker) for worker, queue in enumerate(self.queues) if len(queue) < ahead]
        short = (worker for _, worker in sorted(held) if sum(c.seconds for c in self.queues[worker]) <= LONG)
        return next(short, None)

    def begin(self, worker):
        took = [self.seconds(spec) for spec, _ in self.queues[worker][0].matches]
        self.played += sum(took)
        heapq.heappush(self.replies, (self.now + sum(took), worker, took))


def by_board(spec):
    """The second board's matches are a thousand times as long."""
    return (0.003, 3.0)[spec.block.board]


def by_bot(spec):
    """One bot thinks long wherever it sits."""
    return 2.0 if 0 in spec.seats else 0.002


def both(spec):
    return by_board(spec) * (20.0 if 0 in spec.seats else 1.0) * (1.0 + spec.block.round % 3)


def mixed(blocks):
    boards = tuple(board(2, range(4), each, opening=number) for number, each in enumerate(blocks))
    return schedule("abcd", boards=boards)


@pytest.mark.parametrize("workers", [2, 7])
@pytest.mark.parametrize(
    ("blocks", "seconds"),
    [((900, 1), by_board), ((300, 12), by_board), ((40,), by_bot), ((200, 4), both)],
    ids=["few-long-ones", "long-and-short", "a-slow-bot", "both"],
)
def test_workers_are_busy_until_nearly_the_end_however_long_and_short_matches_are_mixed(
    tmp_path, blocks, seconds, workers
):
    plan = mixed(blocks)
    with Store.create(tmp_path / "m.db") as store:
        begin(store, plan)
        machine = Machine(Work(store, plan), workers, seconds)
        took = machine.play()
    assert machine.matches == plan.total_matches
    longest = max(seconds(spec) for block in plan.blocks() for spec in plan.matches(block))
    assert took <= 1.15 * max(machine.played / workers, longest) + 1.0


def test_no_chunk_waits_behind_a_long_one_while_another_worker_is_free(tmp_path):
    plan = mixed((400, 20))
    with Store.create(tmp_path / "m.db") as store:
        begin(store, plan)
        machine = Machine(Work(store, plan), 3, by_board)
        machine.begin = lambda worker, begin=machine.begin: (
            begin(worker),
            held.append([c.seconds for c in machine.queues[worker]]),
        )
        held = []
        machine.play()
    assert max(len(each) for each in held) <= 2
    assert all(sum(each[:-1]) <= LONG for each in held)


def test_what_matches_take_is_learned_for_each_bot_though_only_whole_matches_are_timed():
    plan = schedule("abcdef", blocks=30)
    shares = [0.5, 0.001, 0.02, 0.001, 0.1, 0.004]
    costs = Costs()
    for block in plan.blocks():
        for spec in plan.matches(block):
            costs.learn(
                spec, sum(shares[entry] for entry in spec.seats) + (20.0 if spec.lineup < block.round < 1 else 0)
            )
    for block in list(plan.blocks())[:15]:
        spec = plan.matches(block)[0]
        assert costs.match(spec) == pytest.approx(sum(shares[entry] for entry in spec.seats), rel=0.05, abs=0.002)
    assert costs.mean(0) == pytest.approx(2 * sum(shares) / 6, rel=0.05)


def test_a_first_match_that_compiled_for_long_is_soon_forgotten():
    (block, *_) = schedule("ab", blocks=1).blocks()
    spec = schedule("ab", blocks=1).matches(block)[0]
    costs = Costs()
    for seconds in (30.0, *[0.001] * 15):
        costs.learn(spec, seconds)
    assert costs.match(spec) < 0.01


@pytest.mark.parametrize("resumed", [False, True])
def test_what_is_held_of_a_plan_in_memory_does_not_grow_with_it(tmp_path, resumed, monkeypatch):
    """Also when all of it is in the log, forfeits among them."""
    monkeypatch.setattr(work, "LOOK_UP", 16)
    monkeypatch.setattr(reading, "REMEMBERED", 100)

    def peak(blocks):
        plan = schedule("abc", blocks=blocks, bench_after=0 if not resumed else 10**6)
        with Store.create(tmp_path / f"{blocks}.db") as store:
            run = begin(store, plan)
            first = Work(store, plan)
            if resumed:
                while chunk := first.next_chunk(1):
                    lost = row(0, [0, 1], seats=[[0, None, None, None], [1, None, "crash", 0]])
                    first.take(chunk, [lost._replace(lineup=spec.lineup) for spec, _ in chunk.matches])
                    store.add(plan, first.passed, run)
                    first.passed.clear()
            tracemalloc.start()
            second = Work(store, plan)
            while chunk := second.next_chunk(1):
                second.take(chunk, [row(spec.lineup, [0, 1]) for spec, _ in chunk.matches])
                second.passed.clear()
            used = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert second.found + second.played == plan.total_matches
            assert (second.found > 0) is resumed
        return used

    assert peak(1000) < 1.3 * peak(200) + 20_000
