"""What comes next: workers stay busy to the end, however long and short matches are mixed, and memory stays flat."""

from __future__ import annotations

import heapq
import itertools
import random
import tracemalloc

import pytest

from arena.match.faults import KnownFault
from arena.match.heartbeat import NOBODY
from arena.match.result import SeatRow
from arena.runner import board_queue, play_order, retries
from arena.runner import run as runner
from arena.runner.cost_model import CostModel
from arena.runner.dispatcher import MAX_WAIT_FACTOR
from arena.runner.progress import Progress
from arena.runner.queue import MatchQueue
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.workers.messages import Played, PlayedLast, WorkerDeath, WorkerLost, decode, encode
from arena.workers.pools import CHUNKS_PER_WORKER
from tests.arena.tournament.test_disqualification import play
from tests.support.samples import begin, board, row, schedule


def test_no_time_left_is_told_before_every_bot_was_seen_and_what_the_first_matches_compiled_is_forgotten():
    for seed in range(20):
        rng = random.Random(seed)
        costs = [10 ** rng.uniform(-4, 0) for _ in range(5)]
        compiles = [rng.uniform(5, 60) for _ in costs]
        model, told = CostModel(2), []
        for number, pair in enumerate(list(itertools.permutations(range(5), 2)) * 10):
            seconds = sum(costs[bot] + compiles[bot] for bot in pair) * rng.uniform(0.7, 1.4)
            for bot in pair:
                compiles[bot] = 0.0
            assert not (model.settled(range(5)) and number < 20)
            model.learn(pair, seconds)
            if model.settled(range(5)):
                told.append(model.mean / (2 * sum(costs) / 5))
        assert told and max(told) < 5 and min(told) > 0.2


def test_progress_holds_nothing_that_is_not_known_yet():
    progress = Progress(5280)
    assert progress.line == "0/5,280 matches"
    progress.found, progress.played, progress.started = 80, 1, progress.started - 10
    assert progress.line == "81/5,280 matches, 0.1/s"
    progress.seconds_left = 3725.0
    assert progress.line.endswith("/s, left 1:02:05")
    progress.phase = "rating epicycle, 2 players"
    assert progress.line == "81/5,280 matches, rating epicycle, 2 players"


class Machine:
    """A pool of workers that take made-up seconds on a made-up clock, which runs on when the run has nothing to do."""

    def __init__(self, workers, seconds):
        self.size, self.seconds = workers, seconds
        self.queues = [[] for _ in range(workers)]
        self.events = []
        self.now = self.played = 0.0
        self.behind = 0.0
        """The longest that a chunk was expected to take which another one had to wait for."""
        self.asked = False

    def __call__(self, count, message, replies, first, reserve):
        self.replies = replies
        return self

    def idle(self, ahead=CHUNKS_PER_WORKER):
        if self.asked and self.events:
            self.finish_one()
            self.asked = False
            return []
        self.asked = True
        held = [(len(queue), worker) for worker, queue in enumerate(self.queues) if len(queue) < ahead]
        return [worker for _, worker in sorted(held)]

    def submit(self, worker, chunk):
        self.asked = False
        self.behind = max([self.behind, *(ahead.seconds for ahead in self.queues[worker])])
        self.queues[worker].append(chunk)
        if len(self.queues[worker]) == 1:
            self.begin(worker)

    def begin(self, worker):
        took = [self.seconds(spec) for spec, _ in self.queues[worker][0].matches]
        self.played += sum(took)
        heapq.heappush(self.events, (self.now + sum(took), worker, took))

    def finish_one(self):
        self.now, worker, took = heapq.heappop(self.events)
        chunk = self.queues[worker].pop(0)
        rows = [row(spec.lineup, [0, 1], seconds=each) for (spec, _), each in zip(chunk.matches, took, strict=True)]
        self.replies.put((worker, chunk, encode(Played(rows, {}, {}))))
        if self.queues[worker]:
            self.begin(worker)

    def in_play(self):
        return []

    def retire(self):
        pass

    close = retire


def played(plan, machine, folder, monkeypatch):
    """The machine after a whole run."""
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    outcome = play(plan, folder / "m.db", machine, monkeypatch)
    assert outcome.progress.played == plan.total_matches
    return machine


def by_board(spec):
    """The second board's matches are a thousand times as long."""
    return (0.003, 3.0)[spec.block.board]


def by_bot(spec):
    """One bot thinks long wherever it sits."""
    return 2.0 if 0 in spec.seats else 0.002


def both(spec):
    return by_board(spec) * (20.0 if 0 in spec.seats else 1.0) * (1.0 + spec.block.round % 3)


def slower(spec):
    """Every bot takes thrice as long as the one before it, so that the longest matches are the last of the plan."""
    return sum(0.1 * 3**entry for entry in spec.seats)


def mixed(*blocks):
    boards = tuple(board(2, range(4), each, opening=number) for number, each in enumerate(blocks))
    return schedule("abcd", boards=boards)


@pytest.mark.parametrize("workers", [2, 5])
@pytest.mark.parametrize(
    ("plan", "seconds"),
    [
        (mixed(900, 1), by_board),
        (mixed(300, 12), by_board),
        (mixed(40), by_bot),
        (mixed(200, 4), both),
        (schedule("abcdef", blocks=2), slower),
    ],
    ids=["few-long-ones", "long-and-short", "a-slow-bot", "both", "the-longest-last"],
)
def test_workers_are_busy_until_nearly_the_end_however_long_and_short_matches_are_mixed(
    tmp_path, plan, seconds, workers, monkeypatch
):
    machine = played(plan, Machine(workers, seconds), tmp_path, monkeypatch)
    longest = max(seconds(spec) for block in plan.blocks() for spec in plan.matches(block))
    assert machine.now <= 1.05 * max(machine.played / workers, longest) + 1.0


class Spoiled(Machine):
    """Every match spoils its worker for others."""

    def finish_one(self):
        super().finish_one()
        worker, chunk, reply = self.replies.get()
        self.replies.put((worker, chunk, encode(PlayedLast(decode(reply).rows[:1], {}, {}))))


def test_what_a_spoiled_worker_leaves_of_its_chunk_is_played_by_others(tmp_path, monkeypatch):
    """And what it has played is taken before they are started, however many of them it takes."""
    played(mixed(40), Spoiled(2, lambda spec: 0.001), tmp_path, monkeypatch)


class Deserted(Machine):
    """It loses all its workers with a chunk in hand, and has them again after a while."""

    away = 0

    def idle(self, ahead=CHUNKS_PER_WORKER):
        if self.events and self.away == 0:
            self.away = 5
            self.events.clear()
            for worker, queue in enumerate(self.queues):
                for chunk in queue:
                    self.replies.put((worker, chunk, WorkerLost()))
                queue.clear()
        self.away -= self.away > 1
        return super().idle(ahead) if self.away <= 1 else []


def test_a_run_that_no_worker_is_left_for_waits_for_new_ones(tmp_path, monkeypatch):
    played(mixed(20), Deserted(1, by_bot), tmp_path, monkeypatch)


class Eaten(Machine):
    """A match that takes its worker with it, however often it is played."""

    def __init__(self, workers, seconds, deadly):
        super().__init__(workers, seconds)
        self.deadly, self.lost, self.ended = deadly, [], []

    def finish_one(self):
        self.now, worker, _ = self.events[0]
        queue = self.queues[worker]
        ids = [spec.id for spec, _ in queue[0].matches]
        if self.deadly not in ids:
            self.ended += ids
            return super().finish_one()
        heapq.heappop(self.events)
        self.lost.append(len(ids))
        for place, chunk in enumerate(queue):
            self.replies.put((worker, chunk, WorkerLost(in_play=place == 0)))
        queue.clear()


def test_a_match_that_no_worker_comes_back_from_is_played_alone_and_given_up_and_all_others_are_played(
    tmp_path, monkeypatch
):
    plan = mixed(20)
    ids = [spec.id for block in plan.blocks() for spec in plan.matches(block)]
    machine = Eaten(2, lambda spec: 0.01, ids[len(ids) // 2])
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    outcome = play(plan, tmp_path / "m.db", machine, monkeypatch)
    assert machine.lost[0] > 1
    assert machine.lost[-3:] == [1, 1, 1]
    assert len(machine.lost) == 2 * retries.MAX_TRIES
    assert sorted(machine.ended) == sorted({*ids} - {machine.deadly})
    assert outcome.not_played == [f"{machine.deadly}: 6 workers were lost with it, perhaps for want of memory"]


def test_no_chunk_waits_behind_a_long_one(tmp_path, monkeypatch):
    machine = played(mixed(400, 20), Machine(3, by_board), tmp_path, monkeypatch)
    assert 0 < machine.behind <= MAX_WAIT_FACTOR * play_order.CHUNK_SECONDS


def test_chunks_are_longer_where_so_many_workers_play_that_the_driver_could_not_serve_them_all():
    assert [play_order.chunk_seconds(workers) for workers in (1, 100, 1000)] == [0.2, 0.2, 2.0]


def test_what_matches_take_is_learned_for_each_bot_though_only_whole_matches_are_timed():
    plan = schedule("abcdef", blocks=30)
    shares = [0.5, 0.001, 0.02, 0.001, 0.1, 0.004]
    costs = CostModel(2)
    for block in plan.blocks():
        for spec in plan.matches(block):
            costs.learn(
                spec.seats, sum(shares[entry] for entry in spec.seats) + (20.0 if spec.lineup < block.round < 1 else 0)
            )
    for block in list(plan.blocks())[:15]:
        spec = plan.matches(block)[0]
        assert costs.match(spec.seats) == pytest.approx(sum(shares[entry] for entry in spec.seats), rel=0.05, abs=0.002)
    assert costs.mean == pytest.approx(2 * sum(shares) / 6, rel=0.05)


def test_a_first_match_that_compiled_for_long_is_soon_forgotten():
    (block, *_) = schedule("ab", blocks=1).blocks()
    spec = schedule("ab", blocks=1).matches(block)[0]
    costs = CostModel(2)
    for seconds in (30.0, *[0.001] * 15):
        costs.learn(spec.seats, seconds)
    assert costs.match(spec.seats) < 0.01


@pytest.mark.system
@pytest.mark.parametrize("resumed", [False, True])
def test_what_is_held_of_a_plan_in_memory_does_not_grow_with_it(tmp_path, resumed, monkeypatch):
    """Also when all of it is in the log, forfeits among them."""
    monkeypatch.setattr(board_queue, "LOOKUP_BLOCKS", 16)

    def peak(blocks):
        plan = schedule("abc", blocks=blocks, forfeit_limit=0 if not resumed else 10**6)
        with Store.create(tmp_path / f"{blocks}.db") as store:
            run = begin(store, plan)
            first = MatchQueue(Tournament(store, plan))
            if resumed:
                while chunk := first.next_chunk(1):
                    lost = row(0, [0, 1], seats=[SeatRow(0, None), SeatRow(1, None, "crash", 0)])
                    first.take(chunk, [lost._replace(lineup=spec.lineup) for spec, _ in chunk.matches], {})
                    first.write(run)
            tracemalloc.start()
            second = MatchQueue(Tournament(store, plan))
            while chunk := second.next_chunk(1):
                second.take(chunk, [row(spec.lineup, [0, 1]) for spec, _ in chunk.matches], {})
                second.unwritten.clear()
            used = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert second.found + second.played == plan.total_matches
            assert (second.found > 0) is resumed
        return used

    peak(10)  # whatever is loaded or kept once
    assert peak(1500) < peak(200) + 400_000  # 50 bytes for each of 7,800 matches more; Python keeps 2,000 free tuples


# Workers that die


def deaths(tmp_path, *seats):
    """What becomes of the first match of a plan whose worker ends again and again, with these seats at work.

    A seat may be given with a ply and how it ended.
    """
    plan = schedule("ab", blocks=1)
    with Store.create(tmp_path / "m.db") as store:
        begin(store, plan)
        todo = MatchQueue(Tournament(store, plan))
        for each in seats:
            seat, ply, how = each if isinstance(each, tuple) else (each, 3, "it ended with code 1")
            chunk = todo.next_chunk(1)
            todo.on_worker_death(chunk, WorkerDeath(0, seat, ply, "crash", how=how))
        chunk = todo.next_chunk(1)
        return [[*charges] for _, charges in chunk.matches][:1], len(todo.not_played)


CHARGED = KnownFault(0, 3, "crash", "it ended with code 1")
KILLED, EARLIER = (0, 3, "killed by SIGKILL"), (0, 1, "it ended with code 1")


@pytest.mark.parametrize(
    ("seats", "charges"),
    [
        ((0, 0), []),
        ((0, 0, 0), [CHARGED]),
        ((0, NOBODY, 0), []),
        ((0, NOBODY, 0, NOBODY, 0), [CHARGED]),
        ((0, 1, 0, NOBODY, 1, NOBODY, 0), [CHARGED]),
        ((0, 0, KILLED), []),
        ((0, 0, EARLIER), []),
        ((0, KILLED, EARLIER, 0, 0), [CHARGED]),
        ((0, KILLED, EARLIER, 0, KILLED, EARLIER), [CHARGED._replace(ply=1)]),
        ((0, 0, 0, 1, 1, 1), [CHARGED, CHARGED._replace(seat=1)]),
    ],
)
def test_deaths_of_one_seats_doing_charge_it_whatever_came_from_outside_between(tmp_path, seats, charges):
    assert deaths(tmp_path, *seats) == ([charges], 0)


def test_deaths_in_nobodys_turn_give_the_match_up_alone(tmp_path):
    assert deaths(tmp_path, NOBODY, 0, NOBODY, 1, NOBODY) == ([[]], 1)
