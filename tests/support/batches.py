"""Batches played again match by match by way of `State`, with streams of chance written down a second time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from bots import make_bot
from bots.greedy import Greedy
from bots.random_bot import Random
from bots.search.flat_mc import FlatMonteCarlo
from bots.search.uct import UCT
from engine import CHANCE, Game, State
from engine.batch import BatchEnv
from engine.specs import resolve, split_bot_spec
from engine.state import KernelGame, KernelState

WORD = 2**64 - 1
GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

Choose = Callable[[State], int]
Opponent = Callable[[Game, int, np.ndarray], Choose]
"""Makes what chooses for a seat in one match from the game, the seat, and the beginning of the seat's stream."""


def next_word(word: int) -> int:
    """Return what SplitMix64 makes of a word."""
    word = word + GOLDEN & WORD
    word = (word ^ word >> 30) * MIX_1 & WORD
    word = (word ^ word >> 27) * MIX_2 & WORD
    return word ^ word >> 31


def stream(seed: int, place: int, episode: int, role: int) -> np.ndarray:
    """Return the beginning of a stream: role 0 is the dice, role 1 + seat what chooses for the seat."""
    return np.array([next_word(next_word(next_word(seed) ^ place) ^ 64 * episode + role)], np.uint64)


class Drawn:
    """The generator of a bot (`Bot.rng`) that draws from the stream of a batch."""

    def __init__(self, words: np.ndarray) -> None:
        self.words = words

    def getrandbits(self, bits: int) -> int:
        word = next_word(int(self.words[0]))
        self.words[0] = int(self.words[0]) + GOLDEN & WORD
        return word >> 64 - bits

    def random(self) -> float:
        return self.getrandbits(32) / 2**32


def at_random(game: Game, seat: int, luck: np.ndarray) -> Choose:
    """Choose by the game's compiled `random_action`."""
    kernels = cast(KernelGame, game)
    return lambda state: int(
        kernels.compiled.random_action(cast(KernelState, state).record, luck, kernels.action_buffer)
    )


def bot(spec: str) -> Opponent:
    """Choose as a bot does whose seed is the beginning of the stream, and who draws from the stream."""
    name, options = split_bot_spec(spec)
    kind = next(each for each in (Random, Greedy, FlatMonteCarlo, UCT) if each.name == name)

    def opponent(game: Game, seat: int, luck: np.ndarray) -> Choose:
        if kind is Random and hasattr(cast(KernelGame, game).rules, "random_action"):
            return at_random(game, seat, luck)  # such a game draws in another way than the bot does
        made: Any = make_bot(kind, game, seat, int(luck[0]), resolve(kind.parameters, options, name))
        made.rng = Drawn(luck)
        if kind is FlatMonteCarlo:
            made._chance = luck
        return made.choose

    return opponent


class Single:
    """One place of a batch."""

    def __init__(
        self,
        game: Game,
        seed: int,
        place: int,
        opponents: Mapping[int, Opponent],
        rotation: tuple[int, int] = (0, 0),
        opening: int = 0,
    ) -> None:
        self.game, self.seed, self.place, self.opponents, self.rotation = game, seed, place, opponents, rotation
        self.opening = opening
        self.episode = 0
        self.begin()

    def begin(self) -> None:
        self.state = self.game.new_initial_state()
        self.dice = stream(self.seed, self.place, self.episode, 0)
        shift = self.rotation[0] * self.place + self.rotation[1] * self.episode
        self.choosers = {}
        for first, opponent in self.opponents.items():
            seat = (first + shift) % self.game.players
            luck = stream(self.seed, self.place, self.episode, 1 + seat)
            self.choosers[seat] = opponent(self.game, seat, luck)
        self.episode += 1
        self.play_opening()
        self.advance()
        if self.state.is_terminal():
            self.begin()

    def play_opening(self) -> None:
        plies = 0
        while plies < self.opening and not self.state.is_terminal():
            if self.state.is_chance_node():
                self.roll()
                continue
            action = at_random(self.game, self.state.current_player(), self.dice)(self.state)
            if self.state.child(action).is_terminal():
                return
            self.state.apply_action(action)
            plies += 1

    def roll(self) -> None:
        compiled = cast(KernelGame, self.game).compiled
        self.state.apply_action(int(compiled.sample_chance(cast(KernelState, self.state).record, self.dice)))

    def advance(self) -> None:
        while (who := self.state.current_player()) == CHANCE or who in self.choosers:
            if who == CHANCE:
                self.roll()
            else:
                self.state.apply_action(self.choosers[who](self.state))

    def step(self, action: int) -> tuple[list[float], np.ndarray | None]:
        """Play on; return the returns, zeros before the end, and what the seat sees of the end that was asked last."""
        seat = self.state.current_player()
        self.state.apply_action(action)
        self.advance()
        if not self.state.is_terminal():
            return [0.0] * self.game.players, None
        returns, end = self.state.returns(), self.state.observe(seat)
        self.begin()
        return returns, end


def picked(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a random legal action of each match."""
    return np.argmax(mask * rng.random(mask.shape), axis=1)


def agree(batch: BatchEnv, singles: list[Single], steps: int) -> int:
    """Hold a batch against its matches played singly, under random play; return how many have ended."""
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
            returns, end = single.step(int(actions[i]))
            assert (seen.returns[i].tolist(), bool(seen.done[i])) == (returns, end is not None)
            assert end is None or np.array_equal(batch.final_observation[i], end)
            ends += end is not None
    return ends
