"""A batch plays each of its matches as `State` does, by its own dice; threads and other matches change nothing."""

from typing import Any, cast

import numpy as np
import pytest
from connect_four import rules

import engine
from engine import CHANCE
from engine.batch import BatchEnv, Policy
from engine.kernel import kernel
from engine.loading import load
from engine.state import KernelGame
from tests.engine.test_plain_game import NIM

WORD = 2**64 - 1
GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def next_word(word: int) -> int:
    """Return what SplitMix64 makes of a word."""
    word = word + GOLDEN & WORD
    word = (word ^ word >> 30) * MIX_1 & WORD
    word = (word ^ word >> 27) * MIX_2 & WORD
    return word ^ word >> 31


def stream(seed: int, match: int, episode: int, role: int) -> np.ndarray:
    """Return the beginning of a stream: dice are role 0, opponents role 1."""
    return np.array([next_word(next_word(next_word(seed) ^ match) ^ 2 * episode + role)], np.uint64)


class Single:
    """One place of a batch, played by `State`."""

    def __init__(self, game: KernelGame, seed: int, match: int, opponents: tuple[int, ...]) -> None:
        self.game, self.seed, self.match, self.opponents, self.episode = game, seed, match, opponents, 0
        self.begin()

    def begin(self) -> None:
        self.state = self.game.new_initial_state()
        self.dice, self.luck = (stream(self.seed, self.match, self.episode, role) for role in (0, 1))
        self.episode += 1
        self.advance()
        if self.state.is_terminal():
            self.begin()

    def advance(self) -> None:
        compiled = self.game.compiled
        while (who := self.state.current_player()) == CHANCE or who in self.opponents:
            if who == CHANCE:
                self.state.apply_action(int(compiled.sample_chance(self.state.record, self.dice)))
            else:
                self.state.apply_action(
                    int(compiled.random_action(self.state.record, self.luck, self.game.action_buffer))
                )

    def step(self, action: int) -> tuple[list[float], bool]:
        """Play on and return the returns, zeros before the end, and whether the match has ended."""
        self.state.apply_action(action)
        self.advance()
        if not self.state.is_terminal():
            return [0.0] * self.game.players, False
        returns = self.state.returns()
        self.begin()
        return returns, True


def picked(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a random legal action of each match."""
    return np.argmax(mask * rng.random(mask.shape), axis=1)


def agree(spec: str, players: int, opponents: tuple[int, ...], steps: int) -> int:
    """Hold a batch against its matches played singly; return how many have ended."""
    game = cast(KernelGame, engine.load_game(spec, players))
    batch = BatchEnv(game, 5, 7, opponents=opponents, threads=2)
    singles = [Single(game, 7, match, opponents) for match in range(5)]
    rng = np.random.default_rng(3)
    seen: Any = batch.reset()
    ends = 0
    for _ in range(steps):
        for i, single in enumerate(singles):
            assert seen.to_move[i] == single.state.current_player()
            assert np.array_equal(seen.observation[i], single.state.observe())
            assert np.array_equal(seen.legal_mask[i], single.state.legal_actions_mask())
        actions = picked(seen.legal_mask, rng)
        seen = batch.step(actions)
        for i, single in enumerate(singles):
            returns, done = single.step(int(actions[i]))
            assert (seen.returns[i].tolist(), bool(seen.done[i])) == (returns, done)
            ends += done
    return ends


@pytest.mark.parametrize(("spec", "opponents", "steps"), [("connect_four", (1,), 80), ("magic_mids", (), 300)])
def test_a_batch_plays_as_states_do_with_the_dice_of_each_place_and_match(spec, opponents, steps):
    assert agree(spec, 2, opponents, steps) > 5


@pytest.mark.system
@pytest.mark.parametrize("players", [2, 3, 5])
@pytest.mark.parametrize("spec", ["epicycle(setup=random)", "epicycle(max_turns=600)", "magic_mids", "pyramid_punch"])
def test_a_batch_of_any_game_plays_as_states_do(spec, players):
    if players <= engine.game_type(spec.partition("(")[0]).max_players:
        assert agree(spec, players, (0, players - 1)[: players - 1], 200) > 0


@pytest.mark.system
@pytest.mark.parametrize("spec", ["midgard", "midgard(variant=odin)", "midgard(variant=loki)"])
def test_a_batch_of_midgard_plays_as_states_do(spec):
    assert agree(spec, 2, (0,), 100) > 0


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
