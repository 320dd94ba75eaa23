"""How long ratings take: `ratings` is a part of `make bench`."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from arena.stats.board import Played, ratings_of
from arena.stats.bootstrap import Blocks, blocks_of, replicates
from arena.stats.fit import BETA, MU, Fit, Results, fit_with_margin, results_of
from benchmarks.tools import Row

BOTS = 20
TIE = 0.5
"""Performances closer than this, in TrueSkill points, tie."""
AIMS = {2: "under 10 s on one core", 5: "under 60 s on one core"}


def made_up(matches: int, players: int) -> Played:
    """Matches of 20 bots of different skill, in blocks of one match for every player; bots at random."""
    rng = np.random.default_rng(players)
    skill = rng.normal(MU, BETA, BOTS)
    blocks = matches // players
    tables = rng.permuted(np.tile(np.arange(BOTS), (blocks, 1)), axis=1)[:, :players]
    turns = (np.arange(players)[:, None] + np.arange(players)) % players
    entries = tables[:, turns].reshape(-1, players)
    performances = skill[entries] + rng.normal(0, BETA, entries.shape)
    ranks = (performances[:, None, :] > performances[:, :, None] + TIE).sum(axis=2)
    return Played(entries, ranks, np.repeat(np.arange(blocks), players), None)


def grouped(board: Played) -> tuple[Results, Blocks]:
    """The distinct results and the blocks of a board."""
    results = results_of(board.entries, board.ranks)
    return results, blocks_of(results, board.block)


def fitted(board: Played) -> tuple[Fit, Results, Blocks]:
    """The converged fit, as a leaderboard makes it."""
    results, blocks = grouped(board)
    return fit_with_margin(results, blocks.weights(results)), results, blocks


def ratings(full: bool) -> Iterator[Row]:
    """The converged fit, and resampled boards, with warm kernels."""
    for players in (2, 5):
        fitted(made_up(60 * players, players))
        board = made_up(100_000 if full else 10_000, players)
        started = time.perf_counter()
        _, results, _ = fitted(board)
        took = time.perf_counter() - started
        yield Row(
            f"converged fit of {len(board.ranks):,} matches of {players} players, {BOTS} bots",
            f"{took:.2f} s, {len(results.times):,} distinct results",
            AIMS[players] if full else "",
        )
    for players in (2, 4):
        ratings_of(made_up(60 * players, players), 2)
        fit, results, blocks = fitted(made_up(20_000, players))
        count = 1000 if full else 50
        started = time.perf_counter()
        replicates(fit, results, blocks, count)
        yield Row(
            f"{count:,} bootstrap replicates of {BOTS} bots, 20,000 matches of {players} players",
            f"{time.perf_counter() - started:.1f} s",
            "under 60 s on 2 cores" if full else "",
        )
