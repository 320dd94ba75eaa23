"""What the section `batch` measures is one and the same game, and only its decisions count."""

import numpy as np
import pytest

import engine
from arena.interop.gymnasium import make_vec
from benchmarks import batches
from benchmarks.batches import OTHERS, OtherLibrary, beside, measured
from benchmarks.figures import Seconds, Skipped
from engine.batch import BatchEnv


@pytest.mark.filterwarnings("ignore:The old environment creation API")  # of PettingZoo before its registry
@pytest.mark.parametrize("make", [batches.open_spiel_steps, batches.petting_zoo_steps])
def test_other_libraries_show_the_masks_that_ours_show_after_the_same_actions(make):
    n = 5
    game = engine.load_game("connect_four")
    sides = [
        batches.our_steps(BatchEnv(game, n)),
        batches.vector_steps(make_vec("connect_four", 2, n, opponents=None)),
        make(n),
    ]
    rng = np.random.default_rng(2)
    shown = [next(side) for side in sides]
    full = 0
    for _ in range(100):
        masks = [mask for mask, _ in shown]
        assert (masks[0] == masks[1]).all() and (masks[0] == masks[2]).all()
        assert [deciding for _, deciding in shown] == [n] * 3
        full += (~masks[0]).sum()
        actions = np.argmax(masks[0] * rng.random(masks[0].shape), axis=1)
        shown = [side.send(actions) for side in sides]
    assert full > 0


def test_the_time_of_a_decision_leaves_out_choosing_and_steps_that_only_begin_anew(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("time.process_time", lambda: clock[0] / 2)

    def steps():
        while True:
            actions = yield np.array([[True, False], [False, True]]), 1
            assert actions.tolist() == [0, 1]
            clock[0] += 4.0

    assert measured(steps(), 10)() == Seconds(4.0, 2.0)


def test_a_library_that_is_missing_says_how_to_get_it():
    def steps(n):
        raise ModuleNotFoundError("no such library")
        yield

    other = OtherLibrary("Absent", steps, (3,), 1, "", "absent")
    found = list(beside("Absent", lambda: Seconds(1, 1), lambda: measured(other.steps(3), 1), other))
    assert found == [Skipped("Absent", "not installed: pip install absent")]


def test_the_section_names_every_library_once():
    assert len({other.name for other in OTHERS}) == len(OTHERS) >= 4
