"""A game in plain Python that fails in the way its option names: count up by 1 to 3, whoever reaches 12 wins."""

from __future__ import annotations

import time

from engine import CHANCE, TERMINAL, Credit, Game, GameType, NotationError, Parameter, State

FAULTS = (
    *("none", "apply", "exit", "set_up", "legal", "no_legal", "odd_legal", "seat", "rank", "ranks", "score", "word"),
    *("clone", "endless", "hangs", "refuses", "position", "heavy"),
)


class CountUp(Game):
    position = True

    def new_initial_state(self):
        if self.params["fault"] == "set_up":
            raise KeyError("no board")
        return Count(self, [])


class Count(State):
    __slots__ = ("fault",)

    def __init__(self, game, history):
        self.game, self._history, self.fault = game, history, game.params["fault"]

    @property
    def total(self):
        return sum(self._history)

    def late(self, fault):
        return self.fault == fault and self.total >= 5

    def current_player(self):
        if self.late("seat"):
            return 7
        if self.late("heavy"):
            return CHANCE
        over = self.total >= 12 and self.fault != "endless"
        return TERMINAL if over else len(self._history) % self.game.players

    def legal_actions(self):
        if self.late("legal"):
            return [1 // 0]
        return [] if self.late("no_legal") else [1, "2"] if self.late("odd_legal") else [1, 2, 3]

    def chance_outcomes(self):
        return [(1, 2**64), (2, 1)] if self.late("heavy") else []

    def apply_action(self, action):
        if self.late("apply"):
            raise ZeroDivisionError("count of nothing")
        if self.late("exit"):
            raise SystemExit(3)
        while self.late("hangs"):
            time.sleep(0)
        if self.late("refuses"):
            raise self.refuse(action)
        self._history.append(self.checked(action))

    def action_to_string(self, action):
        return f"+ {action}" if self.late("word") else f"+{action}"

    def string_to_action(self, text):
        if text not in ("+1", "+2", "+3"):
            raise NotationError(f"{text!r} is not an action")
        return int(text)

    def ranks(self):
        if self.fault == "rank":
            raise IndexError("nobody is first")
        if self.fault == "ranks":
            return [1] * self.game.players
        last = (len(self._history) - 1) % self.game.players
        return [int(seat != last) for seat in range(self.game.players)]

    def scores(self):
        return [0.5] if self.fault == "score" else None

    @property
    def ended(self):
        return "normal" if self.current_player() == TERMINAL else ""

    def clone(self):
        return self if self.late("clone") else Count(self.game, self.history())

    @property
    def position(self):
        if self.fault == "position":
            raise ValueError("no pen")
        return f"total {self.total}"


GAME = GameType(
    name="count_up",
    title="Count up",
    summary="Count up to twelve.",
    min_players=2,
    max_players=3,
    num_distinct_actions=4,
    rules_version=1,
    credit=Credit("nobody", "none", "none"),
    parameters=(Parameter("fault", str, "none", "how it fails", choices=FAULTS),),
    explicit_chance=False,
    factory=CountUp,
)
