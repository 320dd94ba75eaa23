"""Leaderboards: from a log as the command makes them, and ratings of made-up matches."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

import numpy as np

from arena.stats.blocks import Blocks, blocks_of
from arena.stats.board import MatchArrays, rating_columns, ratings_of
from arena.stats.fit import BETA, MU, Fit, Results, fit_with_margin, results_of
from benchmarks.figures import Figure, Measured, Seconds, busy, lasting
from benchmarks.sections.arena import play, random_matches

BOARD_BOTS = 20
TIE_POINTS = 0.5
"""Performances closer than this, in TrueSkill points, tie."""
LEADERBOARD_PROGRAM = """
import json, resource, sys, time
import arena.api
wall, processor = time.perf_counter(), time.process_time()
arena.api.leaderboard(sys.argv[1])
wall, processor = time.perf_counter() - wall, time.process_time() - processor
print(json.dumps([wall, processor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def measure(full: bool) -> Measured:
    yield from from_log(1_000_000 if full else 10_000)
    count = 100_000 if full else 5000
    for players in (2, 5):
        fitted(made_up(60 * players, players))
        board = made_up(count, players)
        _, results, _ = fitted(board)
        seconds, note = busy(lambda board=board: fitted(board), 1), f"{len(results.times):,} distinct results"  # type: ignore[misc]
        yield lasting(f"ratings of {count:,} matches of {players} players, {BOARD_BOTS} bots", seconds, note=note)
    count = 2000 if full else 200
    for players in (2, 4):
        wide = made_up(3 * count, players, count)
        seconds = busy(lambda board=wide: rating_columns(ratings_of(board)), 1)  # type: ignore[misc]
        yield lasting(
            f"leaderboard columns of {count:,} bots, {players} players", seconds, note=f"{3 * count:,} matches"
        )


def from_log(count: int) -> Measured:
    """Measure the leaderboard of a log of so many matches of two bots."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as home:
        play(random_matches(count), home, 2)
        command = [sys.executable, "-c", LEADERBOARD_PROGRAM, f"{home}/bench/matches.db"]
        for _ in range(2):  # the first one finds the file and the kernels cold
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        wall, processor, memory = json.loads(done.stdout)
    yield lasting(f"leaderboard from a log of {count:,} matches", Seconds(wall, processor))
    yield Figure(f"memory of a leaderboard from a log of {count:,} matches", memory, "MB", "lower")


def made_up(matches: int, players: int, bots: int = BOARD_BOTS) -> MatchArrays:
    """Return matches of bots of different skill, in blocks of one match for every player; bots at random."""
    rng = np.random.default_rng(players)
    skill = rng.normal(MU, BETA, bots)
    blocks = matches // players
    tables = rng.random((blocks, bots)).argpartition(players, axis=1)[:, :players]
    turns = (np.arange(players)[:, None] + np.arange(players)) % players
    entries = tables[:, turns].reshape(-1, players)
    performances = skill[entries] + rng.normal(0, BETA, entries.shape)
    ranks = (performances[:, None, :] > performances[:, :, None] + TIE_POINTS).sum(axis=2)
    return MatchArrays(entries, ranks, np.repeat(np.arange(blocks), players), None)


def fitted(board: MatchArrays) -> tuple[Fit, Results, Blocks]:
    """Return the converged fit, as a leaderboard makes it, with the distinct results and blocks of a board."""
    results = results_of(board.entries, board.ranks)
    blocks = blocks_of(results, board.block)
    return fit_with_margin(results, blocks.weights(results)), results, blocks
