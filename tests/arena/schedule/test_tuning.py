"""Tuning: parameters on their grids, SPSA on a known surface, and plans that follow from the ones before."""

import json
from dataclasses import replace

import pytest

from arena.core.models import checked
from arena.plan.model import ResolvedPlan
from arena.results.tuning_curve import curve_of_board
from arena.schedule.kinds.tuning import Tuning
from arena.schedule.tuning.space import TunedParameter, point_of, values_at
from arena.schedule.tuning.spsa import Gains, candidates, directions, moved
from arena.schedule.tuning_iterations import (
    is_over,
    next_schedule,
    planned_values,
    recommended,
    tuning_of,
)
from tests.support.tuning_worlds import (
    STATED_ERROR,
    SURFACE,
    error,
    first_schedule,
    height,
    identity,
    tuned,
)

WEIGHT, DEPTH, RATE = SURFACE


@pytest.mark.parametrize("parameter", SURFACE, ids=lambda each: each.name)
def test_every_value_lies_in_its_range_and_comes_back_from_its_place(parameter):
    values = [parameter.value(step / 97) for step in range(98)]
    assert values[0] == parameter.low and values[-1] == parameter.high
    assert values == sorted(values)
    assert [parameter.value(parameter.place(value)) for value in values] == values
    assert all(isinstance(value, int) == parameter.whole for value in values)


def test_values_have_four_digits_of_their_range_or_of_themselves_on_a_log_scale():
    assert WEIGHT.value(1 / 3) == 0.667
    assert RATE.value(1 / 3) == 0.1
    assert RATE.value(0.1) == 0.01995


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"low": 2, "high": 2}, "below the second"),
        ({"low": 0, "high": 2, "scale": "log"}, "above 0"),
        ({"low": 0.5, "high": 2, "whole": True}, "whole numbers"),
    ],
)
def test_ranges_that_are_none_are_refused_in_one_line(fields, text):
    with pytest.raises(ValueError, match=text):
        checked(TunedParameter, {"name": "x", "whole": False, "default": 1, **fields})


def test_gains_shrink_as_spall_advises():
    gains = Gains(step=0.4, reach=0.2, delay=9)
    assert gains.step_at(0) == pytest.approx(0.4 / 10**0.602)
    assert gains.step_at(90) == pytest.approx(0.4 / 100**0.602)
    assert gains.reach_at(0) == 0.2
    assert gains.reach_at(99) == pytest.approx(0.2 / 100**0.101)


def test_directions_are_drawn_for_each_iteration_and_balanced():
    drawn = [directions(5, number, 600) for number in range(50)]
    assert len({tuple(each) for each in drawn}) == 50
    assert abs(sum(map(sum, drawn))) < 600
    assert drawn[7] == directions(5, 7, 600) != directions(6, 7, 600)


def test_whole_numbers_of_plus_and_minus_differ_at_every_place():
    narrow = TunedParameter(name="n", low=0, high=3, whole=True, default=1)
    gains = Gains(step=0.4, reach=0.01, delay=0)
    for step in range(101):
        (one,), (other,) = candidates([narrow], (step / 100,), gains, 1, step)
        assert one != other and min(one, other) >= 0 and max(one, other) <= 3


def test_candidates_at_an_end_of_their_range_keep_their_distance():
    gains = Gains(step=0.4, reach=0.1, delay=0)
    (one,), (other,) = candidates([WEIGHT], (1.0,), gains, 1, 0)
    assert sorted([one, other]) == [1.6, 2.0]


def test_a_point_moves_towards_the_better_one_and_stays_in_the_cube():
    gains = Gains(step=0.4, reach=0.1, delay=0)
    point = point_of(SURFACE, (1.0, 10, 1.0))
    plus, _ = candidates(SURFACE, point, gains, 1, 0)
    for lead in (0.3, -0.3, 50.0):
        after = moved(SURFACE, point, gains, 1, 0, lead)
        for before, now, end in zip(point, after, point_of(SURFACE, plus), strict=True):
            assert (now - before) * (end - before) * lead > 0 and 0 <= now <= 1


def test_spsa_finds_the_summit_of_a_known_surface_within_the_stated_error():
    runs = [tuned(first_schedule(seed=seed), seed=seed) for seed in range(8)]
    assert sum(map(error, runs)) / len(runs) <= STATED_ERROR
    assert all(height(recommended(run.scheduler)) > height(tuning_of(run).start_values) for run in runs)


def test_an_iteration_follows_from_the_plan_before_and_its_differences_alone():
    schedule = first_schedule()
    one, other = (next_schedule(schedule, [0.25], identity) for _ in range(2))
    assert one == other
    assert next_schedule(schedule, [0.5], identity) != one
    copied = ResolvedPlan.read(json.loads(_resolved(one).as_json()), "a plan").schedule()
    assert next_schedule(copied, [0.1], identity) == next_schedule(one, [0.1], identity)


def test_the_last_plan_compares_the_result_with_the_start_in_the_final_blocks():
    last = tuned(first_schedule(iterations=3))
    assert [entry.label for entry in last.entries] == ["start", "tuned"]
    assert planned_values(last) == (recommended(last.scheduler), tuning_of(last).start_values)
    assert [board.blocks for board in last.boards] == [1000]
    assert last.scheduler.describe().endswith("the result against the start")


def test_nothing_is_left_to_compare_where_the_result_is_the_start():
    narrow = TunedParameter(name="n", low=1, high=2, whole=True, default=1)
    schedule = first_schedule(iterations=4, parameters=[narrow], start=[1])
    last = tuned(schedule, lambda values: -values[0], noise=0.0)
    assert is_over(last)
    assert not is_over(tuned(schedule, lambda values: values[0], noise=0.0))


def test_no_two_iterations_share_a_block_though_their_values_are_alike():
    schedule = first_schedule(players=(2, 3))
    found, ids = set(), set()
    for _ in range(3):
        for block in schedule.blocks():
            assert block.id not in ids and block.identity not in found
            ids.add(block.id)
            found.add(block.identity)
        schedule = next_schedule(schedule, [0.0, 0.0], identity)


def test_two_players_meet_in_both_seats_and_three_take_turns_in_one():
    schedule = first_schedule(players=(2, 3))
    labels = [entry.label for entry in schedule.entries]
    assert labels == ["minus", "plus", "start"]
    seated = {
        index: [
            [labels[entry] for entry in match.seats]
            for block in schedule.blocks_of(index)
            if block.round < 3
            for match in schedule.matches(block)
        ]
        for index in range(2)
    }
    assert seated[0][:2] == [["minus", "plus"], ["plus", "minus"]]
    for number, (one, other) in enumerate(zip(seated[1][::2], seated[1][1::2], strict=True)):
        assert (one[number], other[number]) == ("minus", "plus")
        assert one[:number] + one[number + 1 :] == ["start", "start"] == other[:number] + other[number + 1 :]


def test_specs_of_variants_leave_out_what_is_the_default():
    schedule = first_schedule(start=(1.0, 3, 1.0), iterations=1)
    specs = {entry.label: entry.spec for entry in tuned(schedule, lambda values: values[0]).entries}
    assert specs["start"] == "bot"
    assert specs["tuned"].startswith("bot:depth=")
    assert values_at(SURFACE, point_of(SURFACE, (1.0, 3, 1.0))) == (1.0, 3, 1.0)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"start_values": (1.0,)}, "a value for each"),
        ({"parameters": (WEIGHT, WEIGHT, WEIGHT)}, "listed twice"),
        ({"iterations": 1, "gains": None}, "gains of another method"),
    ],
)
def test_plans_that_contradict_themselves_are_refused(changed, text):
    fields = first_schedule().scheduler.model_dump() | changed
    with pytest.raises(ValueError, match=text):
        checked(Tuning, fields)


def test_a_plan_has_to_seat_the_bots_that_it_compares():
    schedule = first_schedule(players=(2, 3))
    with pytest.raises(ValueError, match="there is no bot minus"):
        schedule.scheduler.resolved(schedule.entries[1:], schedule.boards)
    boards = [replace(board, entries=(0, 1)) for board in schedule.boards]
    with pytest.raises(ValueError, match="3 players are not those"):
        schedule.scheduler.resolved(schedule.entries, boards)


def _resolved(schedule):
    return ResolvedPlan.of("run", schedule)


def test_a_curve_tells_parameters_named_like_its_other_columns_apart():
    names = ("iteration", "difference", "mean_difference")
    named = [each.model_copy(update={"name": name}) for each, name in zip(SURFACE, names, strict=True)]
    schedule = next_schedule(first_schedule(parameters=named), [0.25], identity)
    curve = curve_of_board(schedule, 0)
    (trial,) = tuning_of(schedule).trials
    assert dict(zip(curve["parameter"], curve["value"], strict=True)) == pytest.approx(
        dict(zip(names, values_at(named, trial.point), strict=True)), abs=1e-4
    )
    assert set(curve["difference"]) == {0.25}
