"""Race's notation."""

from tests.bots.race.rules import MAX_OUTCOMES

ACTIONS = ("walk", "roll", "leap")
OUTCOMES = tuple(map(str, range(MAX_OUTCOMES)))


def write_position(game, state) -> str:
    """Return `SQUARES TURN ROLLING`."""
    return f"{'/'.join(map(str, state.square[: game.players]))} {state.turn} {state.rolling}"


def read_position(game, state, text: str) -> None:
    """Read what `write_position` writes, trusting the text."""
    squares, turn, rolling = text.split(" ")
    state.players, state.goal = game.players, game.params["goal"]
    state.square[: game.players] = list(map(int, squares.split("/")))
    state.turn, state.rolling = int(turn), int(rolling)
