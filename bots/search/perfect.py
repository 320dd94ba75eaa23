"""Two-player Epicycle without a mistake, from the solved game."""

from typing import cast

from bots.base import Bot
from bots.search.perfect_solver import kernels, lines, solve
from engine import State
from engine.state import KernelGame, KernelState


class Perfect(Bot):
    """Never give away a win or a draw.

    Idea: look the play up in the table of the solved game (`bots.search.perfect_solver`). Won positions are won the
    fastest, lost ones lost the slowest; a drawn one is kept drawn by the play that leaves the opponent the most
    losing replies. The lowest action breaks ties, so it always answers a position in the same way.
    The table knows neither `max_turns` nor what occurred earlier: a win that the cap cuts short, or one through a
    position that an opening has been through, may end as a draw.
    Source: retrograde analysis, as in Ken Thompson's endgame tables.
    Parameters: none.
    Cost: two microseconds a move; the table takes 10 milliseconds to read, and on first use about a second to compute.
    """

    name = "perfect"
    games = ("epicycle",)
    players = (2,)
    needs = ("kernels",)
    game: KernelGame

    def prepare(self) -> None:
        self._values, self._lines = solve().value, lines()
        self._number_of = kernels(self.game.dtype).number_of

    def choose(self, state: State) -> int:
        number = self._number_of(cast(KernelState, state).words)
        value = float(self._values[number])
        line = self._lines[number].tolist()
        self.evaluation = (value, -value) if self.seat == 0 else (-value, value)
        self.line = line[: line.index(-1)] if line[-1] < 0 else line
        return int(line[0])
