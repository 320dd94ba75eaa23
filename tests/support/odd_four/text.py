"""The notation of connect four."""

from connect_four import text
from connect_four.text import ACTIONS, OUTCOMES, draw, write_position  # noqa: F401 - for `KernelGame`

from tests.support.odd_four.rules import set_up


def read_position(game, state, position):
    set_up(state, game.players, game.params)
    text.read_position(game, state, position)
