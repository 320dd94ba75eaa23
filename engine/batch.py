"""Batches for learning programs: many matches of one game stepped by a compiled call, with observations and masks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from engine.errors import IllegalActionError, ParameterError, UnsupportedError
from engine.game import Game, State
from engine.state import KernelGame, KernelState

MAX_THREADS = 1024
CALLER_PLAYS = -1
ROTATIONS = {"never": (0, 0), "place": (1, 0), "match": (1, 1)}
"""By how many seats the seating moves on, from a place in the batch to the next, and from a match to the next."""


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

    `words` is viewed as the game's record and must stay as it is; `rng`, as `engine.chance` takes it, is the seat's own
    for one match; `legal` is an array with room for all legal actions.
    """
    scratch: Callable[[], Any]
    """Makes the `scratch` of one thread: an array, or a tuple of arrays and numbers.

    Policies with one kernel share its compiled code, so parameters belong here.
    """


class BatchEnv:
    """`n` matches of a game with kernels and observations, stepped together; a match that ends is followed by another.

    `opponents` play inside the step: `{seat: policy}`, where None plays at random, or seats that all play by `policy`.
    Whoever calls is asked for all other seats. Matches that end before any of these has a choice are played through
    and not shown. `rotate` moves everybody on by a seat, in the order of turns: from one place in the batch to the next
    (`"place"`), and with each new match at a place too (`"match"`); the seats given are those of the very first match.
    `opening` is the number of random moves that each match begins with, whoever's turn it is; as in tournaments, it is
    cut short before a move that would end the match.

    Chance is drawn by seed, place in the batch and match at that place, from one stream for dice and openings, and one
    for each opponent. So results do not depend on `threads`, and two batches of one seed have the same dice, match for
    match, whatever is played in them. The arrays that `reset` and `step` return are the batch's own and written again
    by the next call: copy what is kept, and leave them as they are.

    An action that is not legal is an error, and nothing is played; with `illegal="lose"` it ends its match, with
    returns of -1 for its seat and 0 for all others.

    Raises `UnsupportedError` for a game without kernels or observations, `ParameterError` for other arguments.
    """

    final_observation: np.ndarray
    """float32, (n, spec.size): where `done` is true, the end of that match as the seat sees it that was asked last."""

    def __init__(
        self,
        game: Game,
        n: int,
        seed: int = 0,
        *,
        opponents: Iterable[int] | Mapping[int, Policy | None] = (),
        policy: Policy | None = None,
        rotate: str = "never",
        opening: int = 0,
        illegal: str = "raise",
        threads: int = 1,
    ) -> None:
        if not isinstance(game, KernelGame):
            raise UnsupportedError(f"{game.name} has no kernels; batches need them")
        size = game.observation_spec().size
        self.game = game
        self.n = _whole("n", n, 1, 2**31)
        self.threads = min(_whole("threads", threads, 1, MAX_THREADS), self.n)
        self.seed = _whole("seed", seed, 0, 2**64 - 1)
        self._rotation = np.array(ROTATIONS[_choice("rotate", rotate, ROTATIONS)])
        self._opening = _whole("opening", opening, 0, 2**31)
        self._lenient = _choice("illegal", illegal, ("raise", "lose")) == "lose"
        playing = dict(opponents) if isinstance(opponents, Mapping) else dict.fromkeys(opponents, policy)
        for seat, each in playing.items():
            _whole("opponents: a seat", seat, 0, game.players - 1)
            if not isinstance(each, Policy | None):
                raise ParameterError(f"opponents: seat {seat} must have a Policy or None, not {each!r}")
        if len(playing) == game.players:
            raise ParameterError("opponents: one seat at least must be left to the caller")
        numbers, links = _links(playing.values())
        self._seating = np.array(
            [numbers[playing[seat]] if seat in playing else CALLER_PLAYS for seat in range(game.players)]
        )
        self._kernels = _compiled(game, tuple(links))
        self._start = game.new_initial_state().words
        self._states = np.zeros((n, self._start.size), np.uint64)
        self._episodes = np.zeros(n, np.int64)
        self._dice, self._luck = np.zeros((n, 1), np.uint64), np.zeros((n, game.players, 1), np.uint64)
        self._seats = np.zeros((n, game.players), np.int64)
        self._ends = np.zeros_like(self._states)
        self.final_observation = np.zeros((n, size), np.float32)
        self._step = Step(
            np.zeros((n, size), np.float32),
            np.zeros((n, game.num_distinct_actions), np.bool_),
            np.zeros(n, np.int64),
            np.zeros((n, game.players)),
            np.zeros(n, np.bool_),
        )
        self._scratch = [
            (game.blank(), np.zeros_like(game.action_buffer), np.zeros(game.players, np.int64), _scratch(links))
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

        Raises `IllegalActionError`, and changes nothing, when the batch was never reset or an action is not legal.
        """
        if not self._begun:
            raise IllegalActionError("the batch has not begun; call reset first")
        given = np.asarray(actions)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions must be whole numbers, shape ({self.n},), not {given.dtype} {given.shape}"
            )
        chosen = np.ascontiguousarray(given, np.int64)
        match = -1 if self._lenient else int(self._kernels.find_illegal(self._states, chosen, self._scratch[0][1]))
        if match >= 0:
            game = self.game
            legal = " ".join(map(str, self.state(match).legal_actions()))
            raise IllegalActionError(
                f"match {match}: {given[match]} is not legal in {game.spec} for seat {self._step.to_move[match]}; "
                f"legal: {legal}"
            )
        self._run(False, chosen)
        return self._step

    def state(self, place: int) -> State:
        """Return the present state at a place in the batch, without the moves that led to it."""
        return KernelState(self.game, self._states[place].copy())

    def final_state(self, place: int) -> State:
        """Return the end of the match that ended last at a place in the batch, likewise."""
        return KernelState(self.game, self._ends[place].copy())

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
        seating = (self._seating, self._rotation, self._opening, self._seats)
        state = (self._start, self._states, *streams, *seating, self._ends, self.final_observation)
        how = (first, last, restart, self._lenient, actions)
        return int(self._kernels.step_matches(*how, *state, *self._step, *scratch))


def _whole(what: str, value: object, low: int, high: int) -> int:
    """Return a whole number within bounds; raises `ParameterError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ParameterError(f"{what} must be a whole number from {low} to {high}, not {value!r}")
    return int(value)


def _choice(what: str, value: str, choices: Iterable[str]) -> str:
    """Return one of the choices; raises `ParameterError` for anything else."""
    if value not in (known := list(choices)):
        raise ParameterError(f"{what} must be one of {', '.join(known)}, not {value!r}")
    return value


def _links(policies: Iterable[Policy | None]) -> tuple[dict[Policy | None, int], dict[Any, list[Policy]]]:
    """Return the number of each policy, and the policies by their kernel, in the order of their numbers.

    The kernels are in order of their names, so that the same ones need be compiled but once, whoever plays by them.
    """
    links: dict[Any, list[Policy]] = {}
    for policy in sorted(filter(None, dict.fromkeys(policies)), key=lambda each: _name(each.choose)):
        links.setdefault(policy.choose, []).append(policy)
    known = [policy for policies in links.values() for policy in policies]
    return {policy: number for number, policy in enumerate([*known, None])}, links


def _name(kernel: Any) -> str:
    function = getattr(kernel, "py_func", kernel)
    return f"{function.__module__}.{function.__qualname__}"


def _scratch(links: Mapping[Any, list[Policy]]) -> tuple[Any, ...]:
    """Return the scratch of one thread, as `engine.choice_kernel` takes it."""
    scratch: tuple[Any, ...] = ()
    for policies in reversed(list(links.values())):
        scratch = tuple(policy.scratch() for policy in policies), scratch
    return scratch


@functools.cache
def _compiled(game: KernelGame, kernels: tuple[Any, ...]) -> Any:
    """Return the kernels of a batch, bound to a game and to those of its policies."""
    from engine import batch_kernel, choice_kernel
    from engine.kernel import bind

    also = {name: getattr(game.compiled, name) for name in ("copy_state", "random_action", "points_of")}
    chain: dict[str, Any] = {}
    for policy in reversed(kernels):
        link = bind(choice_kernel, game.rules, game.dtype, random_action=also["random_action"], policy=policy, **chain)
        chain = {"others": link.choose}
    if chain:
        also["choose"] = chain["others"]
    also["observe"] = game.type.module("observation").observe
    return bind(batch_kernel, game.rules, game.dtype, **also)
