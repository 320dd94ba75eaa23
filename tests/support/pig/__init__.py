"""Pig, 2 players: roll as often as you dare, a one loses the turn's points; who holds 100 wins. It tells no bounds."""

from engine import Credit, GameType

GAME = GameType(
    name="pig",
    title="Pig",
    summary="Roll and add up, or hold; a one loses the points of the turn; a hundred points win.",
    min_players=2,
    max_players=2,
    num_distinct_actions=2,
    rules_version=1,
    credit=Credit("nobody", "John Scarne, 1945", "traditional"),
    package="tests.support.pig",
    score_unit="points",
)
