"""The baseline of every board: a random legal action."""

from bots.base import Bot
from engine import State


class Random(Bot):
    """Take any legal action, all equally likely.

    Cost: less than a microsecond a move.
    """

    name = "random"

    def choose(self, state: State) -> int:
        return self.pick(state.legal_actions())
