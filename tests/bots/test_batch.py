"""Bots play within the steps of a batch as they do outside of it, when they draw from the same generator."""

from typing import Any

import pytest

import engine
from bots.batch import policy
from engine.batch import ROTATIONS, BatchEnv
from engine.errors import ArenaError
from engine.loading import load
from tests.engine.test_plain_game import NIM
from tests.support.batches import Single, agree, bot


def agreed(spec: str, players: int, opponents: dict[int, str], steps: int, rotate: str = "never") -> int:
    """Hold a batch of 3 against named bots that play by `State`; return how many matches have ended."""
    game = engine.load_game(spec, players)
    policies = {seat: policy(each, game) for seat, each in opponents.items()}
    batch = BatchEnv(game, 3, 11, opponents=policies, rotate=rotate, threads=2)
    bots = {seat: bot(each) for seat, each in opponents.items()}
    return agree(batch, [Single(game, 11, place, bots, ROTATIONS[rotate]) for place in range(3)], steps)


@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_an_opponent_in_a_batch_makes_the_moves_of_the_bot_of_that_name(opponent):
    assert agreed("connect_four", 2, {0: opponent}, 60, "match") > 5


@pytest.mark.system
@pytest.mark.parametrize(
    ("spec", "opponent"),
    [
        ("connect_four", "uct:simulations=300,solve=true"),
        ("epicycle(max_turns=60)", "uct:solve=true,simulations=40,rave=50"),
    ],
)
def test_an_opponent_with_proofs_makes_the_moves_of_the_bot_of_that_name(spec, opponent):
    assert agreed(spec, 2, {1: opponent}, 60) > 5


MIXED = ["greedy", "uct:simulations=40", "uct:simulations=9,exploration=1.2", "flat_mc:playouts=3", "random"]


@pytest.mark.system
@pytest.mark.parametrize(("spec", "players"), [("epicycle", 5), ("magic_mids", 4)])
def test_different_bots_in_one_batch_make_their_moves_and_change_seats(spec, players):
    assert agreed(spec, players, dict(enumerate(MIXED[: players - 1])), 60, "match") > 0


@pytest.mark.system
def test_a_search_with_rollouts_of_a_heuristic_makes_its_moves_in_a_batch():
    assert agreed("midgard(variant=odin)", 2, {0: "uct:simulations=30,rollout=heuristic"}, 60) > 0


def trace(n: int, threads: int) -> list[list[bytes]]:
    """Return what the first 3 places of a batch against `greedy` show in some steps."""
    game = engine.load_game("connect_four")
    batch = BatchEnv(game, n, 1, opponents={1: policy("greedy", game)}, rotate="match", threads=threads)
    shown: Any = batch.reset()
    found = []
    for _ in range(30):
        found.append([array[:3].tobytes() for array in shown])
        shown = batch.step(shown.legal_mask.argmax(axis=1))
    return found


def test_moves_of_bots_depend_on_place_and_match_and_not_on_threads_or_the_size_of_the_batch():
    assert trace(3, 1) == trace(3, 3) == trace(16, 2)


def test_bots_draw_from_streams_of_their_own_at_each_place():
    game = engine.load_game("connect_four")
    seen = BatchEnv(game, 200, 1, opponents={0: policy("uct:simulations=3", game)}).reset()
    first = game.observation_spec().split(seen.observation)["stones"][:, 1, 0]
    assert (first.sum(axis=0) > 0).sum() > 3


def test_policies_that_there_are_not_are_refused_by_name():
    game = engine.load_game("connect_four")
    for spec, why in [
        ("gredy", "no bot 'gredy' plays in batches; did you mean 'greedy'"),
        ("minimax", "no bot 'minimax' plays in batches"),
        ("greedy:depth=2", "greedy has no option 'depth'"),
        ("uct:simulations=0", "below the smallest value"),
        ("uct:seconds=1", "in batches neither by seconds"),
        ("uct:reuse=true", "nor with reuse"),
    ]:
        with pytest.raises(ArenaError, match=why):
            policy(spec, game)
    with pytest.raises(engine.UnsupportedError, match="has no kernels"):
        policy("greedy", load(NIM, 2, {}))


def test_a_policy_is_made_once_for_a_spec_and_a_game():
    game = engine.load_game("connect_four")
    assert policy("uct:simulations=1000", game) is policy("uct", game)
    assert policy("random", game) is None


def beginnings(opponent: str, column: int) -> list[list[bytes]]:
    """Return what the first 6 matches at each of 4 places begin with, after the first roll."""
    game = engine.load_game("magic_mids", 2)
    batch = BatchEnv(game, 4, 9, opponents={1: policy(opponent, game)})
    shown: Any = batch.reset()
    found = [[shown.legal_mask[place].tobytes()] for place in range(4)]
    while min(map(len, found)) < 6:
        legal = shown.legal_mask
        shown = batch.step((legal.cumsum(axis=1) > column % legal.sum(axis=1)[:, None]).argmax(axis=1))
        for place in shown.done.nonzero()[0]:
            found[place].append(shown.legal_mask[place].tobytes())
    return [each[:6] for each in found]


@pytest.mark.system
def test_batches_of_one_seed_have_common_dice_whatever_is_played_in_them():
    expected = beginnings("random", 0)
    assert len({mask for each in expected for mask in each}) > 3
    assert beginnings("random", 5) == beginnings("uct:simulations=4", 2) == expected
