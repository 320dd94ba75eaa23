"""Batches for learning programs: many matches of one game stepped by a compiled call, with observations and masks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from engine.errors import IllegalActionError, ParameterError, UnsupportedError
from engine.game import Game
from engine.state import KernelGame

MOST_THREADS = 1024


class Step(NamedTuple):
    """What `BatchEnv.step` returns, a row for each match."""

    observation: np.ndarray
    """float32, (n, spec.size): what the seat to move sees."""
    legal_mask: np.ndarray
    """bool, (n, actions): in the game's own numbers of actions."""
    to_move: np.ndarray
    """int64, (n,): the seat that the next action is of."""
    returns: np.ndarray
    """float64, (n, players): of the match that has just ended, zeros where none has."""
    done: np.ndarray
    """bool, (n,): where a match has just ended; the other arrays show the beginning of the next one."""


class Beginning(NamedTuple):
    """What `BatchEnv.reset` returns: as in `Step`."""

    observation: np.ndarray
    legal_mask: np.ndarray
    to_move: np.ndarray


@dataclass(frozen=True)
class Policy:
    """How seats play that are not asked, compiled into the step of a game's batch."""

    choose: Callable[..., Any]
    """A kernel: `choose(words, seat, rng, legal, scratch)` returns a legal action of the seat to move.

    `words` is viewed as the game's record and must stay as it is; `rng` is as `engine.chance` takes it, `legal` an
    array with room for all legal actions.
    """
    scratch: Callable[[], Any]
    """Makes the `scratch` of one thread: an array, or a tuple of arrays."""


class BatchEnv:
    """`n` matches of a game with kernels and observations, stepped together; a match that ends is followed by another.

    Seats among `opponents` play inside the step, at random or by `policy`; whoever calls is asked for all others.
    Matches that end before any of these has a choice are played through and not shown.

    Chance is drawn by seed, place in the batch and match at that place, from one stream for dice and one for
    opponents. So results do not depend on `threads`, and two batches of one seed have the same dice, match for match,
    whatever is played in them. The arrays that `reset` and `step` return are the batch's own and written again by the
    next call: copy what is kept, and leave them as they are.

    Raises `UnsupportedError` for a game without kernels or observations, `ParameterError` for other arguments.
    """

    def __init__(
        self,
        game: Game,
        n: int,
        seed: int = 0,
        *,
        opponents: Iterable[int] = (),
        policy: Policy | None = None,
        threads: int = 1,
    ) -> None:
        if not isinstance(game, KernelGame):
            raise UnsupportedError(f"{game.name} has no kernels; batches need them")
        size = game.observation_spec().size
        self.game = game
        self.n = _whole("n", n, 1, 2**31)
        self.threads = min(_whole("threads", threads, 1, MOST_THREADS), self.n)
        self.seed = _whole("seed", seed, 0, 2**64 - 1)
        self._asked = np.ones(game.players, np.bool_)
        for seat in opponents:
            self._asked[_whole("opponents: a seat", seat, 0, game.players - 1)] = False
        if not self._asked.any():
            raise ParameterError("opponents: one seat at least must be left to the caller")
        self._kernels = _compiled(game, policy)
        self._start = game.new_initial_state().words
        self._states = np.zeros((n, self._start.size), np.uint64)
        self._episodes = np.zeros(n, np.int64)
        self._dice, self._luck = np.zeros((n, 1), np.uint64), np.zeros((n, 1), np.uint64)
        self._step = Step(
            np.zeros((n, size), np.float32),
            np.zeros((n, game.num_distinct_actions), np.bool_),
            np.zeros(n, np.int64),
            np.zeros((n, game.players)),
            np.zeros(n, np.bool_),
        )
        self._scratch = [
            (np.zeros_like(game.action_buffer), np.zeros(game.players, np.int64), policy.scratch() if policy else ())
            for _ in range(self.threads)
        ]
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._begun = False

    def reset(self, seed: int | None = None) -> Beginning:
        """Begin a match at every place and return what is seen of them; with a seed, as a new batch of that seed."""
        if seed is not None:
            self.seed = _whole("seed", seed, 0, 2**64 - 1)
            self._episodes[:] = 0
        self._run(True, np.zeros(self.n, np.int64))
        self._begun = True
        return Beginning(*self._step[:3])

    def step(self, actions: Any) -> Step:
        """Play an action in every match, and on until a seat is asked again.

        Raises `IllegalActionError`, and changes nothing, when one is not legal or the batch was never reset.
        """
        if not self._begun:
            raise IllegalActionError("the batch has not begun; call reset first")
        given = np.asarray(actions)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions must be whole numbers, shape ({self.n},), not {given.dtype} {given.shape}"
            )
        chosen = np.ascontiguousarray(given, np.int64)
        match = int(self._kernels.find_illegal(self._states, chosen, self._scratch[0][0]))
        if match >= 0:
            game = self.game
            legal = " ".join(map(str, np.flatnonzero(self._legal(match))))
            raise IllegalActionError(
                f"match {match}: {given[match]} is not legal in {game.spec} for seat {self._step.to_move[match]}; "
                f"legal: {legal}"
            )
        self._run(False, chosen)
        return self._step

    def _legal(self, match: int) -> np.ndarray:
        """Return the legal actions of a match, whatever has been written to the mask."""
        mask = np.zeros(self.game.num_distinct_actions, np.bool_)
        _, count = self.game.compiled.look(self._states[match], self.game.action_buffer)
        mask[self.game.action_buffer[:count]] = True
        return mask

    def _run(self, restart: bool, actions: np.ndarray) -> None:
        """Step all matches, a stretch in each thread."""
        ends = np.linspace(0, self.n, self.threads + 1).astype(int).tolist()
        stretches = zip(ends, ends[1:], self._scratch, strict=False)
        run = self._pool.map if self._pool else map
        stuck = [
            match for match in run(lambda each: self._run_stretch(restart, actions, *each), stretches) if match >= 0
        ]
        if stuck:
            self._begun = False
            raise UnsupportedError(f"match {stuck[0]}: 1000 matches have ended before a seat was to be asked")

    def _run_stretch(self, restart: bool, actions: np.ndarray, first: int, last: int, scratch: tuple[Any, ...]) -> int:
        streams = (np.uint64(self.seed), self._episodes, self._dice, self._luck)
        state = (self._start, self._states, self._asked, *streams)
        return int(self._kernels.step_matches(first, last, restart, actions, *state, *self._step, *scratch))


def _whole(what: str, value: object, low: int, high: int) -> int:
    """Return a whole number within bounds; raises `ParameterError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ParameterError(f"{what} must be a whole number from {low} to {high}, not {value!r}")
    return int(value)


@functools.cache
def _compiled(game: KernelGame, policy: Policy | None) -> Any:
    """Return the kernels of a batch, bound to a game and a policy."""
    from engine import batch_kernel
    from engine.kernel import bind

    also = {"observe": game.type.module("observation").observe}
    also |= {name: getattr(game.compiled, name) for name in ("random_action", "points_of")}
    if policy is not None:
        also["choose"] = policy.choose
    return bind(batch_kernel, game.rules, game.dtype, **also)
