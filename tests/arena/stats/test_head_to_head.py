"""Head-to-head recomputed by hand, cycles that are there and cycles that are chance."""

import itertools
import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arena.core.errors import ConfigError
from arena.stats.cycles import alpha_rank, cycles, cyclic_groups, significant
from arena.stats.head_to_head import compare_pairs, head_to_head, matrix, p_values
from arena.stats.multiple import holm
from engine import returns_from_ranks


def board(tables, ranks):
    """The frame of `board_matches`: by block a table, played in every rotation, ranks by (block, rotation, seat)."""
    tables, ranks = np.asarray(tables, dtype=object), np.asarray(ranks)
    players = tables.shape[1]
    who = np.stack([np.roll(tables, -turn, axis=1) for turn in range(players)], axis=1)
    block, lineup, seat = np.indices(who.shape)
    columns = {"block": block, "lineup": lineup, "seat": seat, "bot": who, "rank": ranks}
    frame = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    returns = [value for match in ranks.reshape(-1, players) for value in returns_from_ranks(match.tolist())]
    return frame.assign(return_=returns)


@st.composite
def boards(draw):
    players = draw(st.integers(2, 5))
    bots = [f"bot {number}" for number in range(draw(st.integers(players, 6)))]
    blocks = draw(st.integers(1, 6))
    tables = [draw(st.permutations(bots))[:players] for _ in range(blocks)]
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    return players, board(tables, rng.integers(0, players, (blocks, players, players)))


def by_hand(frame, bot, opponent):
    """A row of `head_to_head` from the definitions, match by match."""
    wins = ties = losses = 0
    blocks = {}
    for (block, _), match in frame.groupby(["block", "lineup"]):
        seats = match.set_index("bot")
        if {bot, opponent} <= set(seats.index):
            mine, theirs = seats.loc[bot], seats.loc[opponent]
            wins += mine["rank"] < theirs["rank"]
            ties += mine["rank"] == theirs["rank"]
            losses += mine["rank"] > theirs["rank"]
            blocks.setdefault(block, []).append(mine["return_"] - theirs["return_"])
    means = [statistics.fmean(values) for values in blocks.values()]
    row = [wins + ties + losses, len(blocks), wins, ties, losses, statistics.fmean(means)]
    if len(means) < 2:
        return [*row, math.nan, math.nan]
    if max(means) - min(means) < 1e-9:
        unseen = stats.beta.ppf(0.975, 1, len(means))
        return [*row, row[-1] - unseen * (row[-1] + 2), row[-1] + unseen * (2 - row[-1])]
    half = stats.t.ppf(0.975, len(means) - 1) * statistics.stdev(means) / math.sqrt(len(means))
    return [*row, max(row[-1] - half, -2.0), min(row[-1] + half, 2.0)]


@settings(max_examples=25, deadline=None)
@given(boards())
def test_every_pair_that_met_is_compared_as_the_definitions_say(drawn):
    players, frame = drawn
    rows = head_to_head(frame, players)
    met = {
        frozenset(pair)
        for _, match in frame.groupby(["block", "lineup"])
        for pair in itertools.combinations(match["bot"], 2)
    }
    assert {frozenset(pair) for pair in zip(rows["bot"], rows["opponent"], strict=True)} == met
    assert len(rows) == len(met)
    for row in rows.itertuples(index=False):
        assert list(row[2:]) == pytest.approx(by_hand(frame, row.bot, row.opponent), abs=6e-5, nan_ok=True)


@settings(max_examples=15, deadline=None)
@given(boards(), st.randoms(use_true_random=False))
def test_the_order_of_blocks_and_their_numbers_change_nothing(drawn, random):
    players, frame = drawn
    blocks = list(frame["block"].unique())
    random.shuffle(blocks)
    moved = pd.concat([frame[frame["block"] == block].assign(block=10 * at) for at, block in enumerate(blocks)])
    pd.testing.assert_frame_equal(head_to_head(frame, players), head_to_head(moved, players))


@settings(max_examples=15, deadline=None)
@given(boards())
def test_the_matrix_shows_both_sides_of_every_pair(drawn):
    players, frame = drawn
    rows = head_to_head(frame, players)
    difference, wins, losses = (matrix(rows, value) for value in ("difference", "wins", "losses"))
    assert np.array_equal(difference.to_numpy(), -difference.to_numpy().T, equal_nan=True)
    assert np.array_equal(wins.to_numpy(), losses.to_numpy().T, equal_nan=True)
    for row in rows.itertuples():
        assert difference.loc[row.bot, row.opponent] == row.difference
        assert wins.loc[row.opponent, row.bot] == row.losses


def test_the_better_bot_comes_first_or_the_one_that_is_named_first():
    frame = board([["a", "b"]] * 3, [[[1, 0], [0, 1]]] * 3)
    assert head_to_head(frame, 2)[["bot", "wins", "losses"]].to_numpy().tolist() == [["b", 6, 0]]
    assert head_to_head(frame, 2, ["a", "b"])[["bot", "wins", "losses"]].to_numpy().tolist() == [["a", 0, 6]]
    assert head_to_head(frame, 2, ["a"]).empty
    assert head_to_head(frame[:0], 2).empty


def test_a_few_blocks_that_agree_are_no_certainty():
    mean, error = np.array([1.0, 1.0, 0.0, 1.0, -0.5]), np.array([0.0, 0.0, 0.0, np.nan, 0.1])
    p = p_values(mean, error, np.array([2, 11, 5, 1, 9]))
    assert p == pytest.approx([0.5, 2**-10, 1.0, 1.0, max(2 * stats.t.sf(5, 8), 2**-8)])


def test_blocks_without_a_difference_are_no_evidence_for_one():
    mean, error, blocks = np.array([1.6, 1.6]), np.array([0.2, 0.2]), np.array([10, 10])
    assert p_values(mean, error, blocks, np.array([8, 0])).tolist() == [2**-7, 1.0]
    compared = compare_pairs(board([["a", "b"]] * 4, [[[0, 1], [1, 0]]] + [[[0, 1], [0, 1]]] * 3), 2)
    assert compared["decided"].tolist() == [1.0] and compared["blocks"].tolist() == [4]


def cyclic_board(share, blocks, rng):
    """a beats b, b beats c, c beats a, each with a chance; d loses to all."""
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d"), ("b", "d"), ("c", "d")]
    upper_wins = rng.random((blocks, 6, 2)) < share
    ranks = np.stack([upper_wins ^ [True, False], upper_wins ^ [False, True]], axis=-1).astype(int)
    return board(pairs * blocks, ranks.reshape(-1, 2, 2))


def test_a_cycle_that_is_there_is_found_and_its_weakest_pair_named():
    compared = compare_pairs(cyclic_board(0.8, 60, np.random.default_rng(3)), 2)
    edges = significant(compared)
    found = cycles(edges, ["a", "b", "c", "d"])
    assert found[["first", "second", "third"]].to_numpy().tolist() == [["a", "b", "c"]]
    inside = edges[(edges["ahead"] != "d") & (edges["behind"] != "d")]
    assert found["p_value"].tolist() == [inside["p_value"].max()]
    assert cyclic_groups(edges, ["a", "b", "c", "d"]) == [["a", "b", "c"]]
    backwards = cycles(edges, ["d", "c", "b", "a"])
    assert backwards[["first", "second", "third"]].to_numpy().tolist() == [["c", "a", "b"]]


def test_boards_without_differences_rarely_show_a_pair_as_apart():
    rng = np.random.default_rng(4)
    wrong = [len(significant(compare_pairs(cyclic_board(0.5, 20, rng), 2))) > 0 for _ in range(200)]
    assert sum(wrong) <= stats.binom.ppf(0.999, 200, 0.05)


def test_a_longer_cycle_is_found_without_any_of_three():
    ring = pd.DataFrame([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], columns=["ahead", "behind"])
    edges = ring.assign(p_value=0.01)
    assert cycles(edges, ["a", "b", "c", "d", "e"]).empty
    assert cyclic_groups(edges, ["e", "a", "b", "c", "d"]) == [["a", "b", "c", "d"]]
    assert cyclic_groups(edges[:3], ["a", "b", "c", "d"]) == []


def test_holms_adjustment_agrees_with_a_case_worked_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, 0.7])).tolist() == [1.0, 1.0]


def frame_of(rows):
    names = list("abcdefgh"[: len(rows)])
    return pd.DataFrame(rows, index=names, columns=names, dtype=float)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e6])
def test_alpha_rank_divides_rock_paper_scissors_evenly(alpha):
    payoffs = frame_of([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    assert alpha_rank(payoffs, alpha).tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("alpha", [1.0, 100.0, 1e9])
def test_alpha_rank_gives_all_to_a_bot_that_beats_every_other(alpha):
    payoffs = frame_of([[0, -1, 1, -1], [1, 0, -1, -1], [-1, 1, 0, -1], [1, 1, 1, 0]])
    assert alpha_rank(payoffs, alpha).tolist() == pytest.approx([0, 0, 0, 1], abs=1e-12)


def test_alpha_rank_of_two_bots_is_the_ratio_of_their_fixations():
    shares = alpha_rank(frame_of([[0, 0.02], [-0.02, 0]]), alpha=1.0, population=50)
    assert shares["a"] / shares["b"] == pytest.approx(math.exp(49 * 0.04))


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 6), st.integers(0, 999), st.sampled_from([0.1, 1.0]))
def test_alpha_rank_is_the_eigenvector_of_the_chain_written_out(count, seed, alpha):
    raw = np.random.default_rng(seed).uniform(-0.2, 0.2, (count, count))
    returns = raw - raw.T
    chain = np.zeros((count, count))
    for s, r in itertools.permutations(range(count), 2):
        u = alpha * (returns[r, s] - returns[s, r])
        chain[s, r] = (1 - math.exp(-u)) / (1 - math.exp(-50 * u)) / (count - 1)
    chain += np.diag(1 - chain.sum(axis=1))
    shares = alpha_rank(frame_of(returns), alpha).to_numpy()
    assert shares @ chain == pytest.approx(shares, abs=1e-9)
    assert shares.sum() == pytest.approx(1)


def test_alpha_rank_counts_bots_that_never_met_as_even_and_refuses_what_is_no_population():
    assert alpha_rank(frame_of([[np.nan] * 2] * 2)).tolist() == [0.5, 0.5]
    assert alpha_rank(frame_of([[0.0]])).tolist() == [1.0]
    with pytest.raises(ConfigError, match="alpha = 0"):
        alpha_rank(frame_of([[0.0]]), alpha=0)
