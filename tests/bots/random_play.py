"""Uniform random play of two-player Epicycle without repetition or cap, worked out exactly for every position."""

import functools

import numpy as np
from scipy.sparse import csr_array, identity
from scipy.sparse.linalg import bicgstab

from bots.search import perfect_solver
from bots.search.perfect_kernel import ILLEGAL, WON


@functools.cache
def children() -> np.ndarray:
    """Return where every play of every position leads."""
    return perfect_solver.children()


@functools.cache
def random_play() -> tuple[np.ndarray, np.ndarray]:
    """Return by position number the chance that the seat to move wins, and the mean number of plies to the end.

    With M the matrix of moves between unfinished positions, win = (plays that may win) - M win and plies = 1 + M plies.
    """
    links = children()
    numbers = np.flatnonzero((links != ILLEGAL).any(axis=1))
    row_of = np.full(len(links), -1)
    row_of[numbers] = np.arange(len(numbers))
    links = links[numbers]
    plays = (links != ILLEGAL).sum(axis=1)
    row, play = np.nonzero(links >= 0)
    moves = csr_array((1 / plays[row], (row, row_of[links[row, play]])), shape=(len(numbers), len(numbers)))
    same = identity(len(numbers), format="csr")
    may_win = ((links >= 0) | (links == WON)).sum(axis=1) / plays
    solutions = []
    for matrix, constant in ((same + moves, may_win), (same - moves, np.ones(len(numbers)))):
        solution, failure = bicgstab(matrix, constant, rtol=1e-10)
        assert not failure and np.abs(matrix @ solution - constant).max() < 1e-6
        solutions.append(np.full(len(row_of), np.nan))
        solutions[-1][numbers] = solution
    return solutions[0], solutions[1]
