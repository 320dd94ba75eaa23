"""Pig, 2 players: roll as often as you dare, a 1 loses the points of the turn; who holds 100 wins."""

from engine import Credit, GameType

GAME = GameType(
    name="pig",
    title="Pig",
    summary="Roll and add up, or hold; a 1 loses the points of the turn; who holds 100 points wins.",
    min_players=2,
    max_players=2,
    num_distinct_actions=2,
    rules_version=1,
    credit=Credit("traditional", "described by John Scarne, 1945", "our own wording"),
    package="pig",
    score_unit="points",
)
