"""A batch plays each of its matches as `State` does, by its own dice; threads and other matches change nothing."""

from typing import Any

import numpy as np
import pytest
from connect_four import rules

import engine
from engine.batch import ROTATIONS, BatchEnv, Policy
from engine.kernel import kernel
from engine.loading import load
from tests.engine.test_plain_game import NIM
from tests.support.batches import Single, agree, at_random


def agreed(
    spec: str, players: int, opponents: tuple[int, ...], steps: int, rotate: str = "never", opening: int = 0
) -> int:
    """Hold a batch against its matches played singly; return how many have ended."""
    game = engine.load_game(spec, players)
    batch = BatchEnv(game, 5, 7, opponents=opponents, rotate=rotate, opening=opening, threads=2)
    seats = dict.fromkeys(opponents, at_random)
    return agree(batch, [Single(game, 7, place, seats, ROTATIONS[rotate], opening) for place in range(5)], steps)


@pytest.mark.parametrize(
    ("spec", "opponents", "steps", "rotate"),
    [("connect_four", (1,), 80, "match"), ("magic_mids", (), 300, "never"), ("magic_mids", (0,), 150, "place")],
)
def test_a_batch_plays_as_states_do_with_the_dice_of_each_place_and_match(spec, opponents, steps, rotate):
    assert agreed(spec, 2, opponents, steps, rotate) > 5


@pytest.mark.parametrize("opening", [3, 30])
def test_a_batch_begins_with_random_moves_of_all_seats_that_never_end_a_match(opening):
    assert agreed("connect_four", 2, (1,), 60, "match", opening) > 5
    assert agreed("magic_mids", 2, (0,), 60, "match", opening) > 5


@pytest.mark.system
@pytest.mark.parametrize(
    ("spec", "players"),
    [
        ("epicycle(setup=random)", 2),
        ("epicycle(max_turns=600)", 5),
        ("magic_mids", 2),
        ("magic_mids", 3),
        ("pyramid_punch", 2),
        ("pyramid_punch", 5),
    ],
)
def test_a_batch_of_any_game_plays_as_states_do(spec, players):
    assert agreed(spec, players, (0, players - 1)[: players - 1], 200, "match") > 0


@pytest.mark.system
@pytest.mark.parametrize("spec", ["midgard", "midgard(variant=odin)", "midgard(variant=loki)"])
def test_a_batch_of_midgard_plays_as_states_do(spec):
    assert agreed(spec, 2, (0,), 100) > 0


def trace(n: int, threads: int, seed: int = 1) -> list[list[bytes]]:
    """Return what the first 7 places of a batch show in some steps, all playing the first legal action."""
    batch = BatchEnv(engine.load_game("magic_mids", 2), n, seed, threads=threads)
    shown: Any = batch.reset()
    found = []
    for _ in range(60):
        found.append([array[:7].tobytes() for array in shown])
        shown = batch.step(shown.legal_mask.argmax(axis=1))
    return found


def test_what_a_place_shows_depends_on_the_seed_and_not_on_threads_or_the_size_of_the_batch():
    expected = trace(7, 1)
    assert trace(7, 3) == expected and trace(64, 2) == expected
    assert trace(7, 1, seed=2) != expected


def test_a_reset_with_a_seed_begins_anew_and_one_without_goes_on_to_other_dice():
    batch = BatchEnv(engine.load_game("magic_mids", 2), 9, 5)
    first = batch.reset().legal_mask.copy()
    second = batch.reset().legal_mask.copy()
    assert not np.array_equal(first, second)
    assert np.array_equal(batch.reset(5).legal_mask, first)
    assert np.array_equal(batch.reset().legal_mask, second)


@kernel
def leftmost(words, seat, rng, legal, scratch):
    """Return the first open column, and count."""
    scratch[0] += 1
    rules.legal_actions(words.view(rules.STATE)[0], legal)
    return legal[0]


def test_opponents_play_by_a_policy_compiled_into_the_step():
    game = engine.load_game("connect_four")
    made = []

    def scratch() -> np.ndarray:
        made.append(np.zeros(1, np.int64))
        return made[-1]

    batch = BatchEnv(game, 4, opponents=[0], policy=Policy(leftmost, scratch), threads=2)
    seen: Any = batch.reset()
    for drops in (1, 2, 3):
        stones = game.observation_spec().split(seen.observation)["stones"]
        assert seen.to_move.tolist() == [1] * 4
        assert (stones[:, 1, :, 0].sum(axis=1) == drops).all() and not stones[:, 1, :, 1:].any()
        seen = batch.step([6] * 4)
    assert seen.done.all() and seen.returns.tolist() == [[1, -1]] * 4
    assert len(made) == 2 and [int(each[0]) for each in made] == [10, 10]  # two matches each, four drops and one


def test_an_action_that_is_not_legal_is_refused_and_nothing_changes():
    game = engine.load_game("connect_four")
    batch = BatchEnv(game, 3)
    with pytest.raises(engine.IllegalActionError, match="call reset first"):
        batch.step([0, 0, 0])
    batch.reset()
    before = [array.copy() for array in batch.step([1, 2, 3])]
    for actions, why in [
        ([0, 7, 0], "match 1: 7 is not legal in connect_four for seat 1; legal: 0 1 2 3 4 5 6"),
        ([-1, 0, 0], "match 0: -1 is not legal"),
        (np.array([2**64 - 1, 0, 0], np.uint64), "match 0: 18446744073709551615 is not legal"),
        ([0, 0], r"shape \(3,\), not int64 \(2,\)"),
        ([0.0, 0.0, 0.0], "whole numbers"),
        ([True, True, True], "whole numbers"),
        (None, "whole numbers"),
    ]:
        with pytest.raises(engine.IllegalActionError, match=why):
            batch.step(actions)
    assert all(np.array_equal(one, other) for one, other in zip(before, batch._step, strict=True))
    assert batch.step([1, 2, 3]).to_move.tolist() == [0, 0, 0]


def test_an_action_that_is_not_legal_ends_its_match_alone_where_it_is_to_lose():
    game = engine.load_game("magic_mids", 3)
    batch = BatchEnv(game, 3, 5, illegal="lose")
    twin = BatchEnv(game, 3, 5)
    mask, to_move = batch.reset()[1:]
    legal = mask.argmax(axis=1)
    expected = [array.copy() for array in (twin.reset() and twin.step(legal))]
    before, seat = batch.state(1), int(to_move[1])
    actions = legal.copy()
    actions[1] = mask[1].argmin()
    seen = batch.step(actions)
    assert seen.done.tolist() == [False, True, False]
    assert seen.returns[1].tolist() == [-1.0 if each == seat else 0.0 for each in range(3)]
    assert (batch.final_observation[1] == before.observe(seat)).all()
    assert str(batch.final_state(1)) == str(before)
    for shown, other in zip(seen, expected, strict=True):
        assert np.array_equal(shown[[0, 2]], other[[0, 2]])
    again = Single(game, 5, 1, {})
    again.begin()
    assert np.array_equal(seen.observation[1], again.state.observe())
    batch.step([-1, -(2**62), 2**62])
    assert seen.done.all()


def test_a_batch_shows_the_states_at_its_places_and_their_ends():
    game = engine.load_game("connect_four")
    batch = BatchEnv(game, 2)
    batch.reset()
    for column in (0, 1, 0, 1, 0, 1):
        batch.step([column, 6 - column])
    assert batch.state(0).position == batch.state(0).clone().position
    last = [batch.state(place) for place in range(2)]
    batch.step([0, 6])
    for place, state in enumerate(last):
        state.apply_action(6 * place)
        assert state.is_terminal() and batch.final_state(place).position == state.position
        assert batch.state(place).position == game.new_initial_state().position


def test_arguments_that_do_not_fit_are_refused():
    game = engine.load_game("connect_four")
    options: Any
    for options, why in [
        ({"n": 0}, "n must be a whole number from 1"),
        ({"n": True}, "n must be"),
        ({"n": 1, "seed": -1}, "seed must be"),
        ({"n": 1, "threads": 0}, "threads must be"),
        ({"n": 1, "opponents": [2]}, "opponents: a seat must be a whole number from 0 to 1, not 2"),
        ({"n": 1, "opponents": [0, 1]}, "one seat at least"),
        ({"n": 1, "opponents": {2: None}}, "opponents: a seat must be a whole number from 0 to 1, not 2"),
        ({"n": 1, "opponents": {1: "greedy"}}, "opponents: seat 1 must have a Policy or None, not 'greedy'"),
        ({"n": 1, "rotate": "often"}, "rotate must be one of never, place, match, not 'often'"),
        ({"n": 1, "opening": -1}, "opening must be a whole number from 0"),
        ({"n": 1, "illegal": "ignore"}, "illegal must be one of raise, lose, not 'ignore'"),
    ]:
        with pytest.raises(engine.ParameterError, match=why):
            BatchEnv(game, **options)
    with pytest.raises(engine.UnsupportedError, match="has no kernels"):
        BatchEnv(load(NIM, 2, {}), 1)


@pytest.mark.system
def test_matches_that_always_end_before_anybody_is_asked_end_in_an_error():
    batch = BatchEnv(engine.load_game("epicycle(max_turns=1)", 2), 2, opponents=[0])
    with pytest.raises(engine.UnsupportedError, match="match 0: 1000 matches have ended"):
        batch.reset()
