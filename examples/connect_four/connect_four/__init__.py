"""Connect four, 2 players: drop stones into columns; four of one seat in a line win."""

from engine import Bounds, Credit, GameType

GAME = GameType(
    name="connect_four",
    title="Connect four",
    summary="Drop stones into seven columns; four of your own in a line win.",
    min_players=2,
    max_players=2,
    num_distinct_actions=7,
    rules_version=1,
    credit=Credit(
        "Howard Wexler and Ned Strongin",
        "Milton Bradley, 1974",
        "our own wording; the name Connect 4 is a trademark of Hasbro",
    ),
    package="connect_four",
    bounds=lambda players, params: Bounds(max_game_length=42),  # as many drops as the board has cells; no chance
    default_opening=lambda params: "random:2",
)
