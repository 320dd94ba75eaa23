"""A game in plain Python, without kernels, keeps the same contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import engine
from engine import CHANCE, TERMINAL, Credit, Game, GameType, NotationError, Parameter, State, UnsupportedError, registry
from engine.loading import load
from tests.engine.contract import GameContract

ROLLS = {1: 1, 2: 2, 3: 1}  # stones a roll adds to every heap, and its weight


class Nim(Game):
    """Take stones from one heap; whoever takes the last stone wins, the others share the last place."""

    def new_initial_state(self) -> NimState:
        return NimState(self, [1, 2, 3], CHANCE if self.params["rolled"] else 0, [])


class NimState(State):
    """Action 3 * heap + n - 1 takes n stones of a heap, written `a2`; a chance outcome is written `+2`."""

    __slots__ = ("heaps", "who", "winner")

    def __init__(self, game: Game, heaps: list[int], who: int, history: list[int]) -> None:
        self.game, self.heaps, self.who, self.winner, self._history = game, heaps, who, -1, history

    def current_player(self) -> int:
        return self.who

    def legal_actions(self) -> list[int]:
        if self.who < 0:
            return []
        return [3 * heap + n for heap, stones in enumerate(self.heaps) for n in range(min(stones, 3))]

    def chance_outcomes(self) -> list[tuple[int, int]]:
        return list(ROLLS.items()) if self.who == CHANCE else []

    def apply_action(self, action: int) -> None:
        action = self.checked(action)
        self._history.append(action)
        if self.who == CHANCE:
            self.heaps = [stones + action for stones in self.heaps]
            self.who = 0
            return
        self.heaps[action // 3] -= action % 3 + 1
        if any(self.heaps):
            self.who = (self.who + 1) % self.game.players
        else:
            self.winner, self.who = self.who, TERMINAL

    def action_to_string(self, action: int) -> str:
        if self.who == CHANCE and action in ROLLS:
            return f"+{action}"
        if self.who == CHANCE or not 0 <= action < 9:
            raise NotationError(f"{action} is not the number of an action of nim")
        return "abc"[action // 3] + str(action % 3 + 1)

    def string_to_action(self, text: str) -> int:
        for number in ROLLS if self.who == CHANCE else range(9):
            if self.action_to_string(number) == text:
                return number
        raise NotationError(f"{text!r} is not an action of nim; an example is 'a1'")

    def ranks(self) -> list[int]:
        if self.who != TERMINAL:
            raise self.too_early()
        return [int(seat != self.winner) for seat in range(self.game.players)]

    @property
    def ended(self) -> str:
        return "normal" if self.who == TERMINAL else ""

    def clone(self) -> NimState:
        state = NimState(self.game, self.heaps.copy(), self.who, self._history.copy())
        state.winner = self.winner
        return state

    def __str__(self) -> str:
        return " ".join(map(str, self.heaps))


NIM = GameType(
    name="nim",
    title="Nim",
    summary="Take the last stone.",
    min_players=2,
    max_players=3,
    num_distinct_actions=9,
    rules_version=1,
    credit=Credit("nobody", "folklore", "free"),
    parameters=(Parameter("rolled", bool, False, "whether a roll adds stones to the heaps"),),
    factory=Nim,
)


@pytest.fixture(scope="module", autouse=True)
def nim_is_registered() -> Iterator[None]:
    """For this module alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "registered_games", dict(registry.registered_games))
        engine.register_game(NIM)
        yield


@pytest.fixture(params=[(spec, n) for spec in ("nim", "nim(rolled=true)") for n in (2, 3)], ids=str, scope="module")
def game(nim_is_registered: None, request: pytest.FixtureRequest) -> Game:
    """Nim in all its forms."""
    return engine.load_game(*request.param)


class TestNim(GameContract):
    pass


def test_what_needs_kernels_is_refused_in_words():
    with pytest.raises(UnsupportedError, match="nim has no kernels"):
        engine.random_playouts(engine.load_game("nim", 2), 1, seed=1)


def test_a_name_belongs_to_one_game():
    assert engine.register_game(NIM) is NIM
    with pytest.raises(engine.DuplicateNameError, match="'nim' is registered already"):
        engine.register_game(GameType("nim", "Nim", "", 2, 2, 1, 1, NIM.credit, factory=Nim))
    with pytest.raises(engine.DuplicateNameError, match="'epicycle'"):
        engine.register_game(GameType("epicycle", "Nim", "", 2, 2, 1, 1, NIM.credit, factory=Nim))


def test_a_game_that_hides_information_is_refused():
    hidden = GameType("poker", "Poker", "", 2, 2, 1, 1, NIM.credit, factory=Nim, perfect_information=False)
    with pytest.raises(UnsupportedError, match="hides information"):
        load(hidden, 2, {})
