"""Any game with kernels seen as one in plain Python, which offers no more than the verbs of `Game` and `State`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from engine import Game, GameType, State
from engine.specs import Value


class PlainGame(Game):
    """Stands between a bot and the game with kernels."""

    def __init__(self, game_type: GameType, players: int, params: Mapping[str, Value], inner: Game) -> None:
        super().__init__(game_type, players, params)
        self.inner = inner

    def new_initial_state(self) -> PlainState:
        return PlainState(self, self.inner.new_initial_state())


class PlainState(State):
    __slots__ = ("inner",)

    def __init__(self, game: Game, inner: State) -> None:
        self.game = game
        self.inner = inner

    def current_player(self) -> int:
        return self.inner.current_player()

    def legal_actions(self) -> list[int]:
        return self.inner.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, int]]:
        return self.inner.chance_outcomes()

    def apply_action(self, action: int) -> None:
        self.inner.apply_action(action)

    def action_to_string(self, action: int) -> str:
        return self.inner.action_to_string(action)

    def string_to_action(self, text: str) -> int:
        return self.inner.string_to_action(text)

    def ranks(self) -> list[int]:
        return self.inner.ranks()

    @property
    def ended(self) -> str:
        return self.inner.ended

    def clone(self) -> PlainState:
        return PlainState(self.game, self.inner.clone())

    def scores(self) -> list[int] | None:
        return self.inner.scores()

    def history(self) -> list[int]:
        return self.inner.history()

    @property
    def key(self) -> Hashable:
        return self.inner.key


def plain(game: Game) -> PlainGame:
    """Return the game without its kernels, under a name of its own: `plain_` and the game's."""
    game_type = replace(game.type, name=f"plain_{game.name}", package="", factory=lambda *_: None)
    return PlainGame(game_type, game.players, game.params, game)
