"""Checks of compiled playouts: repeated, held against matches by the same draws, and against matches of their own."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.chance import new_rng
from engine.conformance.kernels import kernel_game
from engine.conformance.matches import finish
from engine.conformance.probe import BrokenPromise, NotApplicableError, Probe, code_place, expect, same
from engine.conformance.samples import bit_counts, odd_category, odd_count, odd_threshold
from engine.conformance.turns import ENDINGS
from engine.errors import IllegalActionError, PositionError
from engine.game import shown
from engine.playouts import random_playouts
from engine.state import KernelGame, KernelState

REPEATED_PLAYOUTS = 2_000
"""Compiled playouts that are played twice, and matches that are played by the draws of one."""
MAX_STEPPED_PLIES = 2_000_000
"""Plies of matches played step by step, at most; the number of matches follows from it."""
PILOT_MATCHES = 200
"""Matches that tell how long a match is."""
PROBING_PLAYOUTS = 100
"""Playouts by which it is seen whether a kernel of the game's own makes the usual draws."""
POSITIONS_PER_RESULT = 10
"""Final positions of one result after one number of plies that are read back."""
MAX_READ_POSITIONS = 2_000
"""Final positions that are read back in all."""


@dataclass(frozen=True)
class Ends:
    """The ends of random matches."""

    words: np.ndarray
    """uint64, shape (matches, words of a record); those that are not used are 0."""
    plies: np.ndarray
    """int64, shape (matches,)."""
    results: list[tuple[tuple[int, ...], str]]
    """By match: ranks, and how it ended."""


class Playouts:
    """Compiled playouts from one seed, one at a time."""

    def __init__(self, game: KernelGame, seed: int) -> None:
        self.rng = new_rng(seed)
        self.decisions = self.plies = 0
        self.words = game.blank()
        """The last one's end."""
        self._game = game
        self._start = game.new_initial_state().words
        self._place = np.zeros(game.players, np.int64)
        self._sums = np.zeros(game.players, np.int64)

    def play(self) -> tuple[tuple[int, ...], str]:
        """Play one; return ranks, and how it ended."""
        game, endings = self._game, np.zeros(len(self._game.rules.ENDINGS), np.int64)
        self.decisions, self.plies = game.compiled.playouts(
            *(self._start, 1, self.rng, game.action_buffer, self.words, self._place, self._sums, endings)
        )
        return tuple(self._place.tolist()), game.rules.ENDINGS[int(endings.argmax())]

    def told(self) -> tuple[Any, ...]:
        """Play one; return all that there is to tell of it."""
        result = self.play()
        end = KernelState(self._game, self.words.copy())
        return (*result, int(self.decisions), int(self.plies), end.position, int(self.rng[0]))


RESULT_PARTS = ("ranks", "ending", "decisions", "plies", "final position", "draws used")


def blamed(game: KernelGame) -> str:
    """Return the name of the kernel that plays at random to the end, and where the game has it."""
    for name in ("random_finish", "random_action"):
        if hasattr(game.rules, name):
            return f"{name} ({code_place(getattr(game.rules, name))})"
    return f"apply_action ({code_place(game.rules.apply_action)}) or another kernel of the rules"


def playouts(probe: Probe) -> str:
    """Play each compiled playout twice, and all at once."""
    game, seed = kernel_game(probe), probe.base + 7
    count = min(REPEATED_PLAYOUTS, probe.most)
    first, again = Playouts(game, seed), Playouts(game, seed)
    plies, sums = 0, np.zeros(game.players, np.int64)
    for number in range(count):
        seen, wanted = again.told(), first.told()
        ranks, ending, decisions, passed, *_ = wanted
        for what, one, other in zip(RESULT_PARTS, seen, wanted, strict=True):
            expect(one == other, f"{blamed(game)}: {what} of playout {number} of seed {seed}, played again: "
                   f"{shown(one)} instead of {shown(other)}; it depends on more than its draws")  # fmt: skip
        expect(ending in ENDINGS, f"an ending is called {shown(ending)}")
        expect(0 <= decisions <= passed, f"{decisions} actions in {passed} plies")
        plies, sums = plies + passed, sums + ranks
    together = random_playouts(game, count, seed)
    same("matches of all endings", sum(together.ended.values()), count)
    same("plies of the same playouts in one call", together.plies, plies)
    same("sums of their ranks", together.rank_sums.tolist(), sums.tolist())
    return f"{count:,} playouts"


def playouts_by_draws(probe: Probe) -> str:
    """Play matches step by step by the draws that compiled playouts make."""
    game, seed = kernel_game(probe), probe.base + 9
    own = hasattr(game.rules, "random_finish")
    count = max(
        PROBING_PLAYOUTS, min(REPEATED_PLAYOUTS, probe.most, MAX_STEPPED_PLIES // 10 // _usual_length(game, probe.base))
    )
    compiled, usual = Playouts(game, seed), new_rng(seed)
    differing: list[tuple[int, str, list[int]]] = []
    for number in range(count):
        usual[:] = compiled.rng
        difference, history = _difference(game, compiled, usual)
        if difference:
            differing.append((number, difference, history))
        if own and number < PROBING_PLAYOUTS and len(differing) > PROBING_PLAYOUTS // 10:
            raise NotApplicableError("its random_finish makes draws of its own")
    if differing:
        number, difference, probe.plies = differing[0]
        probe.seed = seed
        raise BrokenPromise(f"{blamed(game)}: playout {number} of seed {seed}, played by the same draws: {difference}")
    return f"{count:,} playouts"


def _difference(game: KernelGame, compiled: Playouts, rng: np.ndarray) -> tuple[str, list[int]]:
    """Return in what the next compiled playout differs from a match by the same draws, if it does; and its plies."""
    wanted = compiled.told()
    state = game.new_initial_state()
    decisions, draw = 0, game.compiled
    try:
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(int(draw.sample_chance(state.record, rng)))
            else:
                state.apply_action(int(draw.random_action(state.record, rng, game.action_buffer)))
                decisions += 1
    except IllegalActionError as error:
        return str(error), state.history()
    seen = (tuple(state.ranks()), state.ended, decisions, len(state.history()), state.position, int(rng[0]))
    for what, one, other in zip(RESULT_PARTS, wanted, seen, strict=True):
        if one != other:
            return f"{what}: {shown(one)}, step by step {shown(other)}", state.history()
    return "", []


def playouts_and_steps(probe: Probe) -> str:
    """Compare what compiled playouts and matches step by step come to: results, lengths, final positions."""
    game = kernel_game(probe)
    probe.seed = None
    count = max(PROBING_PLAYOUTS, min(probe.most, MAX_STEPPED_PLIES // _usual_length(game, probe.base)))
    steps, compiled = stepped(game, count, probe.base + 8), played_out(game, count, probe.base + 8)
    _expect_readable(game, compiled)
    counted = [bit_counts(ends.words) for ends in (steps, compiled)]
    tests = len({*steps.results, *compiled.results}) + np.union1d(steps.plies, compiled.plies).size + counted[0].size
    how = f"of {count:,} matches step by step, {{}} of as many compiled playouts"

    def told(what: str, one: int, other: int) -> str:
        return f"{blamed(game)}: {what} in {one:,} {how.format(f'{other:,}')}"

    if result := odd_category(steps.results, compiled.results, tests):
        raise BrokenPromise(told(f"ranks and ending {result[0]}", *result[1:]))
    if length := odd_threshold(steps.plies, compiled.plies, tests):
        raise BrokenPromise(told(f"{length[0]:,} plies or fewer", *length[1:]))
    if odd_count(counted[0], counted[1], count, tests):  # perhaps in what a position leaves out
        counted = [bit_counts(read_back(game, ends.words)) for ends in (steps, compiled)]
        if bit := odd_count(counted[0], counted[1], count, tests):
            raise BrokenPromise(
                told(f"bit {bit[0] % 64} of {word_name(game.dtype, bit[0] // 64)} at the end", *bit[1:])
            )
    return f"{count:,} matches each"


def _usual_length(game: KernelGame, seed: int) -> int:
    return max(1, int(stepped(game, PILOT_MATCHES, seed + 10).plies.mean()))


def stepped(game: KernelGame, count: int, seed: int) -> Ends:
    """Play random matches step by step."""
    rng, ends = random.Random(seed), _blank(game, count)
    for number in range(count):
        state = game.new_initial_state()
        finish(state, rng)
        ends.plies[number] = len(state.history())
        ends.results.append((tuple(state.ranks()), state.ended))
        game.compiled.copy_state(state.words, ends.words[number])
    return ends


def played_out(game: KernelGame, count: int, seed: int) -> Ends:
    """Play compiled playouts."""
    compiled, ends = Playouts(game, seed), _blank(game, count)
    for number in range(count):
        ends.results.append(compiled.play())
        ends.plies[number] = compiled.plies
        game.compiled.copy_state(compiled.words, ends.words[number])
    return ends


def _blank(game: KernelGame, count: int) -> Ends:
    return Ends(np.zeros((count, game.blank().size), np.uint64), np.zeros(count, np.int64), [])


def _expect_readable(game: KernelGame, ends: Ends) -> None:
    """Expect some final positions of every result to be over with that result when they are read."""
    tried: Counter[Any] = Counter()
    for words, plies, result in zip(ends.words, ends.plies.tolist(), ends.results, strict=True):
        if tried[result, plies] >= POSITIONS_PER_RESULT or tried.total() >= MAX_READ_POSITIONS:
            continue
        tried[result, plies] += 1
        text = KernelState(game, words).position
        try:
            read = game.state_from_position(text)
        except PositionError as error:
            raise BrokenPromise(f"{blamed(game)}: a playout ends in {text}, which is refused: {error}") from error
        expect(read.is_terminal(), f"{blamed(game)}: a playout ends in {text}, which is not over")
        expect(
            tuple(read.ranks()) == result[0],
            f"{blamed(game)}: a playout ends in {text} with ranks {list(result[0])}; they are {read.ranks()}",
        )


def read_back(game: KernelGame, words: np.ndarray) -> np.ndarray:
    """Return the words of the same positions, written and read: without what positions leave out."""
    return np.array([game.state_from_position(KernelState(game, each).position).words for each in words])


def word_name(dtype: np.dtype, word: int) -> str:
    """Return the name of the field that holds a word of a record."""
    for name in reversed(dtype.names or ()):
        kind, offset = dtype.fields[name][:2]  # type: ignore[index]  # there are names, so there are fields
        if offset <= 8 * word:
            index = np.unravel_index(word - offset // 8, kind.shape) if kind.shape else ()
            return name + "".join(f"[{int(each)}]" for each in index)
    raise ValueError(f"a record has no word {word}")
