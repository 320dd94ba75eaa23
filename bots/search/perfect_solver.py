"""Two-player Epicycle solved: the value of every position, by retrograde analysis.

Solved is the game without cap and repetition, where a match that never ends is a draw. All positions are covered:
the pie read from the gap, both hands and the seat to move, whatever the set-up. Since both seats play by the same
rules, a position is stored once, from the view of the seat to move.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import inspect
import io
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from bots.search import perfect_kernel
from bots.search.perfect_kernel import ILLEGAL, LOST, POSITIONS, WON
from engine.cache import cache_root
from engine.epicycle import rules
from engine.kernel import bind
from engine.state import KernelState

LONGEST_LINE = 16
STATE = rules.state_dtype({"max_turns": 1})


@dataclass(frozen=True)
class Counts:
    """Numbers of unfinished positions, by what they are worth to the seat to move."""

    positions: int
    won: int
    lost: int
    drawn: int
    longest: int
    """Plies of the longest forced win."""


@dataclass(frozen=True)
class Entry:
    """The table's entry of one unfinished position."""

    value: int
    """1 won, 0 drawn, -1 lost for the seat to move."""
    depth: int
    """Plies to the end when the winner hurries and the loser delays; 0 when drawn."""
    play: int
    """The action to take."""


@dataclass(frozen=True)
class Table:
    """The solution; arrays by position number, which `number` gives."""

    value: np.ndarray
    """int8: 1 won, 0 drawn, -1 lost for the seat to move; 0 where there is no unfinished position."""
    depth: np.ndarray
    """int8: plies to the end when the winner hurries and the loser delays; 0 when drawn."""
    play: np.ndarray
    """int8: the action that `perfect` takes; -1 where there is no unfinished position."""
    reached: np.ndarray
    """bool, (2, positions): can be reached by play from the standard set-up with seat 0 or 1 to move."""
    then: np.ndarray
    """int32: number of the position after `play`; -1 where that ends the match, or there is no unfinished position."""

    def number(self, state: KernelState) -> int:
        """Return the number of an unfinished position."""
        return kernels(state.game.dtype).number_of(state.words)

    def look_up(self, state: KernelState) -> Entry:
        """Return the entry of a state that is neither finished nor before the deal."""
        number = self.number(state)
        return Entry(int(self.value[number]), int(self.depth[number]), int(self.play[number]))

    def counts(self) -> Counts:
        """Count the positions that can be reached by play from the standard set-up, by what they are worth."""
        won, drawn, lost = (int((self.reached & (self.value == value)).sum()) for value in (1, 0, -1))
        longest = int(self.depth[(self.reached & (self.value == 1)).any(axis=0)].max())
        return Counts(won + drawn + lost, won, lost, drawn, longest)


@functools.cache
def kernels(dtype: np.dtype = STATE) -> SimpleNamespace:
    """Return the compiled functions, bound to the rules for one size of the record."""
    return bind(perfect_kernel, rules, dtype)


def children() -> np.ndarray:
    """Return int32 (positions, 6): the number of the position that each play leads to, or ILLEGAL, WON or LOST."""
    table = np.empty((POSITIONS, rules.MAX_ACTIONS), np.int32)
    kernels().expand(np.zeros(STATE.itemsize // 8, np.uint64), table)
    return table


@functools.cache
def solve() -> Table:
    """Return the solution, from the cache file when there is a sound one, else computed (a second) and kept there."""
    path = cache_root() / "epicycle" / f"perfect-{_version()}.npz"
    table = _read(path)
    if table is not None:
        return table
    with _locked(path.with_suffix(".lock")):
        table = _read(path)  # another process may have been at it
        if table is None:
            table = compute()
            with contextlib.suppress(OSError):  # a full disk costs the next process a second, not this one its match
                _write(path, table)
    return table


def compute() -> Table:
    """Compute and return the solution."""
    links = children()
    value, depth = _analyse(links)
    play = _choose_plays(links, value, depth)
    then = np.maximum(np.where(play < 0, -1, links[np.arange(POSITIONS), play]), -1).astype(np.int32)
    return Table(value[:POSITIONS], depth[:POSITIONS], play, _reach(links), then)


@functools.cache
def lines() -> np.ndarray:
    """Return int8 (positions, LONGEST_LINE): the plays from a position on when both seats play perfectly; -1 = over."""
    table = solve()
    play, then = np.append(table.play, -1), np.append(table.then, -1)  # after the end comes the end
    found = np.empty((POSITIONS, LONGEST_LINE), np.int8)
    at = np.arange(POSITIONS)
    for ply in range(LONGEST_LINE):
        found[:, ply] = play[at]
        at = then[at]
    return found


# Arrays of values have three places more than there are positions: ILLEGAL, WON and LOST index them from the end.
AFTER_THE_END = (LOST, WON, ILLEGAL)


def _analyse(links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and depths, backwards from the end: round n decides what is decided in n plies."""
    value = np.zeros(POSITIONS - min(AFTER_THE_END), np.int8)
    depth = np.zeros_like(value)
    value[list(AFTER_THE_END)] = 1, -1, 1  # to the next seat; a play that is not there is as good as none
    open_positions = np.flatnonzero((links != ILLEGAL).any(axis=1))
    plies = 0
    while True:
        plies += 1
        reply = value[links[open_positions]]
        won = (reply == -1).any(axis=1)
        lost = (reply == 1).all(axis=1)
        if not (won | lost).any():
            return value, depth
        value[open_positions[won]] = 1
        value[open_positions[lost]] = -1
        depth[open_positions[won | lost]] = plies
        open_positions = open_positions[~(won | lost)]


def _choose_plays(links: np.ndarray, value: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Return the fastest win, else the draw with most losing replies, else the slowest loss; of equals the lowest."""
    legal = links != ILLEGAL
    losing_replies = np.zeros(value.size, np.int64)
    losing_replies[:POSITIONS] = ((value[links] == 1) & legal).sum(axis=1)
    merit = np.select(
        [~legal, value[links] == -1, value[links] == 0],
        [-1, 2000 - depth[links].astype(np.int64), 1000 + losing_replies[links]],
        depth[links],
    )
    return np.where(legal.any(axis=1), merit.argmax(axis=1), -1).astype(np.int8)


def _reach(links: np.ndarray) -> np.ndarray:
    """Return which positions can be reached from the standard set-up, by the seat to move."""
    reached = np.zeros((2, POSITIONS), bool)
    start = kernels().position_number(rules.pack_pie(rules.STANDARD_PIE), rules.START_HAND)
    seat, fresh = 0, np.array([start])
    while fresh.size:
        reached[seat, fresh] = True
        seat = 1 - seat
        following = np.unique(links[fresh])
        following = following[following >= 0]
        fresh = following[~reached[seat, following]]
    return reached


# The cache file


def _version() -> str:
    """Return a digest of everything that the solution depends on."""
    hasher = hashlib.blake2b(digest_size=8)
    for module in (rules, perfect_kernel):
        hasher.update(Path(inspect.getfile(module)).read_bytes())
    hasher.update(Path(__file__).read_bytes())
    return hasher.hexdigest()


def _read(path: Path) -> Table | None:
    """Return the table in the file; None when there is no file or it is damaged."""
    try:
        with np.load(io.BytesIO(path.read_bytes())) as file:
            return Table(**file)
    except Exception:  # whatever is wrong with the file (the ways are many), it can be made again
        return None


def _write(path: Path, table: Table) -> None:
    """Put the file in place as a whole, so that nobody ever reads half of it."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.stem, suffix=".part", delete=False) as file:
        try:
            np.savez_compressed(file, **vars(table))
            file.flush()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time in; the lock ends with the process that holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
